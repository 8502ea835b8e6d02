import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0026_uploads_as_jobs")]

    operations = [
        migrations.RenameModel("Preview", "WhatIfQuestion"),
        migrations.RenameIndex("whatifquestion", new_name="what_if_waiting", old_name="preview_waiting"),
        migrations.RemoveField("whatifquestion", "tries"),
        migrations.AddField(
            "whatifquestion",
            "changed_at",
            models.DateTimeField(auto_now=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AlterField(
            "whatifquestion",
            "study",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="%(class)ss", to="annotate.study"
            ),
        ),
    ]
