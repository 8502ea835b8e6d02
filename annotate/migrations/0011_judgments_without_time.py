from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotate', '0010_last_versions'),
    ]

    operations = [
        migrations.AlterField(
            model_name='judgment',
            name='at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
