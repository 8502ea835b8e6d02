"""How long judging took: the judgments that count, if their time is known (Zopf 2018, table 1)."""

from __future__ import annotations

from typing import Any

from django.db.models import Avg, Count, Q, QuerySet, Sum

from annotate.models import Item, ItemSet, Judgment, Study, Topic
from preferendum.results.needed import Effort
from preferendum.results.planning import SECONDS

#: An annotator who takes longer for a judgment was away.
LONGEST = 300.0


def effort(study: Study, item_sets: QuerySet[ItemSet] | None = None) -> Effort:
    """For judgments that count of the leading kind of annotators, on these item sets, or all sentences of the study."""
    item_sets = ItemSet.objects.filter(study=study, of="sentences") if item_sets is None else item_sets
    sentences = Item.objects.to_judge().filter(item_set__in=item_sets).count()
    done = _done(study, item_sets)
    each = done["judgments"] / done["annotators"] if done["annotators"] else None
    return Effort(sentences, done["seconds"], each)


def seconds(study: Study, item_sets: QuerySet[ItemSet]) -> float | None:
    """The mean time of such a judgment; None if unknown."""
    taken: float | None = _done(study, item_sets)["seconds"]
    return taken


def _done(study: Study, item_sets: QuerySet[ItemSet]) -> dict[str, Any]:
    return (
        Judgment.objects.counted(kind=study.leading_kind)
        .filter(assignment__item_set__in=item_sets)
        .aggregate(
            seconds=Avg("seconds", filter=Q(seconds__lte=LONGEST)),
            judgments=Count("pk"),
            annotators=Count("assignment__annotator", distinct=True),
        )
    )


def expected(study: Study) -> float:
    """Expected seconds of a judgment about two sentences, by their words."""
    return Item.objects.paces(study).get(False, SECONDS)


def of_topic(topic: Topic) -> float | None:
    """The minutes of the topic's judgments together; None if no time is known."""
    return _by_topic(Judgment.objects.counted().filter(assignment__item_set=topic.pk)).get(topic.name)


def by_topic(study: Study) -> dict[str, float]:
    """The minutes of the judgments of every topic with any known time, by name."""
    return _by_topic(Judgment.objects.counted().filter(assignment__item_set__study=study))


def _by_topic(counted: QuerySet[Judgment]) -> dict[str, float]:
    timed = counted.filter(seconds__isnull=False).order_by()
    summed = timed.values_list("assignment__item_set__topic__name").annotate(Sum("seconds"))
    return {name: seconds / 60 for name, seconds in sorted(summed)}
