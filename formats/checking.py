"""The whole against itself and against what a study has already: names that must be known, names that must be new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from formats.complaints import Place, shown
from formats.draft import Draft
from formats.preferences import sentence_name
from formats.records import (
    Bundle,
    Existing,
    ExistingTopic,
    HumanScore,
    LateSummary,
    Preference,
    Summary,
    Text,
    Topic,
)
from formats.sentences import count


def existing_from(topics: Iterable[Topic], language: str = "") -> Existing:
    """What these topics make known. `language`: of those that do not say theirs."""
    return Existing({topic.topic_id: _existing_topic(topic, language) for topic in topics})


def assembled(draft: Draft, existing: Existing | None, language: str, place: Place) -> Bundle:
    """The bundle, or complaints. Late summaries and scores of topics of the same draft join those topics."""
    whole = _Whole(draft, existing, language)
    whole.check_topics()
    late = whole.join_summaries()
    scores = whole.join_scores()
    preferences = whole.check_preferences()
    place.complaints.raise_if_any()
    remarks = tuple(place.complaints.remarks)
    return Bundle(tuple(whole.topics.values()), late, scores, preferences, dict(draft.pyramids), remarks)


class _Whole:
    """A draft with its topics by id, while it is checked."""

    def __init__(self, draft: Draft, existing: Existing | None, language: str) -> None:
        self.draft = draft
        self.language = language
        self.topics: dict[str, Topic] = {}
        self.existing: Mapping[str, ExistingTopic] = existing.topics if existing else {}
        # A table alone, with nothing to hold it against, is taken as it is.
        self.checkable = existing is not None or bool(draft.topics)
        self.counts: dict[tuple[str, str], int] = {}
        self.documents: dict[str, dict[str, Text]] = {}

    def check_topics(self) -> None:
        for placed in self.draft.topics:
            topic, place = placed.record, placed.place
            if topic.topic_id in self.topics:
                found = "the topic %(name)s for the second time"
                place.key("topic_id").refuse(found, "each topic once", name=shown(topic.topic_id))
            elif topic.topic_id in self.existing:
                found = "the topic %(name)s, which the study already has"
                place.key("topic_id").refuse(found, "new topics", name=shown(topic.topic_id))
            self.topics[topic.topic_id] = topic
            self.documents[topic.topic_id] = {document.name: document for document in topic.documents}

    def join_summaries(self) -> tuple[LateSummary, ...]:
        late: dict[tuple[str, str], LateSummary] = {}
        joined: dict[str, list[Summary]] = {}
        there = {(topic.topic_id, summary.name) for topic in self.topics.values() for summary in topic.summaries}
        for placed in self.draft.summaries:
            record, place = placed.record, placed.place
            if not self._topic_exists(record.topic, place):
                continue
            key = (record.topic, record.summary.name)
            existing = self.existing.get(record.topic)
            if key in there or key in late or (existing and record.summary.name in existing.systems):
                place.key("system").refuse(
                    "a second summary of topic %(topic)s by %(system)s",
                    "one summary per topic and system",
                    topic=shown(record.topic),
                    system=shown(record.summary.name),
                )
            elif record.topic in self.topics:
                there.add(key)
                joined.setdefault(record.topic, []).append(record.summary)
            else:
                late[key] = record
        for topic_id, summaries in joined.items():
            topic = self.topics[topic_id]
            self.topics[topic_id] = replace(topic, summaries=(*topic.summaries, *summaries))
        return tuple(late.values())

    def join_scores(self) -> tuple[HumanScore, ...]:
        kept: dict[tuple[str, str, str], HumanScore] = {}
        human = {
            (topic.topic_id, summary.name): dict(summary.human)
            for topic in self.topics.values()
            for summary in topic.summaries
        }
        late = {(placed.record.topic, placed.record.summary.name) for placed in self.draft.summaries}
        touched: set[str] = set()
        for placed in self.draft.human_scores:
            score, place = placed.record, placed.place
            if not self._topic_exists(score.topic, place):
                continue
            key = (score.topic, score.system, score.dimension)
            scores = human.get(key[:2])
            existing = self.existing.get(score.topic)
            if (
                self.checkable
                and scores is None
                and key[:2] not in late
                and score.system not in (existing.systems if existing else ())
            ):
                systems = [system for topic, system in human if topic == score.topic]
                place.key("system").refuse_unknown(
                    "system",
                    score.system,
                    [*systems, *(existing.systems if existing else ())],
                    "a system that summarized topic %(topic)s",
                    topic=shown(score.topic),
                )
            elif key in kept or (scores is not None and score.dimension in scores):
                place.refuse(
                    "a second score of %(system)s for %(dimension)s in topic %(topic)s",
                    "one score each: the mean, if several people rated",
                    system=shown(score.system),
                    dimension=shown(score.dimension),
                    topic=shown(score.topic),
                )
            elif scores is not None:
                scores[score.dimension] = score.score
                touched.add(score.topic)
            else:
                kept[key] = score
        for topic_id in touched:
            topic = self.topics[topic_id]
            summaries = tuple(replace(one, human=human[topic_id, one.name]) for one in topic.summaries)
            self.topics[topic_id] = replace(topic, summaries=summaries)
        return tuple(kept.values())

    def check_preferences(self) -> tuple[Preference, ...]:
        for placed in self.draft.preferences:
            preference, place = placed.record, placed.place
            if self.checkable and self._topic_exists(preference.topic, place):
                self._check_sentence(preference.topic, preference.a, place.key("a"))
                self._check_sentence(preference.topic, preference.b, place.key("b"))
        return tuple(placed.record for placed in self.draft.preferences)

    def _topic_exists(self, topic_id: str, place: Place) -> bool:
        if not self.checkable or topic_id in self.topics or topic_id in self.existing:
            return True
        names = [*self.topics, *self.existing]
        place.key("topic").refuse_unknown("topic", topic_id, names, "a topic of the study or of this upload")
        return False

    def _check_sentence(self, topic_id: str, called: str, place: Place) -> None:
        parsed = sentence_name(called)
        assert parsed is not None, "checked where it was read"
        document, index = parsed
        documents = self.documents.get(topic_id) or self.existing[topic_id].documents
        if document not in documents:
            place.refuse_unknown(
                f"document of {topic_id}",
                document,
                documents,
                "a sentence <document>:<index from 0> of a document of topic %(topic)s",
                topic=shown(topic_id),
            )
            return
        sentences = self._count(topic_id, document)
        if index >= sentences:
            place.refuse(
                "%(sentence)s: document %(document)s has %(count)s sentences",
                "an index from 0 to %(last)s",
                sentence=shown(called),
                document=shown(document),
                count=sentences,
                last=sentences - 1,
            )

    def _count(self, topic_id: str, document: str) -> int:
        """How many sentences a document has."""
        key = (topic_id, document)
        if key not in self.counts:
            topic = self.topics.get(topic_id)
            if topic is None:
                self.counts[key] = self.existing[topic_id].documents[document]
            else:
                self.counts[key] = count(self.documents[topic_id][document], topic.language or self.language)
        return self.counts[key]


def _existing_topic(topic: Topic, language: str) -> ExistingTopic:
    return ExistingTopic(
        {document.name: count(document, topic.language or language) for document in topic.documents},
        frozenset(summary.name for summary in topic.summaries),
    )
