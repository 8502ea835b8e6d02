from typing import Any

from django.db import migrations, models
from django.db.models import Exists, OuterRef


def mark(apps: Any, schema_editor: Any) -> None:
    """Imported is who has imported judgments and no others."""
    database = schema_editor.connection.alias
    theirs = apps.get_model("annotate", "Assignment").objects.using(database).filter(annotator=OuterRef("pk"))
    annotators = apps.get_model("annotate", "Annotator").objects.using(database)
    only_imported = Exists(theirs.filter(reason="imported")), ~Exists(theirs.exclude(reason="imported"))
    annotators.filter(*only_imported, user=None, invitation=None).update(imported=True)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0021_words")]

    operations = [
        migrations.AddField("annotator", "imported", models.BooleanField(default=False)),
        migrations.RunPython(mark, migrations.RunPython.noop, elidable=True),
    ]
