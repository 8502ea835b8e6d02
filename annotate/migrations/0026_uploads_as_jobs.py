import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0025_exports_as_jobs")]

    operations = [
        migrations.RemoveField("upload", "tries"),
        migrations.AddField("upload", "problem", models.TextField(blank=True, default=""), preserve_default=False),
        migrations.AlterField(
            "upload",
            "study",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="annotate.study"
            ),
        ),
    ]
