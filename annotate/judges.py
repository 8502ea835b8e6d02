"""How people judge: one line for each annotator, from what they answered and what the worker found out about them.

Only the lines of one page are put together; what all lines are sorted by comes from one query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Max
from django.utils.translation import gettext_lazy as _

from annotate.models import Act, Annotator, AnnotatorReport, Assignment, Judgment, Study

if TYPE_CHECKING:
    from django.db.models import QuerySet

Z95 = 1.959963984540054

Answer = Judgment.Answer


@dataclass(frozen=True, slots=True)
class Share:
    """How often something happened, with its 95% interval (Wilson 1927)."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.of:
            return None
        n, p = self.of, self.count / self.of
        centre = (p + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        margin = Z95 / (1 + Z95**2 / n) * math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2))
        return max(0.0, centre - margin), min(1.0, centre + margin)

    @property
    def percent(self) -> int | None:
        return None if self.share is None else round(100 * self.share)

    @property
    def percents(self) -> tuple[int, int] | None:
        """The interval in whole percent."""
        return None if self.interval is None else (round(100 * self.interval[0]), round(100 * self.interval[1]))


#: What a flag asks. A flag is a question, not a verdict.
FLAGS = {
    "coin": _("Answers like tossing a coin?"),
    "sided": _("Answers by side?"),
    "alternating": _("Changes sides by turns?"),
    "inverted": _("Answers the wrong way round?"),
    "fast": _("Faster than one can read?"),
    "gold": _("Fails hidden checks?"),
    "repeats": _("Contradicts what they said before?"),
}
PEOPLE_A_PAGE = 50
#: A sparkline has so many points, each the median of as many answers in a row.
POINTS = 16
#: Pairs that only look after people: answers to them are neither counted nor surplus.
CHECKS = (Assignment.Reason.TRAINING, Assignment.Reason.GOLD, Assignment.Reason.REPEAT)
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Judge:
    """One annotator: how much (of how much), how fast, which side, how often undecided or passed over, when last.

    `seconds` is the median over their answers and `pace` its course; `left` counts the answers that preferred a side;
    `surplus` those that came when their pair was full, which are kept and not counted. `figures` are the worker's, with
    n and interval (docs/admins.md says what each means); `flags` its questions in words. `reason`: of an exclusion.
    """

    annotator: Annotator
    wanted: int
    judged: int
    surplus: int
    seconds: float | None
    pace: tuple[float, ...]
    left: Share
    ties: int
    skips: int
    undone: int
    seen_at: datetime | None
    figures: Mapping[str, Any]
    flags: tuple[Any, ...]
    weight: float | None
    reason: str

    @property
    def gold(self) -> Mapping[str, Any]:
        return self._figure("gold")

    @property
    def repeats(self) -> Mapping[str, Any]:
        return self._figure("repeats")

    @property
    def circles(self) -> Mapping[str, Any]:
        return self._figure("circles")

    @property
    def fit(self) -> Mapping[str, Any]:
        return self._figure("fit")

    @property
    def e(self) -> Mapping[str, Any]:
        return self._figure("e")

    def _figure(self, name: str) -> Mapping[str, Any]:
        """A figure and, where it is a share, how many of its n that was."""
        found = self.figures.get(name)
        if not found or not found.get("n"):
            return NOTHING
        return {**found, "k": round((found["value"] or 0) * found["n"])}


def look_at(study: Study, annotators: Sequence[int] | None = None) -> tuple[Judge, ...]:
    """These annotators of a study in this order; everybody in the order of joining, people first, where none is said.

    As many queries for one as for many.
    """
    keys = list(_in_order(study, "joined") if annotators is None else annotators)
    people = Annotator.objects.filter(study=study).annotate(seen_at=Max("assignments__closed_at")).in_bulk(keys)
    sheets = _sheets(keys)
    undone = _counted(
        Judgment.objects.filter(assignment__annotator__in=keys, answer=Answer.UNDONE), "assignment__annotator_id"
    )
    reports = {one.annotator_id: one for one in AnnotatorReport.objects.filter(annotator__in=keys)}
    reasons = _reasons(study, [one for one in people.values() if one.excluded_at])
    return tuple(
        _judge(
            study,
            people[key],
            sheets.get(key, _Sheet()),
            reports.get(key),
            undone=undone.get(key, 0),
            reason=reasons.get(str(people[key].key), ""),
        )
        for key in keys
        if key in people
    )


def _judge(study: Study, person: Annotator, sheet: _Sheet, report: AnnotatorReport | None, **known: Any) -> Judge:
    seen_at: datetime | None = person.seen_at  # type: ignore[attr-defined]  # annotated by the query
    return Judge(
        annotator=person,
        wanted=study.pairs_per_annotator if person.quota is None else person.quota,
        judged=sheet.answers,
        surplus=sheet.surplus,
        seconds=median(sheet.seconds) if sheet.seconds else None,
        pace=_course(sheet.seconds),
        left=Share(sheet.given["left"], sheet.given["left"] + sheet.given["right"]),
        ties=sheet.given["tie"],
        skips=person.skipped,
        seen_at=seen_at or person.joined_at,
        figures=report.figures if report else {},
        flags=tuple(FLAGS[flag] for flag in report.flags if flag in FLAGS) if report else (),
        weight=report.weight if report else None,
        **known,
    )


def page_of(study: Study, sort: str, number: str | None) -> tuple[Page[int], tuple[Judge, ...]]:
    """One page of the study's annotators, sorted by a column (`-column`: downwards), and its lines."""
    chosen = Paginator(_in_order(study, sort if sort.lstrip("-") in SORTS else "joined"), PEOPLE_A_PAGE).get_page(
        number
    )
    return chosen, look_at(study, list(chosen.object_list))


def _in_order(study: Study, sort: str) -> list[int]:
    """Everybody's keys; who has no value comes last, either way. Equals stay in the order of joining."""
    kinds = {Annotator.Kind.HUMAN: 0, Annotator.Kind.MACHINE: 1, Annotator.Kind.SIMULATED: 2}
    rows = Annotator.objects.filter(study=study).order_by("pk").values_list("pk", "kind")
    keys = [pk for pk, _kind in sorted(rows, key=lambda row: kinds[Annotator.Kind(row[1])])]
    column, down = sort.lstrip("-"), sort.startswith("-")
    if column == "joined":
        return keys[::-1] if down else keys
    values = SORTS[column](study)
    known = [key for key in keys if values.get(key) is not None]
    known.sort(key=lambda key: values[key], reverse=down)
    return known + [key for key in keys if values.get(key) is None]


Values = Mapping[int, Any]


def _by_column(name: str) -> Callable[[Study], Values]:
    return lambda study: dict(Annotator.objects.filter(study=study).values_list("pk", name))


def _by_figure(name: str) -> Callable[[Study], Values]:
    def values(study: Study) -> Values:
        rows = AnnotatorReport.objects.filter(annotator__study=study).values_list("annotator_id", "figures")
        return {key: figures[name]["value"] for key, figures in rows if figures.get(name, {}).get("n")}

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
    "name": _by_column("pseudonym"),
    "judged": _by_column("judged"),
    "skips": _by_column("skipped"),
    "seen": _by_last_seen,
    "flags": _by_flags,
    **{name: _by_figure(name) for name in ("seconds", "left", "ties", "gold", "repeats", "circles", "fit", "e")},
}


@dataclass(slots=True)
class _Sheet:
    given: dict[str, int] = field(default_factory=lambda: {"left": 0, "right": 0, "tie": 0})
    surplus: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def answers(self) -> int:
        return sum(self.given.values())


def _sheets(keys: Sequence[int]) -> dict[int, _Sheet]:
    """By annotator, the answers that stand; practice is none."""
    standing = (
        Judgment.objects.filter(
            assignment__annotator__in=keys,
            assignment__state=Assignment.State.JUDGED,
            revision=F("assignment__revision"),
        )
        .exclude(answer=Answer.UNDONE)
        .exclude(assignment__reason=Assignment.Reason.TRAINING)
    )
    sheets = {key: _Sheet() for key in keys}
    columns = ("assignment__annotator_id", "answer", "assignment__holds_place", "assignment__reason")
    for key, answer, holds_place, reason, number in standing.order_by().values_list(*columns).annotate(Count("pk")):
        sheets[key].given[answer] += number
        sheets[key].surplus += number if not holds_place and reason not in CHECKS else 0
    timed = standing.filter(seconds__isnull=False).order_by("pk").values_list("assignment__annotator_id", "seconds")
    for key, seconds in timed.iterator(2000):
        sheets[key].seconds.append(seconds or 0.0)
    return sheets


def _course(seconds: Sequence[float]) -> tuple[float, ...]:
    """At most so many medians of answers in a row."""
    points = min(POINTS, len(seconds))
    bounds = [round(step * len(seconds) / points) for step in range(points + 1)] if points else []
    return tuple(median(seconds[start:end]) for start, end in pairwise(bounds))


def _reasons(study: Study, excluded: Sequence[Annotator]) -> dict[str, str]:
    """By key, why they were excluded: the last such act of the log."""
    keys = [str(one.key) for one in excluded]
    acts = (
        Act.objects.filter(study=study, act="exclude annotator", detail__key__in=keys) if keys else Act.objects.none()
    )
    return {detail["key"]: detail["reason"] for detail in acts.order_by("pk").values_list("detail", flat=True)}


def _counted(rows: QuerySet[Any], by: str) -> dict[int, int]:
    """How many of these rows each annotator has."""
    return dict(rows.order_by().values_list(by).annotate(Count("pk")))
