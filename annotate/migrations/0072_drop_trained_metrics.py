from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0071_designs'),
    ]

    operations = [
        migrations.DeleteModel(name='TrainedMetric'),
    ]
