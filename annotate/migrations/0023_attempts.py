from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0022_imported_annotators")]

    operations = [
        migrations.AddField("claim", "study", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("claim", "attempts", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("claim", "version", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("claim", "retry_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("claim", "seconds", models.FloatField(null=True)),
    ]
