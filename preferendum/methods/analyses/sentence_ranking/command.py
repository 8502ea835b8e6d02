"""`sentences`: are source sentences ranked as a Pyramid, the references or given values rank them?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

import numpy as np

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.evidence import Evidence, Settings
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.methods.analyses.sentence_ranking import show as sentence_ranking
from preferendum.methods.analyses.sentence_ranking.report import SMOOTHINGS, sentence_report, values_from
from preferendum.methods.analyses.sentence_ranking.values import read_sentence_values
from preferendum.methods.meta.agreement import Vector
from preferendum.results import to_json
from preferendum.results.metrics import Values
from preferendum.scoring.simulations import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser, in_place_of_people=False)
    parser.add_argument_group("sentences").add_argument(
        "--against",
        metavar="pyramid|references|FILE",
        default="pyramid",
        help="the values of sentences: from the Pyramid annotations, from the references, or from a table "
        "topic,sentence,value (default: pyramid)",
    )
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    smoothings = (options.smooth,) if options.smooth else SMOOTHINGS
    # Each smoothing has its turn; a prior is for those that have none of their own.
    settings = common.settings_from(argparse.Namespace(**vars(options) | {"smooth": options.smooth or "none"}))
    asked = argparse.Namespace(**vars(options) | {"simulate": None, "pairs": None})
    topics = common.with_documents(common.load(asked, settings, judgments_needed=False))
    options.pairs = common.PAIRS if options.pairs is None else options.pairs
    against, values = _values(topics, options, settings)
    report = sentence_report(
        topics,
        against,
        values,
        settings,
        simulated=options.pairs,
        seed=options.seed,
        smoothings=smoothings,
        watched=lambda some: common.progress(some, "ranking sentences: topic"),
    )
    if not report.rankings:
        raise InputError("there are no judgments, no references and no Pyramids: nothing ranks the sentences")
    means = sentence_ranking.means(report)
    simulated = f"Simulated: {options.pairs} judgments a topic, seed {options.seed}."
    return Output(
        tables=[replace(means, note=f"{means.note} {simulated}")],
        rows=sentence_ranking.agreement([report]),
        data={
            **to_json(report),
            "pairs": options.pairs,
            "seed": options.seed,
            "settings": asdict(settings) | {"smooth": list(smoothings)},
        },
    )


COMMAND = Command(
    name="sentences",
    help="measure how well source sentences are ranked",
    description="Of the pairs of source sentences that differ in value, the share that utilities order alike, from "
    "people's judgments and from simulated ones, under each smoothing (Zopf 2018, table 4).",
    add_arguments=add_arguments,
    run=run,
)


def _values(
    topics: Sequence[Evidence], options: argparse.Namespace, settings: Settings
) -> tuple[Values, Mapping[str, Vector]]:
    """Where the values are from, and (n,) of them for each topic that has them."""
    for source in get_args(Source):
        if options.against == source:
            if not (values := values_from(topics, source, settings)):
                raise InputError(f"--against {source}: no topic has any; values may come from a FILE, too")
            return source, values
    return "given", _given(topics, Path(options.against))


def _given(topics: Sequence[Evidence], path: Path) -> Mapping[str, Vector]:
    complaints = Complaints()
    names = {topic.topic_id: frozenset(topic.sentence_ids) for topic in topics}
    with path.open("rb") as file:
        given = read_sentence_values(file, Place(complaints, path.name), names)
    complaints.raise_if_any()
    return {
        topic.topic_id: np.array([given[topic.topic_id].get(name, np.nan) for name in topic.sentence_ids])
        for topic in topics
        if topic.topic_id in given
    }
