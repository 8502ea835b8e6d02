from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotate", "0027_what_if_questions")]

    operations = [migrations.RemoveField("topicexamination", "seconds")]
