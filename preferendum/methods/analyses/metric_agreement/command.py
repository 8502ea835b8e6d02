"""`agree`: does a metric order summaries as people do, and how sure is that?"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import get_args

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.evidence import Evidence, Settings
from preferendum.methods import compared
from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement
from preferendum.methods.analyses.metric_agreement.tables import agreement_rows, agreement_tables, beside_table
from preferendum.methods.analyses.system_pairs.report import all_system_pairs
from preferendum.methods.analyses.system_pairs.show import counts_table
from preferendum.methods.metrics.preferences.scores import Preferences, mixed
from preferendum.metrics.registry import Metric
from preferendum.results import AgreementReport, SystemPairs, to_json
from preferendum.scoring.simulations import Simulation, Source
from preferendum.work.scores import Scores

DRAWS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("agreement", compared.described())
    compared.add_arguments(group)
    compared.add_level(group)
    group.add_argument(
        "--add",
        metavar="references=N,pyramid=N",
        type=_added,
        default={},
        help="beside people's judgments so many simulated ones a topic: preferences man, man+ref and so on (Zopf 2018, "
        "table 2)",
    )
    group.add_argument(
        "--also", metavar="TOPICS", type=Path, help="other topics, to show whether metrics do better or worse on them"
    )
    group.add_argument(
        "--compare", action="store_true", help="test the difference between the first metric and each of the others"
    )
    group.add_argument(
        "--pairs-of-systems",
        action="store_true",
        help="test the difference between each two systems, by people and by each metric (Rankel et al. 2011)",
    )
    group.add_argument(
        "--over",
        choices=["both", "systems", "topics"],
        metavar="both|systems|topics",
        default="both",
        help="what intervals and permutations vary: systems, topics, or both (default: both)",
    )
    group.add_argument(
        "--draws",
        metavar="N",
        type=common.resamples,
        default=DRAWS,
        help=f"resamples for each figure (default: {DRAWS})",
    )
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings, judgments_needed=False)
    dimensions, metrics, topics = compared.asked(loaded, options, settings)
    metrics = _mixed(metrics, options)
    scores = compared.scored(topics, dimensions, metrics)
    report = replace(_report(scores, options), minutes=_minutes(topics))
    pairs = _pairs(scores, options) if options.pairs_of_systems else ()
    other = _other(options, settings, dimensions, metrics) if options.also else None
    label = common.judgments_are_simulated(options)
    return Output(
        tables=[
            *agreement_tables(report, label),
            *([counts_table(pairs[: len(scores.human)], pairs[len(scores.human) :])] if pairs else []),
            *([beside_table(report, other, (options.topics.name, options.also.name))] if other else []),
        ],
        rows=agreement_rows(report),
        data={
            **to_json(report),
            "pairs_of_systems": to_json(pairs),
            "also": to_json(other),
            "added": options.add,
            **common.provenance(options, settings),
        },
    )


COMMAND = Command(
    name="agree",
    help="measure how well metrics order summaries as people do",
    description="Compares metrics with human scores: agreement on pairs of summaries (Zopf 2018, equation 1), "
    "correlations of summaries and of systems, with 95% intervals, and tests of their differences.",
    add_arguments=add_arguments,
    run=run,
)


def _added(text: str) -> dict[str, int]:
    added = {}
    for part in compared.listed(text):
        source, _, number = part.partition("=")
        if source not in get_args(Source):
            raise argparse.ArgumentTypeError(f"{source!r} is none of {', '.join(get_args(Source))}")
        added[source] = common.positive(number)
    return added


def _mixed(metrics: Sequence[Metric], options: argparse.Namespace) -> list[Metric]:
    """The metrics, and with --add those that rest on judgments in every mixture."""
    if not options.add:
        return list(metrics)
    if options.simulate:
        raise InputError("--add is for people's judgments, and --simulate takes their place: give one of them")
    simulations = [Simulation(source, judgments, options.seed) for source, judgments in options.add.items()]
    variants = (mixed(metric, simulations) if isinstance(metric, Preferences) else [metric] for metric in metrics)
    return list(chain.from_iterable(variants))


def _minutes(topics: Sequence[Evidence]) -> dict[str, float]:
    """How long the judgments of each topic took, where that is known."""
    minutes = {topic.topic_id: topic.judgments.minutes for topic in topics}
    return {name: spent for name, spent in minutes.items() if spent is not None}


def _report(scores: Scores, options: argparse.Namespace) -> AgreementReport:
    sampling = Sampling(options.over, options.draws, options.seed, options.level)
    if options.compare and len(scores.metrics) < 2:
        common.note("--compare needs two metrics or more")

    def watched(names: Sequence[str]) -> Iterable[str]:
        return common.progress(names, "resampling: metric")

    dimensions = tuple(
        dimension_agreement(scores, dimension, sampling, with_differences=options.compare, watched=watched)
        for dimension in scores.human
    )
    return AgreementReport(options.peers, options.over, options.draws, options.seed, options.level, dimensions)


def _other(
    options: argparse.Namespace, settings: Settings, dimensions: Sequence[str], metrics: Sequence[Metric]
) -> AgreementReport:
    """The report of other topics, whose judgments are in the same input or simulated likewise."""
    asked = argparse.Namespace(**vars(options) | {"topics": options.also, "preferences": None, "compare": False})
    loaded = common.load(asked, settings, judgments_needed=False)
    topics = compared.judged(loaded, dimensions, asked)
    return _report(compared.scored(topics, dimensions, compared.prepared(metrics, loaded, asked)), asked)


def _pairs(scores: Scores, options: argparse.Namespace) -> tuple[SystemPairs, ...]:
    def watched(names: Sequence[str]) -> Iterable[str]:
        return common.progress(names, "testing pairs of systems: by")

    return all_system_pairs(scores, options.draws, options.seed, options.level, watched)
