"""A topic's documents are cut otherwise after people judged its sentences.

A sentence that is still there, word for word, keeps its row, and with it its judgments and its mark. One that is not
moves with all its pairs to a removed topic of the same name: history, of which nothing is drawn or counted. Whatever is
put back moves back. The caller holds the study first, then the tallies of its topics.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core import serializers
from django.db.models import F, Max, Model
from django.utils.translation import ngettext

from annotate import judging
from annotate.models import GoldPair, Judgment, Removal, Sentence, SourceDocument, Study, Topic
from annotate.refusal import Refusal
from formats.not_judged import DUPLICATE, not_judged
from formats.sentences import Cut

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
#: Beyond every index and position: rows wait there while others take their places.
ASIDE = 1_000_000_000
#: What the worker finds out about a topic from its sentences.
OF_SENTENCES = (
    *("Fit", "Suggestion", "TopicProgress", "TopicExamination"),
    *("TopicSamples", "TopicMixtures", "SentenceRankingReport"),
)


class WouldLoseJudgments(Refusal):
    """Sentences that people judged would go; `number`: of judgments that would become history."""

    def __init__(self, number: int) -> None:
        message = ngettext(
            "%(n)d judgment is about sentences that would change. It would become history, which no score uses.",
            "%(n)d judgments are about sentences that would change. They would become history, which no score uses.",
            number,
        )
        super().__init__(message % {"n": number}, "judged")
        self.number = number


@dataclass(frozen=True)
class Recut:
    """The documents and sentences of a topic as they are to be, in order; rows that are there have their keys."""

    topic: Topic
    documents: Sequence[SourceDocument]
    sentences: Sequence[Sentence]

    @cached_property
    def kept(self) -> frozenset[int]:
        """The keys of the sentences that are there and stay, or come back."""
        return frozenset(row.pk for row in self.sentences if row.pk is not None)

    @cached_property
    def gone(self) -> tuple[Sentence, ...]:
        """The sentences that go."""
        rows = Sentence.objects.filter(topic=self.topic).select_related("document").order_by("position")
        # Every row would read its whole document.
        texts = ("document__text", "document__sentences", "document__mended", "document__extra")
        return tuple(row for row in rows.defer(*texts) if row.pk not in self.kept)

    @property
    def new(self) -> list[Sentence]:
        return [row for row in self.sentences if row.pk is None]

    @cached_property
    def judgments(self) -> tuple[int, int]:
        """How many answers stay with sentences that stay, and how many become history."""
        pairs = _answered(self.topic)
        kept = sum(self.kept.issuperset(pair) for pair in pairs)
        return kept, len(pairs) - kept

    def changed_documents(self) -> list[str]:
        """The names of the documents that come, go, or have another text."""
        present = {row.name: (row.text, row.sentences) for row in SourceDocument.objects.filter(topic=self.topic)}
        wanted = {row.name: (row.text, row.sentences) for row in self.documents}
        return sorted(name for name in present | wanted if present.get(name) != wanted.get(name))

    def counts(self) -> dict[str, int]:
        """What goes, for those who decide; what there is none of is left out."""
        numbers = {"sentences": len(self.gone), "judgments": self.judgments[1]}
        return {name: number for name, number in numbers.items() if number}

    def before(self) -> Iterator[Model]:
        """The rows as they are now, to be put back."""
        yield from SourceDocument.objects.filter(topic=self.topic)
        yield from Sentence.objects.filter(topic=self.topic)
        gone = {row.pk for row in self.gone}
        gold_pairs = GoldPair.objects.filter(topic=self.topic)
        yield from (row for row in gold_pairs if gone & {row.better_id, row.worse_id})

    def apply(self, removal: Removal | None) -> None:
        """Make it so, in the caller's transaction. What goes stays as history of `removal`; None where all is new."""
        # First of all: a fit that is under way has another version of the sentences from here on.
        own = Topic.objects.filter(pk=self.topic.pk)
        own.update(text_version=F("text_version") + 1, cut_version=F("text_version") + 1)
        forget_computed([self.topic.pk])
        if not Judgment.objects.filter(topic=self.topic).exists():
            judging.forget_pairs([self.topic.pk])
        if removal is not None:
            history = history_of(self.topic, removal)
            self._leave(history)
            judging.set_apart(self.topic, history)
        self._enter()
        judging.revive_pairs(self.topic)

    def _leave(self, history: Topic) -> None:
        """What goes has its documents there as they were: one that stays leaves a copy."""
        staying = {row.pk for row in self.documents if row.pk is not None}
        by_document: dict[int, list[int]] = defaultdict(list)
        for row in self.gone:
            by_document[row.document_id].append(row.pk)
        for document in SourceDocument.objects.filter(topic=self.topic):
            keys = by_document[document.pk]
            if document.pk in staying and keys:
                document.pk = None
            if document.pk not in staying:
                document.topic = history
                document.save()
            for batch in batches(keys):
                Sentence.objects.filter(pk__in=batch).update(topic=history, document=document)

    def _enter(self) -> None:
        for document in self.documents:
            document.topic = self.topic
            document.save()
        for row in self.sentences:
            if row.document_id is None:
                row.document_id = row.document.pk
        now = _in_bulk(self.kept)
        self._move(now)
        for name in ("text", "paragraph"):
            other = (
                row for row in self.sentences if row.pk in now and getattr(row, name) != getattr(now[row.pk], name)
            )
            Sentence.objects.bulk_update(other, [name], BATCH)
        Sentence.objects.bulk_create([row for row in self.sentences if row.pk not in now], BATCH)

    def _move(self, now: Mapping[int, Sentence]) -> None:
        """Put the stored rows that move in their places; most move by as many places as their neighbours."""
        alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
        for row in self.sentences:
            before = now.get(row.pk)
            if before is not None and _place(before) != _place(row):
                steps = row.index - before.index, row.position - before.position
                alike[(*steps, row.document_id, row.not_judged)].append(row.pk)
        moving = list(chain(*alike.values()))
        for batch in batches(moving):
            Sentence.objects.filter(pk__in=batch).update(index=F("index") + ASIDE, position=F("position") + ASIDE)
        for (index, position, document, mark), keys in alike.items():
            for batch in batches(keys):
                Sentence.objects.filter(pk__in=batch).update(
                    topic=self.topic,
                    document=document,
                    index=F("index") - ASIDE + index,
                    position=F("position") - ASIDE + position,
                    not_judged=mark,
                )


def recut(topic: Topic, cuts: Sequence[tuple[SourceDocument, Sequence[Cut]]]) -> Recut:
    """How a topic changes that is to have these documents with these sentences; they need not be stored yet."""
    by_rule = not_judged([own for _document, own in cuts])
    numbered = (
        (document, index, cut, rule)
        for (document, own), rules in zip(cuts, by_rule, strict=True)
        for index, (cut, rule) in enumerate(zip(own, rules, strict=True))
    )
    sentences = [
        Sentence(
            topic=topic,
            document=document,
            index=index,
            position=position,
            paragraph=cut.paragraph,
            text=cut.text,
            not_judged=rule,
        )
        for position, (document, index, cut, rule) in enumerate(numbered)
    ]
    _recognize(sentences, Sentence.objects.filter(topic=topic).order_by("position"), _answered(topic))
    for position, (document, _own) in enumerate(cuts):
        document.position = position
    return Recut(topic, [document for document, _own in cuts], sentences)


def as_cut(document: SourceDocument) -> tuple[Cut, ...]:
    """The sentences of a document as they are stored."""
    rows = Sentence.objects.filter(document=document, topic=document.topic_id).order_by("index")
    return tuple(Cut(row.text, 0, len(row.text), row.paragraph) for row in rows)


def _recognize(sentences: Iterable[Sentence], before: Iterable[Sentence], answered: Sequence[tuple[int, int]]) -> None:
    """Give the sentences that were there before their keys and marks.

    Where there are fewer copies of a text than before, those that people judged come first; each goes where it was, if
    its document still has the text.
    """
    judged = set(chain(*answered))
    earlier, now = _by_words(before), _by_words(sentences)
    for words in earlier.keys() & now.keys():
        by_worth = sorted(earlier[words], key=lambda row: row.pk not in judged)
        _take(now[words], sorted(by_worth[: len(now[words])], key=lambda row: row.position))


def _take(sentences: Sequence[Sentence], rows: Sequence[Sentence]) -> None:
    by_document: dict[int | None, deque[Sentence]] = defaultdict(deque)
    for row in rows:
        by_document[row.document_id].append(row)
    elsewhere = []
    for sentence in sentences:
        if by_document[sentence.document_id]:
            _be(sentence, by_document[sentence.document_id].popleft())
        else:
            elsewhere.append(sentence)
    left = sorted(chain(*by_document.values()), key=lambda row: row.position)
    for sentence, row in zip(elsewhere, left, strict=False):
        _be(sentence, row)


def _be(sentence: Sentence, row: Sentence) -> None:
    """A person may have set the mark, or taken it away; but what a copy is of may have gone."""
    sentence.pk = row.pk
    if row.not_judged != DUPLICATE:
        sentence.not_judged = row.not_judged


def _by_words(rows: Iterable[Sentence]) -> Mapping[str, list[Sentence]]:
    by_words: dict[str, list[Sentence]] = defaultdict(list)
    for row in rows:
        by_words[" ".join(row.text.split())].append(row)
    return by_words


def _answered(topic: Topic) -> list[tuple[int, int]]:
    """The pairs of sentences of a topic that were answered, once for each answer."""
    return list(judging.answers_in(topic).order_by().values_list("pair__first_id", "pair__second_id"))


def _in_bulk(keys: Collection[int]) -> dict[int, Sentence]:
    """Those of these sentences that are stored: nobody had judged the others, and they were cut anew since."""
    rows: dict[int, Sentence] = {}
    for batch in batches(list(keys)):
        rows |= Sentence.objects.in_bulk(batch)
    return rows


def _place(row: Sentence) -> tuple[Any, ...]:
    return row.topic_id, row.document_id, row.index, row.position, row.not_judged


def history_of(topic: Topic, removal: Removal) -> Topic:
    """A removed topic for what goes from this one."""
    # Reports go by sums of versions, which must not fall when this row is deleted some day.
    topic.study.count_removed(2)
    last = Topic.with_unfinished.filter(study=topic.study_id).aggregate(last=Max("position"))["last"]
    return Topic.with_unfinished.create(
        study_id=topic.study_id,
        name=topic.name,
        title=topic.title,
        question=topic.question,
        language=topic.language,
        position=last + 1,
        cut_version=1,
        removal=removal,
    )


def keep_before(
    study: Study, user: User, name: str, counts: Mapping[str, int], rows: Iterable[Model], topic_name: str = ""
) -> Removal:
    """Keep these rows as they are, for a day, before others take their place."""
    return Removal.objects.create(
        study=study,
        user=user,
        kind=Removal.Kind.REPLACED,
        name=name,
        topic_name=topic_name,
        counts=dict(counts),
        rows=str(serializers.serialize("json", rows)),
    )


def put_back(rows: Mapping[type[Model], list[Any]], removal: Removal) -> None:
    """Let documents and sentences be again as in these rows, in the caller's transaction."""
    documents, sentences = rows.get(SourceDocument, []), rows.get(Sentence, [])
    for topic in Topic.objects.filter(pk__in={row.topic_id for row in documents}).select_related("study"):
        own = ([row for row in several if row.topic_id == topic.pk] for several in (documents, sentences))
        Recut(topic, *own).apply(removal)


def forget_computed(topics: Collection[int]) -> None:
    """Delete what the worker found out about these topics from their sentences: it can do so again."""
    for name in OF_SENTENCES:
        apps.get_model("annotate", name)._default_manager.filter(topic__in=topics).delete()


def batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """A database takes only so many values in a condition."""
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
