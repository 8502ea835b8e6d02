"""Give a topic other documents, or other sentences of them.

A sentence that is still there, word for word, keeps its row, and with it its judgments and its mark. Other sentences
move with all their pairs to a removed topic of the same name: history, which is neither drawn nor counted. When they
are restored they move back. Where nobody judged the topic, they are deleted. The caller holds the study first, then the
tallies of its topics.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from django.apps import apps
from django.db.models import F, Max, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotate import judging
from annotate.models import GoldPair, Judgment, Removal, Sentence, SourceDocument, Tally, Topic
from preferendum.formats.checks.text import visible
from preferendum.formats.not_judged import DUPLICATE, not_judged, wordless
from preferendum.formats.records import Cut

BATCH = 500
#: Beyond every index and position: rows stay there while others take their places.
ASIDE = 1_000_000_000
COLUMNS = ("topic", "document", "index", "position", "paragraph", "text", "not_judged")
#: Documents with their sentences, in order.
Cuts = Sequence[tuple[SourceDocument, Sequence[Cut]]]
#: The worker's results for a topic that rest on its sentences.
OF_SENTENCES = ("Fit", "Suggestion", "TopicProgress", "Result")


@dataclass(frozen=True)
class Recut:
    """The documents and sentences that a topic will have, in order; existing rows have their keys."""

    topic: Topic
    documents: Sequence[SourceDocument]
    sentences: Sequence[Sentence]

    @cached_property
    def kept(self) -> frozenset[int]:
        """The keys of existing sentences that stay or return."""
        return frozenset(row.pk for row in self.sentences if row.pk is not None)

    @cached_property
    def gone(self) -> tuple[Sentence, ...]:
        """The sentences that are removed."""
        rows = Sentence.objects.filter(topic=self.topic).select_related("document").order_by("position")
        # Every row would read its whole document.
        texts = ("document__text", "document__sentences", "document__mended", "document__extra")
        return tuple(row for row in rows.defer(*texts) if row.pk not in self.kept)

    @property
    def new(self) -> list[Sentence]:
        return [row for row in self.sentences if row.pk is None]

    @cached_property
    def judgments(self) -> tuple[int, int]:
        """How many answers stay, with their sentences, and how many become history."""
        pairs = _answered(self.topic)
        kept = sum(self.kept.issuperset(pair) for pair in pairs)
        return kept, len(pairs) - kept

    def changed_documents(self) -> list[str]:
        """The names of the documents that are new, removed, or have another text."""
        present = {row.name: (row.text, row.sentences) for row in SourceDocument.objects.filter(topic=self.topic)}
        wanted = {row.name: (row.text, row.sentences) for row in self.documents}
        return sorted(name for name in present | wanted if present.get(name) != wanted.get(name))

    def counts(self) -> dict[str, int]:
        """How many sentences and judgments are lost, for those who decide; without zeros."""
        numbers = {"sentences": len(self.gone), "judgments": self.judgments[1]}
        return {name: number for name, number in numbers.items() if number}

    def before(self) -> Iterator[Model]:
        """The rows as they are now, for restoring them."""
        yield from SourceDocument.objects.filter(topic=self.topic)
        yield from Sentence.objects.filter(topic=self.topic)
        gone = {row.pk for row in self.gone}
        gold_pairs = GoldPair.objects.filter(topic=self.topic)
        yield from (row for row in gold_pairs if gone & {row.better_id, row.worse_id})

    def apply(self, removal: Removal | None) -> None:
        """Store the change, in the caller's transaction. Removed sentences become history of `removal`; None if all are
        new, or nobody judged the topic."""
        # First of all: a running fit has an outdated version of the sentences from here on.
        own = Topic.asked.filter(pk=self.topic.pk)
        own.update(text_version=F("text_version") + 1, cut_version=F("text_version") + 1)
        if removal is None:
            self.forget()
        else:
            forget_computed([self.topic.pk])  # but no pair: an annotator may have it on their screen
            history = history_of(self.topic, removal)
            self._leave(history)
            judging.set_apart(self.topic, history)
        for document in self.documents:
            document.topic = self.topic
            document.save()
        self.store_sentences()
        judging.revive_pairs(self.topic)

    def forget(self) -> None:
        """Delete what rests on the earlier sentences, except judgments."""
        forget_computed([self.topic.pk])
        if not Judgment.objects.lasting().filter(topic=self.topic).exists():
            judging.forget_pairs([self.topic.pk])

    def store_sentences(self) -> None:
        """Store the sentences, in the caller's transaction; delete removed ones, unless they are history already."""
        for batch in batches([row.pk for row in self.gone]):
            Sentence.objects.filter(pk__in=batch, topic=self.topic).delete()
        for batch in batches(sorted(self.kept)):
            Sentence.objects.filter(pk__in=batch).update(index=F("index") + ASIDE, position=F("position") + ASIDE)
        # Restored ones may have been deleted meanwhile: nobody had judged them.
        Sentence.objects.bulk_create(
            self.sentences, BATCH, update_conflicts=True, unique_fields=["pk"], update_fields=COLUMNS
        )

    def _leave(self, history: Topic) -> None:
        """Move removed sentences and documents to the history; a document that stays is copied."""
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


def marked_rows(topic: Topic, cuts: Cuts) -> list[Sentence]:
    """The unsaved sentences of a topic, marked by the rules."""
    rows = rows_of(topic, cuts)
    by_rule = (wordless if topic.compares_summaries else not_judged)([own for _document, own in cuts])
    for row, rule in zip(rows, chain(*by_rule), strict=True):
        row.not_judged = rule
    return rows


def rows_of(topic: Topic, cuts: Cuts) -> list[Sentence]:
    """The unsaved sentences of a topic, with the marks of their cuts."""
    numbered = ((document, index, cut) for document, own in cuts for index, cut in enumerate(own))
    return [
        Sentence(
            topic=topic,
            document=document,
            index=index,
            position=position,
            paragraph=cut.paragraph,
            text=cut.text,
            not_judged=cut.rule,
        )
        for position, (document, index, cut) in enumerate(numbered)
    ]


def recut(topic: Topic, cuts: Cuts) -> Recut:
    """The change of a topic to these documents with these sentences, which need not be stored yet."""
    sentences = marked_rows(topic, cuts)
    _recognize(sentences, _known(topic), _answered(topic))
    for position, (document, _own) in enumerate(cuts):
        document.position = position
    return Recut(topic, [document for document, _own in cuts], sentences)


def _known(topic: Topic) -> Sequence[Sentence]:
    """The topic's sentences. For compared summaries the removed ones, too, latest first: a summary that returns, word
    for word, has its judgments again."""
    rows = Sentence.objects.filter(topic=topic).order_by("position").select_related("document", "topic")
    if not topic.compares_summaries:
        return list(rows)
    gone = Sentence.objects.filter(topic__summaries_of=topic.summaries_of_id, topic__removal__isnull=False)
    return [*rows, *gone.order_by("-topic").select_related("document", "topic")]


def as_cut(document: SourceDocument) -> tuple[Cut, ...]:
    """The sentences of a document as they are stored."""
    rows = Sentence.objects.filter(document=document, topic=document.topic_id).order_by("index")
    return tuple(Cut(row.text, 0, len(row.text), row.paragraph) for row in rows)


def _recognize(sentences: Iterable[Sentence], before: Iterable[Sentence], answered: Sequence[tuple[int, int]]) -> None:
    """Give sentences that existed before their keys and marks.

    Where there are fewer copies of a text than before, judged ones have priority; each stays in its document, if that
    still has the text.
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
    """Take over key and mark, which a user may have changed; but the original of a duplicate may be removed."""
    sentence.pk = row.pk
    if row.not_judged != DUPLICATE:
        sentence.not_judged = row.not_judged


def _by_words(rows: Iterable[Sentence]) -> Mapping[tuple[str, str], list[Sentence]]:
    """Sentences by their words; summaries by their system, too."""
    by_words: dict[tuple[str, str], list[Sentence]] = defaultdict(list)
    for row in rows:
        system = row.document.name if row.topic.compares_summaries else ""
        by_words[system, visible(row.text)].append(row)
    return by_words


def _answered(topic: Topic) -> list[tuple[int, int]]:
    """The answered pairs of sentences of a topic, once for each answer."""
    return list(judging.answers_in(topic).order_by().values_list("pair__first_id", "pair__second_id"))


def history_of(topic: Topic, removal: Removal) -> Topic:
    """A new removed topic for what is removed from this one."""
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
        summaries_of=topic.summaries_of,
    )


def put_back(rows: Mapping[type[Model], list[Any]], removal: Removal) -> None:
    """Restore documents and sentences from these rows, in the caller's transaction."""
    documents, sentences = rows.get(SourceDocument, []), rows.get(Sentence, [])
    for topic in Topic.objects.filter(pk__in={row.topic_id for row in documents}).select_related("study"):
        own = ([row for row in several if row.topic_id == topic.pk] for several in (documents, sentences))
        Recut(topic, *own).apply(removal)


def forget_computed(topics: Collection[int]) -> None:
    """Delete the worker's results for these topics that rest on their sentences: it can compute them again."""
    keep_versions(Topic.with_unfinished.filter(pk__in=topics))
    for name in OF_SENTENCES:
        apps.get_model("annotate", name)._default_manager.filter(topic__in=topics).delete()


def keep_versions(topics: QuerySet[Topic]) -> None:
    """Keep the data versions of topics whose tallies or results will be deleted."""
    now = Tally.objects.filter(topic=OuterRef("pk")).values("data_version")
    topics.update(last_data_version=Coalesce(Subquery(now), F("last_data_version")))


def batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Batches of rows: the number of values in a condition is limited."""
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
