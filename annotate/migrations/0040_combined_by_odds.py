"""The combined score is coverage plus four times importance: topics that have the earlier sum are scored anew."""

from typing import Any

from django.db import migrations, models
from django.db.models import F


def score_anew(apps: Any, schema_editor: Any) -> None:
    """Until the worker has, the boards stay as they were and say that they are behind."""
    tallies = apps.get_model("annotate", "Tally").objects.using(schema_editor.connection.alias)
    tallies.filter(topic__study__score="combined").update(data_version=F("data_version") + 1)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0039_topics_with_base")]

    operations = [
        migrations.AlterField(
            "study",
            "score",
            models.CharField(
                choices=[
                    ("importance", "importance: of the judgments alone"),
                    ("combined", "combined: importance and coverage in one"),
                    ("coverage", "coverage: of the words alone"),
                    ("published", "as in the paper (Zopf 2018)"),
                ],
                default="importance",
                help_text=(
                    "What the leaderboard ranks by. Importance is what a summary says that people "
                    "prefer, less what it says that they do not. Coverage is the share of the sources’ "
                    "words that it has, whatever people say. Combined is coverage plus four times importance, "
                    "and still mostly coverage. The paper’s score is always computed as well, and the leaderboard "
                    "can be switched to it."
                ),
                max_length=12,
                verbose_name="score",
            ),
        ),
        migrations.RunPython(score_anew, migrations.RunPython.noop, elidable=True),
    ]
