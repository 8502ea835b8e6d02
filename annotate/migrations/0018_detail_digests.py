from django.db import migrations, models


class Migration(migrations.Migration):
    """Entries that are there keep an empty one: their digests cover their details."""

    dependencies = [("annotate", "0017_versions_from_0")]

    operations = [
        migrations.AddField(
            "auditentry", "detail_digest", models.CharField(max_length=64, default="", blank=True),
        ),
    ]
