"""Cut documents into sentences, automatically or as a user says.

Every change of sentences locks the topic's tally first, as drawing and judging do; mending holds the study before, and
locks all its tallies. After the first judgment, only users change sentences: then the document is replaced
(`replacing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, RestrictedError
from django.utils.translation import gettext as _

from annotate import judging
from annotate.audit_log import note
from annotate.imports import recutting
from annotate.imports.holding import hold, refuse_busy
from annotate.imports.replacing import Comparison, keep_before, replace
from annotate.models import Item, Judgment, SourceDocument, Study, Topic
from annotate.refusal import Refusal
from preferendum import formats
from preferendum.formats.not_judged import BY_HAND
from preferendum.formats.sentences import cut_text

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def cut_topic(topic_id: int) -> None:
    """Cut the topic's documents and store their sentences, unless a newer cutting is stored."""
    topic = Topic.objects.select_related("study").filter(pk=topic_id).first()
    if topic is not None:
        language = topic.language or topic.study.language
        documents = SourceDocument.objects.filter(topic=topic).order_by("position")
        _replace_sentences(topic, [(row, cut_text(as_given(row), language)) for row in documents])


def as_given(row: SourceDocument) -> formats.Text:
    """A document as a user mended it, otherwise as its provider cut it, otherwise whole."""
    sentences = row.mended if row.mended is not None else row.sentences
    return formats.Text(row.name, *((row.text, None) if sentences is None else (None, tuple(sentences))))


@transaction.atomic
def _replace_sentences(topic: Topic, cuts: recutting.Cuts) -> None:
    """Replace the sentences, unless the topic was judged: judgments are about sentences."""
    judging.lock([topic.pk])
    older = Topic.objects.filter(pk=topic.pk, cut_version__lt=topic.text_version)
    if (
        not older.update(cut_version=topic.text_version)
        or Judgment.objects.lasting().filter(item_set=topic.pk).exists()
    ):
        return
    recut = recutting.recut(topic, cuts)
    before = Item.objects.filter(item_set=topic.pk).order_by("position")
    now = [(row.document_id, row.index, row.text, row.paragraph) for row in recut.items]
    if now != list(before.values_list("document_id", "index", "text", "paragraph")):
        recut.forget()
        recut.store_items()
        judging.raise_known(topic.sentence_set)


@transaction.atomic
def set_judged(sentence: Item, to_judge: bool, user: User) -> Item:
    """Set whether a sentence is judged, whatever the rules say; its judgments stay and count.

    Raises `Refusal` if it was removed meanwhile.
    """
    judging.lock([sentence.item_set_id])
    stored = Item.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "document", "item_set__topic", "item_set__study"
    )
    row = stored.filter(pk=sentence.pk).first()
    if row is None:
        raise Refusal(_("This sentence is not there any more."), "no_sentence")
    if to_judge == (not row.not_judged):
        return row
    action = "take back sentence" if to_judge else "leave out sentence"
    rule, row.not_judged = row.not_judged, "" if to_judge else BY_HAND
    row.save(update_fields=["not_judged"])
    if not to_judge:
        judging.end_leases(row)
    if Judgment.objects.lasting().filter(item_set=row.item_set_id).exists():
        judging.raise_version([row.item_set_id])
    note(
        row.item_set.study,
        user,
        action,
        topic=row.item_set.topic.name,
        sentence=row.name,
        **({"rule": rule} if rule else {}),
    )
    return row


@transaction.atomic
def mend(document: SourceDocument, sentences: Sequence[str] | None, user: User, lose: int = 0) -> SourceDocument:
    """Cut a document as a user says, or (None) as it was cut before it was mended. Only borders move.

    Once its topic was judged, the document is replaced: judgments of changed sentences become history, and the earlier
    version can be restored for a day. Raises `WouldLoseJudgments` for more than `lose` of them, `Refusal` where words
    changed, and while the topic is being cut or an upload is being stored.
    """
    hold(document.topic.study_id)
    judging.lock_study(document.topic.study_id)
    topic = Topic.objects.select_related("study").get(pk=document.topic_id)
    stored = SourceDocument.objects.select_for_update(no_key=True).get(pk=document.pk)
    mended = None if sentences is None else [sentence.strip() for sentence in sentences if sentence.strip()]
    if mended == stored.mended:
        return stored
    if mended is not None and _letters(mended) != _letters(stored.sentences or [stored.text]):
        message = _("You can join and split sentences, but not change the text. Words were added, lost or changed.")
        raise Refusal(message, "words_changed", {"sentences": [message]})
    if not topic.is_cut:
        raise Refusal(_("The documents are being split into sentences. Try again in a moment."), "busy")
    stored.mended = mended
    seen = Comparison(recuts=[_with_other_sentences(topic, stored)])
    removal = None
    if Judgment.objects.lasting().filter(item_set=topic.pk).exists():
        refuse_busy(topic.study_id)
        seen.refuse_more_than(lose)
        removal = keep_before(topic.study, user, seen, stored.name, topic=topic.name, document=stored.name)
    replace(seen, removal)
    note(topic.study, user, "mend document", topic=topic.name, document=stored.name, sentences=len(mended or ()))
    return stored


def _with_other_sentences(topic: Topic, document: SourceDocument) -> recutting.Recut:
    """The topic with a new cutting of this document."""
    rows = SourceDocument.objects.filter(topic=topic).order_by("position")
    own = cut_text(as_given(document), topic.language or topic.study.language)
    return recutting.recut(
        topic, [(document, own) if row.pk == document.pk else (row, recutting.as_cut(row)) for row in rows]
    )


@transaction.atomic
def cut_again(study: Study) -> None:
    """Have all texts in the study's language cut again. Raises `Refusal` once there are judgments."""
    topics = Topic.with_unfinished.filter(study=study, language="", removal=None)
    ids = list(topics.values_list("pk", flat=True))
    judged = Refusal(_("Sentences of this topic have already been judged, so they can no longer be edited."), "judged")
    if Judgment.objects.lasting().filter(item_set__in=ids).exists():
        raise judged
    try:
        judging.forget_pairs(ids)
    except RestrictedError as error:  # an answer was stored just now
        raise judged from error
    Topic.with_unfinished.filter(pk__in=ids).update(text_version=F("text_version") + 1)


def _letters(parts: Iterable[str]) -> str:
    """Everything but white space."""
    return "".join("".join(parts).split())
