"""The whole against itself and against what a study has already: names that must be known, names that must be new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from preferendum.formats.checks import strict_json
from preferendum.formats.checks.complaints import Complaints, Place, shown
from preferendum.formats.judge import Judge, judge_in
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.draft import Draft, Placed
from preferendum.formats.readers.preferences import is_recognisable, preference_as_json, sentence_name
from preferendum.formats.readers.ratings import means
from preferendum.formats.readers.topics import check_reference
from preferendum.formats.records import (
    Bundle,
    Existing,
    ExistingTopic,
    HumanScore,
    LateSummary,
    MetricScore,
    Preference,
    Remark,
    Summary,
    Text,
    Topic,
)
from preferendum.formats.sentences import count

COPIES = "rows that stand here twice, counted once: %(count)s"
_SUMMARIZED = "a system that summarized topic %(topic)s"


def existing_from(topics: Iterable[Topic]) -> Existing:
    """What these topics make known."""
    return Existing({topic.topic_id: _existing_topic(topic, "") for topic in topics})


def assembled(draft: Draft, place: Place, existing: Existing | None = None, language: str = "") -> Bundle:
    """The bundle, or complaints. Late summaries and scores of topics of the same draft join those topics.

    If reading brought complaints, only topics are checked: others may miss what could not be read.
    """
    whole = _Whole(draft, existing, language, place.complaints.remarks)
    is_incomplete = bool(place.complaints.collected)
    whole.check_topics()
    if is_incomplete:
        raise place.complaints.refused()
    whole.check_bases()
    whole.begin_topics()
    late = whole.join_summaries()
    scores = whole.join_scores()
    metric_scores = whole.join_metric_scores()
    preferences = whole.check_preferences()
    whole.refuse_topics()
    place.complaints.raise_if_any()
    remarks = place.complaints.remarks
    if place.complaints.unsaid:
        remarks.append(
            Remark(place.file, 0, "", "%(count)s more notes of this kind", {"count": place.complaints.unsaid})
        )
    again = tuple(whole.topics.pop(name) for name in whole.again)
    return Bundle(
        topics=tuple(whole.topics.values()),
        summaries=(*late, *(LateSummary(topic.topic_id, summary) for topic in again for summary in topic.summaries)),
        human_scores=scores,
        metric_scores=metric_scores,
        preferences=preferences,
        pyramids=whole.pyramids | {topic.topic_id: topic.pyramid for topic in again if topic.pyramid},
        references={topic.topic_id: topic.references for topic in again if topic.references},
        again=again,
        remarks=tuple(remarks),
    )


def preferences_of(placed: Iterable[Placed[Preference]], existing: Existing, file: str = "") -> tuple[Preference, ...]:
    """Preferences that were read alone, held against topics. Raises `Refused` with every complaint."""
    place = Place(Complaints(), file)
    again = [replace(own, place=own.place._replace(complaints=place.complaints)) for own in placed]
    return assembled(Draft(preferences=again), place, existing).preferences


class _Whole:
    """A draft with its topics by id, while it is checked."""

    def __init__(self, draft: Draft, existing: Existing | None, language: str, remarks: list[Remark]) -> None:
        self.draft = draft
        self.remarks = remarks
        self.language = language
        self.topics: dict[str, Topic] = {}
        self.pyramids: dict[str, Annotation] = {}
        self.existing_is_known = existing is not None
        self.existing: Mapping[str, ExistingTopic] = existing.topics if existing else {}
        self.is_replaceable = existing is not None and existing.replaceable
        self.again: list[str] = []
        # A table alone, with nothing to hold it against, is taken as it is.
        self.checkable = existing is not None or bool(draft.topics)
        self.counts: dict[tuple[str, str], int] = {}
        self.documents: dict[str, dict[str, Text]] = {}
        self.summarized: set[tuple[str, str]] = set()
        #: By file, the rows of each topic that is unknown, and the place of the first of them.
        self.unknown: dict[str, tuple[Counter[str], Place]] = {}

    def check_topics(self) -> None:
        for placed in self.draft.topics:
            topic, place = placed.record, placed.place
            if topic.topic_id in self.topics or topic.topic_id in self.pyramids:
                actual = "the topic %(name)s for the second time"
                place.key("topic_id").refuse(actual, "each topic once", name=shown(topic.topic_id))
            elif topic.topic_id in self.existing and topic.pyramid and _is_pyramid_alone(topic):
                self.pyramids[topic.topic_id] = topic.pyramid
                continue
            elif topic.topic_id in self.existing and self.is_replaceable:
                self.again.append(topic.topic_id)
                self.topics[topic.topic_id] = topic
                continue
            elif topic.topic_id in self.existing:
                actual = "the topic %(name)s, which the study already has"
                place.key("topic_id").refuse(actual, "new topics", name=shown(topic.topic_id))
            self.topics[topic.topic_id] = topic
            self.documents[topic.topic_id] = {document.name: document for document in topic.documents}

    def check_bases(self) -> None:
        for placed in self.draft.topics:
            base, here = placed.record.base, placed.place.key("base")
            if base and base == placed.record.topic_id:
                here.refuse("%(name)s, the topic itself", "the topic with the earlier documents", name=shown(base))
            elif base and base not in self.topics and base not in self.existing:
                names = [*self.topics, *self.existing]
                here.refuse_unknown("topic", base, names, "a topic of the study or of this upload")

    def begin_topics(self) -> None:
        """Let summaries begin topics without documents, where there are no documents that they could be of."""
        if self.existing_is_known and not self.topics and not any(own.documents for own in self.existing.values()):
            summaries = [placed for placed in self.draft.summaries if placed.record.topic not in self.existing]
            systems = Counter(placed.record.topic for placed in summaries)
            self.topics |= {topic: Topic(topic, ()) for topic in systems}
            alone = [placed for placed in summaries if systems[placed.record.topic] == 1]
            if alone:
                names = _listed([placed.record.topic for placed in alone])
                expected = "two summaries of each topic to compare, or topics with their documents"
                alone[0].place.refuse("one summary alone of topics: %(names)s", expected, names=names)

    def join_summaries(self) -> tuple[LateSummary, ...]:
        late: dict[tuple[str, str], LateSummary] = {}
        joined: dict[str, list[Summary]] = {}
        summarized = {(topic.topic_id, summary.name) for topic in self.topics.values() for summary in topic.summaries}
        for placed in self.draft.summaries:
            record, place = placed.record, placed.place
            if not self._topic_exists(record.topic, place):
                continue
            key = (record.topic, record.summary.name)
            existing = self.existing.get(record.topic)
            is_stored = existing is not None and record.summary.name in existing.systems
            if key in summarized or key in late or (is_stored and not self.is_replaceable):
                place.key("system").refuse(
                    "a second summary of topic %(topic)s by %(system)s",
                    "one summary per topic and system",
                    topic=shown(record.topic),
                    system=shown(record.summary.name),
                )
                continue
            of_topic = self.topics.get(record.topic)
            references = [text.name for text in of_topic.references] if of_topic else ()
            if self.checkable:
                check_reference(place, record.summary, references or (existing.references if existing else ()))
            if record.topic in self.topics:
                summarized.add(key)
                joined.setdefault(record.topic, []).append(record.summary)
            else:
                late[key] = record
        for topic_id, summaries in joined.items():
            topic = self.topics[topic_id]
            self.topics[topic_id] = replace(topic, summaries=(*topic.summaries, *summaries))
        self.summarized = summarized | late.keys()
        return tuple(late.values())

    def join_scores(self) -> tuple[HumanScore, ...]:
        scored = {
            (topic, summary.name): _Scored.of(summary)
            for topic in {placed.record.topic for placed in self.draft.human_scores} & self.topics.keys()
            for summary in self.topics[topic].summaries
        }
        kept: dict[tuple[str, ...], HumanScore] = {}
        for placed in self.draft.human_scores:
            score, place = placed.record, placed.place
            summary = (score.topic, score.system)
            key = (*summary, score.dimension, score.assessor)
            own = scored.get(summary)
            if not self._topic_exists(score.topic, place):
                continue
            if own is None and not self._system_exists(*summary, place.key("system")):
                continue
            if key in kept or (own and not own.add(score)):
                place.refuse(
                    "a second score of %(system)s for %(dimension)s in topic %(topic)s",
                    "one score each: the mean, or one of each assessor, if several people rated",
                    system=shown(score.system),
                    dimension=shown(score.dimension),
                    topic=shown(score.topic),
                )
            elif own is None:
                kept[key] = score
        for topic_id in {topic for (topic, _system), own in scored.items() if own.is_touched}:
            topic = self.topics[topic_id]
            summaries = tuple(scored[topic_id, summary.name].joined() for summary in topic.summaries)
            self.topics[topic_id] = replace(topic, summaries=summaries)
        return tuple(kept.values())

    def join_metric_scores(self) -> tuple[MetricScore, ...]:
        topics = {placed.record.topic for placed in self.draft.metric_scores} & self.topics.keys()
        metrics = {
            (topic, summary.name): dict(summary.metrics) for topic in topics for summary in self.topics[topic].summaries
        }
        kept: dict[tuple[str, ...], MetricScore] = {}
        for placed in self.draft.metric_scores:
            score, place = placed.record, placed.place
            summary = (score.topic, score.system)
            own = metrics.get(summary)
            if not self._topic_exists(score.topic, place):
                continue
            if own is None and not self._system_exists(*summary, place.key("system")):
                continue
            if (*summary, score.metric) in kept or (own is not None and score.metric in own):
                place.refuse(
                    "a second score of %(system)s by %(metric)s in topic %(topic)s",
                    "one score each",
                    system=shown(score.system),
                    metric=shown(score.metric),
                    topic=shown(score.topic),
                )
            elif own is None:
                kept[*summary, score.metric] = score
            else:
                own[score.metric] = score.score
        for topic_id in topics:
            topic = self.topics[topic_id]
            summaries = tuple(replace(summary, metrics=metrics[topic_id, summary.name]) for summary in topic.summaries)
            self.topics[topic_id] = replace(topic, summaries=summaries)
        return tuple(kept.values())

    def _system_exists(self, topic: str, system: str, place: Place) -> bool:
        existing = self.existing.get(topic)
        stored = existing.systems if existing else frozenset()
        if not self.checkable or system in stored or (topic, system) in self.summarized:
            return True
        systems = [name for other, name in self.summarized if other == topic]
        place.refuse_unknown("system", system, sorted({*systems, *stored}), _SUMMARIZED, topic=shown(topic))
        return False

    def check_preferences(self) -> tuple[Preference, ...]:
        machines: dict[str, Judge] = {}
        for placed in self.draft.preferences:
            preference, place = placed.record, placed.place
            if "judge" in preference.extra:
                self._check_judge(preference, place, machines)
            if self.checkable and self._topic_exists(preference.topic, place):
                check = self._check_sentence if preference.of == "sentences" else self._check_summary
                check(preference.topic, preference.a, place.key("a"))
                check(preference.topic, preference.b, place.key("b"))
        return tuple(self._without_copies())

    def _check_judge(self, preference: Preference, place: Place, machines: dict[str, Judge]) -> None:
        """Refuse machines of one name that are two."""
        judge = judge_in([preference])
        if judge.contradicts(machines.setdefault(preference.annotator, judge)):
            actual = "another model, version, prompt or temperature than before of %(name)s"
            place.key("judge").refuse(actual, "another name for another machine", name=shown(preference.annotator))

    def _without_copies(self) -> Iterator[Preference]:
        """Each judgment once; a remark, first of all, says how many rows of a file stand there again."""
        seen: set[str] = set()
        copies: Counter[str] = Counter()
        for placed in self.draft.preferences:
            if is_recognisable(placed.record):
                row = strict_json.line(preference_as_json(placed.record) | {"judge": None})
                if row in seen:
                    copies[placed.place.file] += 1
                    continue
                seen.add(row)
            yield placed.record
        remarks = [Remark(file, 0, "", COPIES, {"count": count}) for file, count in copies.items()]
        self.remarks[:0] = remarks

    def _topic_exists(self, topic_id: str, place: Place) -> bool:
        if not self.checkable or topic_id in self.topics or topic_id in self.existing:
            return True
        self.unknown.setdefault(place.file, (Counter(), place.key("topic")))[0][topic_id] += 1
        return False

    def refuse_topics(self) -> None:
        """Refuse the topics that are unknown, once for a file."""
        names = [*self.topics, *self.existing]
        for rows, place in self.unknown.values():
            if len(rows) == 1:
                place.refuse_unknown("topic", next(iter(rows)), names, "a topic of the study or of this upload")
                continue
            place.refuse(
                "%(count)s topics that are unknown: %(names)s (%(rows)s rows)",
                "topics of the study or of this upload. Topics come with their documents, as JSON Lines or in a column "
                "of a table; a study that has none can begin with summaries alone",
                count=len(rows),
                names=_listed([*rows]),
                rows=rows.total(),
            )

    def _check_summary(self, topic_id: str, system: str, place: Place) -> None:
        """An existing topic needs an existing summary: judgments are stored before the rest of the upload."""
        existing = self.existing.get(topic_id)
        if existing is None:
            self._system_exists(topic_id, system, place)
        elif system not in existing.systems:
            expected = "a system that summarized topic %(topic)s before this file came"
            place.refuse_unknown("system", system, existing.systems, expected, topic=shown(topic_id))

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
            if topic is None or topic_id in self.again:
                self.counts[key] = self.existing[topic_id].documents[document]
            else:
                self.counts[key] = count(self.documents[topic_id][document], topic.language or self.language)
        return self.counts[key]


def _listed(names: list[str], most: int = 5) -> str:
    return ", ".join(map(shown, names[:most])) + ", …" * (len(names) > most)


@dataclass(slots=True)
class _Scored:
    """A summary with the scores that tables add to it."""

    summary: Summary
    human: dict[str, float]
    ratings: dict[str, dict[str, float]]
    rated: set[str] = field(default_factory=set)
    is_touched: bool = False

    @classmethod
    def of(cls, summary: Summary) -> _Scored:
        ratings = {assessor: dict(scores) for assessor, scores in summary.ratings.items()}
        return cls(summary, dict(summary.human), ratings)

    def add(self, score: HumanScore) -> bool:
        """Add it; False where there is one already."""
        scores = self.ratings.setdefault(score.assessor, {}) if score.assessor else self.human
        if score.dimension in scores:
            return False
        scores[score.dimension] = score.score
        self.rated |= {score.dimension} if score.assessor else set()
        self.is_touched = True
        return True

    def joined(self) -> Summary:
        """The summary with all its scores: the mean of assessors' ratings, unless another score is given."""
        before, now = means(self.summary.ratings), means(self.ratings)
        is_mean = {dimension for dimension, score in self.human.items() if before.get(dimension) == score}
        human = self.human | {name: now[name] for name in self.rated if name not in self.human or name in is_mean}
        return replace(self.summary, human=human, ratings=self.ratings)


def _is_pyramid_alone(topic: Topic) -> bool:
    return replace(topic, pyramid=None) == Topic(topic.topic_id, ())


def _existing_topic(topic: Topic, language: str) -> ExistingTopic:
    return ExistingTopic(
        {document.name: count(document, topic.language or language) for document in topic.documents},
        frozenset(summary.name for summary in topic.summaries),
        frozenset(reference.name for reference in topic.references),
    )
