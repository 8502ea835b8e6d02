"""Agreement of metrics with people as tables, from the same records as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from preferendum.cli.tables import Table
from preferendum.methods.analyses.metric_agreement import show as metric_agreement
from preferendum.methods.analyses.metric_agreement.show import COEFFICIENTS, LEVELS, judging_took
from preferendum.results import AgreementReport, MetricAgreement
from preferendum.results.agreement import Bounded
from preferendum.results.metrics import Level
from preferendum.show import shown
from preferendum.show.shown import Cell

Figure = Callable[[MetricAgreement], float | None]


def agreement_tables(report: AgreementReport, label: str) -> Iterator[Table | shown.Table]:
    """The tables of the website; where there are several dimensions, first figures of all of them side by side.

    `label`: where judgments are simulated, from what.
    """
    if len(report.dimensions) > 1:
        yield from _overviews(report)
    judged = [f"Judgments {label}."] if label else []
    for dimension in report.dimensions:
        first, *others = metric_agreement.tables(dimension, report)
        yield replace(first, note=" ".join([first.note, *judging_took(report.minutes), *judged]))
        yield from others


def agreement_rows(report: AgreementReport) -> Table:
    """One row for each dimension, metric and figure."""
    return Table(
        ("dimension", "metric", "figure", "level", "value", "low", "high", "n"),
        tuple(
            (dimension.dimension, metric.metric, *cells)
            for dimension in report.dimensions
            for metric in dimension.metrics
            for cells in _figures(metric)
        ),
    )


def _figures(metric: MetricAgreement) -> Iterator[tuple[Cell, ...]]:
    yield "agreement", "summary", *_three(metric.agreement), None
    yield "agreement_pooled", "summary", *_three(metric.agreement_pooled), None
    for level, correlations in metric.correlations.items():
        for kind, value in correlations.items():
            yield kind, level, *_three(value), value.n
    for kind, topics in metric.significant.items():
        yield f"{kind}_significant", "summary", topics.share, None, None, topics.topics
    yield "pairwise_accuracy", "summary", metric.accuracy, None, None, None
    yield "epsilon", "summary", metric.epsilon, None, None, None


def _overviews(report: AgreementReport) -> Iterator[Table]:
    """One table of metrics and dimensions for the agreement, and one for each level of correlation."""
    yield _side_by_side(report, "Agreement with people", {"agreement": lambda metric: metric.agreement.value})
    for level in LEVELS:
        yield _side_by_side(report, LEVELS[level], {kind: _coefficient(level, kind) for kind in COEFFICIENTS})


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
