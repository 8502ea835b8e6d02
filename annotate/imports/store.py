"""Rows from what an upload brings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Max, RestrictedError
from django.utils.translation import gettext as _

import formats
from annotate import judging
from annotate.acts import note
from annotate.models import (
    HumanScore,
    Judgment,
    Reference,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
)
from annotate.refusal import Refusal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500


def store_texts(study: Study, bundle: formats.Bundle) -> list[Topic]:
    """Store topics with all their texts, late summaries and human scores, in the caller's transaction; the new topics.

    A summary that is there stays as it is: the judgments' worth was read off it. A human score that is there gives way
    to a later one, since nothing was computed from it that is not computed anew.
    """
    Study.objects.select_for_update().get(pk=study.pk)  # one intake at a time
    topics = _store_topics(study, bundle.topics)
    by_name = dict(Topic.objects.filter(study=study).values_list("name", "pk"))
    summaries = [
        *((by_name[topic.topic_id], summary) for topic in bundle.topics for summary in topic.summaries),
        *((by_name[late.topic], late.summary) for late in bundle.summaries),
    ]
    _store_summaries(study, summaries)
    scores = [
        *(
            (by_name[topic.topic_id], summary.name, dimension, score)
            for topic in bundle.topics
            for summary in topic.summaries
            for dimension, score in summary.human.items()
        ),
        *((by_name[score.topic], score.system, score.dimension, score.score) for score in bundle.human_scores),
        *(
            (by_name[late.topic], late.summary.name, dimension, score)
            for late in bundle.summaries
            for dimension, score in late.summary.human.items()
        ),
    ]
    _store_scores(scores)
    judging.open_tallies(topics)
    late_topics = {by_name[late.topic] for late in bundle.summaries}
    judging.raise_version(late_topics | {by_name[score.topic] for score in bundle.human_scores})
    return topics


@transaction.atomic
def mend(document: SourceDocument, sentences: Sequence[str] | None, user: User) -> SourceDocument:
    """Cut a document as a person says, or (None) as it was cut before anybody mended it. Only borders move.

    Raises `Refusal` where words changed, and after the first judgment of the topic: judgments are about sentences.
    """
    # Not its key: draws hold the tally when they refer to the topic, and this asks for the tally below.
    topic = Topic.objects.select_for_update(no_key=True).get(pk=document.topic_id)
    found = SourceDocument.objects.select_for_update().get(pk=document.pk)
    mended = None if sentences is None else [sentence.strip() for sentence in sentences if sentence.strip()]
    if mended == found.mended:
        return found
    if mended is not None and _letters(mended) != _letters(found.sentences or [found.text]):
        message = _("Only the borders between sentences can be moved: words were added, lost or changed.")
        raise Refusal(message, "words_changed", {"sentences": [message]})
    forget_cutting([topic.pk])
    found.mended = mended
    found.save(update_fields=["mended"])
    note(topic.study, user, "mend document", topic=topic.name, document=found.name, sentences=len(mended or ()))
    return found


@transaction.atomic
def cut_again(study: Study) -> None:
    """Have all texts cut anew that follow the study's language. Raises `Refusal` once there are judgments."""
    forget_cutting(Topic.objects.filter(study=study, language="").values_list("pk", flat=True))


def forget_cutting(topic_ids: Iterable[int]) -> None:
    """Let the worker cut these topics anew. Raises `Refusal` where there are judgments: they are about sentences."""
    ids = list(topic_ids)
    judged = Refusal(
        _("The sentences stay as they are once somebody has judged: judgments are about sentences."), "judged"
    )
    if Judgment.objects.filter(topic__in=ids).exists():
        raise judged
    try:
        judging.forget_pairs(ids)
    except RestrictedError as error:  # somebody judged just now
        raise judged from error
    Topic.objects.filter(pk__in=ids).update(text_version=F("text_version") + 1)


def _letters(parts: Iterable[str]) -> str:
    """Everything but white space."""
    return "".join("".join(parts).split())


def _store_topics(study: Study, records: Sequence[formats.Topic]) -> list[Topic]:
    last = Topic.objects.filter(study=study).aggregate(last=Max("position"))["last"]
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
                extra=dict(record.extra),
            )
            for position, record in enumerate(records, first)
        ],
        BATCH,
    )
    SourceDocument.objects.bulk_create(
        [
            SourceDocument(topic=topic, **columns)
            for topic, record in zip(topics, records, strict=True)
            for columns in _columns(record.documents)
        ],
        BATCH,
    )
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
