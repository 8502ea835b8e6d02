from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0009_cap_of_a_topic'),
    ]

    operations = [
        migrations.AlterField(
            model_name='judgment',
            name='at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
