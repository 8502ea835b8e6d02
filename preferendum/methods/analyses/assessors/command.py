"""`assessors`: how consistent are those who scored summaries, and what do the worst of them change?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.methods import compared
from preferendum.methods.analyses.assessors import show as assessors
from preferendum.methods.analyses.assessors.report import DRAWS, assessed, assessors_report
from preferendum.results import AssessorsReport, to_json
from preferendum.show.shown import Table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("assessors", compared.described())
    compared.add_arguments(group)
    group.add_argument(
        "--draws",
        metavar="N",
        type=common.resamples,
        default=DRAWS,
        help=f"resamples of pairs, for the intervals of alpha (default: {DRAWS})",
    )
    group.add_argument(
        "--with-models",
        action="store_true",
        help="automatic Pyramid scores: look for the contributors of the references, too",
    )
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    loaded = common.load(options, settings, judgments_needed=False)
    dimensions, metrics, topics = compared.asked(loaded, options, settings)
    scores = compared.scored(topics, dimensions, metrics)
    report = assessors_report(
        scores, assessed(topics), options.peers, draws=options.draws, seed=options.seed, with_models=options.with_models
    )
    if not any(dimension.rankings for dimension in report.dimensions):
        raise InputError(
            "nothing can be told of assessors: it takes two equal summaries of a topic, or summaries that several "
            "assessors scored, with ratings by assessor; or Pyramids that say who annotated them (docs/formats.md)"
        )
    return Output(
        tables=list(_tables(report, options)),
        rows=assessors.figures(report),
        data={**to_json(report), "draws": options.draws, "seed": options.seed, **common.provenance(options, settings)},
    )


COMMAND = Command(
    name="assessors",
    help="measure how consistent those are who scored summaries",
    description="How consistent assessors are on identical summaries, how far they agree, whether those who annotate "
    "Pyramids overlook what they found elsewhere, and what changes without the worst of them (Owczarzak et al. 2012).",
    add_arguments=add_arguments,
    run=run,
)


def _tables(report: AssessorsReport, options: argparse.Namespace) -> Iterator[Table]:
    """Metrics of every dimension, since a terminal has no choice."""
    yield assessors.figures(report)
    yield assessors.ranks(report)
    for dimension in report.dimensions:
        table = assessors.metrics(dimension)
        if table.rows:
            yield common.labelled(table, options)
