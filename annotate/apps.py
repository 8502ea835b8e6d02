from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


class AnnotateConfig(AppConfig):
    name = "annotate"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate import durability as durability  # registers its check
        from annotate import only_added  # only now: it needs the settings

        connection_created.connect(only_added.teach, dispatch_uid="only_added")
        post_migrate.connect(only_added.after_migrate, sender=self, dispatch_uid="only_added")
