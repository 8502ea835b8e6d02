"""`score`: one score per system and topic, with intervals, and the systems in order."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

from preferendum.cli import common, win_rates
from preferendum.cli.common import Command, InputError, Output
from preferendum.cli.tables import Table
from preferendum.cli.win_rates import LABEL, Rated, percent
from preferendum.evidence import UNDETERMINED_PRIOR, Evidence, Settings
from preferendum.results import Ground, SystemResult, to_json
from preferendum.results.length import ByLength
from preferendum.results.scores import has_intervals, is_tested
from preferendum.scoring.evaluate import SummaryResult, TopicResult, UndeterminedTopic, bounds_of, evaluate
from preferendum.scoring.missing import means_of_missing
from preferendum.scoring.ranking import Comparison
from preferendum.show.points import Unit, over_all_topics, unit_of, what_a_point_is, why_untested
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


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings)
    summaries = win_rates.rated(loaded)
    if summaries is not None and not any(len(topic.judgments) for topic in loaded):
        return _of_summaries(loaded, summaries, options)
    topics = common.with_documents(loaded)
    results = _results(topics, settings)
    standings = [result.standing for result in results]
    comparison = Comparison(standings, options.over, is_tested=is_tested(settings.score))
    systems, differences = comparison.ranked(*bounds_of(settings.score)), comparison.differences()
    label = common.judgments_are_simulated(options)
    if options.format == "csv" and not comparison.ground.annotators:
        common.note(comparison.ground.words)
    if not systems:
        common.note("there are no summaries to score; --format json gives the sentences' utilities")
    return Output(
        tables=[
            *(_topic_table(result, label, summaries) for result in results),
            _systems_table(systems, results, settings, options.over, comparison.ground),
            *([win_rates.systems_table(summaries)] if summaries else []),
        ],
        rows=_rows(results, systems, summaries),
        data={
            "topics": [_topic_as_json(result, summaries) for result in results],
            "systems": to_json(systems),
            "differences": to_json(differences),
            "ground": to_json(comparison.ground) | {"words": comparison.ground.words},
            "over": options.over,
            **common.provenance(options, settings),
            **({"win_rates": summaries.as_json()} if summaries else {}),
        },
    )


def _of_summaries(topics: Sequence[Evidence], summaries: Rated, options: argparse.Namespace) -> Output:
    """Where people compared nothing but whole summaries."""
    if options.format == "csv" and not summaries.ground.annotators:
        common.note(summaries.ground.words)
    return Output(
        tables=[*win_rates.topic_tables(topics, summaries), win_rates.systems_table(summaries)],
        rows=_rows((), (), summaries),
        data={
            "topics": [],
            "systems": [],
            "win_rates": summaries.as_json(),
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
    judgments = common.number(result.judgments, "judgment") + (f" ({label})" if label else "")
    unit = unit_of(result.settings.score, [(summary.score, summary.low, summary.high) for summary in result.summaries])
    beside = summaries.summaries[result.topic_id] if summaries else {}
    also = (LABEL,) if beside else ()
    if result.judgments == 0:
        judgments = "no judgments, so the scores say nothing yet"
    return Table(
        title=f"Topic {result.topic_id}",
        notes=(f"{common.number(len(result.sentences), 'sentence')}, {judgments}{_prior(result)}",),
        columns=("system", *_columns(result.settings, unit), *also, *dimensions),
        rows=tuple(
            (
                *(summary.system, *_cells(summary, result.settings)),
                *(own.score if (own := beside.get(summary.system)) else None for _column in also),
                *map(summary.human.get, dimensions),
            )
            for summary in sorted(result.summaries, key=_best_first)
        ),
        shows=_shows(result.settings, unit) | {LABEL: percent},
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


def _systems_table(
    systems: Sequence[SystemResult], results: Sequence[TopicResult], settings: Settings, over: str, ground: Ground
) -> Table:
    unit = unit_of(settings.score, [(system.score, system.low, system.high) for system in systems])
    judged = sum(result.judgments > 0 for result in results)
    ranks = ("ranks",) * is_tested(settings.score)
    bounds = ("low", "high") if over == "topics" or has_intervals(settings.score) else ()
    lacking = ("lacking",) * any(system.lacking for system in systems)
    return Table(
        title="All topics",
        notes=(
            f"mean over {common.number(judged or len(results), 'topic')}"
            + f", 95% intervals over {over}" * bool(bounds)
            + ", ranks that remain possible given the significant differences (Holm)" * is_tested(settings.score),
            *([over_all_topics()] if any(system.lacking for system in systems) else []),
            *([what_a_point_is()] if settings.score == "importance" else []),
            *([why_untested(settings.score) or ground.words] if judged else ()),
            *([explained.words] if judged and (explained := _by_length(systems, results)) else ()),
        ),
        shows=_shows(settings, unit),
        columns=("rank", *ranks, "system", unit.named(settings.score), *bounds, "topics", *lacking),
        rows=tuple(
            (
                system.rank,
                *(common.span(system.rank_low, system.rank_high) for _ in ranks),
                system.system,
                system.score,
                *((system.low, system.high) if bounds else ()),
                system.topics,
                *(system.lacking for _ in lacking),
            )
            for system in systems
        ),
    )


def _by_length(systems: Sequence[SystemResult], results: Sequence[TopicResult]) -> ByLength | None:
    """Over the topics with judgments."""
    owed: dict[str, list[float]] = {system.system: [] for system in systems}
    rows = [
        (result.topic_id, summary.system, summary.by_length)
        for result in results
        if result.judgments
        for summary in result.summaries
        if summary.by_length is not None and summary.system in owed
    ]
    for _topic, system, of_length in rows:
        owed[system].append(of_length)
    means = {system: sum(values) / len(values) for system, values in owed.items() if values} | means_of_missing(rows)
    return ByLength.of({system.system: system.score for system in systems}, means)


def _rows(results: Sequence[TopicResult], systems: Sequence[SystemResult], rated: Rated | None) -> Table:
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
    return win_rates.beside(table, rated) if rated else table


def _topic_as_json(result: TopicResult, rated: Rated | None) -> dict[str, Any]:
    errors = [None] * len(result.sentences) if result.se is None else result.se.tolist()
    beside = rated.summaries[result.topic_id] if rated else {}
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
