from typing import Any

from django.db import migrations

TABLES = ("accessattemptexpiration", "accessattempt", "accesslog", "accessfailurelog")


def forget(apps: Any, schema_editor: Any) -> None:
    database = schema_editor.connection.alias
    for model, field in (("auth.Permission", "content_type__app_label"), ("contenttypes.ContentType", "app_label")):
        apps.get_model(model).objects.using(database).filter(**{field: "axes"}).delete()


class Migration(migrations.Migration):
    """The tables of django-axes go: annotate.server.limits counts wrong passwords."""

    dependencies = [("annotate", "0010_link_keys")]

    operations = [
        *(migrations.RunSQL(f"DROP TABLE IF EXISTS axes_{table}", migrations.RunSQL.noop) for table in TABLES),
        migrations.RunPython(forget, migrations.RunPython.noop),
    ]
