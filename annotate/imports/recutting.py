"""Give a topic other documents, or other sentences of them.

A sentence that is still there, word for word, keeps its row, and with it its judgments and its mark. Other sentences
move with all their pairs to a removed topic of the same name: history, which is neither drawn nor counted. When they
are restored they move back. Where nobody judged the topic, they are deleted. Summaries that are compared do the same,
with a removed item set of their topic. The caller holds the study first, then the tallies of its item sets.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from django.apps import apps
from django.db import transaction
from django.db.models import F, Max, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotate import judging
from annotate.database.rows import add, change
from annotate.models import GoldPair, Item, ItemSet, Judgment, Removal, SourceDocument, Tally, Topic
from preferendum.formats.checks.text import visible
from preferendum.formats.not_judged import DUPLICATE, not_judged, wordless
from preferendum.formats.records import Cut

BATCH = 500
#: Beyond every index and position: rows stay there while others take their places.
ASIDE = 1_000_000_000
NO_TEXT = Item.NotJudged.NO_TEXT.value
COLUMNS = ("item_set", "document", "system", "index", "position", "paragraph", "text", "turns", "not_judged")
#: Documents with their sentences, in order.
Cuts = Sequence[tuple[SourceDocument, Sequence[Cut]]]
#: The worker's results for an item set.
OF_ITEM_SETS = ("Fit", "Suggestion", "ItemSetProgress")


class Text(NamedTuple):
    """A summary's text, as it is compared."""

    whole: str
    has_text: bool
    turns: Any


@dataclass(frozen=True)
class Recut:
    """The items that an item set will have, in order, and their documents, if any; existing rows have their keys."""

    item_set: ItemSet
    documents: Sequence[SourceDocument]
    items: Sequence[Item]

    @property
    def topic(self) -> Topic:
        return self.item_set.topic

    @cached_property
    def kept(self) -> frozenset[int]:
        """The keys of existing items that stay or return."""
        return frozenset(row.pk for row in self.items if row.pk is not None)

    @cached_property
    def gone(self) -> tuple[Item, ...]:
        """The items that are removed."""
        rows = Item.objects.filter(item_set=self.item_set).select_related("document").order_by("position")
        # Every row would read its whole document.
        texts = ("document__text", "document__sentences", "document__mended", "document__extra")
        return tuple(row for row in rows.defer(*texts) if row.pk not in self.kept)

    @property
    def new(self) -> list[Item]:
        return [row for row in self.items if row.pk is None]

    @cached_property
    def judgments(self) -> tuple[int, int]:
        """How many answers stay, with their items, and how many become history."""
        pairs = _answered(self.item_set)
        kept = sum(self.kept.issuperset(pair) for pair in pairs)
        return kept, len(pairs) - kept

    def changed_documents(self) -> list[str]:
        """The names of the documents that are new, removed, or have another text."""
        present = {row.name: (row.text, row.sentences) for row in _documents(self.item_set)}
        wanted = {row.name: (row.text, row.sentences) for row in self.documents}
        return sorted(name for name in present | wanted if present.get(name) != wanted.get(name))

    def counts(self) -> dict[str, int]:
        """How many sentences and judgments are lost, for those who decide; without zeros."""
        numbers = {"sentences": len(self.gone), "judgments": self.judgments[1]}
        return {name: number for name, number in numbers.items() if number}

    def before(self) -> Iterator[Model]:
        """The rows as they are now, for restoring them."""
        yield from _documents(self.item_set)
        yield from Item.objects.filter(item_set=self.item_set)
        gone = {row.pk for row in self.gone}
        gold_pairs = GoldPair.objects.filter(item_set=self.item_set)
        yield from (row for row in gold_pairs if gone & {row.better_id, row.worse_id})

    def apply(self, removal: Removal | None) -> None:
        """Store the change, in the caller's transaction. Removed items become history of `removal`; None if all are
        new, or nobody judged the topic."""
        # First of all: a running fit has an outdated version of the sentences from here on.
        own = Topic.objects.filter(sentence_set=self.item_set)
        own.update(text_version=F("text_version") + 1, cut_version=F("text_version") + 1)
        if removal is None:
            self.forget()
        else:
            forget_computed([self.item_set.pk])  # but no pair: an annotator may have it on their screen
            history = history_of(self.item_set, removal)
            self._leave(history)
            judging.set_apart(self.item_set, history)
        for document in self.documents:
            document.topic = self.topic
            document.save()
        self.store_items()
        judging.revive_pairs(self.item_set)

    def forget(self) -> None:
        """Delete what rests on the earlier items, except judgments."""
        forget_computed([self.item_set.pk])
        if not Judgment.objects.lasting().filter(item_set=self.item_set).exists():
            judging.forget_pairs([self.item_set.pk])

    def store_items(self) -> None:
        """Store the items, in the caller's transaction; delete removed ones, unless they are history already."""
        for batch in batches([row.pk for row in self.gone]):
            Item.objects.filter(pk__in=batch, item_set=self.item_set).delete()
        for batch in batches(sorted(self.kept)):
            Item.objects.filter(pk__in=batch).update(index=F("index") + ASIDE, position=F("position") + ASIDE)
        # Restored ones may have been deleted meanwhile: nobody had judged them.
        Item.objects.bulk_create(self.items, BATCH, update_conflicts=True, unique_fields=["pk"], update_fields=COLUMNS)

    def _leave(self, history: ItemSet) -> None:
        """Move removed items and documents to the history; a document that stays is copied."""
        staying = {row.pk for row in self.documents if row.pk is not None}
        by_document: dict[int | None, list[int]] = defaultdict(list)
        for row in self.gone:
            by_document[row.document_id].append(row.pk)
        for batch in batches(by_document[None]):
            Item.objects.filter(pk__in=batch).update(item_set=history)
        for document in _documents(self.item_set):
            keys = by_document[document.pk]
            if document.pk in staying and keys:
                document.pk = None
            if document.pk not in staying:
                document.topic = history.topic
                document.save()
            for batch in batches(keys):
                Item.objects.filter(pk__in=batch).update(item_set=history, document=document)


def _documents(item_set: ItemSet) -> QuerySet[SourceDocument]:
    """The documents of these sentences; summaries have none."""
    return SourceDocument.objects.filter(topic__sentence_set=item_set)


def columns_of_summaries(texts: Mapping[str, Text]) -> Iterator[dict[str, Any]]:
    """The columns of compared summaries by their systems, in order; those without words, or whose text is not known,
    are not judged."""
    (marks,) = wordless([[Cut(row.whole, 0, len(row.whole), 0) for row in texts.values()]])
    for position, ((system, row), mark) in enumerate(zip(texts.items(), marks, strict=True)):
        own = {"text": row.whole, "turns": row.turns, "not_judged": mark if row.has_text else NO_TEXT}
        yield {"document_id": None, "system": system, "index": 0, "position": position, "paragraph": 0, **own}


def columns_of_sentences(cuts: Cuts) -> Iterator[dict[str, Any]]:
    """The columns of sentences, with the marks of their cuts."""
    numbered = ((document, index, cut) for document, own in cuts for index, cut in enumerate(own))
    for position, (document, index, cut) in enumerate(numbered):
        own = {"paragraph": cut.paragraph, "text": cut.text, "turns": None, "not_judged": cut.rule}
        yield {"document_id": document.pk, "system": "", "index": index, "position": position, **own}


def recut(topic: Topic, cuts: Cuts) -> Recut:
    """The change of a topic to these documents with these sentences, which need not be stored yet."""
    item_set = topic.sentence_set
    item_set.topic = topic
    sentences = [Item(item_set=item_set, **own) for own in columns_of_sentences(cuts)]
    for row, document in zip(sentences, (document for document, own in cuts for _cut in own), strict=True):
        row.document = document
    by_rule = not_judged([own for _document, own in cuts])
    for row, rule in zip(sentences, chain(*by_rule), strict=True):
        row.not_judged = rule
    before = Item.objects.filter(item_set=item_set).order_by("position")
    _recognize(sentences, before, _answered(item_set))
    for position, (document, _own) in enumerate(cuts):
        document.position = position
    return Recut(item_set, [document for document, _own in cuts], sentences)


def resummarized(item_set: ItemSet, texts: Mapping[str, Text]) -> Recut:
    """The change of compared summaries to these texts, by their systems.

    Removed ones are recognized, too, the latest first: a summary that returns, word for word, has its judgments again.
    """
    items = [Item(item_set=item_set, **own) for own in columns_of_summaries(texts)]
    present = Item.objects.filter(item_set=item_set).order_by("position")
    gone = Item.objects.filter(item_set__topic=item_set.topic_id, item_set__of="summaries")
    removed = gone.filter(item_set__removal__isnull=False).order_by("-item_set")
    _recognize(items, [*present, *removed], _answered(item_set))
    return Recut(item_set, (), items)


def grow(texts: Mapping[ItemSet, Mapping[str, Text]]) -> None:
    """Add summaries to compared ones, by their systems; none is gone, changed or removed."""
    keys = [item_set.pk for item_set in texts]
    forget_computed(keys)
    judged = set(Judgment.objects.lasting().filter(item_set__in=keys).values_list("item_set_id", flat=True).distinct())
    judging.forget_pairs(set(keys) - judged)
    rows = Item.objects.filter(item_set__in=keys).values_list("item_set_id", "system", "pk", "position")
    before = {(key, system): own for key, system, *own in rows}
    moved, new = {}, []
    for item_set, own in texts.items():
        for row in columns_of_summaries(own):
            pk, position = before.get((item_set.pk, row["system"]), (None, None))
            if pk is None:
                new.append({"item_set_id": item_set.pk, **row})
            elif position != row["position"]:
                moved[pk] = row["position"]
    change(Item, "position", {pk: position + ASIDE for pk, position in moved.items()})
    change(Item, "position", moved)
    add(Item, new)
    judging.open_tallies(texts)
    judging.raise_known(*texts)


def as_cut(document: SourceDocument) -> tuple[Cut, ...]:
    """The sentences of a document as they are stored."""
    rows = Item.objects.filter(document=document, item_set=document.topic_id).order_by("index")
    return tuple(Cut(row.text, 0, len(row.text), row.paragraph) for row in rows)


def _recognize(sentences: Iterable[Item], before: Iterable[Item], answered: Sequence[tuple[int, int]]) -> None:
    """Give sentences that existed before their keys and marks.

    Where there are fewer copies of a text than before, judged ones have priority; each stays in its document, if that
    still has the text.
    """
    judged = set(chain(*answered))
    earlier, now = _by_words(before), _by_words(sentences)
    for words in earlier.keys() & now.keys():
        by_worth = sorted(earlier[words], key=lambda row: row.pk not in judged)
        _take(now[words], sorted(by_worth[: len(now[words])], key=lambda row: row.position))


def _take(sentences: Sequence[Item], rows: Sequence[Item]) -> None:
    by_document: dict[int | None, deque[Item]] = defaultdict(deque)
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


def _be(sentence: Item, row: Item) -> None:
    """Take over key and mark, which a user may have changed; but the original of a duplicate may be removed."""
    sentence.pk = row.pk
    if row.not_judged != DUPLICATE:
        sentence.not_judged = row.not_judged


def _by_words(rows: Iterable[Item]) -> Mapping[tuple[str, ...], list[Item]]:
    """Sentences by their words; summaries by their system, too, and conversations by all turns."""
    by_words: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for row in rows:
        parts = [part for turn in row.turns or () for part in (turn["role"], visible(turn["content"]))]
        by_words[row.system, visible(row.text), *parts].append(row)
    return by_words


def _answered(item_set: ItemSet) -> list[tuple[int, int]]:
    """The answered pairs of an item set, once for each answer."""
    return list(judging.answers_in(item_set).order_by().values_list("pair__first_id", "pair__second_id"))


@transaction.atomic
def add_topics(topics: Sequence[Topic], batch: int | None = None) -> list[Topic]:
    """Store new topics, each with the item set of its sentences, under the same key."""
    sets = [ItemSet(study=topic.study, topic_id=0, of="sentences", removal=topic.removal) for topic in topics]
    for topic, sentence_set in zip(topics, ItemSet.objects.bulk_create(sets, batch), strict=True):
        topic.sentence_set = sentence_set
    added = Topic.objects.bulk_create(topics, batch)
    # The database checks the key of the topic only at the end of the transaction.
    ItemSet.with_unfinished.filter(topic=0).update(topic=F("pk"))
    for topic in added:
        topic.sentence_set.topic = topic
    return added


def history_of(item_set: ItemSet, removal: Removal) -> ItemSet:
    """A new removed item set for what is removed from this one; for sentences with a removed topic of its own."""
    topic = item_set.topic
    if item_set.of == "sentences":
        return history_of_topic(topic, removal)
    return ItemSet.objects.create(study_id=item_set.study_id, topic=topic, of=item_set.of, removal=removal)


def history_of_topic(topic: Topic, removal: Removal) -> ItemSet:
    """The item set of a new removed topic with this one's name."""
    last = Topic.with_unfinished.filter(study=topic.study_id).aggregate(last=Max("position"))["last"]
    history = Topic(
        study=topic.study,
        name=topic.name,
        title=topic.title,
        question=topic.question,
        language=topic.language,
        position=last + 1,
        cut_version=1,
        removal=removal,
    )
    return add_topics([history])[0].sentence_set


def put_back(rows: Mapping[type[Model], list[Any]], removal: Removal) -> None:
    """Restore documents and sentences from these rows, in the caller's transaction."""
    documents, sentences = rows.get(SourceDocument, []), rows.get(Item, [])
    for item_set in ItemSet.objects.filter(pk__in={row.topic_id for row in documents}).select_related("topic", "study"):
        Recut(
            item_set,
            [row for row in documents if row.topic_id == item_set.pk],
            [row for row in sentences if row.item_set_id == item_set.pk],
        ).apply(removal)


def forget_computed(item_sets: Collection[int]) -> None:
    """Delete the worker's results for these item sets: it can compute them again."""
    keep_versions(ItemSet.with_unfinished.filter(pk__in=item_sets))
    for name in OF_ITEM_SETS:
        apps.get_model("annotate", name)._default_manager.filter(item_set__in=item_sets).delete()
    apps.get_model("annotate", "Result")._default_manager.filter(topic__sentence_set__in=item_sets).delete()


def keep_versions(item_sets: QuerySet[ItemSet]) -> None:
    """Keep the data versions of item sets whose tallies or results will be deleted."""
    now = Tally.objects.filter(item_set=OuterRef("pk")).values("data_version")
    item_sets.update(last_data_version=Coalesce(Subquery(now), F("last_data_version")))


def batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Batches of rows: the number of values in a condition is limited."""
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
