"""Save the pairs that the worker suggests to judge next."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_

from django.db.models import F, Q

from annotate.database.rows import put
from annotate.judging import designs
from annotate.models import Pair, Suggestion
from evaluation.records.evidence import Snapshot
from preferendum.scoring.asking import Queue


def pairs_filled(snapshots: Collection[Snapshot]) -> dict[int, set[tuple[int, int]]]:
    """The pairs i < j of each topic's sentences that have no place left for a judgment, by topic."""
    places = {own.topic_id: {key: n for n, key in enumerate(own.sentence_keys)} for own in snapshots}
    filled = Pair.objects.filter(item_set__in=places, need__gt=0, taken__gte=F("need"))
    pairs: dict[int, set[tuple[int, int]]] = {key: set() for key in places}
    for topic, first, second in filled.values_list("item_set", "first", "second"):
        i, j = places[topic].get(first), places[topic].get(second)
        if i is not None and j is not None:  # a text may have been cut again since
            pairs[topic].add((min(i, j), max(i, j)))
    return pairs


def replace_suggestions(queues: Sequence[tuple[Snapshot, Queue]]) -> None:
    """Replace the suggested pairs of topics' sentences, in the transaction that publishes their fits."""
    systems = {own.topic_id: queue.drawn_for for own, queue in queues if queue.drawn_for is not None}
    numbers = designs.numbers_of(systems) if systems else {}
    rows = [
        (own.topic_id, *sorted((own.sentence_keys[i], own.sentence_keys[j])), rank, *rest, numbers.get(own.topic_id))
        for own, queue in queues
        for rank, ((i, j), *rest) in enumerate(
            zip(queue.pairs.tolist(), queue.is_random.tolist(), queue.design.tolist(), strict=True)
        )
    ]
    names = "item_set_id", "first_id", "second_id", "rank", "is_random", "design_weight", "drawn_for"
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    put(Suggestion, ["item_set_id", "rank"], dict(zip(names, columns, strict=True)))
    left = (Q(item_set=own.topic_id, rank__gte=len(queue.pairs)) for own, queue in queues)
    Suggestion.objects.filter(reduce(or_, left)).delete()
