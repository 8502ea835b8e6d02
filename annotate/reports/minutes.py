"""How long judging took: the judgments that count, if their time is known (Zopf 2018, table 1)."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Avg, Count, Q, QuerySet, Sum

from annotate.models import Annotator, ItemSet, Judgment, Study, Topic
from preferendum.results.planning import SECONDS_TO_CHOOSE, Pace

#: An annotator who takes longer for a judgment was away.
LONGEST = 300.0
#: Nobody reads two texts in less time, nor in less than this share of what reading them usually takes.
SHORTEST, LEAST_READ = 1.5, 0.25


def pace(item_sets: QuerySet[ItemSet], usual: float) -> Pace:
    """How long people take here for a judgment about these item sets; the `usual` seconds by the words to be read where
    that is not known, or where half of them read nothing."""
    least = max(SHORTEST, LEAST_READ * (usual - SECONDS_TO_CHOOSE))
    timed = Q(seconds__lte=LONGEST)
    taken = (
        Judgment.objects.counted(kind=Annotator.Kind.HUMAN)
        .given_here()
        .filter(assignment__item_set__in=item_sets)
        .order_by()
        .aggregate(
            mean=Avg("seconds", filter=timed),
            all=Count("pk", filter=timed),
            fast=Count("pk", filter=Q(seconds__lt=least)),
        )
    )
    if not taken["all"]:
        return Pace(usual, "read")
    return Pace(usual, "too fast") if 2 * taken["fast"] > taken["all"] else Pace(taken["mean"], "taken")


def seconds(judgments: QuerySet[Judgment]) -> float | None:
    """The mean time of a judgment; None if unknown."""
    mean: float | None = judgments.filter(seconds__lte=LONGEST).aggregate(mean=Avg("seconds"))["mean"]
    return mean


class Timed(NamedTuple):
    """So many judgments whose time is known and plausible, and the minutes that they took together."""

    judgments: int
    minutes: float


def of_topic(topic: Topic) -> Timed | None:
    """The time of the topic's judgments about sentences; None if no time is known."""
    return _by_topic(Judgment.objects.counted().filter(assignment__item_set=topic.pk)).get(topic.name)


def by_topic(study: Study) -> dict[str, float]:
    """The minutes of the judgments of every topic with any known time, by name."""
    of_study = _by_topic(Judgment.objects.counted().filter(assignment__item_set__study=study))
    return {name: timed.minutes for name, timed in of_study.items()}


def _by_topic(counted: QuerySet[Judgment]) -> dict[str, Timed]:
    timed = counted.filter(seconds__lte=LONGEST).order_by()
    summed = timed.values_list("assignment__item_set__topic__name").annotate(Count("pk"), Sum("seconds"))
    return {name: Timed(number, seconds / 60) for name, number, seconds in sorted(summed)}
