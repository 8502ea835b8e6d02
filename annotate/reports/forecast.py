"""A study's progress, and the simulations of how many judgments it needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.utils import timezone

from annotate.models import Item, ItemSet, Judgment, Ranking, ScoredBy, Study
from annotate.models.judging import JudgmentQuerySet
from annotate.reports import minutes, rests_on
from annotate.reports.leaderboard import asked_about
from annotate.reports.study import counts_by_set, wanted_of
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Forecast as Record
from preferendum.results import Ground, SummaryForecast
from preferendum.show.analyses.forecast import StudyForecast

#: The pace is that of the last days.
PACE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Course:
    """A study's progress: judgments `done` of those `wanted`, the time they took and the others will take.

    `seconds`: the mean of a judgment, None if unknown. `a_day`: the pace of the last week here, None without judgments;
    `ends_at`: when it will be done at that pace, None if it is done or has no pace. `usual`: expected seconds a
    judgment, from the words to read if unknown.
    """

    done: int
    wanted: int
    seconds: float | None
    a_day: float | None
    ends_at: datetime | None
    usual: float


def of_study(study: Study, record: Record) -> StudyForecast:
    """The record with the study's settings, how long judging took so far, and how far annotators differed."""
    seconds = minutes.seconds(study, asked_about(study, ScoredBy.RECOMMENDED)) or minutes.expected(study)
    ranking = Ranking.objects.filter(study=study, scored_by=ScoredBy.RECOMMENDED).first()
    ground = ranking.own_ground if ranking else Ground()
    score = study.recommended_settings["score"]
    return StudyForecast(record, score, study.judgments_per_topic, seconds, _is_old(study, record), ground)


def of_summaries(study: Study, record: SummaryForecast) -> StudyForecast:
    """The record of answers about whole summaries with the study's settings, in reading time until their actual time is
    known.
    """
    asked = asked_about(study, ScoredBy.WIN_RATE)
    seconds = minutes.seconds(study, asked) or Item.objects.paces(study).get(True, record.seconds)
    ranking = Ranking.objects.filter(study=study, scored_by=ScoredBy.WIN_RATE).first()
    ground = ranking.own_ground if ranking else Ground()
    return StudyForecast(record, WIN_RATE, study.summary_judgments_per_topic, seconds, False, ground)


def _is_old(study: Study, record: Record) -> bool:
    judged = Item.objects.to_judge().of_sources(study)
    now = judged.aggregate(topics=Count("item_set", distinct=True), sentences=Count("pk"))
    sentences = round(record.topics * record.sentences)  # a mean is stored
    share = 1.0 if record.are_standard else study.random_share
    asked = study.judgments_per_pair, share, study.stop_rule
    return (*now.values(), *asked) != (
        *(record.topics, sentences),
        *(record.judgments_per_pair, record.random_share, record.stop_rule),
    )


def course(study: Study) -> Course:
    """The study's progress, by the judgments that count of the leading kind of annotators."""
    asked = ItemSet.objects.filter(study=study)
    sets = list(asked)
    to_judge = counts_by_set(Item.objects.to_judge().filter(item_set__in=sets))
    by_set = {own.pk: wanted_of(study, to_judge.get(own.pk, 0), of_summaries=own.of == "summaries") for own in sets}
    judged = rests_on.by_set(study, sets)
    done, wanted = sum(min(judged[key].leading, own) for key, own in by_set.items()), sum(by_set.values())
    now = timezone.now()
    recent = (
        _counted(study)
        .given_here()
        .filter(at__gt=now - PACE, at__lte=now)
        .aggregate(number=Count("pk"), since=Min("at"))
    )
    a_day = _a_day(recent["number"], recent["since"], now)
    to_come = wanted - done
    ends_at = now + timedelta(days=min(to_come / a_day, 36_500)) if a_day and to_come else None
    seconds = minutes.seconds(study, asked)
    return Course(done, wanted, seconds, a_day, ends_at, Item.objects.pace(study) if seconds is None else seconds)


def _counted(study: Study) -> JudgmentQuerySet:
    return Judgment.objects.counted(kind=study.leading_kind).filter(assignment__item_set__study=study).order_by()


def _a_day(judgments: int, since: datetime | None, now: datetime) -> float | None:
    """Judgments of less than a day count as a full day's, since the pace of the first minutes does not last."""
    if since is None or not judgments:
        return None
    return judgments / max((now - since) / timedelta(days=1), 1.0)
