"""Who is expected from a platform, and whether an ID comes back only with its session."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0032_two_ways_of_scoring")]

    operations = [
        migrations.AddField(
            "recruitment", "check_session", models.BooleanField(default=False, verbose_name="check the session")
        ),
        migrations.AddField(
            "recruitment",
            "expected_ids",
            models.TextField(blank=True, default="", max_length=500_000, verbose_name="expected IDs"),
            preserve_default=False,
        ),
    ]
