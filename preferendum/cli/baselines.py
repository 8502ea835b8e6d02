"""`baselines`: summaries by standard summarizers, for topics that have documents."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from preferendum.cli import common
from preferendum.cli.common import Command, InputError
from preferendum.evidence import Evidence, evidence
from preferendum.formats import Summary, Topic, write_topics
from preferendum.formats.readers.late import BASELINE
from preferendum.formats.readers.word_counts import WordCounts
from preferendum.metrics.registry import UnknownMetric
from preferendum.summarizers import SUMMARIZERS, TOPIC_WORDS, WORDS, standard_summaries
from preferendum.vocabulary.background import FEWEST_TOPICS, others_words, read_background


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_topics(parser)
    group = parser.add_argument_group("summaries")
    group.add_argument(
        "--words",
        metavar="N",
        type=common.positive,
        default=WORDS,
        help=f"at most so many words each (default: {WORDS})",
    )
    group.add_argument(
        "--background",
        metavar="FILE",
        type=Path,
        help=f"word counts for {TOPIC_WORDS}, from evaluate background (default: the other topics, at least five)",
    )
    group.add_argument("--seed", metavar="N", type=common.whole, default=0, help="seed of random (default: 0)")


def run(options: argparse.Namespace) -> str:
    topics = common.bundle_from(options.topics, options.columns).topics
    texts = [evidence(topic) for topic in topics]
    if without := [topic.topic_id for topic in texts if not topic.sentences]:
        common.note(f"{common.some_topics(without)}: no documents, so no summaries")
    backgrounds = _backgrounds(texts, options.background)
    file = io.BytesIO()
    for k in common.progress(range(len(topics)), "summarizing: topic"):
        made = standard_summaries(texts[k], backgrounds[k], options.words, options.seed)
        write_topics([_with_summaries(topics[k], made)], file)
    return file.getvalue().decode()


COMMAND = Command(
    name="baselines",
    help="write the topics with summaries by standard summarizers",
    description=f"Summarizes each topic by {', '.join(SUMMARIZERS)}, and writes the topics as JSON Lines with these "
    f"summaries beside their own, as systems called {BASELINE}lead and so on.",
    add_arguments=add_arguments,
    run=run,
    makes_file=True,
)


def _backgrounds(topics: Sequence[Evidence], path: Path | None) -> list[WordCounts | None]:
    """The background that identifies each topic's own words, if there is one. Raises `InputError`."""
    if path is not None:
        try:
            return [read_background(str(path), topic.language) for topic in topics]
        except UnknownMetric as reason:
            raise InputError(str(reason)) from None
    backgrounds = others_words(topics)
    if not any(backgrounds):
        common.note(f"{TOPIC_WORDS} left out: it needs {FEWEST_TOPICS} other topics with documents, or --background")
    return backgrounds


def _with_summaries(topic: Topic, made: dict[str, tuple[str, ...]]) -> Topic:
    added = tuple(Summary(f"{BASELINE}{name}", sentences=sentences) for name, sentences in made.items())
    taken = {summary.name for summary in topic.summaries} & {summary.name for summary in added}
    if taken:
        raise InputError(f"topic {topic.topic_id} has a summary by {min(taken)} already")
    return replace(topic, summaries=(*topic.summaries, *added))
