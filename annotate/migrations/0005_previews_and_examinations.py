import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """What would change without somebody, how the scores hold up, and a pause for one annotator."""

    dependencies = [
        ("annotate", "0004_curves_owed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="annotator", name="paused_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.CreateModel(
            name="Examination",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveBigIntegerField(default=0)),
                ("figures", models.JSONField(default=dict)),
                ("computed_at", models.DateTimeField()),
                (
                    "study",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="examination", to="annotate.study"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="TopicExamination",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveBigIntegerField(default=0)),
                ("figures", models.JSONField(default=dict)),
                ("seconds", models.FloatField(default=0.0)),
                ("computed_at", models.DateTimeField()),
                (
                    "topic",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="examination", to="annotate.topic"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Preview",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("annotators", models.JSONField(default=list)),
                ("leave_out", models.BooleanField(default=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "being worked out"), ("ready", "ready"), ("failed", "failed")],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("version", models.PositiveBigIntegerField(default=0)),
                ("topics", models.PositiveIntegerField(default=0)),
                ("done", models.PositiveIntegerField(default=0)),
                ("parts", models.JSONField(default=dict)),
                ("figures", models.JSONField(default=dict)),
                ("problem", models.TextField(blank=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="previews", to="annotate.study"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "waiting")), fields=["id"], name="preview_waiting")
                ],
            },
        ),
    ]
