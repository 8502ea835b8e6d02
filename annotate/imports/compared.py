"""Compared summaries are a topic of their own (`Topic.summaries_of`), which follows every change of the summaries.

The judgments of a summary count while it stays the same, word for word. When it is replaced or removed they become
history, and count again once the summary is restored. The caller holds the study.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from django.db.models import Count, Max, Q

from annotate import judging
from annotate.imports import recutting
from annotate.imports.recutting import BATCH, Recut, batches
from annotate.models import Removal, Sentence, SourceDocument, Study, Summary, Topic, Upload
from preferendum.formats.records import Cut, Of

#: The columns that follow the topic's.
SAME = ("title", "question", "language")


def keep_in_step(
    study: Study, topics: Collection[int], removal: Removal | None = None, upload: Upload | None = None
) -> None:
    """Update the compared summaries of these topics, if the study asks about summaries, or ever did.

    Judgments of removed summaries become history of `removal`. `upload`: the topics' upload, if it is not stored yet:
    they cannot be judged so far.
    """
    if study.compares != "sentences" or Topic.with_unfinished.filter(study=study, summaries_of__in=topics).exists():
        open_summaries(study, topics, removal, upload)


def open_summaries(
    study: Study, topics: Collection[int], removal: Removal | None = None, upload: Upload | None = None
) -> None:
    """Update the compared summaries of these topics, whatever the study's questions are about."""
    compared = Topic.with_unfinished.filter(summaries_of__in=topics, removal=None).select_related(
        "summaries_of", "study"
    )
    judging.lock(compared.values_list("pk", flat=True))
    for own in compared:
        _follow(own, removal)
    among = Topic.with_unfinished.filter(pk__in=topics).exclude(pk__in=[own.summaries_of_id for own in compared])
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
        brought = Topic.with_unfinished.filter(upload=upload, name__in=names, summaries_of=None)
        open_summaries(study, list(brought.values_list("pk", flat=True)), upload=upload)


def with_other_texts(texts: Mapping[int | None, Mapping[str, str]]) -> list[Recut]:
    """The changes of compared summaries if summaries had these texts, by topic and system."""
    compared = Topic.asked.filter(summaries_of__in=texts.keys()).select_related("study")
    now = _texts(texts.keys())
    return [_as_they_are_to_be(own, now[own.summaries_of_id] | dict(texts[own.summaries_of_id])) for own in compared]


def answers_about(summaries: Iterable[Summary]) -> int:
    """How many standing answers compare one of these summaries with another one."""
    by_topic: dict[int, list[str]] = defaultdict(list)
    for summary in summaries:
        by_topic[summary.topic_id].append(summary.system.name)
    of_summaries = Topic.asked.filter(summaries_of__in=by_topic)
    return sum(
        judging.answers_in(own)
        .filter(Q(pair__first__document__name__in=systems) | Q(pair__second__document__name__in=systems))
        .count()
        for own in of_summaries
        for systems in [by_topic[own.summaries_of_id or 0]]
    )


def _follow(compared: Topic, removal: Removal | None) -> None:
    topic = compared.summaries_of
    assert topic is not None
    same = {name: getattr(topic, name) for name in SAME}
    Topic.with_unfinished.filter(pk=compared.pk).exclude(**same).update(**same)
    texts = _texts([topic.pk])[topic.pk]
    now = Sentence.objects.filter(topic=compared).values_list("document__name", "text")
    if dict(now) != texts:
        recut = _as_they_are_to_be(compared, texts)
        recut.apply(removal if recut.gone else None)


def _as_they_are_to_be(compared: Topic, texts: Mapping[str, str]) -> Recut:
    rows = {row.name: row for row in SourceDocument.objects.filter(topic=compared)}
    return recutting.recut(
        compared,
        [(rows.get(name) or SourceDocument(topic=compared, name=name), _whole(text)) for name, text in texts.items()],
    )


def _create(study: Study, topics: list[Topic]) -> list[Topic]:
    last = Topic.with_unfinished.filter(study=study).aggregate(last=Max("position"))["last"] or 0
    new = Topic.with_unfinished.bulk_create(
        [
            Topic(
                study=study,
                name=topic.name,
                position=position,
                cut_version=1,
                upload_id=topic.upload_id,
                summaries_of=topic,
                **{name: getattr(topic, name) for name in SAME},
            )
            for position, topic in enumerate(topics, last + 1)
        ],
        BATCH,
    )
    for some in batches(new):
        texts = _texts([own.summaries_of_id for own in some])
        rows = [
            (own, SourceDocument(topic=own, name=name, position=position), text)
            for own in some
            for position, (name, text) in enumerate(texts[own.summaries_of_id].items())
        ]
        SourceDocument.objects.bulk_create([document for _own, document, _text in rows], BATCH)
        cuts: dict[Topic, list[tuple[SourceDocument, list[Cut]]]] = defaultdict(list)
        for own, document, text in rows:
            cuts[own].append((document, _whole(text)))
        Sentence.objects.bulk_create([row for own, of in cuts.items() for row in recutting.marked_rows(own, of)], BATCH)
    return new


def _whole(text: str) -> list[Cut]:
    return [Cut(text, 0, len(text), 0)]


def _texts(topics: Collection[int | None]) -> Mapping[int | None, dict[str, str]]:
    """The texts of these topics' summaries, by sorted names of systems."""
    texts: dict[int | None, dict[str, str]] = defaultdict(dict)
    for row in Summary.objects.filter(topic__in=topics).select_related("system").order_by("topic", "system__name"):
        texts[row.topic_id][row.system.name] = row.whole
    return texts
