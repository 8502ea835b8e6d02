from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotate.audit_log import BEGINNING, digest_of


def chain(apps: Any, schema_editor: Any) -> None:
    """Number the acts that are there and bind each to the one before."""
    acts = apps.get_model("annotate", "Act").objects.using(schema_editor.connection.alias)
    heads: dict[int | None, tuple[int, str]] = {}
    for row in acts.order_by("pk").iterator():
        number, before = heads.get(row.study_id, (0, BEGINNING))
        row.number = number + 1
        row.digest = digest_of(before, row)
        row.save(update_fields=["number", "digest"])
        heads[row.study_id] = (row.number, row.digest)


class Migration(migrations.Migration):
    dependencies = [
        ("annotate", "0006_checks_and_limits"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="act",
            name="actor",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="act",
            name="study",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="acts",
                to="annotate.study",
            ),
        ),
        migrations.AlterField(model_name="act", name="at", field=models.DateTimeField()),
        migrations.AddField(
            model_name="act",
            name="number",
            field=models.PositiveBigIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="act",
            name="digest",
            field=models.CharField(default="", max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(chain, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="act",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="act_follows_one_act"),
        ),
        migrations.AddConstraint(
            model_name="act",
            constraint=models.UniqueConstraint(
                condition=models.Q(("study", None)),
                fields=("number",),
                name="act_follows_one_act_of_the_installation",
            ),
        ),
    ]
