"""Store new topics, each with the item set of its sentences."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import F

from annotate.models import ItemSet, Topic


@transaction.atomic
def add_topics(topics: Sequence[Topic], batch: int | None = None) -> list[Topic]:
    """Store new topics, each with the item set of its sentences, under the same key."""
    sets = [ItemSet(study=topic.study, topic_id=0, of="sentences", removal=topic.removal) for topic in topics]
    for topic, sentence_set in zip(topics, ItemSet.objects.bulk_create(sets, batch), strict=True):
        topic.sentence_set = sentence_set
    added = Topic.objects.bulk_create(topics, batch)
    # The database checks the key of the topic only at the end of the transaction.
    ItemSet.with_unfinished.filter(topic=0).update(topic=F("pk"))
    for topic in added:
        topic.sentence_set.topic = topic
    return added
