"""What-if questions that count one kind of annotators alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0033_expected_participants")]

    operations = [
        migrations.AddField(
            "whatifquestion",
            "kind",
            models.CharField(
                blank=True,
                choices=[("human", "person"), ("machine", "machine"), ("simulated", "simulated")],
                default="",
                max_length=10,
            ),
        )
    ]
