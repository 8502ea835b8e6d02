"""What the worker saw when it looked closely: coverage, sentences that fit badly, and what single people move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotate.models import Annotator, AnnotatorReport, Examination, Sentence, Study, Topic, TopicExamination

MISFITS = 50
#: Fewer repeated pairs say too little of how consistent somebody is.
FEW_REPEATS = 3
INCONSISTENT = 10


@dataclass(frozen=True, slots=True)
class Covered:
    """How well one topic is covered. `bars`: (judgments, sentences that have so many), from none to the most."""

    topic: Topic
    sentences: int
    judged: int
    pairs: int
    bars: tuple[tuple[int, int], ...]
    parts: tuple[int, ...]
    circuits: tuple[int, ...]
    computed_at: datetime

    @property
    def middle(self) -> int:
        """The median number of judgments of a sentence."""
        seen = 0
        for judgments, sentences in self.bars:
            seen += sentences
            if 2 * seen >= self.sentences:
                return judgments
        return 0

    @property
    def most(self) -> int:
        return self.bars[-1][0] if self.bars else 0

    @property
    def is_whole(self) -> bool:
        """Whether comparisons tie all judged sentences together."""
        return len(self.parts) <= 1


@dataclass(frozen=True, slots=True)
class Misfit:
    """A sentence that won more or less often than its utility lets one expect."""

    sentence: Sentence
    z: float
    wins: float
    expected: float
    judgments: int


@dataclass(frozen=True, slots=True)
class Steady:
    """One system's rank, those that the removal of one person can give it, and its largest change by one person."""

    system: str
    rank: int
    rank_low: int
    rank_high: int
    change: float
    person: str


@dataclass(frozen=True, slots=True)
class Robust:
    """Whether the rank of the first place survives the removal of any one person; `takers`: (person, new first)."""

    people: int
    unknown: int
    first: str
    takers: tuple[tuple[str, str], ...]
    systems: tuple[Steady, ...]
    computed_at: datetime

    @property
    def survives(self) -> bool:
        return not self.takers


@dataclass(frozen=True, slots=True)
class Consistency:
    """How consistent one person is: the share of pairs shown twice that they judged alike, else their fit to others."""

    annotator: Annotator
    figure: Mapping[str, Any]
    by: str


def coverage(study: Study) -> tuple[Covered, ...]:
    """The topics that the worker has looked at, in their order."""
    rows = TopicExamination.objects.filter(topic__study=study).select_related("topic").order_by("topic__position")
    return tuple(_covered(row) for row in rows.only("topic", "figures", "computed_at") if row.figures)


def _covered(row: TopicExamination) -> Covered:
    found = row.figures["coverage"]
    counts: Sequence[int] = found["judgments"]
    return Covered(
        topic=row.topic,
        sentences=found["sentences"],
        judged=found["sentences"] - (counts[0] if counts else 0),
        pairs=found["pairs"],
        bars=tuple(enumerate(counts)),
        parts=tuple(found["parts"]),
        circuits=tuple(found["circuits"]),
        computed_at=row.computed_at,
    )


def misfits(study: Study) -> tuple[Misfit, ...]:
    """The study's sentences with the largest standardized residuals."""
    rows = TopicExamination.objects.filter(topic__study=study).values_list("figures", flat=True)
    found = [one for figures in rows for one in figures.get("misfits", [])]
    found.sort(key=lambda one: -abs(one["z"]))
    worst = found[:MISFITS]
    sentences = Sentence.objects.select_related("topic", "document").in_bulk([one["sentence"] for one in worst])
    return tuple(
        Misfit(sentences[one["sentence"]], one["z"], one["wins"], one["expected"], one["judgments"])
        for one in worst
        if one["sentence"] in sentences
    )


def robustness(study: Study) -> Robust | None:
    """Whether the ranking survives any one person's removal; None before the worker has looked."""
    row = Examination.objects.filter(study=study).first()
    if row is None or not row.figures:
        return None
    found = row.figures
    named = [key for key, _first in found["takers"]] + [one["person"] for one in found["systems"] if one["person"]]
    names = dict(Annotator.objects.filter(pk__in=named).values_list("pk", "pseudonym"))
    return Robust(
        people=found["people"],
        unknown=found["unknown"],
        first=found["first"],
        takers=tuple((names.get(key, "?"), first) for key, first in found["takers"]),
        systems=tuple(Steady(**{**one, "person": names.get(one["person"], "")}) for one in found["systems"]),
        computed_at=row.computed_at,
    )


def least_consistent(study: Study) -> tuple[Consistency, ...]:
    """People whose answers count, the least consistent first: by repeated pairs if enough people have some.

    Both measures are never mixed: a share and a log-likelihood have no common order.
    """
    rows = AnnotatorReport.objects.filter(
        annotator__study=study, annotator__excluded_at=None, annotator__kind=Annotator.Kind.HUMAN
    ).select_related("annotator")
    reports = list(rows)
    by = "repeats" if sum(_n(one, "repeats") >= FEW_REPEATS for one in reports) >= FEW_REPEATS else "fit"
    least = FEW_REPEATS if by == "repeats" else 2
    known = [one for one in reports if _n(one, by) >= least and one.figures[by]["value"] is not None]
    known.sort(key=lambda one: (one.figures[by]["value"], one.annotator_id))
    return tuple(Consistency(one.annotator, one.figures[by], by) for one in known[:INCONSISTENT])


def _n(report: AnnotatorReport, name: str) -> int:
    return int(report.figures.get(name, {}).get("n", 0))
