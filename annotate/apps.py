from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


class AnnotateConfig(AppConfig):
    name = "annotate"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate.database import append_only  # only now: it needs the settings

        connection_created.connect(append_only.register_function, dispatch_uid="append_only")
        post_migrate.connect(append_only.after_migrate, sender=self, dispatch_uid="append_only")
