"""What is counted: versions, places, and the judgments that a fit rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Now

from annotate.models import Assignment, Judgment, Pair, Study, Tally, Topic
from annotate.prepared import Prepared

BATCH = 500


def open_tallies(topics: Iterable[Topic]) -> None:
    """Begin to count for new topics; those that have a tally already keep it."""
    Tally.objects.bulk_create((Tally(topic=topic) for topic in topics), batch_size=BATCH, ignore_conflicts=True)


def raise_version(topic_ids: Iterable[int]) -> None:
    """Say that what these topics' fits rest on has changed; the worker fits them again. In the caller's transaction."""
    Tally.objects.filter(topic__in=lock(topic_ids)).update(data_version=F("data_version") + 1)


@contextmanager
def leased(*, ahead: bool) -> Iterator[None]:
    """A transaction that hands out a pair. `ahead` of the one that is judged now, it need not wait for SQLite's disk.

    What it wrote then survives whatever happens to the processes; a power cut may take it, but not once the pair before
    it is judged: judgments wait, and take what was written before them along. One fsync a judgment is enough. A pair
    that somebody sees has to be on the disk: an answer to one that nobody knows any more could not be stored.
    PostgreSQL keeps what need not wait in the memory of its processes, where a crash of the server takes it. There all
    wait.
    """
    lazily = ahead and connection.vendor == "sqlite" and not connection.in_atomic_block
    if lazily:
        _ask_sqlite("PRAGMA synchronous=NORMAL")
    try:
        with transaction.atomic():
            yield
    finally:
        if lazily:
            _ask_sqlite("PRAGMA synchronous=FULL")


def _ask_sqlite(pragma: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(pragma)


def lock(topic_ids: Iterable[int]) -> list[int]:
    """Lock the tallies of these topics, in an order that everyone keeps; the topics that have one."""
    wanted = sorted(set(topic_ids))
    locked: list[int] = []
    for start in range(0, len(wanted), BATCH):
        found = Tally.objects.select_for_update().filter(topic__in=wanted[start : start + BATCH])
        locked += found.order_by("topic_id").values_list("topic_id", flat=True)
    return locked


_lock = Prepared(
    lambda topic: Tally.objects.select_for_update().filter(topic_id=topic).annotate(now=Now()).values_list("now")
)


def lock_one(topic_id: int) -> datetime:
    """Lock one topic's tally; what the database's clock says, which every process shares."""
    now: datetime
    for (now,) in _lock(topic_id):
        return now
    raise Tally.DoesNotExist


def counted_judgments(topic: Topic, also: Collection[int] = ()) -> QuerySet[Judgment]:
    """The judgments that a fit of the topic rests on, in the order in which they were stored.

    Of each assignment the last revision, if it is an answer, if the assignment holds one of its pair's places, and if
    the annotator is not excluded; those of the annotators `also` as if they were not.
    """
    return (
        Judgment.objects.filter(
            Q(assignment__annotator__excluded_at__isnull=True) | Q(assignment__annotator__in=list(also)),
            # By the assignment's topic, not by its own: PostgreSQL, where it has not counted its rows yet, would go
            # through all of the topic's judgments for each of its assignments.
            assignment__topic=topic,
            assignment__state=Assignment.State.JUDGED,
            assignment__holds_place=True,
            revision=F("assignment__revision"),
        )
        .exclude(answer=Judgment.Answer.UNDONE)
        .order_by("pk")
    )


def take_place(topic_id: int, pair_id: int, study: Study) -> bool:
    """Take one of the pair's places and one of the topic's, if both have one left. The tally must be locked."""
    if not Tally.objects.filter(topic_id=topic_id, taken__lt=study.judgments_per_topic).update(taken=F("taken") + 1):
        return False
    if with_place(study).filter(pk=pair_id).update(taken=F("taken") + 1):
        return True
    Tally.objects.filter(topic_id=topic_id).update(taken=F("taken") - 1)
    return False


def with_place(study: Study) -> QuerySet[Pair]:
    """Pairs that have been asked for and have a place left.

    After the study's judgments per pair were lowered, a pair may need more than is wanted now: what it has stays, what
    it gives back is not asked for again.
    """
    return Pair.objects.filter(taken__lt=F("need")).filter(taken__lt=study.judgments_per_pair)


def return_places(topic_id: int, pair_ids: Iterable[int]) -> None:
    """Give back one place for each entry. The tally must be locked."""
    returned: dict[int, int] = {}
    for pair_id in pair_ids:
        returned[pair_id] = returned.get(pair_id, 0) + 1
    for pair_id, places in returned.items():
        Pair.objects.filter(pk=pair_id).update(taken=F("taken") - places)
    if returned:
        Tally.objects.filter(topic_id=topic_id).update(taken=F("taken") - sum(returned.values()))


def keep_needs(study: Study) -> None:
    """Bring the needs of the study's pairs in step with its judgments per pair, in the caller's transaction.

    A pair that has more judgments than are wanted now keeps them all.
    """
    lock(Topic.objects.filter(study=study).values_list("pk", flat=True))
    Pair.objects.filter(topic__study=study, need__gt=0).update(need=Greatest(F("taken"), study.judgments_per_pair))


def forget_pairs(topic_ids: Iterable[int]) -> None:
    """Forget which pairs were handed out, so that the topics can be cut anew; only before anyone has judged there.

    Whoever has such a pair on their screen is led to another one.
    """
    topics = lock(topic_ids)
    Assignment.objects.filter(topic__in=topics).delete()
    Pair.objects.filter(topic__in=topics).delete()
    Tally.objects.filter(topic__in=topics).update(taken=0)
