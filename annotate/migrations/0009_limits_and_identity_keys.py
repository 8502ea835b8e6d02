from typing import Any

from django.db import migrations, models

import annotate.models.crowd


def a_key_each(apps: Any, schema_editor: Any) -> None:
    """A default is worked out once for all the rows that are there."""
    rows = apps.get_model("annotate", "Recruitment").objects.using(schema_editor.connection.alias)
    for row in rows.all():
        row.identity_key = annotate.models.crowd.new_identity_key()
        row.save(update_fields=["identity_key"])


class Migration(migrations.Migration):
    dependencies = [("annotate", "0008_content_and_pivot")]

    operations = [
        migrations.CreateModel(
            name="Allowance",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("used", models.PositiveIntegerField()),
                ("ends_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="recruitment",
            name="identity_key",
            field=models.CharField(default=annotate.models.crowd.new_identity_key, editable=False, max_length=64),
        ),
        migrations.RunPython(a_key_each, migrations.RunPython.noop, elidable=True),
    ]
