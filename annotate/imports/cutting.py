"""Documents are cut into sentences, by the worker or as a person says; after the first judgment they stay as they are.

Whoever changes sentences locks the topic's tally first, as everyone does who draws or judges there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, RestrictedError
from django.utils.translation import gettext as _

import formats
from annotate import judging
from annotate.audit_log import note
from annotate.models import Judgment, Sentence, SourceDocument, Study, Topic
from annotate.refusal import Refusal
from formats.sentences import Cut, cut_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
#: The sentences of documents, by the documents' keys and in their order.
Cuts = Mapping[int, Sequence[Cut]]


def cut_topic(topic_id: int) -> None:
    """Cut the topic's documents and store their sentences, unless a newer cutting is stored already."""
    topic = Topic.objects.select_related("study").filter(pk=topic_id).first()
    if topic is not None:
        language = topic.language or topic.study.language
        documents = SourceDocument.objects.filter(topic=topic).order_by("position")
        _replace_sentences(topic, {row.pk: cut_text(as_given(row), language) for row in documents})


def as_given(row: SourceDocument) -> formats.Text:
    """A document whole, or as its provider, or else a person who mended our cutting, cut it."""
    sentences = row.mended if row.mended is not None else row.sentences
    return formats.Text(row.name, *((row.text, None) if sentences is None else (None, tuple(sentences))))


@transaction.atomic
def _replace_sentences(topic: Topic, cuts: Cuts) -> None:
    """Sentences that somebody has judged are never touched: judgments are about sentences."""
    judging.lock([topic.pk])
    older = Topic.objects.filter(pk=topic.pk, cut_version__lt=topic.text_version)
    if not older.update(cut_version=topic.text_version):
        return
    before = Sentence.objects.filter(topic=topic).order_by("position")
    unchanged = list(before.values_list("document_id", "index", "text", "paragraph")) == [
        (row.document_id, row.index, row.text, row.paragraph) for row in _rows(topic, cuts)
    ]
    if not unchanged and not Judgment.objects.filter(topic=topic).exists():
        judging.forget_pairs([topic.pk])
        before.delete()
        store_sentences({topic: cuts})


def store_sentences(cuts: Mapping[Topic, Cuts]) -> None:
    """Store the sentences of topics that have none."""
    Sentence.objects.bulk_create([row for topic, own in cuts.items() for row in _rows(topic, own)], BATCH)


def _rows(topic: Topic, cuts: Cuts) -> list[Sentence]:
    numbered = [(key, index, cut) for key, sentences in cuts.items() for index, cut in enumerate(sentences)]
    return [
        Sentence(topic=topic, document_id=key, index=index, position=position, paragraph=cut.paragraph, text=cut.text)
        for position, (key, index, cut) in enumerate(numbered)
    ]


@transaction.atomic
def mend(document: SourceDocument, sentences: Sequence[str] | None, user: User) -> SourceDocument:
    """Cut a document as a person says, or (None) as it was cut before anybody mended it. Only borders move.

    Raises `Refusal` where words changed, and after the first judgment of the topic: judgments are about sentences.
    """
    judging.lock([document.topic_id])
    topic = Topic.objects.select_related("study").get(pk=document.topic_id)
    stored = SourceDocument.objects.select_for_update().get(pk=document.pk)
    mended = None if sentences is None else [sentence.strip() for sentence in sentences if sentence.strip()]
    if mended == stored.mended:
        return stored
    if mended is not None and _letters(mended) != _letters(stored.sentences or [stored.text]):
        message = _("You can join and split sentences, but not change the text. Words were added, lost or changed.")
        raise Refusal(message, "words_changed", {"sentences": [message]})
    forget_cutting([topic.pk])
    stored.mended = mended
    stored.save(update_fields=["mended"])
    note(topic.study, user, "mend document", topic=topic.name, document=stored.name, sentences=len(mended or ()))
    return stored


@transaction.atomic
def cut_again(study: Study) -> None:
    """Have all texts cut anew that follow the study's language. Raises `Refusal` once there are judgments."""
    forget_cutting(Topic.with_unfinished.filter(study=study, language="").values_list("pk", flat=True))


def forget_cutting(topic_ids: Iterable[int]) -> None:
    """Let the worker cut these topics anew. Raises `Refusal` where there are judgments: they are about sentences."""
    ids = list(topic_ids)
    judged = Refusal(_("Sentences of this topic have already been judged, so they can no longer be edited."), "judged")
    if Judgment.objects.filter(topic__in=ids).exists():
        raise judged
    try:
        judging.forget_pairs(ids)
    except RestrictedError as error:  # somebody judged just now
        raise judged from error
    Topic.with_unfinished.filter(pk__in=ids).update(text_version=F("text_version") + 1)


def _letters(parts: Iterable[str]) -> str:
    """Everything but white space."""
    return "".join("".join(parts).split())
