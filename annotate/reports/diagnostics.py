"""What the worker saw when it looked closely: coverage, sentences that fit badly, the influence of each annotator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from annotate.models import (
    Annotator,
    AnnotatorReport,
    Judgment,
    Result,
    Sentence,
    Study,
)
from formats.analyses.coverage import TopicCoverage
from formats.analyses.misfits import MisfittingSentence
from formats.results import (
    Coverage,
    Figure,
    Influence,
    Key,
    Misfit,
    SmallestSet,
    from_json,
)

MISFITS = 50
#: Fewer repeated pairs say too little of how consistent an annotator is.
FEW_REPEATS = 3
INCONSISTENT = 10
#: So many of the judgments that a first place hangs on are listed.
ANSWERS = 20


@dataclass(frozen=True, slots=True)
class StudyInfluence:
    """What leaving out any one annotator, by pseudonym, does to the ranking, as of a time.

    `smallest_set`: the fewest judgments that the first place hangs on; None where none was found, or `is_sought`: the
    worker has yet to look for it.
    """

    influence: Influence
    computed_at: datetime
    smallest_set: SmallestSet | None
    is_sought: bool

    @property
    def answers(self) -> QuerySet[Judgment]:
        """The first of the judgments of the smallest set that still stand."""
        keys = self.smallest_set.judgments if self.smallest_set else ()
        rows = Judgment.objects.standing().filter(pk__in=keys).order_by("assignment__topic__position", "pk")
        sentences = (f"assignment__pair__{side}__document" for side in ("first", "second"))
        return rows.select_related("assignment__topic", "assignment__annotator", *sentences)[:ANSWERS]


@dataclass(frozen=True, slots=True)
class Consistency:
    """How consistent an annotator is: the share of pairs shown twice that they judged alike, else the fit to others."""

    annotator: Annotator
    figure: Figure
    by: str


def coverage(study: Study) -> tuple[TopicCoverage, ...]:
    """The topics that the worker has looked at, in their order."""
    return tuple(
        TopicCoverage(row.topic.name, row.topic_id, from_json(Coverage, part))
        for row, part in _examined(study, "coverage")
    )


def misfits(study: Study) -> tuple[MisfittingSentence, ...]:
    """The study's sentences with the largest standardized residuals."""
    of_study = [from_json(Misfit, misfit) for _row, several in _examined(study, "misfits") for misfit in several]
    worst = sorted(of_study, key=lambda misfit: -abs(misfit.z))[:MISFITS]
    rows = Sentence.objects.select_related("topic", "document").filter(pk__in=[misfit.sentence for misfit in worst])
    sentences: dict[Key, Sentence] = {sentence.pk: sentence for sentence in rows}
    named = ((sentences[misfit.sentence], misfit) for misfit in worst if misfit.sentence in sentences)
    return tuple(MisfittingSentence(row.topic.name, row.name, row.text, misfit) for row, misfit in named)


def _examined(study: Study, part: str) -> Iterator[tuple[Any, Any]]:
    """Examined topics in their order, each with one part of what was found; the whole of it is large."""
    rows = Result.objects.of_topics(study, "diagnostics").filter(record__isnull=False).select_related("topic")
    row: Any  # annotated
    for row in rows.defer("record").annotate(part=F(f"record__{part}")):
        yield row, row.part


def influence(study: Study) -> StudyInfluence | None:
    """What leaving out any one annotator does to the ranking; None before the worker has looked."""
    row, smallest = (Result.objects.head(study, name) for name in ("influence", "smallest-set"))
    record = row.read(Influence)
    if record is None:
        return None
    keys = [key for key, _system in record.new_firsts] + [system.annotator for system in record.systems]
    names = _names(key for key in keys if key is not None)
    named = replace(
        record,
        new_firsts=tuple((names.get(key, "?"), system) for key, system in record.new_firsts),
        systems=tuple(replace(system, annotator=names.get(system.annotator or 0, "")) for system in record.systems),
    )
    return StudyInfluence(named, row.computed_at, smallest.read(SmallestSet), smallest.version < row.version)


def _names(keys: Iterable[Key]) -> dict[Key, str]:
    return {row.pk: row.pseudonym for row in Annotator.objects.filter(pk__in=list(keys)).only("pseudonym")}


def least_consistent(study: Study) -> tuple[Consistency, ...]:
    """Annotators whose answers count, the least consistent first: by repeated pairs if enough of them have some.

    Both measures are never mixed: a share and a log-likelihood have no common order.
    """
    rows = AnnotatorReport.objects.filter(
        annotator__study=study, annotator__excluded_at=None, annotator__kind=study.leading_kind
    )
    parts = rows.annotate(repeats=F("figures__repeats"), fit=F("figures__fit")).defer("figures")
    reports = [(row.annotator, row.repeats, row.fit) for row in parts.select_related("annotator")]
    repeats = _known(((annotator, figure) for annotator, figure, _fit in reports), FEW_REPEATS)
    by_repeats = len(repeats) >= FEW_REPEATS
    lines = repeats if by_repeats else _known(((annotator, figure) for annotator, _repeats, figure in reports), 2)
    worst = sorted(lines, key=lambda line: (line[1].value, line[0].pk))[:INCONSISTENT]
    return tuple(Consistency(annotator, figure, "repeats" if by_repeats else "fit") for annotator, figure in worst)


def _known(stored: Iterable[tuple[Annotator, Any]], least: int) -> list[tuple[Annotator, Figure]]:
    """The figures that there are and that rest on enough."""
    figures = ((annotator, from_json(Figure, figure)) for annotator, figure in stored if figure)
    return [(annotator, figure) for annotator, figure in figures if figure.n >= least and figure.value is not None]
