"""How annotators judge: a row for each, from their answers and the worker's figures about them, and how many of them
look careless.

Rows are built for one page only; the values to sort all of them by take one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Min
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotate.models import Annotator, AnnotatorReport, Assignment, AuditEntry, Judgment, Study
from annotate.models.judging import order_of
from annotate.models.study import sum_of_topics
from preferendum.formats.answers import ANSWERS, SIDES, UNDONE, without_preference
from preferendum.results import AnnotatorFigures, Figure, from_json
from preferendum.results.statistics import share
from preferendum.show.shown import sentences

#: What a flag asks. A flag is a question, not a verdict.
FLAGS = {
    "coin": _("Answers at random?"),
    "sided": _("Prefers one side?"),
    "alternating": _("Alternates between sides?"),
    "inverted": _("Answers inverted?"),
    "fast": _("Faster than reading?"),
    "shared": _("Agrees with others too seldom?"),
    "gold": _("Fails gold pairs?"),
    "repeats": _("Contradicts earlier answers?"),
}
ANNOTATORS_A_PAGE = 50
#: Points of a sparkline, each the median of equally many answers in a row.
POINTS = 16
#: Whoever clicks carelessly is found by so many answers about texts that others judged (docs/annotator-figures.md).
ENOUGH = 40
KINDS = (Annotator.Kind.HUMAN, Annotator.Kind.MACHINE, Annotator.Kind.SIMULATED)


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    """One annotator: how much (of how much), how fast, which side, how often each answer or none was given, from when
    to when.

    `given`: how often, by answer. `seconds` is the median over their answers and `pace` its course; `left`: the share
    of preferences for the left sentence, of pairs shown here; `surplus`: answers to pairs that were full, stored and
    not counted. `figures` are the worker's (docs/admins.md says what each means), and `is_waiting` for them;
    `flags`: its questions in words. `reason`: of an exclusion.
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
    first_at: datetime | None
    last_at: datetime | None
    figures: Mapping[str, Figure]
    is_waiting: bool
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
    keys = list((key for kind in KINDS for key in _in_order(study, kind, "joined")) if keys is None else keys)
    annotators = Annotator.objects.arrived().filter(study=study).select_related("study", "report").in_bulk(keys)
    answered = answers_of(study, annotators.values())
    reasons = _reasons(study, [annotator for annotator in annotators.values() if annotator.is_excluded])
    return tuple(
        _row(annotators[key], answered[key], reasons.get(str(annotators[key].key), ""))
        for key in keys
        if key in annotators
    )


def _report(annotator: Annotator) -> AnnotatorReport | None:
    return getattr(annotator, "report", None)


def _row(annotator: Annotator, own: Answered, reason: str) -> AnnotatorRow:
    report = _report(annotator)
    record = report.record if report else AnnotatorFigures({}, ())
    first_at, last_at = (datetime.fromisoformat(at) if at else None for at in (own.first_at, own.last_at))
    return AnnotatorRow(
        annotator=annotator,
        wanted=annotator.pairs_wanted,
        judged=own.number,
        surplus=own.surplus,
        seconds=own.seconds,
        pace=own.pace,
        left=share(own.left, own.decided),
        given={answer: own.given.get(answer, 0) for answer in ANSWERS},
        skips=annotator.skipped,
        undone=own.undone,
        first_at=first_at,
        last_at=last_at,
        figures=record.figures,
        is_waiting=report is None and own.number > 0,
        flags=tuple(FLAGS[flag] for flag in record.flags if flag in FLAGS),
        weight=report.weight if report else None,
        reason=reason,
    )


def kinds_of(study: Study) -> dict[str, int]:
    """How many annotators of each kind have arrived, people first."""
    counted = Annotator.objects.arrived().filter(study=study).order_by().values_list("kind").annotate(Count("pk"))
    numbers = dict(counted)
    return {kind: numbers[kind] for kind in KINDS if kind in numbers}


def page_of(
    study: Study, sort: str, number: str | None, kind: str = Annotator.Kind.HUMAN
) -> tuple[Page[int], tuple[AnnotatorRow, ...]]:
    """One page of the study's annotators of a kind, sorted by a column (`-column`: descending), and its rows."""
    keys = _in_order(study, kind, sort if sort.lstrip("-") in SORTS else "joined")
    chosen = Paginator(keys, ANNOTATORS_A_PAGE).get_page(number)
    return chosen, rows_of(study, list(chosen.object_list))


def _in_order(study: Study, kind: str, sort: str) -> list[int]:
    """All keys of a kind; annotators without a value are last, either way. Ties stay in the order of joining."""
    of_kind = Annotator.objects.arrived().filter(study=study, kind=kind)
    keys = list(of_kind.order_by("pk").values_list("pk", flat=True))
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


def _by_time(name: str) -> Callable[[Study], Values]:
    def values(study: Study) -> Values:
        everyone = Annotator.objects.arrived().filter(study=study).select_related("report")
        return {key: getattr(own, name) for key, own in answers_of(study, everyone).items()}

    return values


#: What the table can be sorted by.
SORTS: Mapping[str, Callable[[Study], Values]] = {
    "joined": _by_column("pk"),
    "name": _by_name,
    "judged": _by_column("judged"),
    "skips": _by_column("skipped"),
    "first": _by_time("first_at"),
    "last": _by_time("last_at"),
    "flags": _by_flags,
    **{name: _by_figure(name) for name in ("seconds", "left", "longer", "ties", "gold", "repeats", "e")},
}


@dataclass(frozen=True, slots=True)
class Answered:
    """What an annotator's answers that stand, without practice, come to: how often each was `given`, and of pairs shown
    here the `left` text or either (`decided`) preferred; the rest as in `AnnotatorRow`, times as text in UTC."""

    given: Mapping[str, int]
    left: int = 0
    decided: int = 0
    surplus: int = 0
    undone: int = 0
    seconds: float | None = None
    pace: tuple[float, ...] = ()
    first_at: str | None = None
    last_at: str | None = None

    @property
    def number(self) -> int:
        return sum(self.given.values())


def answers_of(study: Study, annotators: Iterable[Annotator]) -> dict[int, Answered]:
    """What annotators answered, who come with their reports: as the worker counted with its last figures, or counted
    now where anything in the study has changed since."""
    versions = Study.objects.filter(pk=study.pk).values_list(sum_of_topics("tally__data_version"), flat=True)
    reports, version = {annotator.pk: _report(annotator) for annotator in annotators}, versions.first()
    kept = {
        key: from_json(Answered, report.answered)
        for key, report in reports.items()
        if report and report.answered and report.version == version
    }
    return kept | count_answers([key for key in reports if key not in kept])


def count_answers(keys: Sequence[int]) -> dict[int, Answered]:
    """Count what these annotators answered: what `AnnotatorReport.answered` keeps."""
    standing = (
        Judgment.objects.standing()
        .filter(assignment__annotator__in=keys)
        .exclude(assignment__reason=Assignment.Reason.TRAINING)
    )
    given = {key: dict.fromkeys(ANSWERS, 0) for key in keys}
    shown, surplus = {key: Counter[str]() for key in keys}, Counter[int]()
    times: dict[int, list[datetime]] = {key: [] for key in keys}
    columns = ("assignment__annotator_id", "answer", "assignment__holds_place", "assignment__reason")
    grouped = standing.order_by().values_list(*columns).annotate(Count("pk"), Min("at"), Max("at"))
    for key, answer, holds_place, reason, number, *ends in grouped:
        times[key] += filter(None, ends)
        given[key][answer] += number
        shown[key][answer] += number if reason != Assignment.Reason.IMPORTED else 0
        surplus[key] += number if not holds_place and reason in Assignment.WANTED else 0
    seconds: dict[int, list[float]] = {key: [] for key in keys}
    timed = standing.filter(seconds__isnull=False).order_by("pk").values_list("assignment__annotator_id", "seconds")
    for key, number in timed.iterator(2000):
        seconds[key].append(number or 0.0)
    taken_back = Judgment.objects.filter(assignment__annotator__in=keys, answer=UNDONE).order_by()
    undone = dict(taken_back.values_list("assignment__annotator_id").annotate(Count("pk")))
    return {
        key: Answered(
            given[key],
            left=shown[key][SIDES[0]],
            decided=sum(shown[key][side] for side in SIDES),
            surplus=surplus[key],
            undone=undone.get(key, 0),
            seconds=median(seconds[key]) if seconds[key] else None,
            pace=_course(seconds[key]),
            first_at=min(times[key]).isoformat() if times[key] else None,
            last_at=max(times[key]).isoformat() if times[key] else None,
        )
        for key in keys
    }


@dataclass(frozen=True, slots=True)
class Careless:
    """Whether annotators of a kind look careless: the `flagged` by key, among so many with answers that count.

    `waiting`: how many the worker has not looked at; `thin`: how many of the others without a flag have too few answers
    to be found.
    """

    annotators: int
    flagged: tuple[int, ...]
    waiting: int
    thin: int

    @property
    def words(self) -> str:
        """The first thing to know about them; "" where nobody has judged."""
        if not self.annotators:
            return ""
        if self.waiting == self.annotators:
            return gettext("Waiting for the worker, which has not looked at these answers yet.")
        if self.flagged and self.annotators == 1:
            return gettext("The only annotator looks careless.")
        if self.flagged:
            number = len(self.flagged)
            sentence = ngettext(
                "%(n)d of %(all)d annotators looks careless.", "%(n)d of %(all)d annotators look careless.", number
            )
            return sentence % {"n": number, "all": self.annotators}
        if self.waiting + self.thin == self.annotators:
            return gettext("Whether anybody is careless cannot be said yet.")
        if seen := self.annotators - self.waiting - self.thin if self.waiting + self.thin else 0:
            none = ngettext(
                "The one annotator with enough answers does not look careless.",
                "None of the %(n)d annotators with enough answers looks careless.",
                seen,
            )
            return none % {"n": seen}
        return gettext("Nobody looks careless.")

    @property
    def unseen(self) -> str:
        """Who could not be found even if careless."""
        if self.waiting == self.annotators:
            return ""
        thin = ngettext(
            "%(n)d annotator has fewer than %(enough)d answers about texts that others judged: too few to find "
            "carelessness.",
            "%(n)d annotators have fewer than %(enough)d answers about texts that others judged: too few to find "
            "carelessness.",
            self.thin,
        )
        waiting = ngettext("%(n)d waits for the worker.", "%(n)d wait for the worker.", self.waiting)
        return sentences(
            thin % {"n": self.thin, "enough": ENOUGH} if self.thin else "",
            waiting % {"n": self.waiting} if self.waiting else "",
        )


def careless(study: Study, kind: str) -> Careless:
    """Whether annotators of a kind look careless; those who are excluded already aside."""
    judged = Annotator.objects.arrived().filter(study=study, kind=kind, excluded_at=None, judged__gt=0)
    keys = list(judged.order_by("pk").values_list("pk", flat=True))
    rows = AnnotatorReport.objects.filter(annotator__in=keys).values_list("annotator_id", "flags", "figures__fit__n")
    reported = {key: (flags, number or 0) for key, flags, number in rows}
    flagged = tuple(key for key in keys if key in reported and reported[key][0])
    thin = sum(not flags and number < ENOUGH for flags, number in reported.values())
    return Careless(len(keys), flagged, len(keys) - len(reported), thin)


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
