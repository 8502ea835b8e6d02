"""Counts of item sets: versions and places."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Sum
from django.db.models.functions import Greatest

from annotate.database import append_only
from annotate.models import Annotator, Assignment, Item, ItemSet, Judgment, Pair, SourceDocument, Study, Tally

BATCH = 500


def open_tallies(item_sets: Iterable[ItemSet]) -> None:
    """Create tallies of new item sets, with the places that are taken there; existing tallies stay.

    Those without items, and without documents that are yet to be cut, get none: they are never judged, and no draw may
    lose time there.
    """
    has_items = Exists(Item.objects.filter(item_set=OuterRef("pk")))
    to_cut = Exists(SourceDocument.objects.filter(topic__sentence_set=OuterRef("pk")))
    keys = [item_set.pk for item_set in item_sets]
    new = list(ItemSet.with_unfinished.filter(has_items | to_cut, pk__in=keys))
    places = (
        Pair.objects.filter(item_set__in=new, taken__gt=0).order_by().values_list("item_set").annotate(Sum("taken"))
    )
    taken = dict(places)
    tallies = (
        Tally(
            item_set=item_set,
            data_version=item_set.last_data_version,
            taken=taken.get(item_set.pk, 0),
            of_summaries=item_set.of == "summaries",
        )
        for item_set in new
    )
    Tally.objects.bulk_create(tallies, batch_size=BATCH, ignore_conflicts=True)


def raise_version(item_set_ids: Iterable[int]) -> None:
    """Note that the data of these item sets have changed; the worker fits them again. In the caller's transaction."""
    Tally.objects.filter(item_set__in=lock(item_set_ids)).update(data_version=F("data_version") + 1)


def lock(item_set_ids: Iterable[int]) -> list[int]:
    """Lock the tallies of these item sets, always in the same order; returns the sets that have one."""
    wanted = sorted(set(item_set_ids))
    locked: list[int] = []
    for start in range(0, len(wanted), BATCH):
        batch = Tally.objects.select_for_update().filter(item_set__in=wanted[start : start + BATCH])
        locked += batch.order_by("item_set_id").values_list("item_set_id", flat=True)
    return locked


def lock_study(study_id: int) -> list[int]:
    """Lock the tallies of all item sets of a study: nobody draws or judges there until the transaction ends."""
    return lock(ItemSet.objects.filter(study=study_id).values_list("pk", flat=True))


def has_room(item_set_id: int, annotator: Annotator) -> bool:
    """Whether the item set needs more judgments by annotators of this kind. The tally must be locked."""
    return Tally.objects.with_room(annotator).filter(item_set=item_set_id).exists()


def take_place(assignment: Assignment) -> bool:
    """Take a place of its pair and one of its item set, if both have one left. The tally must be locked."""
    annotator = assignment.annotator
    of_pair = Assignment.objects.in_place().filter(pair=assignment.pair_id, annotator__kind=Annotator.TAKES_PLACES)
    if annotator.kind == Annotator.Kind.MACHINE and of_pair.exists():
        return True  # it may be asked for every pair that people judged
    pair = Pair.objects.with_place(annotator).filter(pk=assignment.pair_id)
    if not has_room(assignment.item_set_id, annotator) or not pair.exists():
        return False
    if annotator.kind == Annotator.TAKES_PLACES:
        pair.update(taken=F("taken") + 1)
        Tally.objects.filter(item_set=assignment.item_set_id).update(taken=F("taken") + 1)
    return True


def return_places(item_set_id: int, pair_ids: Iterable[int]) -> None:
    """Return one of the places for people for each entry. The tally must be locked."""
    returned: dict[int, int] = {}
    for pair_id in pair_ids:
        returned[pair_id] = returned.get(pair_id, 0) + 1
    for places in set(returned.values()):
        alike = [pair_id for pair_id, number in returned.items() if number == places]
        Pair.objects.filter(pk__in=alike).update(taken=F("taken") - places)
    if returned:
        Tally.objects.filter(item_set_id=item_set_id).update(taken=F("taken") - sum(returned.values()))


def keep_needs(study: Study) -> None:
    """Adapt the needs of the study's pairs to its judgments per pair, in the caller's transaction.

    A pair with more judgments keeps them all.
    """
    lock_study(study.pk)
    Pair.objects.filter(item_set__study=study, need__gt=0).update(need=Greatest(F("taken"), study.judgments_per_pair))


def forget_pairs(item_set_ids: Iterable[int]) -> None:
    """Delete pairs and assignments, so that the texts can be cut again; only before anyone has judged there.

    Annotators with such a pair on their screen get another one.
    """
    item_sets = lock(item_set_ids)
    with append_only.erasing():
        Judgment.objects.filter(
            assignment__item_set__in=item_sets, assignment__annotator__kind=Annotator.TRIAL
        ).delete()
    Assignment.objects.filter(item_set__in=item_sets).delete()
    Pair.objects.filter(item_set__in=item_sets).delete()
    Tally.objects.filter(item_set__in=item_sets).update(taken=0)
