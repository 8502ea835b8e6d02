from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotate", "0023_attempts")]

    operations = [
        migrations.RemoveField("topicprogress", "tries"),
        migrations.RemoveField("topicprogress", "tried_version"),
        migrations.RemoveField("topicprogress", "tried_at"),
        migrations.RemoveField("topicprogress", "retry_at"),
    ]
