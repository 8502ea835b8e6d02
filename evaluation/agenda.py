"""Waiting and running work, read from the tables alone; the kinds of work are declared in one table."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import fmean
from typing import Any

from django.db.models import CharField, Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat
from django.utils import timezone

from annotate.models import (
    Claim,
    Export,
    Fit,
    Forecast,
    Item,
    Ranking,
    ScoredBy,
    Study,
    System,
    Topic,
    Upload,
    Webhook,
    WhatIfQuestion,
)
from annotate.models.study import sum_of_topics
from evaluation import claims
from evaluation.records.across_topics import studies_unscored
from evaluation.records.annotators import studies_unreported
from evaluation.records.derived import at_rest, studies_behind, with_intervals
from evaluation.records.diagnostics import studies_unexamined, topics_unexamined
from evaluation.records.groups import studies_ungrouped
from evaluation.records.judge_cards import studies_with_machines
from evaluation.records.metrics import studies_uncompared
from evaluation.records.mixtures import studies_unmixed
from evaluation.records.sentence_ranking import topics_with_unranked_sentences
from evaluation.records.win_rates import (
    studies_with_later_systems,
    studies_with_new_answers,
    studies_with_unexamined_answers,
)
from preferendum import work as of_analyses

logger = logging.getLogger(__name__)

#: Work that takes this many seconds, or failed last time, is long: it must not block other work.
QUICK = 2.0
#: Topics ahead of the rankings. Without this limit, a steady stream of topics would block every ranking.
TOPICS_BEFORE_RANKING = 16
#: A topic with more sentences and a study with more systems are always long, whatever was measured: that may have been
#: the cutting, or a fit of few judgments. With 2,000 judgments, a fit of this many sentences takes 3 s or more of an
#: idle core; fitting and comparing this many systems takes 0.5 s, growing beyond with the square of their number.
MANY_SENTENCES = 4_000
MANY_SYSTEMS = 1_000
#: While people judge without a pause, every topic is always out of date. Each is fitted once a round, so that
#: annotators have the machine most of the time, and all in the same beat, so that the systems are ranked once for all.
ROUND = timedelta(seconds=2)
#: While topics wait for scores, a turn is followed by a rest of this many times its duration.
BESIDE_SCORES = 2.0
#: Any study of an owner, to estimate one without measured durations.
ANY = 0
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of work: its task, the rows that are out of date, the prefix of its claims.

    `behind`: a query of these rows, annotated with the data version they wait for, `wanted`; `key`, `study`: its
    columns. `large`: which rows are long by their size, whatever was measured. After a success, work rests for `rest`,
    and for at least `patience` times its duration. `idle`: done only while no topic waits for scores. `turns`: the next
    turn follows at once, but after a rest of twice the duration while topics wait for scores: where people judge
    without a pause, some always do.
    """

    task: str
    claim: str
    behind: Callable[[], QuerySet[Any, Any]]
    key: str = "pk"
    study: str = "study_id"
    large: Exists | Value | None = None
    rest: timedelta = timedelta()
    patience: float = 0.0
    idle: bool = False
    turns: bool = False

    def rows(
        self, keys: Collection[int] | None = None, studies: Collection[int] | None = None
    ) -> Iterator[tuple[int, int, int, bool]]:
        """(key, study, version, whether large) of each row that is out of date, or of these only; of these studies,
        or of all."""
        rows = self.behind() if keys is None else self.behind().filter(**{f"{self.key}__in": keys})
        if studies is not None:
            rows = rows.filter(**{f"{self.study}__in": studies})
        is_large = self.large or Value(False)
        yield from rows.annotate(is_large=is_large).values_list(self.key, self.study, "wanted", "is_large")

    def is_rested(self, claim: Claim, now: datetime, scores_wait: bool) -> bool:
        """Whether it has rested long enough, or the clock was set back since."""
        patience = max(self.patience, BESIDE_SCORES if self.turns and scores_wait else 0.0)
        rest = max(self.rest, timedelta(seconds=patience * (claim.seconds or 0.0)))
        return claim.attempts > 0 or not now - rest < claim.since <= now


@dataclass(frozen=True, slots=True)
class Work:
    """A task to do for a study: its name, the key of its row, the name of its claim.

    `since`: the start of the last attempt; it changes with every attempt. `seconds`: the expected duration, None if
    unknown. `is_long`: it took long or failed last time, or is large.
    """

    task: str
    key: int
    claim: str
    study: int
    since: datetime | None = None
    seconds: float | None = None
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Agenda:
    """Work that may start, in order, and running work.

    `owners`: the creator of each study; creators share the worker's time. A study's other owners may change.
    """

    waiting: tuple[Work, ...]
    running: tuple[Work, ...]
    owners: Mapping[int, int]


def _topics(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    return topics.annotate(wanted=F("text_version") + Coalesce("sentence_set__tally__data_version", Value(0)))


def _unranked() -> QuerySet[Study]:
    """Studies whose ranking is old, or will be after pending fits: where people judge without a pause, there always are
    some. So systems are ranked as soon as the topics ahead of them in the queue are done, not a beat later."""
    fits_to_come = Topic.objects.behind().filter(study=OuterRef("pk")).exclude(sentence_set__progress__problem__gt="")
    rankings = Ranking.objects.filter(study=OuterRef("pk"), scored_by=ScoredBy.PUBLISHED)  # the last to be saved
    is_old = Q(ranked__isnull=True) | Q(ranked__lt=F("wanted")) | Exists(fits_to_come)
    has_fits = Exists(Fit.objects.filter(item_set__study=OuterRef("pk")))
    studies = Study.objects.annotate(wanted=sum_of_topics("progress__fitted_version"))
    return studies.annotate(ranked=Subquery(rankings.values("version"))).filter(has_fits, is_old)


def _without_curve() -> QuerySet[Topic]:
    owing = Fit.objects.filter(
        item_set=OuterRef("pk"), data_version=OuterRef("sentence_set__progress__fitted_version"), curve_owed=True
    )
    return Topic.objects.filter(Exists(owing)).annotate(wanted=F("sentence_set__progress__fitted_version"))


def _jobs(jobs: QuerySet[Any]) -> Any:
    return jobs.annotate(wanted=Value(0))


#: A receiver that is slow must hold up no quick work, and takes a small part of the time of long work.
SENT: Mapping[str, Any] = {"large": Value(True), "patience": 20.0}
LARGE_TOPIC = Exists(Item.objects.filter(item_set=OuterRef("pk"), position__gte=MANY_SENTENCES).order_by())
LARGE_STUDY = Exists(System.objects.filter(study=OuterRef("pk")).order_by()[MANY_SYSTEMS:])

JOBS = (
    Kind("process_upload", "upload", lambda: _jobs(Upload.waiting())),
    Kind("write_export", "export", lambda: _jobs(Export.waiting())),
    Kind("answer_what_if", "what_if", lambda: WhatIfQuestion.waiting().annotate(wanted=F("done"))),
    Kind("forecast_study", "forecast", lambda: Forecast.waiting().annotate(wanted=F("done"))),
    Kind("send_webhook", "webhook", lambda: _jobs(Webhook.objects.due()), **SENT),
)
TOPICS = (
    Kind("cut_topic", "topic", lambda: _topics(Topic.objects.uncut())),
    Kind("refit_topic", "topic", lambda: _topics(Topic.objects.cut().unfitted()), large=LARGE_TOPIC),
)
RANKINGS = (
    Kind("rank_study", "study", _unranked, study="pk", large=LARGE_STUDY),
    Kind("rank_by_summaries", "summaries", studies_with_new_answers, study="pk", large=LARGE_STUDY),
)
#: For work that shows what scores rest on; nobody waits for it.
SELDOM: Mapping[str, Any] = {"rest": timedelta(seconds=30), "patience": 20.0, "idle": True}


def _of_study(task: str, claim: str, behind: Callable[[], QuerySet[Any, Any]], **when: Any) -> Kind:
    return Kind(task, claim, behind, study="pk", large=LARGE_STUDY, **when)


#: When work of the plug-in is due: the rows that are out of date, by the name of the records.
DUE: Mapping[of_analyses.When, Callable[[str], QuerySet[Any, Any]]] = {
    "scored": lambda _name: studies_uncompared(),
    "compared": studies_behind,
    "bounded": lambda name: with_intervals(studies_behind(name)),
    "at rest": lambda name: at_rest(with_intervals(studies_behind(name))),
    "mixable": lambda _name: studies_unmixed(),
    "valued": lambda _name: topics_with_unranked_sentences(),
}


def _of_analysis(own: of_analyses.Work) -> Kind:
    behind = partial(DUE[own.when], own.name)
    if own.when == "valued":
        return Kind(own.task, own.claim, behind, large=LARGE_TOPIC, **SELDOM)
    return _of_study(own.task, own.claim, behind, turns=own.turns, patience=own.patience)


#: Metrics and figures about annotators can wait; what explains the scores waits until no topic waits for scores.
OTHERS = (
    Kind("score_with_metrics", "metrics", lambda: Topic.objects.unscored(), large=LARGE_TOPIC),
    _of_study("score_across_topics", "across", studies_unscored, turns=True),
    Kind("report_annotators", "annotators", studies_unreported, study="pk", rest=timedelta(seconds=10), patience=20.0),
    _of_study("compare_groups", "groups", studies_ungrouped, patience=10.0, idle=True),
    Kind("draw_curve", "curve", _without_curve, large=LARGE_TOPIC, idle=True),
    Kind("examine_topic", "examination", topics_unexamined, large=LARGE_TOPIC, **SELDOM),
    _of_study("predict_later_systems", "later_systems", studies_with_later_systems, patience=10.0),
    _of_study("make_judge_cards", "judge_cards", studies_with_machines, patience=10.0),
    _of_study("examine_win_rates", "win_rates", studies_with_unexamined_answers, **SELDOM),
    _of_study("examine_study", "robustness", studies_unexamined, idle=True),
    _of_study("find_smallest_set", "smallest_set", lambda: studies_behind("smallest-set", "influence"), **SELDOM),
    *map(_of_analysis, of_analyses.works()),
)
#: Done only once every topic has been examined.
AFTER_TOPICS = ("examine_study", "find_smallest_set")
KINDS = {kind.task: kind for kind in (*JOBS, *TOPICS, *RANKINGS, *OTHERS)}


def is_quick(task: str, key: int) -> bool:
    """Whether it may be done along with other work, as far as is known: not large, not failed, under `QUICK` / 2."""
    claim = Claim.objects.filter(name=f"{KINDS[task].claim}:{key}").first()
    if claim is not None and (claim.attempts > 0 or (claim.seconds or 0.0) >= QUICK / 2):
        return False
    return not any(is_large for *_, is_large in KINDS[task].rows([key]))


def may_idle() -> bool:
    """Whether no topic waits for scores, except those that failed."""
    return not Topic.objects.behind().exclude(sentence_set__progress__problem__gt="").exists()


def study_to_rank(topics: Collection[int]) -> int | None:
    """The study of topics just fitted, to be ranked at once; None while other topics of it are still to be fitted in
    this round.

    Where people judge without a pause, all topics are always out of date. One fitted in this round waits for the next.
    """
    study_id = Topic.objects.filter(pk__in=topics).values_list("study_id", flat=True).first()
    behind = (
        Topic.objects.behind()
        .filter(study=study_id)
        .exclude(pk__in=topics)
        .exclude(sentence_set__progress__problem__gt="")
    )
    now, name = timezone.now(), Concat(Value("topic:"), Cast(OuterRef("pk"), CharField()))
    ended = Claim.objects.filter(name=name, since__gt=now - ROUND, until__lte=now)
    return None if behind.exclude(Exists(ended)).exists() else study_id


def find(task: str, *keys: int) -> dict[int, tuple[int, int]]:
    """The study and version that the task is to be done for, by key; without those where there is nothing (left) to
    do."""
    return {key: (study, version) for key, study, version, _is_large in KINDS[task].rows(keys)}


def look() -> Agenda:
    """All work that is due or running: first what people wait for, then the topics tried longest ago.

    If the work of a study cannot be read, the others' is done nevertheless.
    """
    failed = set(filter(_is_unreadable, Claim.objects.of_failed_looks().values_list("study", flat=True)))
    try:
        return _look(failed)
    except Exception:
        studies = Study.objects.exclude(pk__in=failed).values_list("pk", flat=True)
        more = set(filter(_is_unreadable, list(studies)))
        if not more:
            raise
        return _look(failed | more)


def _is_unreadable(study: int) -> bool:
    """Whether the work of a study cannot be read. After a failure the next attempt waits, longer each time."""
    with claims.attempt(f"{Claim.LOOK}:{study}", study) as begun:
        if begun is None:
            return True
        try:
            for kind in KINDS.values():
                list(kind.rows(studies={study}))
        except Exception:
            logger.exception("the work of study %s cannot be read", study)
            return True
        begun.succeed()
        return False


def _look(but: Collection[int]) -> Agenda:
    """A look at the work of all studies `but` these."""
    owners = dict(Study.objects.values_list("pk", "created_by"))
    studies = owners.keys() - but if but else None
    seen = _Look(timezone.now(), {claim.name: claim for claim in Claim.objects.all()}, owners, studies)
    jobs, topics, rankings = seen.at(JOBS), seen.at(TOPICS), seen.at(RANKINGS)
    scores_wait = bool(topics) or any(work.claim.startswith("topic:") for work in seen.running)
    others = seen.at([kind for kind in OTHERS if not (kind.idle and scores_wait)], scores_wait)
    if any(work.task == "examine_topic" for work in (*others, *seen.running)):
        others = [work for work in others if work.task not in AFTER_TOPICS]
    first, rest = topics[:TOPICS_BEFORE_RANKING], topics[TOPICS_BEFORE_RANKING:]
    return Agenda((*jobs, *first, *rankings, *rest, *others), tuple(seen.running), owners)


class _Look:
    """One look at the tables."""

    def __init__(
        self, now: datetime, by_name: Mapping[str, Claim], owners: Mapping[int, int], studies: Collection[int] | None
    ) -> None:
        self.now = now
        self.by_name = by_name
        self.owners = owners
        self.studies = studies
        self.usual = _usual(by_name.values(), owners)
        self.running: list[Work] = []

    def at(self, kinds: Sequence[Kind], scores_wait: bool = False) -> list[Work]:
        """Work of these kinds that may start, the longest untouched first."""
        waiting: list[Work] = []
        for kind in kinds:
            for key, study, version, is_large in kind.rows(studies=self.studies):
                name = f"{kind.claim}:{key}"
                claim = self.by_name.get(name)
                if claim is None:
                    owner = self.owners.get(study, 0)
                    seconds = self.usual.get((kind.claim, owner, study), self.usual.get((kind.claim, owner, ANY)))
                    waiting.append(Work(kind.task, key, name, study, seconds=seconds, is_long=is_large))
                elif claims.is_held(claim, self.now):
                    self.running.append(_of(claim, kind, key, study, is_large or claim.attempts > 1))
                elif claims.is_due(claim, version, self.now) and kind.is_rested(claim, self.now, scores_wait):
                    waiting.append(_of(claim, kind, key, study, is_large or claim.attempts > 0))
        return sorted(waiting, key=lambda work: (work.since or LONG_AGO, work.key))


def _of(claim: Claim, kind: Kind, key: int, study: int, is_long: bool) -> Work:
    is_long = is_long or (claim.seconds or 0.0) >= QUICK
    return Work(kind.task, key, claim.name, study, claim.since, claim.seconds, is_long)


def _usual(claimed: Iterable[Claim], owners: Mapping[int, int]) -> dict[tuple[str, int, int], float]:
    """The mean duration of quick work, by kind of claim, owner and study (or any): others of the kind will take as
    long. The longest would be that of the first, for which a process loads what the others find there."""
    several = defaultdict[tuple[str, int, int], list[float]](list)
    for claim in claimed:
        if claim.seconds is not None and claim.seconds < QUICK:
            for study in (claim.study, ANY):
                what = (claim.name.partition(":")[0], owners.get(claim.study, 0), study)
                several[what].append(claim.seconds)
    return {what: fmean(seconds) for what, seconds in several.items()}
