"""What the subcommands that hold metrics against people share: their options, and the scores of both."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import chain
from typing import get_args

from preferendum.cli import common
from preferendum.cli.common import InputError
from preferendum.evidence import Evidence, Settings
from preferendum.methods.meta.scores import NoHumanScores, among_peers, collect, dimensions_of, judged_topics
from preferendum.metrics import registry
from preferendum.metrics.names import IMPORTANCE, WIN_RATE
from preferendum.metrics.registry import Metric, MissingEvidence, Need, UnknownMetric
from preferendum.results.metrics import Peers
from preferendum.results.statistics import LEVEL
from preferendum.scoring.evaluate import UndeterminedTopic
from preferendum.work.scores import Scores

USUAL = ("preferences", "rouge-1", "rouge-2", "rouge-su4", "js")
#: What may be written for short.
SHORT = {"importance": IMPORTANCE}


def add_arguments(group: argparse._ArgumentGroup, usual: Sequence[str] = USUAL) -> None:
    """Dimensions, metrics, and whose summaries."""
    group.add_argument(
        "--dimension",
        metavar="LIST",
        type=listed,
        required=True,
        help="the dimensions of the human scores to compare with, separated by commas, or all",
    )
    group.add_argument(
        "--metrics",
        metavar="LIST",
        type=listed,
        help=f"metrics, separated by commas (default: those of {','.join(usual)} that the topics allow)",
    )
    group.add_argument(
        "--models",
        metavar="LIST",
        type=_numbers,
        default=(),
        help="each metric that rests on references by so many of them, such as 1,2,3,4 (Louis & Nenkova 2013, table 6)",
    )
    group.add_argument("--without", metavar="LIST", type=listed, default=(), help="systems to leave out")
    group.add_argument(
        "--peers",
        choices=get_args(Peers),
        metavar="|".join(get_args(Peers)),
        default="machines",
        help="all: people's summaries among the machines', each scored by the other references alone, and the "
        "machines by one reference less, too (default: machines)",
    )


def add_level(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--level",
        metavar="P",
        type=_level,
        default=LEVEL,
        help=f"the level of significance of topics and pairs of systems (default: {LEVEL})",
    )


def described() -> str:
    """Which metrics there are, for the help."""
    names = ", ".join(name for family in registry.families() for name in family.names)
    return f"Metrics: {names}. Options stand behind a colon, as in rouge-2:f:words=100; docs/metrics.md has them all."


def listed(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(common.positive, listed(text)))


def _level(text: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if 0 < level < 1:
        return level
    raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")


def asked(
    loaded: Sequence[Evidence], options: argparse.Namespace, settings: Settings, usual: Sequence[str] = USUAL
) -> tuple[Sequence[str], list[Metric], list[Evidence]]:
    """The dimensions, the metrics, prepared, and the topics where people scored any of the dimensions."""
    if any(topic.between_summaries for topic in loaded):
        usual = (WIN_RATE, *usual)
    metrics = _metrics(options, settings, usual)
    dimensions = dimensions_of(loaded) if options.dimension == ("all",) else options.dimension
    topics = judged(loaded, dimensions or ("all",), options)
    _note_peers(topics, loaded, options.peers)
    if options.metrics is None:
        metrics = _allowed(metrics, topics)
    return dimensions, prepared(metrics, loaded, options), topics


def prepared(metrics: Sequence[Metric], loaded: Sequence[Evidence], options: argparse.Namespace) -> list[Metric]:
    """The metrics, having seen all topics where they need that: also those that people scored nothing of."""
    try:
        return registry.prepared(metrics, among_peers(loaded, options.without, options.peers))
    except (MissingEvidence, UnknownMetric) as reason:
        raise InputError(str(reason)) from None


def judged(loaded: Sequence[Evidence], dimensions: Sequence[str], options: argparse.Namespace) -> list[Evidence]:
    try:
        topics = judged_topics(loaded, dimensions, options.without, options.peers)
    except NoHumanScores as reason:
        raise InputError(str(reason)) from None
    if len(topics) < len(loaded):
        names = " or ".join(dimensions)
        common.note(f"{len(loaded) - len(topics)} of {len(loaded)} topics have no human {names}; left out")
    return topics


def _note_peers(topics: Sequence[Evidence], loaded: Sequence[Evidence], peers: Peers) -> None:
    """Whose summaries are compared, where that is not plain."""
    persons = {summary.system for topic in loaded for summary in topic.summaries if summary.person}
    if persons and peers == "machines":
        common.note(f"{len(persons)} of the systems are people; left out (--peers all compares them, too)")
    if peers == "all" and not any(summary.person for topic in topics for summary in topic.summaries):
        common.note("--peers all: no person wrote any of the summaries")


def _metrics(options: argparse.Namespace, settings: Settings, usual: Sequence[str]) -> list[Metric]:
    names = usual if options.metrics is None else tuple(SHORT.get(name, name) for name in options.metrics)
    names = tuple(chain.from_iterable(registry.by_fewer_references(name, options.models) for name in names))
    if options.peers == "all":
        names = tuple(dict.fromkeys(map(registry.without_one_reference, names)))
    try:
        metrics = [registry.metric(name, settings) for name in names]
    except UnknownMetric as reason:
        raise InputError(f"--metrics: {reason}") from None
    if not metrics:
        raise InputError(f"--metrics: name at least one, such as {','.join(USUAL)}")
    return metrics


def _allowed(metrics: Sequence[Metric], topics: Sequence[Evidence]) -> list[Metric]:
    """The metrics among the usual ones that have what they need; a note says why the others are left out."""
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


def scored(topics: Sequence[Evidence], dimensions: Sequence[str], metrics: Sequence[Metric]) -> Scores:
    """What people and the metrics say of the systems that people scored in any dimension; without one, of all."""
    check(metrics, topics)
    try:
        scores = collect(common.progress(topics, "scoring: topic"), dimensions, metrics)
    except (UndeterminedTopic, MissingEvidence, UnknownMetric) as reason:
        raise InputError(str(reason)) from None
    return scores.judged(*dimensions) if dimensions else scores


def check(metrics: Sequence[Metric], topics: Sequence[Evidence]) -> None:
    """Raise `InputError` if a metric needs what a topic does not have."""
    try:
        registry.check(metrics, topics)
    except MissingEvidence as reason:
        hint = "\nfor judgments, give --preferences FILE or --simulate references"
        raise InputError(f"{reason}{hint if Need.JUDGMENTS in str(reason) else ''}") from None
