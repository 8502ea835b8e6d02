from django.db import migrations, models

import annotate.models.study


class Migration(migrations.Migration):
    """Rows that are there keep an empty value: their links, which were sent out already, name them by their number."""

    dependencies = [("annotate", "0009_limits_and_identity_keys")]

    operations = [
        operation
        for model in ("invitation", "recruitment")
        for operation in (
            migrations.AddField(model, "link_key", models.CharField(max_length=32, default="", editable=False)),
            migrations.AlterField(
                model,
                "link_key",
                models.CharField(
                    max_length=32, default=annotate.models.study.new_link_key, editable=False, db_index=True
                ),
            ),
        )
    ]
