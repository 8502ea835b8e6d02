"""How long judging took: the judgments that count, if their time is known (Zopf 2018, table 1)."""

from __future__ import annotations

from typing import Any

from django.db.models import Avg, Count, Q, QuerySet, Sum

from annotate.models import Judgment, Sentence, Study, Topic
from preferendum.results.needed import Effort
from preferendum.results.planning import SECONDS

#: An annotator who takes longer for a judgment was away.
LONGEST = 300.0


def effort(study: Study, topics: QuerySet[Topic] | None = None) -> Effort:
    """For judgments that count of the leading kind of annotators, on all of the study's topics or some."""
    topics = Topic.objects.filter(study=study) if topics is None else topics
    sentences = Sentence.objects.to_judge().filter(topic__in=topics, topic__removal=None).count()
    done = _done(study, topics)
    each = done["judgments"] / done["annotators"] if done["annotators"] else None
    return Effort(sentences, done["seconds"], each)


def seconds(study: Study, topics: QuerySet[Topic]) -> float | None:
    """The mean time of such a judgment; None if unknown."""
    taken: float | None = _done(study, topics)["seconds"]
    return taken


def _done(study: Study, topics: QuerySet[Topic]) -> dict[str, Any]:
    return (
        Judgment.objects.counted(kind=study.leading_kind)
        .filter(assignment__topic__in=topics)
        .aggregate(
            seconds=Avg("seconds", filter=Q(seconds__lte=LONGEST)),
            judgments=Count("pk"),
            annotators=Count("assignment__annotator", distinct=True),
        )
    )


def expected(study: Study) -> float:
    """Expected seconds of a judgment about two sentences, by their words."""
    return Sentence.objects.paces(study).get(False, SECONDS)


def of_topic(topic: Topic) -> float | None:
    """The minutes of the topic's judgments together; None if no time is known."""
    return _by_topic(Judgment.objects.counted().filter(assignment__topic=topic)).get(topic.name)


def by_topic(study: Study) -> dict[str, float]:
    """The minutes of the judgments of every topic with any known time, by name."""
    return _by_topic(Judgment.objects.counted().filter(assignment__topic__study=study))


def _by_topic(counted: QuerySet[Judgment]) -> dict[str, float]:
    timed = counted.filter(seconds__isnull=False).order_by()
    summed = timed.values_list("assignment__topic__name").annotate(Sum("seconds"))
    return {name: seconds / 60 for name, seconds in sorted(summed)}
