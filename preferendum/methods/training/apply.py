"""`apply`: scores by a metric that `train` wrote, for a study to import."""

from __future__ import annotations

import argparse
from pathlib import Path

from preferendum.cli import common
from preferendum.cli.common import Command, InputError
from preferendum.evidence import evidence, with_bases
from preferendum.methods.metrics.trained.scores import opened
from preferendum.metrics.registry import MissingEvidence, UnknownMetric, check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_topics(parser)
    group = parser.add_argument_group("metric")
    group.add_argument("--model", metavar="FILE", type=Path, required=True, help="what train wrote")
    group.add_argument("--metric", metavar="NAME", help="what to call it (default: the name of FILE)")


def run(options: argparse.Namespace) -> str:
    topics = with_bases([evidence(topic) for topic in common.bundle_from(options.topics, options.columns).topics])
    try:
        metric = opened(options.model, f"trained:{options.model}")
        check([metric], topics)
        return common.scores_file(options.metric or options.model.stem, topics, metric.prepared(topics).score)
    except (MissingEvidence, UnknownMetric) as reason:
        raise InputError(str(reason)) from None


COMMAND = Command(
    name="apply",
    help="score summaries with a metric that train wrote, as a table to import",
    description="Writes topic,system,metric,score: scores.csv, which a study imports as the metric given:NAME. A topic "
    "that the metric learnt from is scored by what was learnt without it.",
    add_arguments=add_arguments,
    run=run,
    makes_file=True,
)
