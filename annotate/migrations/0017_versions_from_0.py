from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0016_no_prepared_version")]

    operations = [migrations.AlterField("tally", "data_version", models.PositiveBigIntegerField(default=0))]
