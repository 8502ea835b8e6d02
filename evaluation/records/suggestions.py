"""What the worker would like to have asked next, on its way into the tables."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F

from annotate.models import Pair, Suggestion, TopicProgress
from evaluation.records.evidence import Snapshot

REASON = "informative"


def pairs_filled(snapshot: Snapshot) -> set[tuple[int, int]]:
    """The pairs i < j of a topic's sentences that have no place left for a judgment."""
    index = {key: number for number, key in enumerate(snapshot.sentence_keys)}
    filled = Pair.objects.filter(topic=snapshot.topic_id, need__gt=0, taken__gte=F("need"))
    # A text may have been cut anew since.
    there = (two for two in filled.values_list("first_id", "second_id") if index.keys() >= set(two))
    places = ((index[first], index[second]) for first, second in there)
    return {(min(two), max(two)) for two in places}


@transaction.atomic
def save_suggestions(snapshot: Snapshot, pairs: Iterable[tuple[int, int]]) -> bool:
    """Ask for these pairs of sentences instead of those before; False where a newer fit is there."""
    ours = TopicProgress.objects.select_for_update().filter(
        topic=snapshot.topic_id, fitted_version=snapshot.data_version, prepared_version=snapshot.prepared_version
    )
    if not ours.exists():
        return False
    keys = snapshot.sentence_keys
    Suggestion.objects.filter(topic=snapshot.topic_id).delete()
    Suggestion.objects.bulk_create(
        Suggestion(
            topic_id=snapshot.topic_id,
            first_id=min(keys[i], keys[j]),
            second_id=max(keys[i], keys[j]),
            rank=rank,
            reason=REASON,
        )
        for rank, (i, j) in enumerate(pairs)
    )
    return True
