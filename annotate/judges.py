"""How people judge: one line for each annotator, from what they answered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef

from annotate.models import Annotator, Assignment, Judgment, Study

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

    @property
    def includes_half(self) -> bool:
        """Whether chance alone could explain it, if both were equally likely."""
        return self.interval is None or self.interval[0] <= 0.5 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Judge:
    """One annotator: how much (of how much), how fast, which side, how often undecided or passed over, when last.

    `seconds` is the median over their answers; `left` counts the answers that preferred a side; `surplus` those that
    came when their pair was full, which are kept and not counted.
    """

    annotator: Annotator
    wanted: int
    judged: int
    surplus: int
    seconds: float | None
    left: Share
    ties: int
    skips: int
    undone: int
    seen_at: datetime | None


@dataclass(slots=True)
class _Sheet:
    seconds: list[float] = field(default_factory=list)
    left: int = 0
    right: int = 0
    ties: int = 0
    surplus: int = 0


def look_at(study: Study) -> tuple[Judge, ...]:
    """Everybody who judges in the study: people first, then machines and simulations, each in the order of joining."""
    sheets = _sheets(study)
    skips = _counted(Assignment.objects.filter(annotator__study=study, state=Assignment.State.SKIPPED), "annotator_id")
    undone = _counted(
        Judgment.objects.filter(assignment__annotator__study=study, answer=Answer.UNDONE), "assignment__annotator_id"
    )
    people = Annotator.objects.filter(study=study).annotate(seen_at=Max("assignments__closed_at")).order_by("pk")
    order = {Annotator.Kind.HUMAN: 0, Annotator.Kind.MACHINE: 1, Annotator.Kind.SIMULATED: 2}
    return tuple(
        Judge(
            annotator=person,
            wanted=study.pairs_per_annotator if person.quota is None else person.quota,
            judged=sheet.left + sheet.right + sheet.ties,
            surplus=sheet.surplus,
            seconds=median(sheet.seconds) if sheet.seconds else None,
            left=Share(sheet.left, sheet.left + sheet.right),
            ties=sheet.ties,
            skips=skips.get(person.pk, 0),
            undone=undone.get(person.pk, 0),
            seen_at=person.seen_at or person.joined_at,
        )
        for person in sorted(people, key=lambda one: (order[Annotator.Kind(one.kind)], one.pk))
        for sheet in [sheets.get(person.pk, _Sheet())]
    )


def _sheets(study: Study) -> dict[int, _Sheet]:
    """By annotator, the answers that stand."""
    later = Judgment.objects.filter(assignment=OuterRef("assignment"), revision__gt=OuterRef("revision"))
    rows = Judgment.objects.filter(
        ~Exists(later), topic__study=study, assignment__state=Assignment.State.JUDGED
    ).values_list("assignment__annotator_id", "assignment__holds_place", "answer", "seconds")
    sheets: dict[int, _Sheet] = {}
    for annotator_id, holds_place, answer, seconds in rows.order_by().iterator(2000):
        sheet = sheets.setdefault(annotator_id, _Sheet())
        sheet.left += answer == Answer.LEFT
        sheet.right += answer == Answer.RIGHT
        sheet.ties += answer == Answer.TIE
        sheet.surplus += not holds_place
        if seconds is not None:
            sheet.seconds.append(seconds)
    return sheets


def _counted(rows: QuerySet[Any], by: str) -> dict[int, int]:
    """How many of these rows each annotator has."""
    return dict(rows.order_by().values_list(by).annotate(Count("pk")))
