"""What `score` tells of answers about whole summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from preferendum.boards import Rated
from preferendum.cli.tables import Table
from preferendum.evidence import Evidence
from preferendum.formats.words import number_of
from preferendum.metrics.names import WIN_RATE
from preferendum.results import SystemResult, to_json
from preferendum.results.statistics import Mean
from preferendum.show.points import Unit, unit_of
from preferendum.show.shown import Cell


def unit_with_label(rates: Iterable[SystemResult | Mean]) -> tuple[Unit, str]:
    """How win rates of a topic are read, and the head of their column."""
    unit = unit_of(WIN_RATE, [(own.score, own.low, own.high) for own in rates])
    return unit, unit.named("win rate")


def as_json(own: Rated) -> dict[str, Any]:
    """What JSON has of them."""
    return {
        "answers": len(own.rates.answers),
        "topics": [
            {"topic_id": topic, "answers": own.answers[topic, ""], "summaries": list(map(_figures, summaries.values()))}
            for topic, summaries in own.summaries.items()
        ],
        "systems": [
            _figures(system)
            | {"rank": system.rank, "rank_low": system.rank_low, "rank_high": system.rank_high}
            | {"answers": own.answers["", system.system]}
            for system in own.systems
        ],
        "predicted": to_json(own.predicted),
        "differences": to_json(own.differences),
        "ground": to_json(own.ground) | {"words": own.ground.words},
        "variances": own.rates.effects.variances._asdict(),
    }


def _figures(own: SystemResult | Mean) -> dict[str, Any]:
    return {"system": own.system, "win_rate": own.score, "se": own.se, "low": own.low, "high": own.high}


def topic_tables(topics: Sequence[Evidence], own: Rated) -> Iterator[Table]:
    """The tables of topics where people compared nothing but summaries."""
    for topic in topics:
        human = {summary.system: summary.human for summary in topic.summaries}
        dimensions = sorted({dimension for scores in human.values() for dimension in scores})
        rows = own.summaries[topic.topic_id].values()
        unit, label = unit_with_label(rows)
        yield Table(
            title=f"Topic {topic.topic_id}",
            notes=(number_of(own.answers[topic.topic_id, ""], "answer"),),
            columns=("system", label, "low", "high", *dimensions),
            rows=tuple(
                (mean.system, mean.score, mean.low, mean.high, *map(human[mean.system].get, dimensions))
                for mean in rows
            ),
            shows=dict.fromkeys((label, "low", "high"), unit.show),
        )


def beside(table: Table, own: Rated) -> Table:
    """Append columns of win rates to a table of topics and systems, and rows for those that it lacks."""
    figures: dict[tuple[Cell, ...], tuple[Cell, ...]] = {
        (topic, mean.system): (mean.score, mean.se, mean.low, mean.high, own.answers[topic, ""], None, None, None)
        for topic, summaries in own.summaries.items()
        for mean in summaries.values()
    }
    for system in own.systems:
        ranks = (system.rank, system.rank_low, system.rank_high)
        of_system = (system.score, system.se, system.low, system.high, own.answers["", system.system])
        figures["", system.system] = (*of_system, *ranks)
    names = [f"win_rate{of}" for of in ("", "_se", "_low", "_high", "_answers", "_rank", "_rank_low", "_rank_high")]
    rows = {row[:2]: row for row in table.rows}
    rows |= {key: (*key, *(None,) * (len(table.columns) - 2)) for key in figures if key not in rows}
    return replace(
        table,
        columns=(*table.columns, *names),
        rows=tuple((*row, *figures.get(key, (None,) * len(names))) for key, row in rows.items()),
    )
