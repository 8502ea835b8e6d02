"""`converge`: how does agreement with people grow with the number of judgments, and when does it pass other metrics?"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.commands import common, compared
from evaluation.commands.common import Command, InputError, Output
from evaluation.commands.tables import Table
from evaluation.evidence import Evidence
from evaluation.meta.convergence import RUNS, SIZES, convergence_report
from evaluation.metrics.preferences import Preferences
from evaluation.metrics.registry import Metric
from formats.plots import convergence_lines, curve_plot
from formats.results import Convergence, to_json

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
        options.svg.write_text(_drawn(report), encoding="utf-8")
    label = common.judgments_are_simulated(options)
    return Output(
        tables=[_curve_table(report, label), _passing_table(report)],
        rows=_rows(report),
        data={**to_json(report), "settings": common.settings_as_json(settings), "simulated": label or None},
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


def _curve_table(report: Convergence, label: str) -> Table:
    metrics, baselines = report.metrics, report.baselines
    signatures = {metric.metric: metric.signature for metric in metrics} | {
        flat.metric: flat.signature for flat in baselines
    }
    return Table(
        title=f"Agreement with human {report.dimension} by number of judgments a topic",
        notes=(
            f"mean over topics, then mean and standard deviation (sd) over {report.runs} samples, seed {report.seed}; "
            "a topic with fewer judgments has all of them",
            "with kernel smoothing, its parameters are those that the first sample of each size gives",
            *(f"{name}: {signature}" for name, signature in signatures.items()),
            *((f"judgments {label}",) if label else ()),
        ),
        columns=(
            "judgments",
            *(column for metric in metrics for column in (metric.metric, "sd")),
            *(baseline.metric for baseline in baselines),
        ),
        rows=tuple(
            (
                size,
                *(cell for metric in metrics for cell in (metric.points[k].agreement, metric.points[k].sd)),
                *(baseline.agreement for baseline in baselines),
            )
            for k, size in enumerate(report.sizes)
        ),
        digits=3,
    )


def _passing_table(report: Convergence) -> Table:
    return Table(
        title="Judgments a topic from which agreement is better than that of other metrics",
        notes=("expected: with about so many, if agreement goes on to grow as it did (a - b / sqrt(n))",),
        columns=("metric", "than", "judgments", "expected"),
        rows=tuple(
            (passing.metric, passing.baseline, passing.judgments, passing.expected) for passing in report.passings
        ),
    )


def _rows(report: Convergence) -> Table:
    """One row for each metric, topic (none: all topics) and number of judgments."""
    return Table(
        ("metric", "topic", "judgments", "agreement", "sd", "undefined"),
        tuple(
            (metric.metric, topic, point.judgments, point.agreement, point.sd, point.undefined)
            for metric in report.metrics
            for topic, points in (("", metric.points), *((own.topic, own.points) for own in metric.topics))
            for point in points
        ),
    )


def _drawn(report: Convergence) -> str:
    about = f"Agreement with human {report.dimension} by number of judgments"
    titles = "judgments per topic", f"agreement, {report.dimension}"
    return curve_plot(convergence_lines(report), about, *titles).alone()
