from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotate", "0015_cut_version")]

    operations = [migrations.RemoveField("topicprogress", "prepared_version")]
