"""What `score` tells of answers about whole summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from preferendum.cli import common
from preferendum.cli.tables import Table
from preferendum.evidence import Evidence
from preferendum.results import Difference, Ground, SystemResult, to_json
from preferendum.results.statistics import Mean
from preferendum.scoring import later_systems
from preferendum.scoring.later_systems import Predicted
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.scoring.win_rate import ENDS, WinRates, win_rates
from preferendum.show.points import what_a_win_rate_is
from preferendum.show.shown import DASH, Cell, Show

LABEL = "win rate"


def percent(share: float | None) -> str:
    return DASH if share is None else f"{100 * share:.1f}%"


SHOWS: Mapping[str, Show] = dict.fromkeys((LABEL, "low", "high"), percent)


@dataclass(frozen=True, slots=True)
class Rated:
    """`summaries`: by topic and system, the win rate within the topic, the best first; `answers`: by topic or system,
    how many are about it; `predicted`: the systems without judgments."""

    rates: WinRates
    systems: tuple[SystemResult, ...]
    differences: tuple[Difference, ...]
    ground: Ground
    summaries: Mapping[str, Mapping[str, Mean]]
    answers: Mapping[tuple[str, str], int]
    predicted: tuple[Predicted, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "answers": len(self.rates.answers),
            "topics": [
                {"topic_id": topic, "answers": self.answers[topic, ""], "summaries": list(map(_figures, own.values()))}
                for topic, own in self.summaries.items()
            ],
            "systems": [
                _figures(own)
                | {"rank": own.rank, "rank_low": own.rank_low, "rank_high": own.rank_high}
                | {"answers": self.answers["", own.system]}
                for own in self.systems
            ],
            "predicted": to_json(self.predicted),
            "differences": to_json(self.differences),
            "ground": to_json(self.ground) | {"words": self.ground.words},
            "variances": self.rates.effects.variances._asdict(),
        }


def rated(topics: Sequence[Evidence]) -> Rated | None:
    """None where no answer is about whole summaries."""
    answers = answers_of(topics)
    if not len(answers):
        return None
    rates = win_rates(answers, summaries_there(topics, answers))
    comparison = Comparison([rates.standing])
    about = np.bincount(np.concatenate([answers.first, answers.second]), minlength=len(answers.systems))
    prediction = later_systems.predict(rates, topics)
    return Rated(
        rates=rates,
        systems=comparison.ranked(*ENDS),
        differences=comparison.differences(),
        ground=comparison.ground,
        summaries={topic: _best_first(Comparison([own.standing])) for topic, own in rates.by_topic()},
        answers={
            **{("", system): number for system, number in zip(answers.systems, about.tolist(), strict=True)},
            **{(topic.topic_id, ""): len(topic.between_summaries) for topic in topics},
        },
        predicted=prediction.systems if prediction else (),
    )


def _best_first(comparison: Comparison) -> dict[str, Mean]:
    means = sorted(comparison.means(*ENDS), key=lambda mean: (-mean.score, mean.system))
    return {mean.system: mean for mean in means}


def _figures(own: SystemResult | Mean) -> dict[str, Any]:
    return {"system": own.system, "win_rate": own.score, "se": own.se, "low": own.low, "high": own.high}


def systems_table(own: Rated) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            *(system.rank, common.span(system.rank_low, system.rank_high), system.system),
            *(system.score, system.low, system.high, own.answers["", system.system]),
        )
        for system in own.systems
    ]
    rows += [(None, DASH, later.system, later.win_rate, later.low, later.high, 0) for later in own.predicted]
    return Table(
        title="All topics, whole summaries",
        notes=tuple(_notes(own)),
        columns=("rank", "ranks", "system", LABEL, "low", "high", "answers"),
        rows=tuple(rows),
        shows=SHOWS,
    )


def _notes(own: Rated) -> Iterator[str]:
    answers = own.rates.answers
    yield (
        f"{common.number(len(answers), 'answer')} about {common.number(len(set(answers.topic.tolist())), 'topic')}, "
        "95% intervals for topics like these, ranks that remain possible given the significant differences (Holm)"
    )
    yield what_a_win_rate_is()
    if own.predicted:
        yield "without a rank: predicted from the texts of judged summaries, nobody judged it"
    yield own.ground.words


def topic_tables(topics: Sequence[Evidence], own: Rated) -> Iterator[Table]:
    """The tables of topics where people compared nothing but summaries."""
    for topic in topics:
        human = {summary.system: summary.human for summary in topic.summaries}
        dimensions = sorted({dimension for scores in human.values() for dimension in scores})
        rows = own.summaries[topic.topic_id].values()
        yield Table(
            title=f"Topic {topic.topic_id}",
            notes=(common.number(own.answers[topic.topic_id, ""], "answer"),),
            columns=("system", LABEL, "low", "high", *dimensions),
            rows=tuple(
                (mean.system, mean.score, mean.low, mean.high, *map(human[mean.system].get, dimensions))
                for mean in rows
            ),
            shows=SHOWS,
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
