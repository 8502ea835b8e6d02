"""Counts of topics: versions and places."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, Sum
from django.db.models.functions import Greatest

from annotate.database import append_only
from annotate.models import Annotator, Assignment, Judgment, Pair, SourceDocument, Study, Tally, Topic

BATCH = 500


def open_tallies(topics: Iterable[Topic]) -> None:
    """Create tallies of new topics, with the places that are taken there; existing tallies stay.

    Topics without documents get none: they are never judged, and no draw may lose time there.
    """
    with_documents = SourceDocument.objects.filter(topic__in=list(topics)).order_by()
    new = list(Topic.with_unfinished.filter(pk__in=with_documents.values("topic")))
    places = Pair.objects.filter(topic__in=new, taken__gt=0).order_by().values_list("topic").annotate(Sum("taken"))
    taken = dict(places)
    tallies = (
        Tally(
            topic=topic,
            data_version=topic.last_data_version,
            taken=taken.get(topic.pk, 0),
            of_summaries=topic.compares_summaries,
        )
        for topic in new
    )
    Tally.objects.bulk_create(tallies, batch_size=BATCH, ignore_conflicts=True)


def raise_version(topic_ids: Iterable[int]) -> None:
    """Note that the data of these topics have changed; the worker fits them again. In the caller's transaction."""
    Tally.objects.filter(topic__in=lock(topic_ids)).update(data_version=F("data_version") + 1)


def lock(topic_ids: Iterable[int]) -> list[int]:
    """Lock the tallies of these topics, always in the same order; returns the topics that have one."""
    wanted = sorted(set(topic_ids))
    locked: list[int] = []
    for start in range(0, len(wanted), BATCH):
        batch = Tally.objects.select_for_update().filter(topic__in=wanted[start : start + BATCH])
        locked += batch.order_by("topic_id").values_list("topic_id", flat=True)
    return locked


def lock_study(study_id: int) -> list[int]:
    """Lock the tallies of all topics of a study: nobody draws or judges there until the transaction ends."""
    return lock(Topic.asked.filter(study=study_id).values_list("pk", flat=True))


def has_room(topic_id: int, annotator: Annotator) -> bool:
    """Whether the topic needs more judgments by annotators of this kind. The tally must be locked."""
    return Tally.objects.with_room(annotator).filter(topic=topic_id).exists()


def take_place(assignment: Assignment) -> bool:
    """Take a place of its pair and one of its topic, if both have one left. The tally must be locked."""
    annotator = assignment.annotator
    pair = Pair.objects.with_place(annotator).filter(pk=assignment.pair_id)
    if not has_room(assignment.topic_id, annotator) or not pair.exists():
        return False
    if annotator.kind == Annotator.TAKES_PLACES:
        pair.update(taken=F("taken") + 1)
        Tally.objects.filter(topic=assignment.topic_id).update(taken=F("taken") + 1)
    return True


def return_places(topic_id: int, pair_ids: Iterable[int]) -> None:
    """Return one of the places for people for each entry. The tally must be locked."""
    returned: dict[int, int] = {}
    for pair_id in pair_ids:
        returned[pair_id] = returned.get(pair_id, 0) + 1
    for places in set(returned.values()):
        alike = [pair_id for pair_id, number in returned.items() if number == places]
        Pair.objects.filter(pk__in=alike).update(taken=F("taken") - places)
    if returned:
        Tally.objects.filter(topic_id=topic_id).update(taken=F("taken") - sum(returned.values()))


def keep_needs(study: Study) -> None:
    """Adapt the needs of the study's pairs to its judgments per pair, in the caller's transaction.

    A pair with more judgments keeps them all.
    """
    lock_study(study.pk)
    Pair.objects.filter(topic__study=study, need__gt=0).update(need=Greatest(F("taken"), study.judgments_per_pair))


def forget_pairs(topic_ids: Iterable[int]) -> None:
    """Delete pairs and assignments, so that the topics can be cut again; only before anyone has judged there.

    Annotators with such a pair on their screen get another one.
    """
    topics = lock(topic_ids)
    with append_only.erasing():
        Judgment.objects.filter(assignment__topic__in=topics, assignment__annotator__kind=Annotator.TRIAL).delete()
    Assignment.objects.filter(topic__in=topics).delete()
    Pair.objects.filter(topic__in=topics).delete()
    Tally.objects.filter(topic__in=topics).update(taken=0)
