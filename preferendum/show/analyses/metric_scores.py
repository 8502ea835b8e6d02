"""What metrics and people say of single summaries, next to the study's own scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from preferendum.formats.words import gettext as _
from preferendum.metrics.names import COVERAGE, IMPORTANCE, WIN_RATE, title_of
from preferendum.metrics.registry import family_of
from preferendum.results import Key
from preferendum.results.scores import rests_on_answers
from preferendum.show.points import unit_of
from preferendum.show.shown import DASH, Cell, Column, Show, Shown, Table, as_text

#: The scores that people read in a unit, by its name.
_UNITS = {IMPORTANCE: "importance", WIN_RATE: WIN_RATE}


@dataclass(frozen=True, slots=True)
class SummaryScores:
    """What is said of one summary: by metric (None: it has nothing to say), by people in each dimension, and by single
    assessors in each (`ratings`, by assessor)."""

    summary: Key
    topic: str
    system: str
    person: bool
    metrics: dict[str, float | None] = field(default_factory=dict)
    human: dict[str, float] = field(default_factory=dict)
    ratings: dict[str, dict[str, float]] = field(default_factory=dict)

    def rated(self, dimension: str) -> dict[str, float]:
        """What each assessor gave in a dimension."""
        return {name: given[dimension] for name, given in self.ratings.items() if dimension in given}


@dataclass(frozen=True, slots=True)
class ScoresTable:
    """Summaries by metrics and dimensions of human scores.

    `metrics`: the study's own scores first, then those worked out here, then those worked out elsewhere; `signatures`:
    of those worked out here; `absent`: why a metric is not there, or not for every topic.
    """

    metrics: tuple[str, ...]
    dimensions: tuple[str, ...]
    signatures: Mapping[str, str]
    absent: tuple[str, ...]
    summaries: tuple[SummaryScores, ...]


def show(record: ScoresTable, asked: Mapping[str, str]) -> Shown:
    """The summaries of a topic, or of several."""
    is_of_several = len({row.topic for row in record.summaries}) > 1
    verdict = _verdict_of_several(record) if is_of_several else _verdict(record)
    return Shown(verdict, [scores(record, is_of_several), *_folded(record)])


def _verdict_of_several(record: ScoresTable) -> str:
    """How many summaries have scores."""
    by_people = sum(bool(row.human) for row in record.summaries)
    scored = sum(any(score is not None for score in row.metrics.values()) for row in record.summaries)
    about = {"n": len(record.summaries), "people": by_people, "scored": scored}
    return _("Of %(n)s summaries, %(people)s have human scores, and %(scored)s have scores of metrics.") % about


def _verdict(record: ScoresTable) -> str:
    """Which system the most scorers put first, and how many do not; people's summaries are no systems."""
    rows = [row for row in record.summaries if not row.person] or record.summaries
    firsts, n = Counter[str](), 0
    by_metric = ([row.metrics.get(name) for row in rows] for name in record.metrics)
    by_people = ([row.human.get(name) for row in rows] for name in record.dimensions)
    for scores in (*by_metric, *by_people):
        scored = {row.system: score for row, score in zip(rows, scores, strict=True) if score is not None}
        firsts.update(system for system, score in scored.items() if score == max(scored.values()))
        n += bool(scored)
    if not firsts:
        return _("No metric has anything to say of these summaries.")
    system = min(firsts, key=lambda system: (-firsts[system], system))
    about = {"system": system, "n": firsts[system], "all": n}
    return _("%(n)s of %(all)s metrics and dimensions of human scores put %(system)s first in this topic.") % about


def scores(record: ScoresTable, is_of_several: bool = False, is_of_system: bool = False) -> Table:
    """A row for each summary: of several topics, or all of one system. Files alone have metrics that say nothing."""
    metrics, people = _("Metrics"), _("Human scores")
    rated = [name for name in record.dimensions if any(row.rated(name) for row in record.summaries)]
    has_people = any(row.person for row in record.summaries) and not is_of_system
    told = {name for row in record.summaries for name, score in row.metrics.items() if score is not None}
    of_dimensions = [
        (
            Column(f"human:{name}", name, _short, people),
            *([Column("", _("%(name)s, single") % {"name": name}, group=people)] if name in rated else ()),
        )
        for name in record.dimensions
    ]
    return Table(
        "scores",
        _("Scores of summaries"),
        (
            Column("topic"),
            Column("system", "" if is_of_system else _("System"), as_text),
            Column("person"),
            Column("", _("By") if has_people else "", as_text),
            Column("", _("Topic") if is_of_several or is_of_system else "", as_text),
            *(
                Column(name, _title(name) if name in told else "", _show(name, record.summaries), metrics)
                for name in record.metrics
            ),
            *(column for columns in of_dimensions for column in columns),
        ),
        tuple(tuple(_cells(row, record, rated)) for row in record.summaries),
        note=_(
            "Higher is better everywhere. –: not computed. Single: the assessors’ own scores; a "
            "summary’s page names them."
        ),
        links=tuple({"summary_id": row.summary} for row in record.summaries),
        leads_to="summary",
    )


def of_summary(record: ScoresTable) -> Table:
    """What everything says of the one summary."""
    (row,) = record.summaries
    by_people = ((name, row.human.get(name), row.rated(name)) for name in record.dimensions)
    return Table(
        "scores",
        _("Metrics and human scores"),
        (
            Column("", _("Scored by"), as_text),
            Column("", _("Score")),
            Column("", _("What it rests on"), as_text),
        ),
        (
            *(
                (_title(name), _show(name, [row])(row.metrics.get(name)), what_it_rests_on(name))
                for name in record.metrics
            ),
            *(
                (_("%(name)s (human scores)") % {"name": name}, _short(score), _ratings(rated) or _("raters not named"))
                for name, score, rated in by_people
            ),
        ),
    )


def _title(name: str) -> str:
    return unit_of(_UNITS.get(name, "")).named(title_of(name))


def _show(name: str, rows: Iterable[SummaryScores]) -> Show:
    """Importance in points, win rates in percent, with the digits in which these summaries differ."""
    return unit_of(_UNITS.get(name, ""), [(row.metrics.get(name), None, None) for row in rows]).show


def what_it_rests_on(name: str) -> str:
    """What a metric compares summaries with."""
    if rests_on_answers(name):
        own = {WIN_RATE: _("answers about summaries"), COVERAGE: _("words of the sources, no answers")}
        return own.get(name) or _("answers about sentences")
    family = family_of(name.partition(":")[0])
    return _(family.rests_on) if family else _("scores from a file")


def _ratings(rated: Mapping[str, float]) -> str:
    return ", ".join(f"{assessor}: {_short(score)}" for assessor, score in rated.items())


def _short(score: float | None) -> str:
    return DASH if score is None else f"{round(score, 2):g}"


def _cells(row: SummaryScores, record: ScoresTable, rated: list[str]) -> Iterator[Cell]:
    yield from (row.topic, row.system, str(row.person).lower(), _("person") if row.person else _("machine"), row.topic)
    yield from map(row.metrics.get, record.metrics)
    for name in record.dimensions:
        yield row.human.get(name)
        if name in rated:
            yield " · ".join(map(_short, row.rated(name).values())) or None


def _folded(record: ScoresTable) -> Iterator[Table]:
    """For files and programs: who gave which score, and how metrics were worked out."""
    ratings = [
        (row.topic, row.system, dimension, assessor, score)
        for row in record.summaries
        for assessor, given in row.ratings.items()
        for dimension, score in given.items()
    ]
    columns = tuple(map(Column, ("topic", "system", "dimension", "assessor", "score")))
    if ratings:
        yield Table("ratings", _("Human scores of single assessors"), columns, tuple(ratings), folded=True)
    if record.metrics:
        signed = ((name, record.signatures.get(name, "")) for name in record.metrics)
        yield replace(signatures(signed), folded=True)


def signatures(metrics: Iterable[tuple[str, str]]) -> Table:
    """What it takes to get the same numbers, of each metric."""
    columns = Column("metric"), Column("", _("Metric"), as_text), Column("signature", _("Signature"), as_text)
    rows = tuple((metric, title_of(metric), signature) for metric, signature in metrics)
    return Table("metrics", _("How each metric is computed"), columns, rows)
