"""`sets`: do scores depend on the document set, and how far are people's summaries from machines'?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from preferendum.cli import common
from preferendum.cli.common import Command, Output
from preferendum.methods import compared
from preferendum.methods.analyses.document_sets import show as document_sets
from preferendum.methods.analyses.document_sets.report import document_sets_report
from preferendum.results import DocumentSetsReport, to_json
from preferendum.show.shown import Table


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
    tests, *others = _tables(report)
    return Output(
        tables=[common.labelled(tests, options), *others],
        rows=document_sets.scores(report.scorers),
        data={**to_json(report), **common.provenance(options, settings)},
    )


COMMAND = Command(
    name="sets",
    help="compare the topics: by how much scores depend on them, and which differ",
    description="Tests whether scores depend on the document set (Kruskal and Wallis), which sets differ (Tukey's "
    "intervals of mean ranks), and how far people's summaries lie above what metrics predict.",
    add_arguments=add_arguments,
    run=run,
)


def _tables(report: DocumentSetsReport) -> Iterator[Table]:
    """The tables of every scorer, since a terminal has no choice."""
    yield document_sets.tests(report.scorers, {})
    yield from map(document_sets.topics, report.scorers)
    yield document_sets.gaps(report.scatters)
