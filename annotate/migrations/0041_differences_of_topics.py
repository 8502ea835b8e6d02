"""A fit keeps how its systems differ, as a ranking does; those that are there are made anew."""

from typing import Any

from django.db import migrations, models
from django.db.models import F


def score_anew(apps: Any, schema_editor: Any) -> None:
    tallies = apps.get_model("annotate", "Tally").objects.using(schema_editor.connection.alias)
    tallies.update(data_version=F("data_version") + 1)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0040_combined_by_odds")]

    operations = [
        migrations.AddField("fit", "differences", models.JSONField(default=list)),
        migrations.RunPython(score_anew, migrations.RunPython.noop, elidable=True),
    ]
