"""How many judgments a study needs, what they cost, and how far it is: as the page and its file show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Avg, Count, Min
from django.utils import timezone

from annotate.models import Forecast, Judgment, Sentence, Study, Topic
from annotate.reports import rests_on
from annotate.reports.study import counts_by_topic, wanted_of
from formats.results import Forecast as Record
from formats.results import ForecastPoint, Work
from formats.results.planning import work

#: The pace is that of the last days on which anybody may have judged.
PACE = timedelta(days=7)
#: Whoever takes longer for a judgment was away meanwhile.
LONGEST = 300.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader wants to be told: a difference of two systems to tell apart, seconds a judgment, pay an hour."""

    difference: float | None
    seconds: float
    pay: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """With so many judgments a topic; None where nothing can be said. `is_planned`: as many as the study asks for."""

    judgments: int
    work: Work
    margin: float | None
    sd: float | None
    resolved: float | None
    chance: float | None
    is_planned: bool

    @property
    def percent(self) -> float | None:
        """The chance to tell the difference apart."""
        return None if self.chance is None else 100 * self.chance


@dataclass(frozen=True, slots=True)
class ForecastTable:
    """A forecast in numbers. `needed`: judgments a topic for the difference that was asked for; None where more than
    were tried are. `is_old`: the study is not the one that was simulated any more."""

    record: Record
    rows: tuple[Row, ...]
    needed: int | None
    is_old: bool

    @property
    def careless_percent(self) -> float:
        return 100 * self.record.careless

    @property
    def random_percent(self) -> float:
        return 100 * self.record.random_share

    @property
    def ties_percent(self) -> float:
        return 100 * self.record.ties


@dataclass(frozen=True, slots=True)
class Course:
    """How far a study is: judgments `done` of those `wanted`, what they took and the others will take.

    `seconds`: what a judgment took on average, None where nobody knows. `a_day`: the pace of the last seven days, None
    where nobody judged; `ends_at`: when it will be done at that pace, None where it is, or there is no pace.
    """

    done: int
    wanted: int
    seconds: float | None
    a_day: float | None
    ends_at: datetime | None

    def so_far(self, asked: Asked) -> Work:
        return work(self.done, self.seconds or asked.seconds, asked.pay)

    def to_come(self, asked: Asked) -> Work:
        return work(self.wanted - self.done, asked.seconds, asked.pay)


def table(study: Study, forecast: Forecast | None, asked: Asked) -> ForecastTable | None:
    """None before anything was simulated."""
    record = None if forecast is None else forecast.record
    if record is None:
        return None
    needed = None if asked.difference is None else record.needed(asked.difference)
    rows = tuple(_row(record, point, study, asked) for point in record.points)
    return ForecastTable(record, rows, needed, _is_old(study, record))


def _row(record: Record, point: ForecastPoint, study: Study, asked: Asked) -> Row:
    return Row(
        judgments=point.judgments,
        work=work(record.topics * point.judgments, asked.seconds, asked.pay),
        margin=None if point.se is None else record.margin(point.se),
        sd=None if point.sd is None else record.margin(point.sd),
        resolved=None if point.se is None else record.resolved(point.se),
        chance=record.chance(point.se, asked.difference) if point.se and asked.difference else None,
        is_planned=point.judgments == study.judgments_per_topic,
    )


def _is_old(study: Study, record: Record) -> bool:
    judged = Sentence.objects.to_judge().filter(topic__study=study, topic__removal=None)
    now = judged.aggregate(topics=Count("topic", distinct=True), sentences=Count("pk"))
    sentences = round(record.topics * record.sentences)  # a mean is stored
    share = 1.0 if record.are_standard else study.random_share
    asked = study.judgments_per_pair, share, study.stop_rule
    return (*now.values(), *asked) != (
        *(record.topics, sentences),
        *(record.judgments_per_pair, record.random_share, record.stop_rule),
    )


def course(study: Study) -> Course:
    """How far the study is, by the judgments that count of the kind of annotators that it is about."""
    topics = list(Topic.objects.filter(study=study, removal=None))
    to_judge = counts_by_topic(Sentence.objects.to_judge().filter(topic__in=topics))
    by_topic = {topic.pk: wanted_of(study, to_judge.get(topic.pk, 0)) for topic in topics}
    judged = rests_on.by_topic(study, topics)
    done, wanted = sum(min(judged[key].leading, own) for key, own in by_topic.items()), sum(by_topic.values())
    counted = Judgment.objects.counted(kind=study.leading_kind).filter(assignment__topic__study=study).order_by()
    seconds = counted.filter(seconds__lte=LONGEST).aggregate(mean=Avg("seconds"))["mean"]
    now = timezone.now()
    recent = counted.filter(at__gt=now - PACE, at__lte=now).aggregate(number=Count("pk"), since=Min("at"))
    a_day = _a_day(recent["number"], recent["since"], now)
    to_come = wanted - done
    ends_at = now + timedelta(days=min(to_come / a_day, 36_500)) if a_day and to_come else None
    return Course(done, wanted, seconds, a_day, ends_at)


def _a_day(judgments: int, since: datetime | None, now: datetime) -> float | None:
    """Judgments of less than a day count as those of one: nobody goes on at the pace of the first minutes."""
    if since is None or not judgments:
        return None
    return judgments / max((now - since) / timedelta(days=1), 1.0)
