"""How long judging took, in minutes: the judgments that count, where their time is known (Zopf 2018, table 1)."""

from __future__ import annotations

from django.db.models import QuerySet, Sum

from annotate.models import Judgment, Study, Topic


def of_topic(topic: Topic) -> float | None:
    """All of the topic's judgments together; None where no time is known."""
    return _by_topic(Judgment.objects.counted().filter(assignment__topic=topic)).get(topic.name)


def by_topic(study: Study) -> dict[str, float]:
    """The same of every topic where any time is known, by name."""
    return _by_topic(Judgment.objects.counted().filter(assignment__topic__study=study))


def _by_topic(counted: QuerySet[Judgment]) -> dict[str, float]:
    timed = counted.filter(seconds__isnull=False).order_by()
    summed = timed.values_list("assignment__topic__name").annotate(Sum("seconds"))
    return {name: seconds / 60 for name, seconds in sorted(summed)}
