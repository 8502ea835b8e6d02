"""The worker's tasks, each in three steps: load, compute, save.

A task may arrive twice, late or never: it reads the tables first and finds nothing to do if another was faster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from statistics import fmean
from typing import Any, TypedDict

import numpy as np
from celery import shared_task

from annotate import exports, imports, studies
from annotate.imports import simulated, written
from annotate.judging import what_if as questions
from annotate.models import Annotator, Export, Forecast, Job, Ranking, ScoredBy, Topic, Upload, WhatIfQuestion
from annotate.reports.study import BUSY, is_busy
from evaluation import agenda, forecasting, records, sending
from evaluation.attempts import TASKS, TOO_LONG, Tell, task, tell_the_log
from evaluation.cache import Cache
from evaluation.simulating import simulate
from preferendum.annotators import agreement, diagnostics, reliability, what_if
from preferendum.annotators.figures import describe
from preferendum.card import card_of
from preferendum.evidence import AS_PUBLISHED, Evidence, Judgments, Settings, SummaryText
from preferendum.fit import preference_matrix
from preferendum.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Variances
from preferendum.fit.similarity import KEPT, Similarity, similarity
from preferendum.formats.checks.text import visible
from preferendum.formats.readers.late import BASELINE
from preferendum.formats.sentences import cut
from preferendum.metrics import registry
from preferendum.metrics.names import WIN_RATE
from preferendum.results import (
    AnnotatorFigures,
    GroupOutcome,
    Standing,
    SummaryForecast,
    WhatIfTopic,
    from_json,
    to_json,
)
from preferendum.results.ground import EARLIEST
from preferendum.results.helped import TOPICS, HelpedBoard, HelpedTopics
from preferendum.results.judge_card import JudgeCard
from preferendum.results.scores import PredictedSystem, PredictedSystems, is_tested
from preferendum.scoring import asking, planning_summaries
from preferendum.scoring.across_topics import across_topics
from preferendum.scoring.asking_summaries import next_pairs
from preferendum.scoring.covariance import pack, unpack
from preferendum.scoring.evaluate import Texts, TopicResult, bounds_of, curve, evaluate, prepare
from preferendum.scoring.helped import help_of, helped_board
from preferendum.scoring.importance import SharedWords
from preferendum.scoring.later_systems import Prediction, predict
from preferendum.scoring.leaving_out import JudgedSummaries
from preferendum.scoring.planning import Prepared
from preferendum.scoring.planning_summaries import answers_to_measure
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.smallest_set import JudgedTopic, smallest_set
from preferendum.scoring.win_rate import ENDS, WinRates, win_rates
from preferendum.summarizers import standard_summaries
from preferendum.vocabulary.background import others_words
from preferendum.work import Keys, Work, works

#: The number of pairs suggested after a fit; the next fit suggests others.
QUEUE = 64
#: Seconds after which work that nobody waits for makes way for other work.
LONG_TURN = 10.0
#: Seconds after which a what-if question or forecast makes way for scores and for other people's work.
TURN = 1.0


def _take_turn(steps: Iterable[object], seconds: float) -> None:
    """Take steps for one turn, at least one: other work waits. The next turn continues from there."""
    until = time.perf_counter() + seconds
    for _step in steps:
        if time.perf_counter() > until:
            return


@shared_task(name="work")
def work(task: str, *keys: int) -> None:
    """The only task in the queue: do the work of this kind for one key, or for several."""
    TASKS[task](*keys)


#: What was requested and is not tried again.
GIVEN_UP = f"{BUSY} several times and had no time for this. Request it again."


def _give_up(kind: type[Job]) -> Tell:
    def tell(key: int, problem: str, is_given_up: bool) -> None:
        job = kind.waiting().filter(pk=key).first()
        if job is not None and is_given_up:
            job.give_up(GIVEN_UP if is_busy(problem) else problem)

    return tell


def _give_up_upload(key: int, problem: str, is_given_up: bool) -> None:
    """A partly stored upload continues from there, however little a busy machine stores in one turn."""
    if not (problem == TOO_LONG or is_busy(problem)) or not Upload.unfinished().filter(pk=key).exists():
        _give_up(Upload)(key, problem, is_given_up)


def _note(analysis: str) -> Tell:
    return lambda key, problem, _is_given_up: records.note(key, analysis, problem=problem)


def _go_on(*topic_ids: int) -> None:
    """Rank the study and draw the curve of a single topic, if that is quick and nothing else waits."""
    study_id = agenda.study_to_rank(topic_ids)
    if study_id is None:  # topics wait
        return
    if agenda.is_quick("rank_study", study_id):
        rank_study(study_id)
    if len(topic_ids) == 1 and agenda.may_idle() and agenda.is_quick("draw_curve", *topic_ids):
        draw_curve(*topic_ids)


@task(records.note_topic_problem)
def cut_topic(topic_id: int) -> None:
    """Cut the documents of a topic into sentences."""
    imports.cut_topic(topic_id)


@task(_give_up_upload)
def process_upload(upload_id: int) -> None:
    """Read a file and preview what it would add, or store what a person has confirmed."""
    upload = Upload.objects.select_related("study").filter(pk=upload_id).first()
    if upload is not None and upload.baseline_words is not None:
        _take_turn(_write_baselines(upload, upload.baseline_words), LONG_TURN)
    elif upload is not None and upload.simulation is not None:
        _take_turn(_write_simulated(upload, upload.simulation), LONG_TURN)
    elif upload is not None and upload.copied_from is not None:
        studies.write_copied_topics(upload, upload.copied_from)
    elif upload is not None:
        imports.process(upload)
        if upload.state == Upload.State.STORED:
            studies.plan_judgments(upload.study)


def _write_baselines(upload: Upload, words: int) -> Iterator[None]:
    """Write a topic at a time."""
    loaded = records.load_unsummarized(upload)
    backgrounds = others_words(loaded.topics)
    done, among = len(loaded.written), len(loaded.written | loaded.waiting)
    for topic, background in zip(loaded.topics, backgrounds, strict=True):
        if topic.topic_id in loaded.waiting:
            made = standard_summaries(topic, background, words)
            named = [(topic.topic_id, BASELINE + name, "\n".join(text)) for name, text in made.items()]
            written.add_rows(upload, named)
            done += 1
            written.note_written(upload, done, among)
            yield
    written.hand_over(upload)


def _write_simulated(upload: Upload, simulation: dict[str, Any]) -> Iterator[None]:
    """Write a topic at a time. If one has rows already, a turn was interrupted before it was counted."""
    source, count, seed = simulation["source"], simulation["per_topic"], simulation["seed"]
    topics = list(simulated.topics_with(upload.study, source).values_list("pk", "name"))
    done, with_rows = upload.preview.get("written", 0), written.written_topics(upload)
    for number, (key, name) in enumerate(topics[done:], done + 1):
        if name not in with_rows:
            judgments = simulate(key, upload.study, source, count, seed, split)
            written.add_rows(
                upload,
                [(own.topic, own.a, own.b, own.winner, own.annotator, Annotator.Kind.SIMULATED) for own in judgments],
            )
        written.note_written(upload, number, len(topics))
        yield
    written.hand_over(upload)


@task(_give_up(Export))
def write_export(export_id: int) -> None:
    """Write a requested export of a study to a file."""
    export = Export.objects.filter(pk=export_id).first()
    if export is not None:
        exports.write_export(export)


@task(records.note_ranking_problem)
def rank_study(study_id: int) -> None:
    """Rank a study's systems over all of its topics.

    Twice, if a topic was fitted meanwhile: its task found the study claimed and left the ranking to this one.
    """
    for standings in chain.from_iterable(records.load_standings(study_id) for _time in range(2)):
        topics = standings.topics if standings.settings is not None else ()
        score = (standings.settings or {}).get("score", "published")
        comparison = Comparison(topics, stop_rule=standings.stop_rule, is_tested=is_tested(score))
        ranked = comparison.ranked(*bounds_of(score))
        records.save_ranking(standings, ranked, comparison.columns(), comparison.ground)


@task(partial(records.note_ranking_problem, scored_by=ScoredBy.WIN_RATE))
def rank_by_summaries(study_id: int) -> None:
    """Fit the judgments of whole summaries, of all topics at once, and rank the study's systems by their win rates."""
    began = time.perf_counter()
    compared = records.load_compared(study_id)
    if compared is not None:
        rates = win_rates(compared.answers, compared.has) if len(compared.answers) else None
        to_ask = None
        if (count := records.pairs_owed(compared)) > 0:
            read = {name: {own: visible(text) for own, text in of.items()} for name, of in compared.texts.items()}
            to_ask = next_pairs(read, compared.answers, count, study_id)
        records.save_win_rates(compared, rates, to_ask, time.perf_counter() - began)
        records.publish(study_id, "summary-forecast", compared.version, {(): _expected(compared, rates)})


def _expected(compared: records.ComparedSummaries, rates: WinRates | None) -> SummaryForecast | None:
    """What more answers would bring; None where there are no two systems."""
    lengths = [len(text.split()) for texts in compared.texts.values() for text in texts.values()]
    if len(compared.answers.systems) < 2 or not lengths:
        return None
    learnt_from = len(compared.answers) if rates is not None and len(compared.answers) >= EARLIEST else 0
    variances = rates.effects.variances if rates and learnt_from else Variances(USUAL_SYSTEM, USUAL_ITEM)
    size = len(compared.answers.systems), len(compared.topics)
    expected = planning_summaries.forecast((), *size, 2 * fmean(lengths), variances, learnt_from)
    return replace(expected, stop_rule=compared.stop_rule is not None)


@task(_note("later-systems"))
def predict_later_systems(study_id: int) -> None:
    """Predict the win rates of systems that nobody judged from the texts of judged summaries."""
    compared = records.load_compared(study_id)
    if compared is None or not len(compared.answers):
        return
    rates = win_rates(compared.answers, compared.has)
    prediction = predict(rates, records.load_summarized(study_id))
    later = None if prediction is None else _with_answers(prediction, rates.effects.variances)
    records.publish(study_id, "later-systems", compared.version, {(): later})


def _with_answers(prediction: Prediction, variances: Variances) -> PredictedSystems:
    """Each system with the number of answers that would tell as much."""
    systems = (
        PredictedSystem(own.system, own.win_rate, own.low, own.high, answers_to_measure(own.se, variances))
        for own in prediction.systems
    )
    return PredictedSystems(tuple(systems), prediction.feature)


@task(_note("annotators"))
def report_annotators(study_id: int) -> None:
    """Compute the figures about a study's annotators and their agreement."""
    loaded = records.load_answers(study_id)
    if loaded is not None:
        _describe(loaded)


def _describe(loaded: records.StudyAnswers) -> None:
    leading = loaded.leading
    records.save_annotators(
        loaded,
        [_figures(crowd) for crowd in loaded.crowds],
        agreement.study_agreement(leading.judgments, leading.of_summaries),
    )


def _figures(crowd: records.Crowd) -> tuple[AnnotatorFigures, ...]:
    estimated = reliability.estimate(
        [answers.judgments for answers in crowd.answers],
        len(crowd.annotators),
        [answers.counted for answers in crowd.answers],
    )
    return describe(crowd.answers, len(crowd.annotators), estimated)


@task()
def examine_topic(topic_id: int) -> None:
    """Compute the diagnostics of a topic's scores."""
    version = records.fitted_version(topic_id)
    snapshot = records.load_evidence(topic_id, split)
    if snapshot is not None:
        compared = _compare(snapshot.evidence.sentences, snapshot.settings.similarity)
        is_judged = len(snapshot.evidence.judgments) > 0
        diagnosis = diagnostics.examine(snapshot.evidence, snapshot.settings, compared) if is_judged else None
        records.save_topic_examination(snapshot, version, diagnosis)


@task()
def examine_study(study_id: int) -> None:
    """Compute each annotator's influence on a study's ranking (leave one out)."""
    version, topics = records.load_examinations(study_id)
    records.publish(
        study_id, "influence", version, {(): diagnostics.influence(topics, records.human_authors(study_id))}
    )


@task()
def find_smallest_set(study_id: int) -> None:
    """Find the fewest judgments that a study's first place depends on."""
    version, snapshots = records.load_judged(study_id, split)
    smallest = smallest_set([_judged_topic(topic) for topic in snapshots], records.human_authors(study_id))
    records.publish(study_id, "smallest-set", version, {(): smallest})


@task()
def examine_win_rates(study_id: int) -> None:
    """Find each annotator's influence on win rates, and the fewest answers that first place depends on."""
    compared = records.load_compared(study_id)
    if compared is None:
        return
    influence = smallest = None
    if len(compared.answers):
        judged = JudgedSummaries(compared.answers, compared.judgments)
        without_each = judged.influence(compared.leading)
        keys = tuple(compared.annotators[number] for number in without_each.annotators)
        people = records.human_authors(study_id)
        influence = diagnostics.influence([replace(without_each, annotators=keys)], people)
        smallest = smallest_set([judged], people)
    for analysis, record in (("influence", influence), ("smallest-set", smallest)):
        records.publish(study_id, f"win-rate-{analysis}", compared.version, {(): record})


@task(_note("judge-cards"))
def make_judge_cards(study_id: int) -> None:
    """Make the card of each machine that judged whole summaries, and the board that it helps, once people judged."""
    loaded = records.load_machines(study_id)
    if loaded is None:
        return
    judged = loaded.joined()
    cards: dict[Keys, JudgeCard] = {}
    boards: dict[Keys, HelpedBoard | HelpedTopics] = {}
    for number, name in enumerate(loaded.names):
        helped = judged.helped[number]
        own = help_of(name, len(judged.answers), len(judged.machines[number]), helped)
        boards[name,] = helped_board(own, helped)
        if not isinstance(helped, str):
            boards[name, TOPICS] = HelpedTopics(helped.topics())
        cards[name,] = card_of(name, judged, number)
    records.publish(study_id, "helped-boards", loaded.version, boards)
    records.publish(study_id, "judge-cards", loaded.version, cards)


def _judged_topic(snapshot: records.Snapshot) -> JudgedTopic:
    compared = _compare(snapshot.evidence.sentences, snapshot.settings.similarity)
    return JudgedTopic(snapshot.evidence, snapshot.settings, compared, snapshot.judgment_keys)


@task()
def score_with_metrics(topic_id: int) -> None:
    """Score a topic's summaries with every metric that has what it needs and has not scored these texts before."""
    loaded = records.load_texts(topic_id)
    if loaded is not None:
        asked = map(registry.metric, registry.names_for(loaded.evidence, loaded.metrics))
        metrics, absent = registry.usable(asked, loaded.evidence)
        fresh = [metric for metric in metrics if loaded.signatures.get(metric.name) != metric.signature]
        scores = {metric.name: metric.score(loaded.evidence) for metric in fresh}
        signatures = {metric.name: metric.signature for metric in metrics}
        records.save_metric_scores(loaded, scores, signatures, absent)


@task(_note("across-topics"))
def score_across_topics(study_id: int) -> None:
    """Score a study's summaries with the metrics whose scores of one topic rest on other topics, too."""
    _take_turn(_scored_across_topics(study_id), LONG_TURN)


def _scored_across_topics(study_id: int) -> Iterator[None]:
    """Score by a metric at a time."""
    loaded = records.load_study_texts(study_id)
    if loaded is not None:
        for name in loaded.waiting:
            records.save_across_topics(loaded, name, across_topics(registry.metric(name), loaded.topics))
            yield
        records.finish(study_id, "across-topics", loaded.version, ())


def _work_out(work: Work, key: int) -> None:
    loaded = records.load_at_work(work, key, split)
    if loaded is not None:
        steps = work.compute(loaded)
        _take_turn(steps, LONG_TURN if work.turns else math.inf)


for _work in works():
    task(tell_the_log if _work.when == "valued" else _note(_work.name), name=_work.task)(partial(_work_out, _work))


@task(records.note_topic_problem, then=_go_on)
def refit_topic(*topic_ids: int) -> None:
    """Fit and score topics from their judgments so far; then rank the study's systems, if nothing else waits."""
    snapshots = records.load_several(topic_ids, split)
    filled = records.pairs_filled([own for own in snapshots if own.random_share < 1])
    records.save_results([_fitted(own, filled.get(own.topic_id, set())) for own in snapshots])


def _fitted(snapshot: records.Snapshot, filled: Set[tuple[int, int]]) -> records.Fitted:
    if not len(snapshot.evidence.judgments):
        return records.Fitted(snapshot, {})
    began = time.perf_counter()
    result = _evaluate(snapshot)
    results = {ScoredBy.RECOMMENDED: result} | _as_published(snapshot, result)
    to_ask = _to_ask(snapshot, result, filled)
    return records.Fitted(snapshot, results, time.perf_counter() - began, to_ask)


def _to_ask(snapshot: records.Snapshot, result: TopicResult, filled: Set[tuple[int, int]]) -> asking.Queue:
    """The pairs that are most informative now: about systems or, without any, about sentences. No pairs, and so random
    ones, if the study wants only these, or if systems may still be added."""
    if snapshot.random_share >= 1 or result.errors is None:
        return asking.NO_PAIRS
    seed = snapshot.seed, snapshot.topic_id, snapshot.data_version
    texts = _texts(snapshot.evidence, snapshot.settings)["texts"]
    if isinstance(texts, SharedWords) and len(texts.systems) > 1:
        return asking.telling_pairs(texts.telling, QUEUE, snapshot.random_share, seed, filled)
    if snapshot.random_share > 0:
        return asking.NO_PAIRS
    return asking.informative_pairs(result.utilities, result.errors, QUEUE, seed, filled)


@task(_give_up(WhatIfQuestion))
def answer_what_if(question_id: int) -> None:
    """Compute what would change without some annotators, with them again, or with one kind of them alone."""
    question = WhatIfQuestion.objects.select_related("study").filter(pk=question_id).first()
    if question is not None:
        _take_turn(_answered(question), TURN)


def _answered(question: WhatIfQuestion) -> Iterator[None]:
    """Fit every topic concerned as if it were so already, none of them twice."""
    but, also = (question.annotators, ()) if question.leave_out else ((), question.annotators)
    if Ranking.is_by_summaries(question.study):
        _answer_about_win_rates(question, but, also)
        return
    versions = records.topics_judged(question)
    parts = {int(key): from_json(WhatIfTopic, part) for key, part in question.parts.items()}
    parts = {key: part for key, part in parts.items() if versions.get(key) == part.version}
    for topic_id, version in versions.items():
        if topic_id in parts:
            continue
        snapshot = records.load_evidence(topic_id, split, but, also, question.kind)
        if snapshot is not None:
            standing = _evaluate(snapshot).standing
            scores = dict(zip(standing.systems, standing.scores, strict=True))
            parts[topic_id] = WhatIfTopic(scores, pack(standing), standing.judgments, version)
        questions.note_progress(question, to_json(parts), len(versions))
        yield
    fits = records.standings_by_topic(question.study_id)
    in_order = [(key, parts[key]) for key in versions if key in parts]
    answers = {key: unpack(part.covariance, part.scores, part.judgments) for key, part in in_order}
    loaded = records.load_answers(question.study_id)
    if loaded is not None:
        then = _judgments_then(question, loaded)
        agreements = agreement.agreement(loaded.leading.judgments), agreement.agreement(then)
        after = answers if question.kind else fits | answers
        score = question.study.recommended_settings["score"]
        standings = list(fits.values()), list(after.values())
        change = what_if.compare(*standings, agreements, bounds_of(score), is_tested=is_tested(score))
        questions.finish(question, to_json(change), loaded.version)


@task(_note("groups-of-annotators"))
def compare_groups(study_id: int) -> None:
    """Compute what each group of annotators says, by what they answered about themselves."""
    _take_turn(_compared_groups(study_id), LONG_TURN)


def _compared_groups(study_id: int) -> Iterator[None]:
    """Compute a group at a time."""
    loaded = records.load_groups(study_id)
    if loaded is not None:
        for keys in loaded.waiting:
            outcome = _of_group(loaded, loaded.members[keys])
            records.keep(study_id, "groups-of-annotators", keys, outcome, loaded.version)
            yield
        records.finish(study_id, "groups-of-annotators", loaded.version, loaded.members)


def _of_group(loaded: records.Groups, members: Set[int]) -> GroupOutcome:
    """Rank systems as if these members alone had judged: a whole fit of each topic that they judged."""
    crowd, study = loaded.crowd, loaded.study
    others = set(crowd.annotators) - members
    is_member = np.isin(crowd.judgments.annotator, crowd.numbers(members))
    judgments = crowd.judgments.only(is_member)
    compared = records.load_compared(study.pk, others, kind=crowd.kind) if Ranking.is_by_summaries(study) else None
    if compared is not None:
        standings, score, ends = _standings_of(compared), WIN_RATE, ENDS
    else:
        topics = [crowd.topics[number] for number in np.unique(judgments.topic)]
        snapshots = (records.load_evidence(topic, split, others, kind=crowd.kind) for topic in topics)
        standings = [_evaluate(snapshot).standing for snapshot in snapshots if snapshot is not None]
        score = study.recommended_settings["score"]
        ends = bounds_of(score)
    comparison = Comparison(standings, is_tested=is_tested(score))
    outcome = what_if.outcome(standings, comparison, agreement.agreement(judgments), ends)
    return GroupOutcome(
        annotators=len(members),
        outcome=outcome if compared is None else compared.outcome(outcome),
        differences=comparison.differences(),
        with_others=agreement.with_others(crowd.judgments, is_member),
    )


def _answer_about_win_rates(question: WhatIfQuestion, but: Sequence[int], also: Sequence[int]) -> None:
    now = records.load_compared(question.study_id)
    then = records.load_compared(question.study_id, but, also, question.kind)
    loaded = records.load_answers(question.study_id)
    if now is None or then is None or loaded is None:
        return
    agreements = agreement.agreement(loaded.leading.judgments), agreement.agreement(_judgments_then(question, loaded))
    change = what_if.compare(_standings_of(now), _standings_of(then), agreements, ENDS)
    outcomes = now.outcome(change.before), then.outcome(change.after)
    questions.finish(question, to_json(replace(change, before=outcomes[0], after=outcomes[1])), loaded.version)


def _standings_of(compared: records.ComparedSummaries) -> list[Standing]:
    """What all topics together say of the systems; nothing where no answer counts."""
    return [win_rates(compared.answers, compared.has).standing] if len(compared.answers) else []


@task()
def send_webhook(webhook_id: int) -> None:
    """Send what is due to a webhook."""
    _take_turn(sending.send_due(webhook_id), TURN)


@task(_give_up(Forecast))
def forecast_study(key: int) -> None:
    """Forecast how many judgments a study needs, in several turns."""
    asked = Forecast.waiting().select_related("study").filter(pk=key).first()
    if asked is not None:
        try:
            _take_turn(forecasting.simulate(asked, split, _prepared), TURN)
        except forecasting.NoSentences as reason:
            asked.give_up(str(reason))


def _prepared(evidence: Evidence, settings: Settings) -> Prepared:
    return Prepared(evidence, **_texts(evidence, settings))


def _judgments_then(question: WhatIfQuestion, answers: records.StudyAnswers) -> agreement.PairJudgments:
    """The judgments that would count."""
    if question.kind:
        return answers.judgments_of(question.kind)
    crowd = answers.leading
    if question.leave_out:
        is_out = np.isin(crowd.judgments.annotator, crowd.numbers(question.annotators))
        return crowd.judgments.only(~is_out)
    again = records.load_answers(question.study_id, question.annotators)
    return crowd.judgments if again is None else again.leading.judgments


@task()
def draw_curve(topic_id: int) -> None:
    """Compute how a topic's scores developed, once no topic waits for scores: it takes longer than the fit."""
    snapshot = records.load_evidence(topic_id, split)
    if snapshot is not None:
        for scored_by, settings in ((ScoredBy.RECOMMENDED, snapshot.settings), (ScoredBy.PUBLISHED, AS_PUBLISHED)):
            if not records.owes_curve(snapshot, scored_by):
                continue
            points = curve(snapshot.evidence, settings, **_texts(snapshot.evidence, settings))
            records.save_curve(snapshot, scored_by, points)


def catch_up(study_id: int) -> dict[str, str]:
    """Cut, fit and rank all that is out of date in a study, in this process; the problems of its topics, by name."""
    for topic_id in list(Topic.objects.behind().filter(study=study_id).order_by("pk").values_list("pk", flat=True)):
        cut_topic(topic_id)
        refit_topic(topic_id)
    rank_study(study_id)
    rank_by_summaries(study_id)
    for topic_id in list(
        Topic.objects.filter(study=study_id, sentence_set__fits__curve_owed=True).values_list("pk", flat=True)
    ):
        draw_curve(topic_id)
    return records.problems_of(study_id)


def _evaluate(snapshot: records.Snapshot) -> TopicResult:
    return evaluate(snapshot.evidence, snapshot.settings, **_texts(snapshot.evidence, snapshot.settings))


def _as_published(snapshot: records.Snapshot, recommended: TopicResult) -> dict[ScoredBy, TopicResult]:
    """The result by equations 2-5 as well, at every refit; what both ways of scoring share is computed once.

    None for a topic with so many sentences that its preference matrix is not computed.
    """
    if len(snapshot.evidence.sentences) > preference_matrix.MOST_SMOOTHED:
        return {}
    own = snapshot.settings
    is_alike = own.similarity == AS_PUBLISHED.similarity and not own.weigh_annotators
    texts = _texts(snapshot.evidence, AS_PUBLISHED)
    beside = recommended if is_alike else None
    return {ScoredBy.PUBLISHED: evaluate(snapshot.evidence, AS_PUBLISHED, **texts, beside=beside)}


@lru_cache(maxsize=4096)
def split(text: str, language: str) -> tuple[str, ...]:
    """The sentences of a summary, cached: cutting it again at every judgment would take longer than the fit."""
    return tuple(sentence.text for sentence in cut(text, language))


class TextsAlone(TypedDict):
    """What rests on a topic's texts alone."""

    similarity: Similarity
    texts: Texts


def _texts(evidence: Evidence, settings: Settings) -> TextsAlone:
    return {
        "similarity": _compare(evidence.sentences, settings.similarity),
        "texts": _prepare(evidence.sentences, evidence.summaries, evidence.language, settings),
    }


def _similarity(sentences: tuple[str, ...], name: str) -> Similarity:
    return similarity(sentences, name)


def _prepare_texts(
    sentences: tuple[str, ...], summaries: tuple[SummaryText, ...], language: str, settings: Settings
) -> Texts:
    nobody = np.empty(0, dtype=np.int64)
    judgments = Judgments(nobody, nobody, np.empty(0), np.empty(0), nobody)
    topic = Evidence("", (), sentences, judgments, summaries, language=language)
    return prepare(topic, _compare(sentences, settings.similarity), settings)


def _size_of_texts(sentences: tuple[str, ...], summaries: tuple[SummaryText, ...], *_: object) -> int:
    """Bytes of their words, and of the probabilities of pairs that tell systems apart."""
    return 8 * len(sentences) * (len(summaries) + 1) + 4 * min(len(sentences), asking.MOST_SENTENCES) ** 2


# Keyed by the texts themselves, so that results cannot be out of date.
_compare = Cache(_similarity, lambda sentences, name: 8 * min(len(sentences), KEPT) ** 2, 192 << 20)
_prepare = Cache(_prepare_texts, _size_of_texts, 128 << 20)
