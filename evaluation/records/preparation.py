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
    there = Sentence.objects.filter(topic=topic_id).order_by("position")
    unchanged = list(there.values_list("document_id", "index", "text", "paragraph")) == [
        (row.document_id, row.index, row.text, row.paragraph) for row in _rows(topic_id, cuts)
    ]
    if unchanged or Judgment.objects.filter(topic=topic_id).exists():
        return True
    judging.forget_pairs([topic_id])
    there.delete()
    Sentence.objects.bulk_create(_rows(topic_id, cuts), BATCH)
    return True


@transaction.atomic
def save_first_preparation(topics: Sequence[Topic], cuts: Mapping[int, Mapping[int, Sequence[Cut]]]) -> None:
    """Store how the documents of new topics (both by key) were cut: thousands of topics at once, and quickly.

    Nobody has judged there, so there is nothing to fit until somebody does.
    """
    studies = {topic.study_id for topic in topics}
    versions = dict(Tally.objects.filter(topic__study__in=studies).values_list("topic_id", "data_version"))
    TopicProgress.objects.bulk_create(
        [
            TopicProgress(topic=topic, prepared_version=topic.text_version, fitted_version=versions[topic.pk])
            for topic in topics
        ],
        BATCH,
    )
    Sentence.objects.bulk_create([row for topic in topics for row in _rows(topic.pk, cuts[topic.pk])], BATCH)


def _rows(topic_id: int, cuts: Mapping[int, Sequence[Cut]]) -> list[Sentence]:
    numbered = [(key, index, cut) for key, sentences in cuts.items() for index, cut in enumerate(sentences)]
    return [
        Sentence(
            topic_id=topic_id, document_id=key, index=index, position=position, paragraph=cut.paragraph, text=cut.text
        )
        for position, (key, index, cut) in enumerate(numbered)
    ]
