from django.apps import AppConfig
from django.contrib.staticfiles.apps import StaticFilesConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, post_save, pre_save
from django.utils.translation import gettext, ngettext

from preferendum.formats import words


class StaticFiles(StaticFilesConfig):
    """Django's own, without files of the API's viewer that no page uses: every start collects the rest."""

    ignore_patterns = [*StaticFilesConfig.ignore_patterns, "redoc", "*.js.map"]


class AnnotateConfig(AppConfig):
    name = "annotate"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from annotate import accounts  # only now: they need the settings
        from annotate.database import append_only

        words.translate_with(gettext, ngettext)
        connection_created.connect(append_only.register_function, dispatch_uid="append_only")
        pre_save.connect(accounts.check_name, sender="auth.User", dispatch_uid="account_name")
        post_save.connect(accounts.keep_name, sender="auth.User", dispatch_uid="account_name")
        post_migrate.connect(append_only.after_migrate, sender=self, dispatch_uid="append_only")
