import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

from annotate.accounts import folded


def name_accounts(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Of accounts whose names are the same when folded, the oldest keeps the name for itself."""
    names = apps.get_model("annotate", "AccountName").objects
    for user in apps.get_model("auth", "User").objects.order_by("pk"):
        names.get_or_create(folded=folded(user.username), defaults={"user": user})


class Migration(migrations.Migration):
    dependencies = [("annotate", "0071_designs"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="AccountName",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="account_name",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("folded", models.CharField(max_length=450, unique=True)),
            ],
        ),
        migrations.RunPython(name_accounts, migrations.RunPython.noop),
    ]
