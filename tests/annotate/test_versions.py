"""Versions say what is out of date: they rise by little, and no sum of them ever falls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from django.apps import apps
from django.db import DataError, IntegrityError, transaction
from django.db.models import F, IntegerField, Max, Model, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate import imports, judging
from annotate.database import statements
from annotate.models import ItemSet, LockedItemSet, Removal, Result, Study, System, Tally, Topic
from annotate.models.analysis import version_of_examinations
from annotate.models.crowd import version_of_groups
from annotate.models.study import LAST, sum_of_topics
from annotate.server import limits
from evaluation import tasks
from evaluation.records import metrics, win_rates
from tests.annotate import making, scored
from tests.annotate.everything import everything
from tests.annotate.judging_study import joined, judged
from tests.annotate.making import TOPIC

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
#: More than 32 bits hold.
MUCH = 2**31


def columns(called: str) -> Iterator[tuple[type[Model], str]]:
    """Every column of whole numbers that is no key, of the tables and names that contain this."""
    for table in apps.get_app_config("annotate").get_models():
        for field in table._meta.concrete_fields:
            if isinstance(field, IntegerField) and not field.primary_key and called in field.name:
                yield table, field.name


def largest(called: str = "version") -> int:
    found = (table._base_manager.aggregate(n=Max(name))["n"] for table, name in columns(called))
    return max(number or 0 for number in found)


def take_out(study: Study, kind: str, key: object) -> Removal:
    return imports.remove(study, making.owner(study), kind, str(key))


def put_back(removal: Removal) -> Removal:
    return imports.restore_removed(removal, making.owner(removal.study))


def compared(topics: int) -> Study:
    """A study that asks both questions, judged once about sentences and once about summaries of every topic."""
    study = making.study(compares="both", judgments_per_topic=1, summary_judgments_per_topic=1, person_cap=1.0)
    for topic in making.take_in(study, *(TOPIC | {"topic_id": f"M{number}"} for number in range(topics))):
        making.prepare(topic)
    judge = joined(study)
    for _ in range(2 * topics):
        judged(judge)
    return study


def test_versions_stay_small_however_often_a_system_is_removed_and_restored() -> None:
    study = compared(topics=3)
    before = largest()
    for _round in range(6):
        put_back(take_out(study, "system", System.objects.get(study=study, name="lead").pk))
    assert largest() <= before + 6 * 2


def test_versions_stay_small_however_often_a_topic_is_removed_and_restored() -> None:
    study = compared(topics=2)
    before = largest()
    for _round in range(12):
        put_back(take_out(study, "topic", Topic.objects.filter(study=study)[0].pk))
    assert largest() <= before + 12 * 2


def sums(study: Study) -> dict[str, int]:
    """Every version of the study that is a sum."""
    each = {name: sum_of_topics(name) for name in LAST}
    each |= {"groups": version_of_groups(), "examinations": version_of_examinations(), "metrics": metrics._version()}
    found = Study.objects.filter(pk=study.pk).annotate(**{f"sum_{name}": sum_ for name, sum_ in each.items()})
    of_study = {f"sum_{name}": getattr(found.get(), f"sum_{name}") or 0 for name in each}
    return of_study | {"win rates": win_rates._version_of(study.pk)}


def work(study: Study) -> None:
    assert tasks.catch_up(study.pk) == {}
    for topic in Topic.objects.filter(study=study):
        tasks.score_with_metrics(topic.pk)
        tasks.examine_topic(topic.pk)
    tasks.TASKS["compare_metrics"](study.pk)
    tasks.examine_study(study.pk)


@pytest.mark.parametrize("is_worked", [True, False], ids=["worked at", "left alone"])
def test_no_sum_of_versions_falls_whatever_is_removed_restored_and_forgotten(is_worked: bool) -> None:
    study = scored.scored_study(compares="both")
    judge = joined(study)
    for _ in range(3):
        judged(judge)
    work(study)
    seen = [sums(study)]
    assert all(version > 0 for version in seen[0].values())

    def act(kind: str, key: object) -> None:
        removal = take_out(study, kind, key)
        seen.append(sums(study))
        if is_worked and study.topics.exists():
            work(study)
        seen.append(sums(study))
        put_back(removal)
        seen.append(sums(study))
        if is_worked:
            work(study)

    act("topic", scored.topic(study, "rain").pk)
    act("system", System.objects.get(study=study, name="=hat").pk)
    act("human_scores", "pyramid")
    act("topic", scored.topic(study, "rain").pk)
    for topic in list(study.topics.all()):
        take_out(study, "topic", topic.pk)
        seen.append(sums(study))
    Removal.objects.update(removed_at=timezone.now() - timedelta(days=2))
    imports.forget_removed()
    seen.append(sums(study))
    for before, after in pairwise(seen):
        assert {name: after[name] for name in before if after[name] < before[name]} == {}


def test_a_removal_makes_every_report_of_a_study_old() -> None:
    study = scored.scored_study(compares="both")
    work(study)
    before = sums(study)
    take_out(study, "topic", scored.topic(study, "rain").pk)
    after = sums(study)
    assert {name for name in before if after[name] <= before[name]} == set()


def test_a_topic_goes_on_from_its_last_version_when_it_is_restored() -> None:
    study = compared(topics=1)
    topic = Topic.objects.get(study=study)
    assert tasks.catch_up(study.pk) == {}
    for _round in range(3):
        before = Tally.objects.get(item_set=topic.pk).data_version
        put_back(take_out(study, "topic", topic.pk))
        assert Tally.objects.get(item_set=topic.pk).data_version == before + 1


# Whole numbers beside an F()


def updated_with_f() -> set[str]:
    """The names of columns that the product updates with an F()."""
    calls = (
        node
        for folder in ("annotate", "evaluation")
        for path in sorted(ROOT.joinpath(folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update"
    )
    return {word.arg for call in calls for word in call.keywords if word.arg and " F(" in f" {_said(word.value)}"}


def _said(value: ast.AST) -> str:
    return ast.unparse(value).replace("models.F(", " F(").replace("(F(", "( F(")


def add(table: type[Model], name: str) -> bool:
    """Add a number of more than 32 bits to a column, which stores or refuses it; False where no row has a number."""
    row = table._base_manager.exclude(**{name: None}).order_by("pk").last()
    if row is None:
        return False
    try:
        with transaction.atomic():
            table._base_manager.filter(pk=row.pk).update(**{name: F(name) + MUCH})
    except (DataError, IntegrityError):
        return True
    assert table._base_manager.values_list(name, flat=True).get(pk=row.pk) == getattr(row, name) + MUCH
    return True


def test_no_number_added_to_a_column_is_cut_without_a_word() -> None:
    world = everything()
    Result.objects.create(study=world.study, analysis="metrics", computed_at=timezone.now())
    limits.spend(limits.Limit("trial", 10, 60), "somebody")
    added = {name for table, name in columns("") if add(table, name)}
    with_f = updated_with_f() & {name for _table, name in columns("")}
    assert {"removed_version", "data_version", "taken", "turns", "peers_version", "used"} <= with_f
    assert with_f <= added
    for table, name in columns(""):
        total = Coalesce(Max(name), Value(0, output_field=table._meta.get_field(name))) + MUCH
        before = table._base_manager.aggregate(n=Max(name))["n"] or 0
        assert table._base_manager.aggregate(n=total)["n"] == before + MUCH


def test_a_study_counts_removals_beyond_32_bits() -> None:
    study = making.study()
    study.count_removed(3_000_000_000)
    study.refresh_from_db()
    assert study.removed_version == 3_000_000_000


def test_a_number_that_its_column_cannot_hold_is_refused() -> None:
    (topic,) = making.take_in(making.study())
    for large in (2**63, 2**64):
        with pytest.raises((DataError, OverflowError)), transaction.atomic():
            ItemSet.objects.filter(topic=topic).update(last_data_version=large)


def test_the_statements_of_a_click_count_beyond_32_bits() -> None:
    (topic,) = making.take_in(making.study())
    locked = LockedItemSet(topic.pk, 0, False, timezone.now(), last=0)
    locked.answers = MUCH
    statements.count(locked)
    assert Tally.objects.get(item_set=topic.pk).data_version == MUCH
    assert judging.lock([topic.pk]) == [topic.pk]
