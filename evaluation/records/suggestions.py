"""Save the pairs that the worker suggests to judge next."""

from __future__ import annotations

from django.db.models import F

from annotate.database.rows import put
from annotate.judging import designs
from annotate.models import ItemSetProgress, Pair, Suggestion
from evaluation.records.evidence import Snapshot
from preferendum.scoring.asking import Queue


def pairs_filled(snapshot: Snapshot) -> set[tuple[int, int]]:
    """The pairs i < j of a topic's sentences that have no place left for a judgment."""
    index = {key: number for number, key in enumerate(snapshot.sentence_keys)}
    filled = Pair.objects.filter(item_set=snapshot.topic_id, need__gt=0, taken__gte=F("need"))
    # A text may have been cut again since.
    places = ((index.get(first), index.get(second)) for first, second in filled.values_list("first_id", "second_id"))
    return {(min(i, j), max(i, j)) for i, j in places if i is not None and j is not None}


def replace_suggestions(snapshot: Snapshot, queue: Queue) -> None:
    """Replace the suggested pairs of sentences, in the transaction that publishes their fit."""
    keys, pairs = snapshot.sentence_keys, queue.pairs.tolist()
    number = len(pairs)
    drawn_for = None if queue.drawn_for is None else designs.number_of(snapshot.topic_id, queue.drawn_for)
    put(
        Suggestion,
        ["item_set_id", "rank"],
        {
            "item_set_id": [snapshot.topic_id] * number,
            "first_id": [min(keys[i], keys[j]) for i, j in pairs],
            "second_id": [max(keys[i], keys[j]) for i, j in pairs],
            "rank": range(number),
            "is_random": queue.is_random.tolist(),
            "design_weight": queue.design.tolist(),
            "drawn_for": [drawn_for] * number,
        },
    )
    Suggestion.objects.filter(item_set=snapshot.topic_id, rank__gte=number).delete()
    ItemSetProgress.objects.filter(item_set=snapshot.topic_id).exclude(is_told=queue.is_told).update(
        is_told=queue.is_told
    )
