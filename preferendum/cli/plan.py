"""`plan`: how many judgments does a study need?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import get_args

from preferendum.boards import percent
from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.evidence import Evidence, Settings
from preferendum.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Variances
from preferendum.formats.records import Of
from preferendum.formats.settings import StudySettings
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Ground, SummaryForecast, to_json
from preferendum.results.planning import POWER, seconds_of
from preferendum.results.scores import is_tested
from preferendum.scoring import planning, planning_summaries
from preferendum.scoring.planning import RUNS, TYPICAL, TYPICAL_TIES, Assumed, Prepared
from preferendum.scoring.summary_answers import answers_of
from preferendum.scoring.win_rate import win_rates
from preferendum.show.analyses import forecast
from preferendum.show.analyses.forecast import StudyForecast
from preferendum.text import tokens


def add_arguments(parser: argparse.ArgumentParser) -> None:
    common.add_input(parser, in_place_of_people=False)
    group = parser.add_argument_group("study")
    group.add_argument(
        "--compares",
        choices=get_args(Of),
        metavar="|".join(get_args(Of)),
        default="sentences",
        help="what annotators compare (default: sentences); of summaries the error is worked out, not simulated, and "
        "options about pairs and annotators say nothing",
    )
    group.add_argument(
        "--at",
        metavar="LIST",
        type=common.sizes,
        help="numbers of judgments a topic, separated by commas (default: "
        f"{', '.join(map(str, planning.PER_SENTENCE))} for each of its sentences; of summaries "
        f"{', '.join(map(str, planning_summaries.SIZES))})",
    )
    group.add_argument(
        "--judgments-per-pair", metavar="N", type=common.positive, default=1, help="annotators a pair (default: 1)"
    )
    group.add_argument(
        "--random-share",
        metavar="X",
        type=common.share,
        default=StudySettings().random_share,
        help="of pairs that are drawn at random, others to tell the systems of TOPICS apart "
        f"(default: {StudySettings().random_share:g}; without two systems there, 1)",
    )
    group.add_argument(
        "--careless",
        metavar="X",
        type=common.share,
        help=f"the share of answers that a coin gives (default: {TYPICAL.careless}; with judgments, these tell)",
    )
    group.add_argument(
        "--ties",
        metavar="X",
        type=common.share,
        default=0.0,
        help="the share of ties, such as "
        f"{TYPICAL_TIES} where they are an answer (default: 0; with judgments, these tell)",
    )
    group.add_argument("--difference", metavar="D", type=common.above_zero, help="of two systems, to be told apart")
    group.add_argument(
        "--seconds",
        metavar="S",
        type=common.above_zero,
        help="for a judgment (default: what those at hand took, or by the words to be read)",
    )
    group.add_argument("--pay", metavar="X", type=common.above_zero, help="an hour, in any currency")
    group.add_argument("--stop-rule", action="store_true", help="verdicts hold however often somebody looks")
    group.add_argument("--runs", metavar="N", type=common.positive, default=RUNS, help=f"studies (default: {RUNS})")
    common.add_settings(parser)


def run(options: argparse.Namespace) -> Output:
    settings = common.settings_from(options)
    asked = argparse.Namespace(**vars(options) | {"simulate": None})
    loaded = common.load(asked, settings, judgments_needed=False)
    if options.compares == "summaries":
        return _of_summaries(loaded, options)
    topics = common.with_documents(loaded)
    lengths = [len(topic.sentences) for topic in topics]
    if max(lengths) < 2:
        raise InputError("every topic has one sentence, and judgments are about two")
    report = planning.forecast(
        topics,
        settings,
        options.at or planning.usual_sizes(lengths),
        _assumed(topics, settings, options),
        stop_rule=options.stop_rule,
        runs=options.runs,
        seed=options.seed,
        watched=lambda steps: common.progress(steps, "simulating: topic"),
    )
    words = [len(tokens(sentence)) for topic in topics for sentence in topic.sentences]
    seconds = options.seconds or planning.seconds_of(topics) or seconds_of(2 * fmean(words))
    planned = StudyForecast(report, settings.score, 0, seconds, False, Ground())
    needed = report.needed(options.difference) if options.difference and is_tested(settings.score) else None
    notes = f"Variance of utilities {report.variance:.2f}, share of similarity {report.share:.2f}; seed {report.seed}."
    output = _output(planned, needed, [forecast.verdict(planned, options.difference), notes], options)
    return replace(output, data={**output.data, "settings": asdict(settings)})


def _of_summaries(loaded: Sequence[Evidence], options: argparse.Namespace) -> Output:
    topics = [topic for topic in loaded if len(topic.summaries) > 1]
    if not topics:
        raise InputError("no topic has two summaries to compare")
    report = _summaries_forecast(topics, options.at or planning_summaries.SIZES)
    taken = [own.seconds for topic in topics for own in topic.between_summaries if own.seconds is not None]
    planned = StudyForecast(
        report, WIN_RATE, 0, options.seconds or (fmean(taken) if taken else report.seconds), False, Ground()
    )
    variances = Variances(report.system_variance, report.item_variance)
    notes = [
        forecast.verdict(planned, None),
        f"Variance of systems {variances.system:.2f}, of their summaries {variances.item:.2f}.",
    ]
    needed = None
    if options.difference:
        error = report.error_for(options.difference)
        needed = planning_summaries.answers_for(report.systems, report.topics, error, variances)
        enough = "no number of answers: it takes more topics" if needed is None else f"{needed:,} answers a topic"
        notes.append(
            f"A difference of {percent(options.difference)} is told apart in {POWER:.0%} of studies with {enough}."
        )
    return _output(planned, needed, notes, options)


def _output(planned: StudyForecast, needed: int | None, about: Sequence[str], options: argparse.Namespace) -> Output:
    table = forecast.table(planned, options.difference, planned.seconds, options.pay)
    asked = {"seconds": planned.seconds, "pay": options.pay, "difference": options.difference, "needed": needed}
    notes = [*about, f"{planned.seconds:.0f} s a judgment.", table.note, *forecast.notes(planned)]
    return Output([replace(table, note=" ".join(notes))], table, {**to_json(planned.record), **asked})


def _summaries_forecast(topics: Sequence[Evidence], sizes: Sequence[int]) -> SummaryForecast:
    answers = answers_of(topics)
    variances = win_rates(answers).effects.variances if len(answers) else Variances(USUAL_SYSTEM, USUAL_ITEM)
    systems = {summary.system for topic in topics for summary in topic.summaries}
    words = [len(tokens(" ".join(summary.sentences))) for topic in topics for summary in topic.summaries]
    return planning_summaries.forecast(sizes, len(systems), len(topics), 2 * fmean(words), variances, len(answers))


COMMAND = Command(
    name="plan",
    help="say how many judgments a study needs",
    description="Simulates studies on the sentences and summaries of TOPICS, or on those of standard summarizers, and "
    "says how sure the differences of systems are to be, by number of judgments. Judgments at hand tell how far "
    "sentences differ and annotators err; without any, usual values do (docs/researchers.md).",
    add_arguments=add_arguments,
    run=run,
)


def _assumed(topics: Sequence[Evidence], settings: Settings, options: argparse.Namespace) -> Assumed:
    judged = [topic for topic in topics if len(topic.judgments)]
    fits = [
        (fitted, topic.judgments, len(topic.sentences))
        for topic in common.progress(judged, "fitting topic")
        if (fitted := Prepared.of(topic, settings).fit(topic.judgments, settings)) is not None
    ]
    usual = replace(TYPICAL, ties=options.ties)
    assumed = replace(
        planning.learnt(fits) or usual,
        judgments_per_pair=options.judgments_per_pair,
        random_share=options.random_share,
    )
    return assumed if options.careless is None else replace(assumed, careless=options.careless)
