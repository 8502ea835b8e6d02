"""Pairs on which annotators differ: those that divide most of them, as the worker found, and those of any two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotate.models import Annotator, ItemSet, Judgment, Pair, Result, Study
from annotate.models.judging import texts_of
from preferendum.formats.answers import HALF, share_of_first
from preferendum.results import StudyAgreement, from_json
from preferendum.show.analyses.annotator_agreement import NamedAgreement

DISPUTED = 25


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pair of sentences, and which annotators preferred which one."""

    pair: Pair
    first: tuple[Annotator, ...]
    second: tuple[Annotator, ...]
    ties: tuple[Annotator, ...]


def named(row: Result) -> NamedAgreement:
    """The record with names in place of keys."""
    record = from_json(StudyAgreement, row.record)
    pairs = Pair.objects.select_related(*texts_of(), "item_set__topic")
    disputed = pairs.in_bulk([pair.pair for pair in record.disputed])
    item_sets = list(ItemSet.objects.filter(study=row.study_id).select_related("topic"))
    return NamedAgreement(
        record,
        {own.pk: _named(own) for own in item_sets},
        dict(Annotator.objects.filter(pk__in=record.table.annotators).values_list("pk", "pseudonym")),
        {key: (pair.item_set.topic.name, pair.first.name, pair.second.name) for key, pair in disputed.items()},
        {own.pk: own.topic_id for own in item_sets},
    )


def _named(item_set: ItemSet) -> str:
    topic = str(item_set.topic)
    return _("%(topic)s (summaries)") % {"topic": topic} if item_set.of == "summaries" else topic


def most_disputed(study: Study) -> tuple[Dispute, ...]:
    """The study's pairs that divide annotators most, as the worker found them."""
    # The rest of the record grows with topics and annotators.
    rows = Result.objects.of_study(study, "annotators").filter(choice="").values_list("record__disputed", flat=True)
    keys = [pair["pair"] for pair in (rows.first() or ())[:DISPUTED]]
    disputes = {dispute.pair.pk: dispute for dispute in _disputes(_counted(study).filter(assignment__pair__in=keys))}
    return tuple(disputes[key] for key in keys if key in disputes)


def between(study: Study, a: Annotator, b: Annotator) -> tuple[Dispute, ...]:
    """The pairs that these two judged differently, in the order of the second one's answers."""
    preferred: dict[int, dict[int, float]] = {}
    rows = _counted(study).filter(assignment__annotator__in=[a.pk, b.pk])
    for pair, annotator, swapped, answer in rows.values_list(*COLUMNS):
        preferred.setdefault(pair, {})[annotator] = share_of_first(answer, swapped)
    different = [pair for pair, answers in preferred.items() if len(set(answers.values())) > 1]
    return _disputes(rows.filter(assignment__pair__in=different[:DISPUTED]))


COLUMNS = ("assignment__pair_id", "assignment__annotator_id", "assignment__swapped", "answer")


def _counted(study: Study) -> Any:
    """Judgments that count, of the leading kind of annotators, of pairs that they saw for the first time."""
    of_kind = Judgment.objects.counted().filter(assignment__annotator__kind=study.leading_kind)
    return of_kind.filter(item_set__study=study, assignment__occasion=0).exclude(item_set__topic__name="")


def _disputes(rows: Any) -> tuple[Dispute, ...]:
    sides: dict[int, dict[float, list[int]]] = {}
    for pair, annotator, swapped, answer in rows.values_list(*COLUMNS):
        sides.setdefault(pair, {1.0: [], 0.0: [], HALF: []})[share_of_first(answer, swapped)].append(annotator)
    pairs = Pair.objects.select_related(*texts_of(), "item_set__topic").in_bulk(list(sides))
    annotators = Annotator.objects.in_bulk(
        {key for of_pair in sides.values() for several in of_pair.values() for key in several}
    )

    def named(keys: Iterable[int]) -> tuple[Annotator, ...]:
        return tuple(annotators[key] for key in keys)

    return tuple(Dispute(pairs[key], *map(named, of_pair.values())) for key, of_pair in sides.items())
