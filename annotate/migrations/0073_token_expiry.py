from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotate", "0072_account_names")]

    operations = [
        migrations.AddField(
            model_name="token", name="expires_at", field=models.DateTimeField(blank=True, null=True)
        ),
    ]
