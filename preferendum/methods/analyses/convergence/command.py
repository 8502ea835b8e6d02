"""`converge`: how does agreement with people grow with the number of judgments, and when does it pass other metrics?"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.evidence import Evidence
from preferendum.methods import compared
from preferendum.methods.analyses.convergence import show as convergence
from preferendum.methods.analyses.convergence.report import RUNS, SIZES, convergence_report
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.metrics.registry import Metric
from preferendum.results import Convergence, to_json
from preferendum.show.plots import PAPER

USUAL = ("preferences", "preferences:published", "rouge-1", "rouge-2", "rouge-su4", "js")
USUAL_SIZES = (*SIZES, None)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("convergence", compared.described())
    compared.add_arguments(group, USUAL)
    group.add_argument(
        "--at",
        metavar="LIST",
        type=_sizes,
        default=USUAL_SIZES,
        help="numbers of judgments a topic, separated by commas; all: every one "
        f"(default: {','.join(map(str, SIZES))},all)",
    )
    group.add_argument(
        "--runs", metavar="N", type=common.positive, default=RUNS, help=f"samples of each size (default: {RUNS})"
    )
    group.add_argument("--svg", metavar="FILE", type=Path, help="draw the curves into FILE, too")
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings)
    dimensions, metrics, topics = compared.asked(loaded, options, settings, USUAL)
    if len(dimensions) != 1:
        raise InputError(f"--dimension: converge takes one at a time; there are {', '.join(dimensions)}")
    compared.check(metrics, topics)
    report = _report(topics, dimensions[0], metrics, options)
    if options.svg:
        (curves,) = convergence.curves(report)
        options.svg.write_text(curves.draw(PAPER).alone(), encoding="utf-8")
    first, *others = convergence.tables(report)
    return Output(
        tables=[common.labelled(first, options), *others],
        rows=convergence.samples(report),
        data={**to_json(report), **common.provenance(options, settings)},
    )


COMMAND = Command(
    name="converge",
    help="measure how many judgments agreement with people takes",
    description="Scores summaries from random samples of the judgments of each topic, and holds the scores against "
    "people's (Zopf 2018, equation 1 and figure 3). Metrics that rest on no judgments are there to compare with.",
    add_arguments=add_arguments,
    run=run,
)


def _sizes(text: str) -> tuple[int | None, ...]:
    """Ascending; None stands for all judgments."""
    sizes = compared.listed(text)
    numbers = sorted({common.positive(size) for size in sizes if size != "all"})
    return (*numbers, *([None] if "all" in sizes else []))


def _report(
    topics: Sequence[Evidence], dimension: str, metrics: Sequence[Metric], options: argparse.Namespace
) -> Convergence:
    if not any(isinstance(metric, Preferences) for metric in metrics):
        raise InputError("--metrics: name one that rests on judgments, such as preferences")

    def watched(topics: Sequence[Evidence]) -> Iterable[Evidence]:
        return common.progress(topics, "sampling judgments: topic")

    return convergence_report(topics, dimension, metrics, options.at, options.runs, options.seed, watched)
