"""Pairs with an expected answer are called gold pairs, in their table, too. The version before cannot run on it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0028_no_seconds_of_examinations")]

    operations = [
        migrations.RenameModel("KnownPair", "GoldPair"),
        migrations.AlterField(
            "goldpair",
            "topic",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="gold_pairs", to="annotate.topic"
            ),
        ),
    ]
