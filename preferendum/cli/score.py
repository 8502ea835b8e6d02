"""`score`: one score per system and topic, with intervals, and the systems in order."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from preferendum.boards import Rated, rated, score_board, win_rate_board
from preferendum.cli import common, win_rates
from preferendum.cli.common import Command, InputError, Output
from preferendum.cli.tables import Table
from preferendum.cli.win_rates import unit_with_label
from preferendum.evidence import UNDETERMINED_PRIOR, Evidence, Settings
from preferendum.formats.words import number_of
from preferendum.results import SystemResult, to_json
from preferendum.results.scores import has_intervals
from preferendum.scoring.evaluate import SummaryResult, TopicResult, UndeterminedTopic, evaluate
from preferendum.show.points import Unit, unit_of
from preferendum.show.shown import Show, decimals


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    common.add_settings(parser)
    parser.add_argument_group("uncertainty").add_argument(
        "--over",
        choices=["judgments", "topics"],
        metavar="judgments|topics",
        default="judgments",
        help="what the systems' intervals and ranks vary: the judgments on these topics, or the topics themselves "
        "(default: judgments)",
    )
    parser.add_argument(
        "--topics", dest="topic_tables", action="store_true", help="show the scores of each topic, too, below the board"
    )


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings)
    summaries = rated(loaded)
    if summaries is not None and not any(len(topic.judgments) for topic in loaded):
        return _of_summaries(loaded, summaries, options)
    topics = common.with_documents(loaded)
    results = _results(topics, settings)
    label = common.judgments_are_simulated(options)
    board = score_board(results, settings, options.over, label=label)
    if options.format == "csv" and not board.ground.annotators:
        common.note(board.ground.words)
    if not board.systems:
        common.note("there are no summaries to score; --format json gives the sentences' utilities")
    of_topics = [_topic_table(result, label, summaries) for result in results]
    return Output(
        tables=[
            *board.tables,
            *(win_rate_board(summaries).tables if summaries else []),
            *(of_topics if options.topic_tables else []),
        ],
        rows=_rows(results, board.systems, summaries),
        data={
            "topics": [_topic_as_json(result, summaries) for result in results],
            "systems": to_json(board.systems),
            "differences": to_json(board.differences),
            "ground": to_json(board.ground) | {"words": board.ground.words},
            "over": options.over,
            **common.provenance(options, settings),
            **({"win_rates": win_rates.as_json(summaries)} if summaries else {}),
        },
    )


def _of_summaries(topics: Sequence[Evidence], summaries: Rated, options: argparse.Namespace) -> Output:
    """Where people compared nothing but whole summaries."""
    if options.format == "csv" and not summaries.ground.annotators:
        common.note(summaries.ground.words)
    of_topics = win_rates.topic_tables(topics, summaries) if options.topic_tables else ()
    return Output(
        tables=[*win_rate_board(summaries).tables, *of_topics],
        rows=_rows((), (), summaries),
        data={
            "topics": [],
            "systems": [],
            "win_rates": win_rates.as_json(summaries),
            "simulated": common.judgments_are_simulated(options) or None,
        },
    )


COMMAND = Command(
    name="score",
    help="score every system on every topic from preferences between sentences, or between summaries",
    description="Scores summaries from preferences between sentences of their sources: one score for each system and "
    "topic, with 95% intervals, and the systems in order over all topics. From preferences between whole summaries "
    "come win rates, beside these scores or alone.",
    add_arguments=add_arguments,
    run=run,
)


def _results(topics: Sequence[Evidence], settings: Settings) -> list[TopicResult]:
    results: list[TopicResult] = []
    undetermined: list[UndeterminedTopic] = []
    for topic in common.progress(topics, "scoring: topic"):
        try:
            results.append(evaluate(topic, settings))
        except UndeterminedTopic as reason:
            undetermined.append(reason)
    if undetermined:
        names = [reason.topic_id for reason in undetermined]
        raise InputError(
            f"with --prior 0 the judgments of {common.some_topics(names)} determine no finite utilities (Ford 1957):\n"
            + "".join(
                f"  topic {reason.topic_id}: nothing else was preferred to {reason.shown}\n"
                for reason in undetermined[:5]
            )
            + "Ask for more judgments, or give a small prior: --prior 0.1"
        )
    return results


def _topic_table(result: TopicResult, label: str, summaries: Rated | None) -> Table:
    dimensions = sorted({dimension for summary in result.summaries for dimension in summary.human})
    judgments = number_of(result.judgments, "judgment") + (f" ({label})" if label else "")
    unit = unit_of(result.settings.score, [(summary.score, summary.low, summary.high) for summary in result.summaries])
    beside = summaries.summaries[result.topic_id] if summaries else {}
    rates, label_of_rates = unit_with_label(beside.values())
    also = (label_of_rates,) if beside else ()
    if result.judgments == 0:
        judgments = "no judgments, so the scores say nothing yet"
    return Table(
        title=f"Topic {result.topic_id}",
        notes=(f"{number_of(len(result.sentences), 'sentence')}, {judgments}{_prior(result)}",),
        columns=("system", *_columns(result.settings, unit), *also, *dimensions),
        rows=tuple(
            (
                *(summary.system, *_cells(summary, result.settings)),
                *(own.score if (own := beside.get(summary.system)) else None for _column in also),
                *map(summary.human.get, dimensions),
            )
            for summary in sorted(result.summaries, key=_best_first)
        ),
        shows=_shows(result.settings, unit) | {label_of_rates: rates.show},
    )


def _columns(settings: Settings, unit: Unit) -> tuple[str, ...]:
    """Coverage accompanies the scores that judgments decide; it has no bounds."""
    return (unit.named(settings.score), *(("low", "high") if _has_bounds(settings) else ()), *_beside(settings))


def _has_bounds(settings: Settings) -> bool:
    return settings.score != "coverage" and has_intervals(settings.score)


def _shows(settings: Settings, unit: Unit) -> dict[str, Show]:
    return {"coverage": decimals(2)} | dict.fromkeys((unit.named(settings.score), "low", "high"), unit.show)


def _beside(settings: Settings) -> tuple[str, ...]:
    return () if settings.score in ("coverage", "published") else ("coverage",)


def _cells(summary: SummaryResult, settings: Settings) -> tuple[float | None, ...]:
    bounds = (summary.low, summary.high) if _has_bounds(settings) else ()
    return (summary.score, *bounds, *((summary.coverage,) if _beside(settings) else ()))


def _best_first(summary: SummaryResult) -> tuple[float, str]:
    return (math.inf if summary.score is None else -summary.score, summary.system)


def _prior(result: TopicResult) -> str:
    """Said where a topic had to be fitted with a prior that the paper does not have."""
    is_added = result.settings.score == "published" and result.settings.prior == UNDETERMINED_PRIOR
    return f", fitted with prior {UNDETERMINED_PRIOR:g}" if is_added else ""


def _rows(results: Sequence[TopicResult], systems: Sequence[SystemResult], compared: Rated | None) -> Table:
    """One row for each summary, and one without a topic for each system; with win rates where there are any."""
    columns = (
        *("topic", "system", "score", "se", "low", "high", "coverage"),
        *("judgments", "rank", "rank_low", "rank_high", "topics", "lacking"),
    )
    summaries = [
        (result.topic_id, s.system, s.score, s.se, s.low, s.high, s.coverage, result.judgments, *(None,) * 5)
        for result in results
        for s in result.summaries
    ]
    total = sum(result.judgments for result in results)
    means = [
        ("", s.system, s.score, s.se, s.low, s.high, None, total, s.rank, s.rank_low, s.rank_high, s.topics, s.lacking)
        for s in systems
    ]
    table = Table(columns, (*summaries, *means))
    return win_rates.beside(table, compared) if compared else table


def _topic_as_json(result: TopicResult, compared: Rated | None) -> dict[str, Any]:
    errors = [None] * len(result.sentences) if result.se is None else result.se.tolist()
    beside = compared.summaries[result.topic_id] if compared else {}
    return {
        "topic_id": result.topic_id,
        "sentences": [
            {"id": name, "text": text, "wins": wins, "strength": strength, "utility": utility, "se": se}
            for name, text, wins, strength, utility, se in zip(
                result.sentence_ids,
                result.sentences,
                result.wins.tolist(),
                result.strengths.tolist(),
                result.utilities.tolist(),
                errors,
                strict=True,
            )
        ],
        "judgments": result.judgments,
        "prior": result.estimate.prior if result.estimate else None,
        "iterations": result.iterations,
        "residual": result.residual,
        "summaries": [
            {
                "system": summary.system,
                "score": summary.score,
                "se": summary.se,
                "low": summary.low,
                "high": summary.high,
                "coverage": summary.coverage,
                "human": dict(summary.human),
                **({"win_rate": own.score} if (own := beside.get(summary.system)) else {}),
            }
            for summary in result.summaries
        ],
    }
