"""One score in the place of five settings, and every topic scored both as recommended and as published."""

from typing import Any

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import annotate.models.study
from django.db.models import F

PUBLISHED = {"smooth": "paper", "value": "strength", "match": "any", "normalize": "length", "redundancy": True}
SCORED_BY = models.CharField(
    choices=[("recommended", "recommended"), ("published", "as published")], default="recommended", max_length=12
)


def replace_settings(apps: Any, schema_editor: Any) -> None:
    """Studies that were scored as in the paper stay so; all others get the recommended score."""
    studies = apps.get_model("annotate", "Study").objects.using(schema_editor.connection.alias)
    studies.filter(**PUBLISHED).update(score="published")
    studies.filter(smooth="sharpened").update(smooth="kernel")


def score_anew(apps: Any, schema_editor: Any) -> None:
    """What was computed can be computed again, and must be: the old scores are no scores of today."""
    database = schema_editor.connection.alias
    for name in ("Utility", "Score", "SystemScore", "Ranking"):
        apps.get_model("annotate", name).objects.using(database).all().delete()
    apps.get_model("annotate", "Tally").objects.using(database).update(data_version=F("data_version") + 1)


class Migration(migrations.Migration):
    dependencies = [("annotate", "0031_uploads_in_steps")]

    operations = [
        migrations.AddField(
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
                    "words that it has, whatever people say. Combined adds the two; most of it is "
                    "coverage. The paper’s score is always computed as well, and the leaderboard can be "
                    "switched to it."
                ),
                max_length=12,
                verbose_name="score",
            ),
        ),
        migrations.RunPython(replace_settings, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(score_anew, migrations.RunPython.noop, elidable=True),
        *(migrations.RemoveField("study", name) for name in ("value", "match", "normalize", "redundancy")),
        migrations.AlterField(
            "study",
            "smooth",
            models.CharField(
                choices=[("kernel", "kernel prior"), ("paper", "as in the paper"), ("none", "none")],
                default="kernel",
                help_text=(
                    "How the recommended score spreads a judgment to similar sentences. The paper’s "
                    "smoothing helps with few judgments and blurs with many; “none” uses judgments "
                    "alone. The paper’s own score always has the paper’s smoothing."
                ),
                max_length=12,
                verbose_name="smoothing",
            ),
        ),
        migrations.AlterField(
            "study",
            "prior",
            models.FloatField(
                default=1.0,
                help_text=(
                    "For the recommended score: every sentence gets this many virtual wins and losses "
                    "against an average sentence, which keeps utilities finite. 0 needs wins that "
                    "connect every sentence with every other; topics without them cannot be scored. The "
                    "kernel prior replaces this setting."
                ),
                validators=[
                    annotate.models.study.finite,
                    django.core.validators.MinValueValidator(0.0),
                    django.core.validators.MaxValueValidator(1000.0),
                ],
                verbose_name="prior",
            ),
        ),
        migrations.AlterField(
            "study",
            "similarity",
            models.CharField(
                choices=[
                    ("tfidf-jaccard", "mean of TF-IDF cosine and Jaccard index (as in the paper)"),
                    ("tfidf", "TF-IDF cosine"),
                    ("jaccard", "Jaccard index"),
                ],
                default="tfidf-jaccard",
                help_text="How the recommended score measures the similarity of two sentences, for its smoothing.",
                max_length=40,
                verbose_name="similarity",
            ),
        ),
        migrations.RemoveConstraint("fit", "fit_once_a_version"),
        *(migrations.AddField(model, "scored_by", SCORED_BY.clone()) for model in ("fit", "utility", "score", "ranking")),
        migrations.AddField("fit", "words", models.JSONField(default=dict)),
        migrations.AddConstraint(
            "fit",
            models.UniqueConstraint(fields=["topic", "data_version", "scored_by"], name="fit_once_a_version"),
        ),
        migrations.AddField("utility", "value", models.FloatField(default=0.0), preserve_default=False),
        migrations.AlterField(
            "utility",
            "sentence",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="utilities", to="annotate.sentence"
            ),
        ),
        migrations.AddConstraint(
            "utility", models.UniqueConstraint(fields=["sentence", "scored_by"], name="utility_once_a_sentence")
        ),
        migrations.AlterField("score", "score", models.FloatField(null=True)),
        migrations.AddField("score", "coverage", models.FloatField(null=True)),
        migrations.AlterField(
            "score",
            "summary",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="scores", to="annotate.summary"
            ),
        ),
        migrations.AddConstraint(
            "score", models.UniqueConstraint(fields=["summary", "scored_by"], name="score_once_a_summary")
        ),
        migrations.AlterField(
            "ranking",
            "study",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="rankings", to="annotate.study"
            ),
        ),
        migrations.AddField("ranking", "settings", models.JSONField(default=dict)),
        migrations.AddConstraint(
            "ranking", models.UniqueConstraint(fields=["study", "scored_by"], name="ranking_once_a_study")
        ),
        migrations.AlterField(
            "systemscore",
            "system",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="standings", to="annotate.system"
            ),
        ),
        migrations.AddField("systemscore", "coverage", models.FloatField(null=True)),
        migrations.AddConstraint(
            "systemscore", models.UniqueConstraint(fields=["ranking", "system"], name="system_once_a_ranking")
        ),
    ]
