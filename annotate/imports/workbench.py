"""The sentence workbench: join a sentence with the next one, split it between two words, leave it out of judging."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from annotate import judging
from annotate.imports.cutting import mend, set_judged
from annotate.imports.holding import hold
from annotate.models import Item, SourceDocument, Topic
from annotate.refusal import Refusal
from preferendum.formats.sentences import primary_language

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Languages that are written without spaces between words.
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})
_WORD = re.compile(r"\w")


@transaction.atomic
def join_with_next(document: SourceDocument, index: int, version: int, user: User, lose: int = 0) -> None:
    """Join the sentence with this index and the next one.

    `version`: of the topic's texts that the user saw; `lose`: how many judgments they allow to become history. Raises
    `Refusal` if the texts have changed since, `WouldLoseJudgments` if more judgments would become history.
    """
    topic, sentences = _as_seen(document, version)
    mend(document, joined(sentences, index, topic.language or topic.study.language), user, lose)


@transaction.atomic
def split_at(document: SourceDocument, index: int, at: int, version: int, user: User, lose: int = 0) -> None:
    """Split the sentence with this index, the second from character `at` on. Raises as `join_with_next` does."""
    _topic, sentences = _as_seen(document, version)
    mend(document, split(sentences, index, at), user, lose)


@transaction.atomic
def set_judged_at(document: SourceDocument, index: int, to_judge: bool, version: int, user: User) -> None:
    """Leave the sentence with this index out of judging, or take it back in, judged or not. Raises `Refusal`."""
    _as_seen(document, version)
    sentence = Item.objects.filter(document=document, index=index).first()
    if sentence is None:
        raise no_sentence()
    set_judged(sentence, to_judge, user)


def joined(sentences: Sequence[str], index: int, language: str) -> list[str]:
    """The sentences with two joined. Raises `Refusal` where there are not two."""
    if not 0 <= index < len(sentences) - 1:
        raise Refusal(_("There is no next sentence in this document."), "no_sentence")
    between = "" if primary_language(language) in UNSPACED else " "
    return [*sentences[:index], between.join(sentences[index : index + 2]), *sentences[index + 2 :]]


def split(sentences: Sequence[str], index: int, at: int) -> list[str]:
    """The sentences with one split. Raises `Refusal` where no sentence may begin there."""
    if not 0 <= index < len(sentences):
        raise no_sentence()
    text = sentences[index]
    if at not in {word.start for word in words_of(text) if word.may_begin}:
        raise Refusal(_("Choose the word with which the second sentence begins."), "no_place")
    return [*sentences[:index], text[:at].strip(), text[at:].strip(), *sentences[index + 1 :]]


def no_sentence() -> Refusal:
    return Refusal(_("This sentence is not there any more."), "no_sentence")


def changed_meanwhile() -> Refusal:
    return Refusal(_("The sentences have changed meanwhile. Look at them again."), "changed")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence, or a character where there are no spaces; whether a sentence may begin with it."""

    start: int
    text: str
    may_begin: bool


def words_of(text: str) -> list[Word]:
    """The words of a sentence. One may begin a sentence if there are letters before it, and in it or after it."""
    pieces = [(match.start(), match[0]) for match in re.finditer(r"\S+", text)]
    pieces = list(enumerate(text)) if len(pieces) == 1 else pieces
    with_letters = [start for start, piece in pieces if _WORD.search(piece)] or [0]
    return [Word(start, piece, with_letters[0] < start <= with_letters[-1]) for start, piece in pieces]


def _as_seen(document: SourceDocument, version: int) -> tuple[Topic, list[str]]:
    """The topic, locked, and the document's sentences, if they are still those that the user saw."""
    hold(document.topic.study_id)
    judging.lock_study(document.topic.study_id)
    topic = Topic.objects.select_related("study").filter(pk=document.topic_id).first()
    if topic is None or topic.text_version != version or not topic.is_cut:
        raise changed_meanwhile()
    rows = Item.objects.filter(document=document).order_by("index")
    return topic, list(rows.values_list("text", flat=True))
