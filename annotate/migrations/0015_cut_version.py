from typing import Any

from django.db import migrations, models
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce


def take_over(apps: Any, schema_editor: Any) -> None:
    """What was cut stays cut."""
    alias = schema_editor.connection.alias
    progress = apps.get_model("annotate", "TopicProgress").objects.using(alias).filter(topic=OuterRef("pk"))
    topics = apps.get_model("annotate", "Topic").objects.using(alias)
    topics.update(cut_version=Coalesce(Subquery(progress.values("prepared_version")[:1]), 0))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0014_audit_entry")]

    operations = [
        migrations.AddField("topic", "cut_version", models.PositiveIntegerField(default=0)),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
