"""How annotators judge: a row for each, from their answers and the worker's figures about them.

Rows are built for one page only; the values to sort all of them by take one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max
from django.utils.translation import gettext_lazy as _

from annotate.models import Annotator, AnnotatorReport, Assignment, AuditEntry, Judgment, Study
from annotate.models.judging import order_of
from preferendum.formats.answers import ANSWERS, SIDES, UNDONE, without_preference
from preferendum.results import AnnotatorFigures, Figure, from_json
from preferendum.results.statistics import share

if TYPE_CHECKING:
    from django.db.models import QuerySet


#: What a flag asks. A flag is a question, not a verdict.
FLAGS = {
    "coin": _("Answers at random?"),
    "sided": _("Prefers one side?"),
    "alternating": _("Alternates between sides?"),
    "inverted": _("Answers inverted?"),
    "fast": _("Faster than reading?"),
    "gold": _("Fails gold pairs?"),
    "repeats": _("Contradicts earlier answers?"),
}
ANNOTATORS_A_PAGE = 50
#: Points of a sparkline, each the median of equally many answers in a row.
POINTS = 16


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """One annotator: how much (of how much), how fast, which side, how often each answer or none was given, when last.

    `given`: how often, by answer. `seconds` is the median over their answers and `pace` its course; `left`: the share
    of preferences for the left sentence, of pairs shown here; `surplus`: answers to pairs that were full, stored and
    not counted. `figures` are the worker's (docs/admins.md says what each means); `flags` its questions in words.
    `reason`: of an exclusion.
    """

    annotator: Annotator
    wanted: int
    judged: int
    surplus: int
    seconds: float | None
    pace: tuple[float, ...]
    left: Figure
    given: Mapping[str, int]
    skips: int
    undone: int
    seen_at: datetime | None
    figures: Mapping[str, Figure]
    flags: tuple[Any, ...]
    weight: float | None
    reason: str

    @property
    def without_preference(self) -> dict[str, int]:
        """How often they preferred neither sentence, by the words of a report."""
        return without_preference(self.given)

    @property
    def left_percents(self) -> tuple[int, ...]:
        """The percentage of preferences for the left, with its interval; empty if unknown."""
        left = self.left
        return tuple(round(100 * share) for share in (left.value, left.low, left.high) if share is not None)


def rows_of(study: Study, keys: Sequence[int] | None = None) -> tuple[AnnotatorRow, ...]:
    """These annotators of a study in this order; without keys all, in the order of joining, humans first.

    The number of queries does not grow with the number of annotators.
    """
    keys = list(_in_order(study, "joined") if keys is None else keys)
    annotators = (
        Annotator.objects.arrived()
        .filter(study=study)
        .select_related("study")
        .annotate(seen_at=Max("assignments__closed_at"))
        .in_bulk(keys)
    )
    answers = _answers(keys)
    undone = _numbers(
        Judgment.objects.filter(assignment__annotator__in=keys, answer=UNDONE), "assignment__annotator_id"
    )
    reports = {report.annotator_id: report for report in AnnotatorReport.objects.filter(annotator__in=keys)}
    reasons = _reasons(study, [annotator for annotator in annotators.values() if annotator.is_excluded])
    return tuple(
        _row(
            annotators[key],
            answers.get(key, _Answers()),
            reports.get(key),
            undone=undone.get(key, 0),
            reason=reasons.get(str(annotators[key].key), ""),
        )
        for key in keys
        if key in annotators
    )


def _row(annotator: Annotator, answers: _Answers, report: AnnotatorReport | None, **columns: Any) -> AnnotatorRow:
    seen_at: datetime | None = annotator.seen_at  # type: ignore[attr-defined]  # annotated by the query
    record = report.record if report else AnnotatorFigures({}, ())
    return AnnotatorRow(
        annotator=annotator,
        wanted=annotator.pairs_wanted,
        judged=answers.number,
        surplus=answers.surplus,
        seconds=median(answers.seconds) if answers.seconds else None,
        pace=_course(answers.seconds),
        left=share(*answers.left_of_decided),
        given=answers.given,
        skips=annotator.skipped,
        seen_at=seen_at or (None if annotator.imported else annotator.joined_at),
        figures=record.figures,
        flags=tuple(FLAGS[flag] for flag in record.flags if flag in FLAGS),
        weight=report.weight if report else None,
        **columns,
    )


def page_of(study: Study, sort: str, number: str | None) -> tuple[Page[int], tuple[AnnotatorRow, ...]]:
    """One page of the study's annotators, sorted by a column (`-column`: descending), and its rows."""
    keys = _in_order(study, sort if sort.lstrip("-") in SORTS else "joined")
    chosen = Paginator(keys, ANNOTATORS_A_PAGE).get_page(number)
    return chosen, rows_of(study, list(chosen.object_list))


def _in_order(study: Study, sort: str) -> list[int]:
    """All keys; annotators without a value are last, either way. Ties stay in the order of joining."""
    kinds = {Annotator.Kind.HUMAN: 0, Annotator.Kind.MACHINE: 1, Annotator.Kind.SIMULATED: 2}
    rows = Annotator.objects.arrived().filter(study=study).order_by("pk").values_list("pk", "kind")
    keys = [pk for pk, _kind in sorted(rows, key=lambda row: kinds[Annotator.Kind(row[1])])]
    column, down = sort.lstrip("-"), sort.startswith("-")
    if column == "joined":
        return keys[::-1] if down else keys
    values = SORTS[column](study)
    with_value = [key for key in keys if values.get(key) is not None]
    with_value.sort(key=lambda key: values[key], reverse=down)
    return with_value + [key for key in keys if values.get(key) is None]


Values = Mapping[int, Any]


def _by_column(name: str) -> Callable[[Study], Values]:
    return lambda study: dict(Annotator.objects.filter(study=study).values_list("pk", name))


def _by_name(study: Study) -> Values:
    return {key: order_of(name) for key, name in Annotator.objects.filter(study=study).values_list("pk", "pseudonym")}


def _by_figure(name: str) -> Callable[[Study], Values]:
    def values(study: Study) -> Values:
        rows = AnnotatorReport.objects.filter(annotator__study=study).values_list("annotator_id", f"figures__{name}")
        figures = {key: from_json(Figure, figure) for key, figure in rows if figure}
        return {key: figure.value for key, figure in figures.items() if figure.n}

    return values


def _by_flags(study: Study) -> Values:
    rows = AnnotatorReport.objects.filter(annotator__study=study).values_list("annotator_id", "flags")
    return {key: len(flags) for key, flags in rows}


def _by_last_seen(study: Study) -> Values:
    rows = Assignment.objects.filter(annotator__study=study).order_by().values_list("annotator_id")
    return dict(rows.annotate(Max("closed_at")))


#: What the table can be sorted by.
SORTS: Mapping[str, Callable[[Study], Values]] = {
    "joined": _by_column("pk"),
    "name": _by_name,
    "judged": _by_column("judged"),
    "skips": _by_column("skipped"),
    "seen": _by_last_seen,
    "flags": _by_flags,
    **{name: _by_figure(name) for name in ("seconds", "left", "ties", "gold", "repeats", "circles", "fit", "e")},
}


@dataclass(slots=True)
class _Answers:
    given: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ANSWERS, 0))
    sided: Counter[str] = field(default_factory=Counter)
    surplus: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def number(self) -> int:
        return sum(self.given.values())

    @property
    def left_of_decided(self) -> tuple[int, int]:
        """How often the left sentence was preferred, and how often either was: of pairs that were shown here."""
        left, right = (self.sided[side] for side in SIDES)
        return left, left + right


def _answers(keys: Sequence[int]) -> dict[int, _Answers]:
    """The answers that stand, without practice, by annotator."""
    standing = (
        Judgment.objects.standing()
        .filter(assignment__annotator__in=keys)
        .exclude(assignment__reason=Assignment.Reason.TRAINING)
    )
    answers = {key: _Answers() for key in keys}
    columns = ("assignment__annotator_id", "answer", "assignment__holds_place", "assignment__reason")
    for key, answer, holds_place, reason, number in standing.order_by().values_list(*columns).annotate(Count("pk")):
        answers[key].given[answer] += number
        answers[key].sided[answer] += number if reason != Assignment.Reason.IMPORTED else 0
        answers[key].surplus += number if not holds_place and reason in Assignment.WANTED else 0
    timed = standing.filter(seconds__isnull=False).order_by("pk").values_list("assignment__annotator_id", "seconds")
    for key, seconds in timed.iterator(2000):
        answers[key].seconds.append(seconds or 0.0)
    return answers


def _course(seconds: Sequence[float]) -> tuple[float, ...]:
    """At most so many medians of consecutive answers."""
    points = min(POINTS, len(seconds))
    bounds = [round(step * len(seconds) / points) for step in range(points + 1)] if points else []
    return tuple(median(seconds[start:end]) for start, end in pairwise(bounds))


def _reasons(study: Study, excluded: Sequence[Annotator]) -> dict[str, str]:
    """The reasons of exclusions by the annotator's key: the last such entry of the audit log."""
    keys = [str(annotator.key) for annotator in excluded]
    entries = AuditEntry.objects.filter(study=study, action="exclude annotator", detail__key__in=keys)
    return {detail["key"]: detail["reason"] for detail in entries.order_by("pk").values_list("detail", flat=True)}


def _numbers(rows: QuerySet[Any], by: str) -> dict[int, int]:
    """How many of these rows each annotator has."""
    return dict(rows.order_by().values_list(by).annotate(Count("pk")))
