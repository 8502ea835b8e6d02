"""Documents are cut into sentences, by the worker or as a person says.

Whoever changes sentences locks the topic's tally first, as everyone does who draws or judges there; a person who mends
them holds the study before, and locks all its tallies. After the first judgment only people do, and what was judged of
sentences that stay stays with them (`recutting`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, RestrictedError
from django.utils.translation import gettext as _

import formats
from annotate import judging
from annotate.audit_log import note
from annotate.imports import recutting
from annotate.imports.holding import hold, refuse_busy
from annotate.imports.recutting import WouldLoseJudgments
from annotate.models import Judgment, Sentence, SourceDocument, Study, Topic
from annotate.refusal import Refusal
from formats.not_judged import BY_HAND, DUPLICATE, not_judged
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
    rows = _rows(topic, cuts, before.values_list("document_id", "text", "not_judged"))
    unchanged = list(before.values_list("document_id", "index", "text", "paragraph")) == [
        (row.document_id, row.index, row.text, row.paragraph) for row in rows
    ]
    if not unchanged and not Judgment.objects.filter(topic=topic).exists():
        judging.forget_pairs([topic.pk])
        before.delete()
        Sentence.objects.bulk_create(rows, BATCH)


def store_sentences(cuts: Mapping[Topic, Cuts]) -> None:
    """Store the sentences of topics that have none."""
    Sentence.objects.bulk_create([row for topic, own in cuts.items() for row in _rows(topic, own)], BATCH)


def _rows(topic: Topic, cuts: Cuts, earlier: Iterable[tuple[int, str, str]] = ()) -> list[Sentence]:
    """The sentences of a topic. Those that were there `earlier` (document, text, mark) keep their mark: a person may
    have set it, or taken it away; rules look at the others."""
    kept: dict[tuple[int, str], deque[str]] = {}
    for document, text, mark in earlier:
        kept.setdefault((document, text), deque()).append(mark)
    by_rule = not_judged(list(cuts.values()))
    numbered = [
        (key, index, cut, rule)
        for (key, sentences), rules in zip(cuts.items(), by_rule, strict=True)
        for index, (cut, rule) in enumerate(zip(sentences, rules, strict=True))
    ]
    return [
        Sentence(
            topic=topic,
            document_id=key,
            index=index,
            position=position,
            paragraph=cut.paragraph,
            text=cut.text,
            not_judged=_mark(kept.get((key, cut.text)), rule),
        )
        for position, (key, index, cut, rule) in enumerate(numbered)
    ]


def _mark(kept: deque[str] | None, rule: str) -> str:
    """The mark that is kept, unless a rule decides: what a copy is of may have gone."""
    mark = kept.popleft() if kept else rule
    return rule if mark == DUPLICATE else mark


@transaction.atomic
def set_judged(sentence: Sentence, to_judge: bool, user: User) -> Sentence:
    """Say whether people are asked about a sentence, whatever the rules say; judgments of it stay and count.

    Raises `Refusal` where it went meanwhile.
    """
    judging.lock([sentence.topic_id])
    stored = Sentence.objects.select_for_update(of=("self",)).select_related("document", "topic__study")
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
    if Judgment.objects.filter(topic=row.topic_id).exists():
        judging.raise_version([row.topic_id])
    note(row.topic.study, user, action, topic=row.topic.name, sentence=row.name, **({"rule": rule} if rule else {}))
    return row


@transaction.atomic
def mend(document: SourceDocument, sentences: Sequence[str] | None, user: User, lose: int = 0) -> SourceDocument:
    """Cut a document as a person says, or (None) as it was cut before anybody mended it. Only borders move.

    Judgments of sentences that change become history; what was can be restored for a day. Raises `WouldLoseJudgments`
    where these are more than `lose`, `Refusal` where words changed.
    """
    hold(document.topic.study_id)
    judging.lock_study(document.topic.study_id)
    topic = Topic.objects.select_related("study").get(pk=document.topic_id)
    stored = SourceDocument.objects.select_for_update().get(pk=document.pk)
    mended = None if sentences is None else [sentence.strip() for sentence in sentences if sentence.strip()]
    if mended == stored.mended:
        return stored
    if mended is not None and _letters(mended) != _letters(stored.sentences or [stored.text]):
        message = _("You can join and split sentences, but not change the text. Words were added, lost or changed.")
        raise Refusal(message, "words_changed", {"sentences": [message]})
    stored.mended = mended
    if Judgment.objects.filter(topic=topic).exists():
        detail = _cut_judged(topic, stored, user, lose)
    else:
        forget_cutting([topic.pk])
        stored.save(update_fields=["mended"])
        detail = {}
    about = {"topic": topic.name, "document": stored.name, "sentences": len(mended or ())}
    note(topic.study, user, "mend document", **about, **detail)
    return stored


def _cut_judged(topic: Topic, document: SourceDocument, user: User, lose: int) -> dict[str, Any]:
    """Cut a document anew while the sentences that stay keep their judgments; what the audit log says of it."""
    refuse_busy(topic.study_id)
    cuts = [(row, recutting.as_cut(row)) for row in SourceDocument.objects.filter(topic=topic).order_by("position")]
    own = cut_text(as_given(document), topic.language or topic.study.language)
    recut = recutting.recut(topic, [(document, own) if row.pk == document.pk else (row, cut) for row, cut in cuts])
    lost = recut.judgments[1]
    if lost > lose:
        raise WouldLoseJudgments(lost)
    removal = recutting.keep_before(topic.study, user, document.name, recut.counts(), recut.before(), topic.name)
    recut.apply(removal)
    return {"removal": str(removal.key), "judgments": lost}


@transaction.atomic
def cut_again(study: Study) -> None:
    """Have all texts cut anew that follow the study's language. Raises `Refusal` once there are judgments."""
    forget_cutting(Topic.with_unfinished.filter(study=study, language="", removal=None).values_list("pk", flat=True))


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
