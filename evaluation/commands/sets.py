"""`sets`: do scores depend on the document set, and how far are people's summaries from machines'?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from evaluation.commands import common, compared
from evaluation.commands.common import Command, Output
from evaluation.commands.tables import Cell, Table
from evaluation.meta.document_sets import document_sets_report
from formats.results import DocumentSets, DocumentSetsReport, RankTest, Scatter, to_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("document sets", compared.described())
    compared.add_arguments(group)
    compared.add_level(group)
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings, judgments_needed=False)
    dimensions, metrics, topics = compared.asked(loaded, options, settings)
    report = document_sets_report(compared.scored(topics, dimensions, metrics), options.peers, options.level)
    label = common.judgments_are_simulated(options)
    return Output(
        tables=list(_tables(report, label)),
        rows=_rows(report),
        data={
            **to_json(report),
            "settings": common.settings_as_json(settings),
            "simulated": label or None,
        },
    )


COMMAND = Command(
    name="sets",
    help="compare the topics: by how much scores depend on them, and which differ",
    description="Tests whether scores depend on the document set (Kruskal and Wallis), which sets differ (Tukey's "
    "intervals of mean ranks), and how far people's summaries lie above what metrics predict.",
    add_arguments=add_arguments,
    run=run,
)


def _tables(report: DocumentSetsReport, label: str) -> Iterator[Table]:
    yield _tests_table(report, label)
    yield from (_sets_table(scorer, report.level) for scorer in report.scorers)
    yield _gaps_table(report.scatters)


def _tests_table(report: DocumentSetsReport, label: str) -> Table:
    return Table(
        title="Do scores depend on the topic?",
        notes=(
            "H: Kruskal and Wallis, over topics; different: pairs of topics that differ by Tukey's intervals at "
            f"{report.level:g}; Friedman's chi-squared: over systems, where no score is missing",
            *((f"judgments {label}",) if label else ()),
        ),
        columns=("by", "topics", "H", "df", "p", "pairs", "different", "chi-squared", "df", "p"),
        rows=tuple(
            (
                scorer.by,
                len(scorer.sets),
                *_cells(scorer.kruskal),
                scorer.pairs,
                scorer.different,
                *_cells(scorer.friedman),
            )
            for scorer in report.scorers
        ),
    )


def _cells(test: RankTest | None) -> tuple[Cell, Cell, Cell]:
    return (test.statistic, test.df, test.p) if test else (None, None, None)


def _sets_table(scorer: DocumentSets, level: float) -> Table:
    return Table(
        title=f"Topics by mean rank, {scorer.by}",
        notes=(f"with Tukey's intervals at {level:g}, and the number of topics that differ",),
        columns=("topic", "scores", "mean rank", "low", "high", "differ"),
        rows=tuple(
            (topic.topic, topic.n, topic.mean_rank, topic.low, topic.high, len(topic.differs))
            for topic in sorted(scorer.sets, key=lambda topic: -topic.mean_rank)
        ),
    )


def _gaps_table(scatters: Sequence[Scatter]) -> Table:
    return Table(
        title="People above the line through the machines",
        notes=(
            "line: people's score = intercept + slope x metric, of systems' means; gap in the machines' sd from it",
        ),
        columns=("dimension", "metric", "machines", "people", "slope", "intercept", "sd", "gap"),
        rows=tuple(
            (
                *(scatter.dimension, scatter.metric),
                *(sum(point.machine is machine for point in scatter.points) for machine in (True, False)),
                *(scatter.slope, scatter.intercept, scatter.sd, scatter.gap),
            )
            for scatter in scatters
        ),
    )


def _rows(report: DocumentSetsReport) -> Table:
    """One row for each score of the matrices."""
    return Table(
        ("by", "topic", "system", "machine", "score"),
        tuple(
            (scorer.by, topic, system, int(k < scorer.matrix.machines), score)
            for scorer in report.scorers
            for topic, row in zip(scorer.matrix.topics, scorer.matrix.scores, strict=True)
            for k, (system, score) in enumerate(zip(scorer.matrix.systems, row, strict=True))
        ),
    )
