"""`replay`: what would fewer of a study's judgments have shown?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.cli.tables import Table
from preferendum.evidence import Evidence
from preferendum.formats.records import Of
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Replay, to_json
from preferendum.results.statistics import Z95
from preferendum.scoring import planning
from preferendum.scoring.planning_summaries import SIZES
from preferendum.scoring.replaying import RUNS, replay, replay_summaries
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.show.points import why_untested


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser)
    group = parser.add_argument_group("replay")
    group.add_argument(
        "--compares",
        choices=get_args(Of),
        metavar="|".join(get_args(Of)),
        help="which judgments (default: those of sentences, where there are any)",
    )
    group.add_argument(
        "--at",
        metavar="LIST",
        type=common.sizes,
        help="numbers of judgments a topic, separated by commas; what is forecast of larger ones rests on the smallest "
        f"(default: {', '.join(map(str, planning.PER_SENTENCE))} for each of its sentences, and all)",
    )
    group.add_argument("--runs", metavar="N", type=common.positive, default=RUNS, help=f"orders (default: {RUNS})")
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    evidence = common.load(options, settings)
    if _compares(evidence, options) == "summaries":
        return _of_summaries(evidence, options)
    loaded = common.with_documents(evidence)
    topics = [topic for topic in loaded if len(topic.judgments)]
    report = replay(
        topics,
        settings,
        _sizes(topics, options.at),
        runs=options.runs,
        seed=options.seed,
        watched=lambda runs: common.progress(runs, "replaying: order"),
    )
    label = common.judgments_are_simulated(options)
    return Output(
        tables=[_table(report, settings.score, label, "a sentence's utility")],
        rows=_rows(report),
        data={**to_json(report), **common.provenance(options, settings)},
    )


def _compares(topics: Sequence[Evidence], options: argparse.Namespace) -> Of:
    """The requested kind, which must have judgments; by default sentences, unless only summaries were compared."""
    are_there: dict[Of, bool] = {
        "sentences": any(len(topic.judgments) for topic in topics),
        "summaries": any(topic.between_summaries for topic in topics),
    }
    asked: Of = options.compares or ("sentences" if are_there["sentences"] else "summaries")
    if not are_there[asked]:
        raise InputError(f"there are no judgments of {asked}")
    return asked


def _of_summaries(topics: Sequence[Evidence], options: argparse.Namespace) -> Output:
    answers = answers_of(topics)
    most = max(len(topic.between_summaries) for topic in topics)
    report = replay_summaries(
        answers,
        summaries_there(topics, answers),
        tuple(sorted({min(size, most) for size in (*(options.at or SIZES), most)})),
        runs=options.runs,
        seed=options.seed,
        watched=lambda runs: common.progress(runs, "replaying: order"),
    )
    data = {**to_json(report), "compares": "summaries"}
    return Output(tables=[_table(report, WIN_RATE, "")], rows=_rows(report), data=data)


COMMAND = Command(
    name="replay",
    help="say what fewer of a study's judgments would have told",
    description="Puts the judgments of every topic in random orders and scores what the first so many say: how sure "
    "differences of systems are, beside what `plan` says of it from the smallest number, and how far the order of "
    "systems is the one that all judgments give.",
    add_arguments=add_arguments,
    run=run,
)


def _sizes(topics: Sequence[Evidence], asked: Sequence[int] | None) -> tuple[int, ...]:
    most = max(len(topic.judgments) for topic in topics)
    sizes = asked or planning.usual_sizes([len(topic.sentences) for topic in topics], most)
    return tuple(sorted({min(size, most) for size in sizes}))


def _table(report: Replay, score: str, label: str, also: str = "") -> Table:
    return replace(
        _rows(report),
        title="What fewer judgments would have told",
        notes=(
            f"mean over {report.runs} orders, seed {report.seed}; {report.topics} topics, {report.systems} systems; a "
            "topic with fewer judgments has all of them",
            f"margin: of the 95% interval of a difference of two systems{also and f', and of {also}'}; forecast: "
            "what was to be expected of it by the smallest number",
            why_untested(score) or "apart: the share of pairs of systems told apart",
            "tau: Kendall's, with the order by all judgments",
            *((f"judgments {label}",) if label else ()),
        ),
        digits=3,
    )


def _rows(report: Replay) -> Table:
    of_sentences = any(point.sentence_se is not None for point in report.points)
    also = ("sentence margin", "sentence forecast") if of_sentences else ()
    return Table(
        ("judgments", "margin", "forecast", "apart", "tau", *also),
        tuple(
            (
                *(point.judgments, _margin(point.se), _margin(point.forecast), point.apart, point.tau),
                *(_margin(error) for error in (point.sentence_se, point.sentence_forecast)[: len(also)]),
            )
            for point in report.points
        ),
    )


def _margin(se: float | None) -> float | None:
    return None if se is None else Z95 * se
