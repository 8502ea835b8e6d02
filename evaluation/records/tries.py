"""Tries at a topic: counted before they begin, so that one which kills its process leaves a trace too."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from annotate.models import Tally, TopicProgress
from annotate.prepared import Changes, Prepared

#: How long after the first, second, ... failure in a row the next try may come.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 30, 120, 600))
#: After so many failures in a row new data no longer cut the pause short.
HOPEFUL = 3

KILLED = (
    "The worker was stopped or killed %(times)d times in a row while it worked on this topic. "
    "Most often the machine has too little memory for a topic of this size."
)
NO_PROBLEM: dict[str, Any] = {"problem": "", "tries": 0, "retry_at": None}


_standing = Prepared(
    lambda topic: Tally.objects.filter(topic=topic).values_list(
        "data_version", "topic__progress__tries", "topic__progress__problem"
    )
)
_count_first = Changes(
    lambda topic, version, now: [
        (
            TopicProgress.objects.filter(topic=topic),
            {"tries": F("tries") + 1, "tried_at": now, "tried_version": version},
        )
    ]
)
_forget = Changes(lambda topic: [(TopicProgress.objects.filter(topic=topic, tries__gt=0), NO_PROBLEM)])


def begin_try(topic_id: int) -> bool:
    """Count a try at this topic as failed until it succeeds; False where the topic is gone."""
    row = next(iter(_standing(topic_id)), None)
    if row is None:
        return False
    version, failed, problem = row
    if failed is None:
        TopicProgress.objects.bulk_create([TopicProgress(topic_id=topic_id)], ignore_conflicts=True)
    now = timezone.now()
    if not failed:
        _count_first(topic=topic_id, version=version, now=now)
        return True
    TopicProgress.objects.filter(topic=topic_id).update(
        tries=F("tries") + 1,
        tried_at=now,
        tried_version=version,
        retry_at=now + pause(failed + 1),
        problem=problem or (KILLED % {"times": failed} if failed > 1 else ""),
    )
    return True


def end_try(topic_id: int) -> None:
    """Nothing went wrong, though nothing may have come of it: the data changed meanwhile, or all was up to date."""
    _forget(topic=topic_id)


def note_failure(topic_id: int, problem: str, *, curable: bool = False) -> None:
    """Say in plain words why nothing came of the try.

    `curable`: the program is right and the data or the settings will not do as they are; other ones are waited for.
    """
    now = timezone.now()
    progress = TopicProgress.objects.filter(topic=topic_id)
    tries = progress.values_list("tries", flat=True).first()
    if tries is None:
        return
    if curable:
        progress.update(problem=problem, retry_at=now + PAUSES[-1], tries=1)
    else:
        progress.update(problem=problem, retry_at=now + pause(tries))


def pause(tries: int) -> timedelta:
    """How long to wait after so many failures in a row."""
    return PAUSES[min(max(tries, 1), len(PAUSES)) - 1]


def problems_of(study_id: int) -> dict[str, str]:
    """By the names of the study's topics, why the last try at them failed."""
    failed = TopicProgress.objects.filter(topic__study=study_id).exclude(problem="").order_by("topic__position")
    return dict(failed.values_list("topic__name", "problem"))
