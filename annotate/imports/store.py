"""Rows from what an upload brings: texts, their sentences, the judgments that came with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

import formats
from annotate import judging
from annotate.imports.cutting import cut_topic, store_sentences
from annotate.imports.memory import refuse_large_topics
from annotate.models import (
    Annotator,
    HumanScore,
    Reference,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    Upload,
)
from formats.sentences import Cut, cut_text

BATCH = 500
#: Sentences by the names of their topics and documents.
NamedCuts = Mapping[str, Mapping[str, Sequence[Cut]]]


def store(
    study: Study, bundle: formats.Bundle, *, kind: str = Annotator.Kind.HUMAN, pseudonym: str = ""
) -> list[Topic]:
    """Store everything that a bundle brings in one transaction, or nothing; the new topics.

    Texts are cut before it begins. Judgments that say of which kind they are (as our exports do) keep it; all others
    are of `kind`, under `pseudonym` where they name no annotator. What comes by an upload, while others judge, is
    stored in short steps instead (`uploads`).
    """
    cuts = cut_bundle(study, bundle)
    with transaction.atomic():
        topics = store_texts(study, bundle, cuts)
        judging.import_judgments(study, bundle.preferences, kind, pseudonym)
    return topics


def cut_bundle(study: Study, bundle: formats.Bundle) -> NamedCuts:
    """The sentences of a bundle's new topics. Older topics that it brings judgments of are cut, too, if they wait.

    Raises `formats.Refused` for topics that the worker has too little memory for.
    """
    judged = {preference.topic for preference in bundle.preferences}
    for key in Topic.objects.uncut().filter(study=study, name__in=judged).values_list("pk", flat=True):
        cut_topic(key)
    cuts = {
        topic.topic_id: {text.name: cut_text(text, topic.language or study.language) for text in topic.documents}
        for topic in bundle.topics
    }
    refuse_large_topics({name: sum(map(len, documents.values())) for name, documents in cuts.items()})
    return cuts


def store_texts(study: Study, bundle: formats.Bundle, cuts: NamedCuts) -> list[Topic]:
    """Store topics with all their texts, late summaries and human scores, in the caller's transaction; the new topics.

    Topics that `cuts` leaves out are cut by the worker.
    """
    hold(study.pk)
    topics = store_topics(study, bundle, cuts)
    late = store_late(study, bundle)
    judging.open_tallies(topics)
    judging.raise_version(late)
    return topics


def hold(study_id: int) -> bool:
    """Lock the study: one intake at a time, and none while it is deleted. False where it is gone."""
    return Study.objects.select_for_update(no_key=True).filter(pk=study_id).values_list("pk").first() is not None


def store_topics(study: Study, bundle: formats.Bundle, cuts: NamedCuts, upload: Upload | None = None) -> list[Topic]:
    """Store new topics with all their texts and scores, in the caller's transaction."""
    topics = _store_topics(study, bundle.topics, cuts, upload)
    keys = {topic.name: topic.pk for topic in topics}
    _store_summaries(study, [(keys[topic.topic_id], summary) for topic in bundle.topics for summary in topic.summaries])
    scores = [
        (keys[topic.topic_id], summary.name, dimension, score)
        for topic in bundle.topics
        for summary in topic.summaries
        for dimension, score in summary.human.items()
    ]
    _store_scores(scores)
    return topics


def store_late(study: Study, bundle: formats.Bundle) -> set[int]:
    """Store what a bundle says of topics by themselves, in the caller's transaction; the topics' keys.

    A summary that is there stays as it is: the judgments' worth was read off it. A human score that is there gives way
    to a later one, since nothing was computed from it that is not computed anew.
    """
    keys = dict(Topic.objects.filter(study=study).values_list("name", "pk"))
    _store_summaries(study, [(keys[late.topic], late.summary) for late in bundle.summaries])
    scores = [(keys[score.topic], score.system, score.dimension, score.score) for score in bundle.human_scores]
    scores += [
        (keys[late.topic], late.summary.name, dimension, score)
        for late in bundle.summaries
        for dimension, score in late.summary.human.items()
    ]
    _store_scores(scores)
    return {topic for topic, *_rest in scores} | {keys[late.topic] for late in bundle.summaries}


def remove_topics(upload: Upload) -> None:
    """Delete the topics of an upload that is not to be stored, with all their texts, in the caller's transaction."""
    Topic.with_unfinished.filter(upload=upload).delete()
    System.objects.filter(study=upload.study_id, summaries=None).delete()


def _store_topics(
    study: Study, records: Sequence[formats.Topic], cuts: NamedCuts, upload: Upload | None
) -> list[Topic]:
    last = Topic.with_unfinished.filter(study=study).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    topics = Topic.objects.bulk_create(
        [
            Topic(
                study=study,
                name=record.topic_id,
                title=record.title,
                question=record.question,
                language=record.language,
                position=position,
                cut_version=int(record.topic_id in cuts),
                extra=dict(record.extra),
                upload=upload,
            )
            for position, record in enumerate(records, first)
        ],
        BATCH,
    )
    documents = SourceDocument.objects.bulk_create(
        [
            SourceDocument(topic=topic, **columns)
            for topic, record in zip(topics, records, strict=True)
            for columns in _columns(record.documents)
        ],
        BATCH,
    )
    stored: dict[Topic, dict[int, Sequence[Cut]]] = {topic: {} for topic in topics if topic.name in cuts}
    for document in documents:
        if document.topic in stored:
            stored[document.topic][document.pk] = cuts[document.topic.name].get(document.name, ())
    store_sentences(stored)
    Reference.objects.bulk_create(
        [
            Reference(topic=topic, **columns)
            for topic, record in zip(topics, records, strict=True)
            for columns in _columns(record.references)
        ],
        BATCH,
    )
    return topics


def _columns(texts: Iterable[formats.Text]) -> Iterable[dict[str, Any]]:
    for position, text in enumerate(texts):
        yield {"name": text.name, "position": position, **_content(text)}


def _content(text: formats.Text) -> dict[str, Any]:
    sentences = None if text.sentences is None else list(text.sentences)
    return {"text": text.text or "", "sentences": sentences, "extra": dict(text.extra)}


def _store_summaries(study: Study, summaries: Sequence[tuple[int, formats.Summary]]) -> None:
    wanted = {summary.name for _topic, summary in summaries}
    there = set(System.objects.filter(study=study).values_list("name", flat=True))
    System.objects.bulk_create([System(study=study, name=name) for name in sorted(wanted - there)], BATCH)
    systems: Mapping[str, int] = dict(System.objects.filter(study=study).values_list("name", "pk"))
    Summary.objects.bulk_create(
        [
            Summary(topic_id=topic_id, system_id=systems[summary.name], **_content(summary))
            for topic_id, summary in summaries
        ],
        BATCH,
    )


def _store_scores(scores: Sequence[tuple[int, str, str, float]]) -> None:
    topic_ids = {topic_id for topic_id, *_rest in scores}
    summaries = {
        (topic_id, system): pk
        for pk, topic_id, system in Summary.objects.filter(topic__in=topic_ids).values_list(
            "pk", "topic_id", "system__name"
        )
    }
    HumanScore.objects.bulk_create(
        [
            HumanScore(summary_id=summaries[topic_id, system], dimension=dimension, score=score)
            for topic_id, system, dimension, score in scores
        ],
        BATCH,
        update_conflicts=True,
        update_fields=["score"],
        unique_fields=["summary", "dimension"],
    )
