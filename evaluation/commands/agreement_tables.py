"""Metrics beside people as tables, from the same records that JSON is written from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from statistics import fmean

from evaluation.commands.tables import Cell, Table
from evaluation.meta.agreement import COEFFICIENTS, LEVELS
from formats.results import AgreementReport, DimensionAgreement, MetricAgreement
from formats.results.agreement import Bounded
from formats.results.metrics import Level

Figure = Callable[[MetricAgreement], float | None]

_HEADINGS: Mapping[Level, str] = {
    "summary": "Correlation of summaries: within each topic, then the mean over topics",
    "system": "Correlation of systems: of their means over topics",
    "global": "Correlation of all summaries as one pool",
}


def agreement_tables(report: AgreementReport, label: str) -> Iterator[Table]:
    """Every figure; where there are several dimensions, first those of all of them side by side.

    `label`: where judgments are simulated, from what.
    """
    if len(report.dimensions) > 1:
        yield from _overviews(report)
    for dimension in report.dimensions:
        yield _agreement(dimension, report, label)
        yield from (_correlations(dimension, level) for level in LEVELS)
        yield _significant(dimension, report.level)
        if dimension.differences:
            yield _differences(dimension, report.draws)


def agreement_rows(report: AgreementReport) -> Table:
    """One row for each dimension, metric and figure."""
    return Table(
        ("dimension", "metric", "figure", "level", "value", "low", "high", "p", "n"),
        tuple(
            (dimension.dimension, metric.metric, *cells)
            for dimension in report.dimensions
            for metric in dimension.metrics
            for cells in _figures(metric)
        ),
    )


def _figures(metric: MetricAgreement) -> Iterator[tuple[Cell, ...]]:
    yield "agreement", "summary", *_three(metric.agreement), None, None
    yield "agreement_pooled", "summary", *_three(metric.agreement_pooled), None, None
    for level, correlations in metric.correlations.items():
        for kind, value in correlations.items():
            yield kind, level, *_three(value), value.p, value.n
    for kind, topics in metric.significant.items():
        yield f"{kind}_significant", "summary", topics.share, None, None, None, topics.topics
    yield "pairwise_accuracy", "summary", metric.accuracy, None, None, None, None
    yield "epsilon", "summary", metric.epsilon, None, None, None, None


def _overviews(report: AgreementReport) -> Iterator[Table]:
    """One table of metrics and dimensions for the agreement, and one for each level of correlation."""
    yield _side_by_side(report, "Agreement with people", {"agreement": lambda metric: metric.agreement.value})
    for level in LEVELS:
        yield _side_by_side(report, _HEADINGS[level], {kind: _coefficient(level, kind) for kind in COEFFICIENTS})


def _coefficient(level: Level, kind: str) -> Figure:
    return lambda metric: metric.correlations[level][kind].value


def _side_by_side(report: AgreementReport, title: str, figures: Mapping[str, Figure]) -> Table:
    return Table(
        title=f"{title}, all dimensions",
        columns=("metric", "figure", *(dimension.dimension for dimension in report.dimensions)),
        rows=tuple(
            (metric.metric, name, *(figure(dimension.metrics[k]) for dimension in report.dimensions))
            for name, figure in figures.items()
            for k, metric in enumerate(report.dimensions[0].metrics)
        ),
        digits=3,
    )


def _agreement(dimension: DimensionAgreement, report: AgreementReport, label: str) -> Table:
    return Table(
        title=f"Agreement with human {dimension.dimension}: {dimension.topics} topics, {dimension.systems} systems",
        notes=(
            "agreement: pairs of summaries of a topic that the metric orders as people do, mean over topics; "
            "pooled: over all such pairs;",
            "accuracy: all pairs, ties included, with the difference epsilon up to which a metric's scores are tied; "
            f"95% intervals over {'systems and topics' if report.over == 'both' else report.over}, "
            f"{report.draws} resamples, seed {report.seed}",
            *(f"{metric.metric}: {metric.signature}" for metric in dimension.metrics),
            *((f"judgments {label}",) if label else ()),
            *_minutes(report.minutes),
        ),
        columns=("metric", "agreement", "low", "high", "pooled", "low", "high", "accuracy", "epsilon"),
        rows=tuple(
            (
                metric.metric,
                *_three(metric.agreement),
                *_three(metric.agreement_pooled),
                metric.accuracy,
                metric.epsilon,
            )
            for metric in dimension.metrics
        ),
        digits=3,
    )


def _minutes(minutes: Mapping[str, float]) -> tuple[str, ...]:
    if not minutes:
        return ()
    return (f"minutes of annotation a topic: {fmean(minutes.values()):.1f} (mean over {len(minutes)} topics)",)


def _correlations(dimension: DimensionAgreement, level: Level) -> Table:
    undefined = [
        f"{metric.metric} {metric.undefined_topics}" for metric in dimension.metrics if metric.undefined_topics
    ]
    columns = ["low", "high"] if level == "summary" else ["low", "high", "p"]
    return Table(
        title=_HEADINGS[level],
        notes=(f"topics where it is undefined: {', '.join(undefined)}",) if undefined and level == "summary" else (),
        columns=("metric", *(column for kind in COEFFICIENTS for column in (kind, *columns))),
        rows=tuple(
            (
                metric.metric,
                *(
                    cell
                    for value in metric.correlations[level].values()
                    for cell in (*_three(value), value.p)[: 1 + len(columns)]
                ),
            )
            for metric in dimension.metrics
        ),
        digits=3,
    )


def _significant(dimension: DimensionAgreement, level: float) -> Table:
    columns = ("topics", "significant", "share", "lowest", "highest")
    return Table(
        title=f"Topics with a significant correlation at {level:g}",
        notes=("of the topics where it is defined; lowest and highest of the significant ones",),
        columns=("metric", "coefficient", *columns),
        rows=tuple(
            (metric.metric, kind, *(getattr(topics, column) for column in columns))
            for metric in dimension.metrics
            for kind, topics in metric.significant.items()
        ),
        digits=3,
    )


def _differences(dimension: DimensionAgreement, draws: int) -> Table:
    tested = ("low", "high", "p", "Holm")
    return Table(
        title="Differences between metrics",
        notes=(
            "of agreement and of the systems' Pearson correlation; p by permutation (Deutsch et al. 2021), "
            f"{draws} draws; Williams: of the Pearson correlations; Holm: for all rows together",
        ),
        columns=("first", "second", "agreement", *tested, "Pearson", *tested, "Williams", "Holm"),
        rows=tuple(
            (
                row.first,
                row.second,
                *(*_three(row.agreement), row.agreement.p, row.agreement.holm),
                *(*_three(row.pearson), row.pearson.p, row.pearson.holm),
                row.williams_p,
                row.williams_holm,
            )
            for row in dimension.differences
        ),
        digits=3,
    )


def beside_table(report: AgreementReport, other: AgreementReport, names: tuple[str, str]) -> Table:
    """Whether metrics do better or worse on other topics: agreement, systems' Spearman, share of significant topics."""
    figures: Mapping[str, Figure] = {
        "agreement": lambda metric: metric.agreement.value,
        "Spearman": _coefficient("system", "spearman"),
        "significant": lambda metric: metric.significant["spearman"].share,
    }
    return Table(
        title=f"{names[0]} and {names[1]}",
        notes=("Spearman: of systems; significant: the share of topics with a significant Spearman correlation",),
        columns=("dimension", "metric", *(column for name in figures for column in (name, "other", "change"))),
        rows=tuple(
            (
                first.dimension,
                metric.metric,
                *(cell for figure in figures.values() for cell in _change(figure, metric, again)),
            )
            for first, second in zip(report.dimensions, other.dimensions, strict=True)
            for metric, again in zip(first.metrics, second.metrics, strict=True)
        ),
        digits=3,
    )


def _change(figure: Figure, metric: MetricAgreement, again: MetricAgreement) -> tuple[Cell, Cell, Cell]:
    before, after = figure(metric), figure(again)
    return before, after, None if before is None or after is None else after - before


def _three(interval: Bounded) -> tuple[Cell, Cell, Cell]:
    return interval.value, interval.low, interval.high
