from typing import Any

from django.db import migrations, models

TRIGGERS = [(table, f"{table}_no_{action}") for table in ("annotate_act", "annotate_judgment") for action in ("update", "delete")]


def drop_triggers(apps: Any, schema_editor: Any) -> None:
    """They are named after their tables; `migrate` creates them under today's names (annotate.database.append_only)."""
    postgresql = schema_editor.connection.vendor == "postgresql"
    for table, trigger in TRIGGERS:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {trigger}" + (f" ON {table}" if postgresql else ""))
    if postgresql:
        schema_editor.execute("DROP FUNCTION IF EXISTS preferendum_only_added()")


class Migration(migrations.Migration):
    dependencies = [("annotate", "0013_standard_errors_of_systems")]

    operations = [
        migrations.RunPython(drop_triggers, migrations.RunPython.noop),
        migrations.RemoveConstraint(model_name="act", name="act_follows_one_act"),
        migrations.RemoveConstraint(model_name="act", name="act_follows_one_act_of_the_installation"),
        migrations.RenameModel(old_name="Act", new_name="AuditEntry"),
        migrations.RenameField(model_name="auditentry", old_name="act", new_name="action"),
        migrations.AlterField(
            model_name="auditentry",
            name="study",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=models.deletion.DO_NOTHING,
                related_name="audit_entries",
                to="annotate.study",
            ),
        ),
        migrations.AddConstraint(
            model_name="auditentry",
            constraint=models.UniqueConstraint(fields=("study", "number"), name="audit_entry_follows_one"),
        ),
        migrations.AddConstraint(
            model_name="auditentry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("study", None)),
                fields=("number",),
                name="audit_entry_follows_one_of_the_installation",
            ),
        ),
    ]
