from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0072_drop_trained_metrics'),
    ]

    operations = [
        migrations.DeleteModel(name='Deviation'),
        migrations.DeleteModel(name='Plan'),
    ]
