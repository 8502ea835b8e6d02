"""A topic's texts on their way to being cut, and its sentences on their way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

import formats
from annotate import judging
from annotate.models import Judgment, Sentence, SourceDocument, Tally, Topic, TopicProgress
from evaluation.records.tries import NO_PROBLEM

BATCH = 500


@dataclass(frozen=True, slots=True)
class Texts:
    """The source documents of a topic, by their keys, at one version; whole, or as somebody cut them."""

    version: int
    language: str
    documents: Mapping[int, formats.Text]


@dataclass(frozen=True, slots=True)
class Cut:
    """One sentence of a document, on its `paragraph`-th line that holds a sentence, counted from 0."""

    text: str
    paragraph: int


def load_texts(topic_id: int) -> Texts | None:
    """What is to be cut; None where the topic is gone. The version is read first: it must never promise too much."""
    topic = Topic.objects.select_related("study").filter(pk=topic_id).first()
    if topic is None:
        return None
    documents: dict[int, formats.Text] = {}
    for row in SourceDocument.objects.filter(topic=topic).order_by("position"):
        given = row.mended if row.mended is not None else row.sentences
        whole = (row.text, None) if given is None else (None, tuple(given))
        documents[row.pk] = formats.Text(row.name, *whole)
    return Texts(topic.text_version, topic.language or topic.study.language, documents)


@transaction.atomic
def save_preparation(topic_id: int, version: int, cuts: Mapping[int, Sequence[Cut]]) -> bool:
    """Store how the topic's documents (by key, in their order) were cut; False where that came too late.

    Sentences that somebody has judged are never touched: judgments are about sentences.
    """
    if not Tally.objects.select_for_update().filter(topic=topic_id).exists():
        return False
    TopicProgress.objects.bulk_create([TopicProgress(topic_id=topic_id)], ignore_conflicts=True)
    progress = TopicProgress.objects.filter(topic=topic_id, prepared_version__lt=version)
    if not progress.update(prepared_version=version, **NO_PROBLEM):
        return False
    new = [(key, index, cut) for key, sentences in cuts.items() for index, cut in enumerate(sentences)]
    there = Sentence.objects.filter(topic=topic_id).order_by("position")
    unchanged = [(key, index, cut.text, cut.paragraph) for key, index, cut in new] == list(
        there.values_list("document_id", "index", "text", "paragraph")
    )
    if unchanged or Judgment.objects.filter(topic=topic_id).exists():
        return True
    judging.forget_pairs([topic_id])
    there.delete()
    Sentence.objects.bulk_create(
        [
            Sentence(
                topic_id=topic_id,
                document_id=key,
                index=index,
                position=position,
                paragraph=cut.paragraph,
                text=cut.text,
            )
            for position, (key, index, cut) in enumerate(new)
        ],
        BATCH,
    )
    return True
