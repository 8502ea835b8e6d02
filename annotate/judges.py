"""How people judge: one line for each annotator, from what they answered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Max, OuterRef
from django.utils.translation import gettext_lazy as _

from annotate.models import AgreementReport, Annotator, AnnotatorReport, Assignment, Judgment, Pair, Study, Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

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
WHY = {
    "nobody_twice": _("No pair was judged by two people yet, so that nobody can tell."),
    "all_equal": _("All gave the same answer: whether they would notice a difference cannot be told."),
}
PEOPLE_A_PAGE = 100
DISPUTED = 10


@dataclass(frozen=True, slots=True)
class Looked:
    """What the worker found out about one annotator; `flags` in words. None where nobody can tell yet."""

    flags: tuple[object, ...]
    repeats: dict[str, Any]
    circles: dict[str, Any]
    fit: dict[str, Any]
    weight: float | None


@dataclass(frozen=True, slots=True)
class Concord:
    """How far the study's people agree, as stored: the study's figures, `topics` by name, and divided pairs."""

    report: AgreementReport
    whole: dict[str, Any]
    why: object
    topics: tuple[tuple[Topic, dict[str, Any]], ...]
    disputed: tuple[tuple[Pair, dict[str, Any]], ...]


def look_up(keys: Sequence[int]) -> dict[int, Looked]:
    """What is stored about these annotators."""
    return {
        one.annotator_id: Looked(
            tuple(FLAGS[flag] for flag in one.flags if flag in FLAGS),
            one.figures.get("repeats", {}),
            one.figures.get("circles", {}),
            one.figures.get("fit", {}),
            one.weight,
        )
        for one in AnnotatorReport.objects.filter(annotator__in=keys)
    }


def agreement(study: Study) -> Concord | None:
    """How far the study's people agree; None before the worker has looked."""
    report = AgreementReport.objects.filter(study=study).first()
    if report is None or not report.figures:
        return None
    topics = {topic.pk: topic for topic in Topic.objects.filter(study=study)}
    divided = {one["pair"]: one for one in report.figures["disputed"][:DISPUTED]}
    pairs = Pair.objects.filter(pk__in=divided).select_related("first", "second")
    found = {pair.pk: pair for pair in pairs}
    whole = report.figures["study"]
    return Concord(
        report,
        whole,
        WHY.get(whole["why"], ""),
        tuple((topics[one["topic"]], one) for one in report.figures["topics"] if one["topic"] in topics),
        tuple((found[key], one) for key, one in divided.items() if key in found),
    )


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
