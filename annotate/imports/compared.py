"""Compared summaries are an item set of their own, which follows every change of the topic's summaries.

The judgments of a summary count while it stays the same, word for word. When it is replaced or removed they become
history, and count again once the summary is restored. The caller holds the study.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotate import judging
from annotate.database.rows import add
from annotate.imports import recutting
from annotate.imports.recutting import BATCH, Recut, Text, batches
from annotate.models import Item, ItemSet, Removal, Study, Summary, Topic, Upload
from preferendum.formats.records import Of


def keep_in_step(
    study: Study, topics: Collection[int], removal: Removal | None = None, upload: Upload | None = None
) -> None:
    """Update the compared summaries of these topics, if the study asks about summaries, or ever did.

    Judgments of removed summaries become history of `removal`. `upload`: the topics' upload, if it is not stored yet:
    they cannot be judged so far.
    """
    if study.compares != "sentences" or _sets_of(topics).exists():
        open_summaries(study, topics, removal, upload)


def open_summaries(
    study: Study, topics: Collection[int], removal: Removal | None = None, upload: Upload | None = None
) -> None:
    """Update the compared summaries of these topics, whatever the study's questions are about."""
    compared = list(_sets_of(topics).filter(removal=None).select_related("topic", "study"))
    judging.lock([own.pk for own in compared])
    for some in batches(compared):
        _follow(some, removal)
    among = Topic.with_unfinished.filter(pk__in=topics).exclude(pk__in=[own.topic_id for own in compared])
    new = _create(study, list(among.annotate(count=Count("summaries")).filter(count__gt=1).order_by("position")))
    if upload is None:
        judging.open_tallies(new)


def open_judged(study: Study, judged: Iterable[tuple[str, Of]], upload: Upload | None = None) -> None:
    """Update the compared summaries of topics that a file has judgments or gold pairs of, given as (name, kind of
    text).
    """
    names = {name for name, of in judged if of == "summaries"}
    present = Topic.objects.filter(study=study, name__in=names)
    open_summaries(study, list(present.values_list("pk", flat=True)))
    if upload is not None:
        brought = Topic.with_unfinished.filter(upload=upload, name__in=names)
        open_summaries(study, list(brought.values_list("pk", flat=True)), upload=upload)


def with_other_texts(texts: Mapping[int, Mapping[str, Text]]) -> list[Recut]:
    """The changes of compared summaries if summaries had these texts, by topic and system."""
    compared = ItemSet.objects.filter(of="summaries", topic__in=texts.keys()).select_related("topic", "study")
    now = _texts(texts.keys())
    return [recutting.resummarized(own, now[own.topic_id] | dict(texts[own.topic_id])) for own in compared]


def answers_about(summaries: Iterable[Summary]) -> int:
    """How many standing answers compare one of these summaries with another one."""
    by_topic: dict[int, list[str]] = defaultdict(list)
    for summary in summaries:
        by_topic[summary.topic_id].append(summary.system.name)
    return sum(
        judging.answers_in(own).filter(Q(pair__first__system__in=systems) | Q(pair__second__system__in=systems)).count()
        for own in ItemSet.objects.filter(of="summaries", topic__in=by_topic)
        for systems in [by_topic[own.topic_id]]
    )


def _sets_of(topics: Collection[int]) -> QuerySet[ItemSet]:
    return ItemSet.with_unfinished.filter(of="summaries", topic__in=topics)


def _follow(item_sets: Sequence[ItemSet], removal: Removal | None) -> None:
    topics = {own.topic_id for own in item_sets}
    with_history = set(_sets_of(topics).exclude(removal=None).values_list("topic_id", flat=True))
    texts, before = _texts(topics), defaultdict[int, dict[str, Any]](dict)
    rows = Item.objects.filter(item_set__in=item_sets)
    for key, system, text, turns in rows.values_list("item_set_id", "system", "text", "turns"):
        before[key][system] = text, turns
    grown: dict[ItemSet, Mapping[str, Text]] = {}
    for own in item_sets:
        after = {system: (row.whole, row.turns) for system, row in texts[own.topic_id].items()}
        if own.topic_id not in with_history and before[own.pk].items() < after.items():
            grown[own] = texts[own.topic_id]
        elif before[own.pk] != after:
            recut = recutting.resummarized(own, texts[own.topic_id])
            recut.apply(removal if recut.gone else None)
    if grown:
        recutting.grow(grown)


def _create(study: Study, topics: list[Topic]) -> list[ItemSet]:
    new = ItemSet.objects.bulk_create([ItemSet(study=study, topic=topic, of="summaries") for topic in topics], BATCH)
    for some in batches(new):
        texts = _texts([own.topic_id for own in some])
        columns = ((own.pk, row) for own in some for row in recutting.columns_of_summaries(texts[own.topic_id]))
        add(Item, ({"item_set_id": key, **row} for key, row in columns))
    return new


def _texts(topics: Collection[int]) -> Mapping[int, dict[str, Text]]:
    """These topics' summaries, by sorted names of systems."""
    texts: dict[int, dict[str, Text]] = defaultdict(dict)
    columns = ("topic_id", "system__name", "text", "sentences", "has_text", "turns")
    rows = Summary.objects.filter(topic__in=topics).order_by("topic_id", "system__name").values_list(*columns)
    for topic_id, system, text, sentences, *others in rows:
        texts[topic_id][system] = Text(text if sentences is None else "\n".join(sentences), *others)
    return texts
