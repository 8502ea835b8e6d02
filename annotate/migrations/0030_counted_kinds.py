"""A study says whose judgments count; those that are there keep counting whom they count. Only people take places."""

from typing import Any

from django.db import migrations, models
from django.db.models import Count, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from formats.settings import everyone

CHOICES = [
    ("people", "people’s"),
    ("people-and-machines", "people’s and machines’"),
    ("people-and-simulated", "people’s and simulated ones"),
    ("machines", "machines’ only"),
    ("simulated", "simulated ones only"),
    ("all", "everyone’s: people’s, machines’ and simulated ones"),
]
HELP = (
    "Scores rest on these judgments alone; all others are kept. People’s judgments include imported ones. "
    "Machines and simulated annotators never take a pair from people."
)


def keep_counting(apps: Any, schema_editor: Any) -> None:
    """All kinds counted until now: those that a study has go on doing so."""
    database = schema_editor.connection.alias
    kinds: dict[int, set[str]] = {}
    annotators = apps.get_model("annotate", "Annotator").objects.using(database)
    for study, kind in annotators.order_by().values_list("study", "kind").distinct():
        kinds.setdefault(study, set()).add(kind)
    studies = apps.get_model("annotate", "Study").objects.using(database)
    for study, present in kinds.items():
        studies.filter(pk=study).update(counted_kinds=everyone(present))


def free_places_of_machines(apps: Any, schema_editor: Any) -> None:
    """Take what machines hold off what is taken of pairs and topics."""
    database = schema_editor.connection.alias
    held = apps.get_model("annotate", "Assignment").objects.using(database).filter(holds_place=True)
    people = held.filter(annotator__kind="human", annotator__excluded_at=None, pair=OuterRef("pk"))
    places = people.order_by().values("pair").annotate(places=Count("pk")).values("places")
    pairs = apps.get_model("annotate", "Pair").objects.using(database)
    of_machines = held.filter(annotator__kind="machine")
    pairs.filter(pk__in=of_machines.values("pair")).update(taken=Coalesce(Subquery(places), 0))
    taken = pairs.filter(topic=OuterRef("topic")).order_by().values("topic").annotate(places=Sum("taken"))
    tallies = apps.get_model("annotate", "Tally").objects.using(database)
    tallies.filter(topic__in=of_machines.values("topic")).update(taken=Coalesce(Subquery(taken.values("places")), 0))


class Migration(migrations.Migration):
    dependencies = [("annotate", "0029_gold_pairs")]

    operations = [
        migrations.AddField(
            "study",
            "counted_kinds",
            models.CharField("whose judgments count", max_length=20, default="people", choices=CHOICES, help_text=HELP),
        ),
        migrations.RunPython(keep_counting, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(free_places_of_machines, migrations.RunPython.noop, elidable=True),
    ]
