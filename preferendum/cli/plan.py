"""`plan`: how many judgments does a study need?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import get_args

from preferendum.cli import common
from preferendum.cli.common import Command, InputError, Output
from preferendum.evidence import Evidence, Judgments
from preferendum.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Variances
from preferendum.fit.preference_matrix import Estimate
from preferendum.formats.records import Of
from preferendum.formats.settings import StudySettings
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Forecast, SummaryForecast, to_json
from preferendum.results.ground import EARLIEST
from preferendum.results.outlook import Outlook, halfwidth
from preferendum.results.planning import Pace, seconds_of
from preferendum.results.scores import is_tested
from preferendum.scoring import planning, planning_summaries
from preferendum.scoring.evaluate import bounds_of, score
from preferendum.scoring.planning import RUNS, TYPICAL, TYPICAL_TIES, Assumed, Prepared
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.summary_answers import answers_of
from preferendum.scoring.win_rate import ENDS, win_rates
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
    group.add_argument("--pay", metavar="X", type=common.above_zero, help="an hour")
    group.add_argument("--currency", metavar="NAME", default="", help="of the pay, such as EUR")
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
    judged = [topic for topic in topics if len(topic.judgments)]
    fits = [
        (topic, prepared, fitted)
        for topic in common.progress(judged, "fitting topic")
        for prepared in [Prepared.of(topic, settings)]
        if (fitted := prepared.fit(topic.judgments, settings)) is not None
    ]
    report = planning.forecast(
        topics,
        settings,
        options.at or planning.usual_sizes(lengths),
        _assumed([(fitted, topic.judgments, len(topic.sentences)) for topic, _texts, fitted in fits], options),
        stop_rule=options.stop_rule,
        runs=options.runs,
        seed=options.seed,
        watched=lambda steps: common.progress(steps, "simulating: topic"),
    )
    standings = [
        score(prepared.texts, fitted, settings).standing_by(topic.annotators) for topic, prepared, fitted in fits
    ]
    compared = Comparison(standings, is_tested=is_tested(settings.score))
    outlook = _outlook(options, compared, bounds_of(settings.score), sum(len(own.judgments) for own in judged), report)
    words = [len(tokens(sentence)) for topic in topics for sentence in topic.sentences]
    pace = _pace(options, planning.seconds_of(topics), 2 * fmean(words))
    notes = f"Variance of utilities {report.variance:.2f}, share of similarity {report.share:.2f}; seed {report.seed}."
    output = _output(StudyForecast(outlook, settings.score, pace), report, [notes], options)
    return replace(output, data={**output.data, "settings": asdict(settings)})


def _of_summaries(loaded: Sequence[Evidence], options: argparse.Namespace) -> Output:
    topics = [topic for topic in loaded if len(topic.summaries) > 1]
    if not topics:
        raise InputError("no topic has two summaries to compare")
    answers = answers_of(topics)
    rates = win_rates(answers) if len(answers) else None
    variances = rates.effects.variances if rates and len(answers) >= EARLIEST else Variances(USUAL_SYSTEM, USUAL_ITEM)
    systems = {summary.system for topic in topics for summary in topic.summaries}
    words = [len(tokens(" ".join(summary.sentences))) for topic in topics for summary in topic.summaries]
    size = len(systems), len(topics), 2 * fmean(words)
    learnt_from = len(answers) if len(answers) >= EARLIEST else 0
    report = planning_summaries.forecast(options.at or planning_summaries.SIZES, *size, variances, learnt_from)
    compared = Comparison([rates.standing] if rates else [])
    outlook = _outlook(options, compared, ENDS, len(answers), report)
    taken = [own.seconds for topic in topics for own in topic.between_summaries if own.seconds is not None]
    pace = _pace(options, fmean(taken) if taken else None, report.words)
    notes = f"Variance of systems {variances.system:.2f}, of their summaries {variances.item:.2f}."
    return _output(StudyForecast(outlook, WIN_RATE, pace), report, [notes], options)


def _outlook(
    options: argparse.Namespace,
    compared: Comparison,
    bounds: tuple[float, float],
    now: int,
    report: Forecast | SummaryForecast,
) -> Outlook:
    """Where a study with these judgments is."""
    ground = compared.ground
    differences = compared.differences()
    return Outlook.of(
        *(options.compares, now, ground.annotators),
        *(halfwidth(differences), compared.ranked(*bounds), ground),
        planned_share=differences[0].planned_share if differences else None,
        topics=report.topics,
        planned=max(options.at or [0]) * report.topics,
        expected=report,
    )


def _pace(options: argparse.Namespace, taken: float | None, words: float) -> Pace:
    if options.seconds:
        return Pace(options.seconds, "said")
    return Pace(seconds_of(words), "read") if taken is None else Pace(taken, "taken")


def _output(
    planned: StudyForecast, report: Forecast | SummaryForecast, about: Sequence[str], options: argparse.Namespace
) -> Output:
    outlook, unit = planned.outlook, planned.unit
    asked = forecast.Asked(options.difference and unit.times * options.difference, options.pay, options.currency)
    table = forecast.table(planned, asked, [point.judgments * outlook.topics for point in report.points])
    needed = outlook.answers_to_tell(options.difference) if options.difference and planned.is_tested else None
    own = {"difference": options.difference, "pay": options.pay, "currency": options.currency, "needed": needed}
    data = {**to_json(report), "now": outlook.now, "margin": outlook.half, "seconds": planned.pace.seconds, **own}
    notes = [forecast.verdict(planned, asked), *about, table.note, forecast.note(planned)]
    return Output([replace(table, note=" ".join(notes))], table, data)


COMMAND = Command(
    name="plan",
    help="say how many judgments a study needs",
    description="Simulates studies on the sentences and summaries of TOPICS, or on those of standard summarizers, and "
    "says how sure the differences of systems are to be, by number of judgments. Judgments at hand tell how far "
    "sentences differ and annotators err; without any, usual values do (docs/researchers.md).",
    add_arguments=add_arguments,
    run=run,
)


def _assumed(fits: Sequence[tuple[Estimate, Judgments, int]], options: argparse.Namespace) -> Assumed:
    usual = replace(TYPICAL, ties=options.ties)
    assumed = replace(
        planning.learnt(fits) or usual, judgments_per_pair=options.judgments_per_pair, random_share=options.random_share
    )
    return assumed if options.careless is None else replace(assumed, careless=options.careless)
