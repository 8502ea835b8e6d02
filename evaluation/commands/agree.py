"""`agree`: does a metric order summaries as people do, and how sure is that?"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.commands import common
from evaluation.commands.common import Command, InputError, Output
from evaluation.commands.tables import Cell, Table
from evaluation.evaluate import UndeterminedTopic
from evaluation.evidence import Evidence, Settings
from evaluation.meta import agreement, resampling
from evaluation.meta.agreement import LEVELS, Comparison, Level
from evaluation.meta.resampling import PairTests, Resamples
from evaluation.meta.scores import NoHumanScores, Scores, collect, judged_topics
from evaluation.metrics import registry
from evaluation.metrics.registry import Metric, MissingEvidence, Need, UnknownMetric
from evaluation.statistics import Interval, benjamini_hochberg, finite
from formats.results.statistics import holm

USUAL = ("preferences", "rouge-1", "rouge-2", "rouge-su4", "js")
DRAWS = 1000
_TESTS = ("t", "wilcoxon", "swap", "hybrid")
_HEADINGS: Mapping[Level, str] = {
    "summary": "Correlation of summaries: within each topic, then the mean over topics",
    "system": "Correlation of systems: of their means over topics",
    "global": "Correlation of all summaries as one pool",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("agreement", _described())
    group.add_argument(
        "--dimension", metavar="NAME", required=True, help="the dimension of the human scores to compare with"
    )
    group.add_argument(
        "--metrics",
        metavar="LIST",
        type=_listed,
        help=f"metrics, separated by commas (default: those of {','.join(USUAL)} that the topics allow)",
    )
    group.add_argument(
        "--without",
        metavar="LIST",
        type=_listed,
        default=(),
        help="systems to leave out, for example summaries by people",
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
        type=common.positive,
        default=DRAWS,
        help=f"resamples for each figure (default: {DRAWS})",
    )
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    metrics = _metrics(options.metrics, settings)
    loaded = common.load(options, settings, judgments_needed=False)
    try:
        topics = judged_topics(loaded, options.dimension, options.without)
    except NoHumanScores as reason:
        raise InputError(str(reason)) from None
    if len(topics) < len(loaded):
        common.note(f"{len(loaded) - len(topics)} of {len(loaded)} topics have no human {options.dimension}; left out")
    metrics = _allowed(metrics, topics) if options.metrics is None else metrics
    scores = _scores(topics, options.dimension, metrics)
    resamples = Resamples.drawn(len(scores.systems), len(scores.topics), options.over, options.draws, options.seed)
    reports = [
        agreement.report(name, scores.signatures[name], scores.human, matrix, resamples)
        for name, matrix in common.progress(list(scores.metrics.items()), "resampling: metric")
    ]
    comparisons = _comparisons(scores, resamples, options) if options.compare else []
    pairs = _pairs(scores, options) if options.pairs_of_systems else {}
    return Output(
        tables=[
            _agreement_table(reports, scores, options, common.judgments_are_simulated(options)),
            *(_correlation_table(reports, level) for level in LEVELS),
            *([_comparison_table(comparisons, options)] if options.compare else []),
            *([_pairs_table(pairs, scores)] if options.pairs_of_systems else []),
        ],
        rows=_rows(reports),
        data={
            "dimension": options.dimension,
            "topics": len(scores.topics),
            "systems": len(scores.systems),
            "metrics": [_report_as_json(report) for report in reports],
            "comparisons": [_comparison_as_json(comparison) for comparison in comparisons],
            "pairs_of_systems": [
                _pair_as_json(scorer, pair, adjusted, scores)
                for scorer, tests in pairs.items()
                for pair, adjusted in zip(tests, _adjusted(tests), strict=True)
            ],
            "over": options.over,
            "draws": options.draws,
            "seed": options.seed,
            "settings": common.settings_as_json(settings),
            "simulated": common.judgments_are_simulated(options) or None,
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


def _described() -> str:
    """Which metrics there are, for the help."""
    names = ", ".join(name for family in registry.families() for name in family.names)
    return f"Metrics: {names}. Options stand behind a colon, as in rouge-2:f:words=100; docs/metrics.md has them all."


def _listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _metrics(names: Sequence[str] | None, settings: Settings) -> list[Metric]:
    try:
        metrics = [registry.metric(name, settings) for name in (USUAL if names is None else names)]
    except UnknownMetric as reason:
        raise InputError(f"--metrics: {reason}") from None
    if not metrics:
        raise InputError(f"--metrics: name at least one, such as {','.join(USUAL)}")
    return metrics


def _allowed(metrics: Sequence[Metric], topics: Sequence[Evidence]) -> list[Metric]:
    """Those of the usual metrics that have what they need; a note says why the others are left out."""
    allowed = []
    for metric in metrics:
        try:
            registry.check([metric], topics)
            allowed.append(metric)
        except MissingEvidence as reason:
            common.note(f"left out: {reason}")
    if not allowed:
        raise InputError("no usual metric has what it needs, for the reasons above; choose others with --metrics")
    return allowed


def _scores(topics: Sequence[Evidence], dimension: str, metrics: Sequence[Metric]) -> Scores:
    try:
        registry.check(metrics, topics)
        return collect(common.progress(topics, "scoring: topic"), dimension, metrics)
    except MissingEvidence as reason:
        wanting = {need for metric in metrics for need in metric.needs}
        hint = "\nfor judgments, give --preferences FILE or --simulate references" if Need.JUDGMENTS in wanting else ""
        raise InputError(f"{reason}{hint if Need.JUDGMENTS in str(reason) else ''}") from None
    except UndeterminedTopic as reason:
        raise InputError(str(reason)) from None


def _comparisons(scores: Scores, resamples: Resamples, options: argparse.Namespace) -> list[Comparison]:
    first, *others = scores.metrics
    if not others:
        common.note("--compare needs two metrics or more")
    return [
        agreement.compare(
            (first, other),
            scores.human,
            scores.metrics[first],
            scores.metrics[other],
            resamples,
            options.over,
            options.draws,
            options.seed,
        )
        for other in common.progress(others, "comparing: metric")
    ]


def _pairs(scores: Scores, options: argparse.Namespace) -> dict[str, list[PairTests]]:
    # A randomised p-value is at least 1 / (1 + draws), and Holm multiplies it by the number of pairs: with fewer draws
    # than this not even the clearest difference could be told.
    draws = max(options.draws, 40 * math.comb(len(scores.systems), 2))
    scorers = {options.dimension: scores.human, **scores.metrics}
    return {
        name: resampling.paired_tests(scorers[name], draws, options.seed)
        for name in common.progress(list(scorers), "testing pairs of systems: by")
    }


def _agreement_table(
    reports: Sequence[agreement.Report], scores: Scores, options: argparse.Namespace, label: str
) -> Table:
    return Table(
        title=f"Agreement with human {options.dimension}: {len(scores.topics)} topics, {len(scores.systems)} systems",
        notes=(
            "agreement: pairs of summaries of a topic that the metric orders as people do, mean over topics; "
            "pooled: over all such pairs;",
            "accuracy: all pairs, ties included, with the difference epsilon up to which a metric's scores are tied; "
            f"95% intervals over {'systems and topics' if options.over == 'both' else options.over}, "
            f"{options.draws} resamples, seed {options.seed}",
            *(f"{report.metric}: {report.signature}" for report in reports),
            *((f"judgments {label}",) if label else ()),
        ),
        columns=("metric", "agreement", "low", "high", "pooled", "low", "high", "accuracy", "epsilon"),
        rows=tuple(
            (
                report.metric,
                *_three(report.agreement),
                *_three(report.agreement_pooled),
                finite(report.accuracy.value),
                finite(report.accuracy.epsilon),
            )
            for report in reports
        ),
        digits=3,
    )


def _correlation_table(reports: Sequence[agreement.Report], level: Level) -> Table:
    undefined = [f"{report.metric} {report.undefined_topics}" for report in reports if report.undefined_topics]
    columns = [column for kind in agreement.COEFFICIENTS for column in (kind, "low", "high")]
    return Table(
        title=_HEADINGS[level],
        notes=(f"topics where it is undefined: {', '.join(undefined)}",) if undefined and level == "summary" else (),
        columns=("metric", *columns),
        rows=tuple(
            (report.metric, *(cell for interval in report.correlations[level].values() for cell in _three(interval)))
            for report in reports
        ),
        digits=3,
    )


def _comparison_table(comparisons: Sequence[Comparison], options: argparse.Namespace) -> Table:
    adjusted = holm([comparison.agreement_p for comparison in comparisons])
    return Table(
        title="Differences between metrics",
        notes=(
            "of agreement and of the systems' Pearson correlation; p by permutation (Deutsch et al. 2021), "
            f"{options.draws} draws; Holm: for all rows together; Williams: of the Pearson correlations",
        ),
        columns=("first", "second", "agreement", "low", "high", "p", "Holm", "Pearson", "low", "high", "p", "Williams"),
        rows=tuple(
            (
                comparison.first,
                comparison.second,
                *_three(comparison.agreement),
                comparison.agreement_p,
                finite(adjusted_p),
                *_three(comparison.pearson),
                comparison.pearson_p,
                finite(comparison.williams_p),
            )
            for comparison, adjusted_p in zip(comparisons, adjusted, strict=True)
        ),
        digits=3,
    )


def _pairs_table(pairs: Mapping[str, Sequence[PairTests]], scores: Scores) -> Table:
    """How many pairs of systems each test tells apart at .05, before and after correction."""
    rows: list[tuple[Cell, ...]] = []
    for scorer, tests in pairs.items():
        raw = [sum(getattr(pair, test) <= 0.05 for pair in tests) for test in _TESTS]
        adjusted = [
            sum(p[f"{test}_{kind}"] <= 0.05 for p in _adjusted(tests)) for test in _TESTS for kind in ("holm", "bh")
        ]
        rows.append((scorer, len(tests), *raw, *adjusted))
    corrected = [f"{test} {kind}" for test in _TESTS for kind in ("Holm", "BH")]
    return Table(
        title="Pairs of systems that differ at .05, by people and by each metric",
        notes=(
            "paired t, Wilcoxon's signed ranks, swap test, its bootstrap hybrid; corrected by Holm and by "
            "Benjamini and Hochberg; --format json lists every pair",
        ),
        columns=("by", "pairs", *_TESTS, *corrected),
        rows=tuple(rows),
    )


def _adjusted(tests: Sequence[PairTests]) -> list[dict[str, float]]:
    """For each pair its corrected p-values: `t_holm`, `t_bh` and so on."""
    columns: dict[str, NDArray[np.float64]] = {}
    for test in _TESTS:
        p = np.array([getattr(pair, test) for pair in tests], dtype=np.float64)
        columns[f"{test}_holm"] = np.array(holm(p.tolist()), dtype=np.float64)
        columns[f"{test}_bh"] = benjamini_hochberg(p)
    return [{name: float(column[k]) for name, column in columns.items()} for k in range(len(tests))]


def _rows(reports: Sequence[agreement.Report]) -> Table:
    """One row for each metric and figure."""
    rows: list[tuple[Cell, ...]] = []
    for report in reports:
        figures: list[tuple[str, str, Interval]] = [
            ("agreement", "summary", report.agreement),
            ("agreement_pooled", "summary", report.agreement_pooled),
            *(
                (kind, level, interval)
                for level, correlations in report.correlations.items()
                for kind, interval in correlations.items()
            ),
        ]
        rows += [(report.metric, figure, level, *_three(interval)) for figure, level, interval in figures]
        rows.append((report.metric, "pairwise_accuracy", "summary", finite(report.accuracy.value), None, None))
        rows.append((report.metric, "epsilon", "summary", finite(report.accuracy.epsilon), None, None))
    return Table(("metric", "figure", "level", "value", "low", "high"), tuple(rows))


def _report_as_json(report: agreement.Report) -> dict[str, Any]:
    values = {
        level: {kind: finite(interval.value) for kind, interval in correlations.items()}
        for level, correlations in report.correlations.items()
    }
    return {
        "metric": report.metric,
        "signature": report.signature,
        "agreement": finite(report.agreement.value),
        "agreement_pooled": finite(report.agreement_pooled.value),
        **values["summary"],
        "system_level": values["system"],
        "global_level": values["global"],
        "pairwise_accuracy": finite(report.accuracy.value),
        "epsilon": finite(report.accuracy.epsilon),
        "undefined_topics": report.undefined_topics,
        "intervals": {
            "agreement": _bounds(report.agreement),
            "agreement_pooled": _bounds(report.agreement_pooled),
            **{kind: _bounds(interval) for kind, interval in report.correlations["summary"].items()},
            "system_level": {kind: _bounds(interval) for kind, interval in report.correlations["system"].items()},
            "global_level": {kind: _bounds(interval) for kind, interval in report.correlations["global"].items()},
        },
    }


def _comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "first": comparison.first,
        "second": comparison.second,
        "agreement": {**_interval_as_json(comparison.agreement), "p": comparison.agreement_p},
        "system_pearson": {**_interval_as_json(comparison.pearson), "p": comparison.pearson_p},
        "williams": {"t": finite(comparison.williams_t), "p": finite(comparison.williams_p)},
    }


def _pair_as_json(scorer: str, pair: PairTests, adjusted: Mapping[str, float], scores: Scores) -> dict[str, Any]:
    return {
        "by": scorer,
        "first": scores.systems[pair.first],
        "second": scores.systems[pair.second],
        "topics": pair.topics,
        "difference": finite(pair.difference),
        **{test: finite(getattr(pair, test)) for test in _TESTS},
        **{name: finite(p) for name, p in adjusted.items()},
    }


def _interval_as_json(interval: Interval) -> dict[str, Any]:
    return {"difference": finite(interval.value), "low": finite(interval.low), "high": finite(interval.high)}


def _three(interval: Interval) -> tuple[float | None, float | None, float | None]:
    return finite(interval.value), finite(interval.low), finite(interval.high)


def _bounds(interval: Interval) -> list[float | None]:
    return [finite(interval.low), finite(interval.high)]
