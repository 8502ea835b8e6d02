import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0024_topics_without_attempts")]

    operations = [
        migrations.RemoveField("export", "tries"),
        migrations.AddField(
            "export",
            "changed_at",
            models.DateTimeField(auto_now=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AlterField(
            "export",
            "study",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="annotate.study"
            ),
        ),
    ]
