"""A DUC or TAC corpus as it was distributed: documents, topic statements, summaries, manual scores and pyramids.

    docs/d30001t/<document>, D0901A/D0901A-A/<document>       the document sets
    *topics.xml, *topics.sgml, *.topicsets                    what each topic asks for
    ROUGE/models/*, ROUGE/peers/*                             what people and systems wrote; people's are references,
                                                              and summaries that are these references
    manual/manual.peer.*, responsiveness.table ...            what people thought of it (`tac`, `duc`)
    *.pyr, and the annotated summaries next to them           pyramids (`pyramid_xml`)

The corpora have faults. None stops reading: a remark says what was replaced, and names each file that was not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TypeVar

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, shown
from preferendum.formats.checks.text import blank, clean, name
from preferendum.formats.pyramid import Annotation, Peer, Pyramid
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.pyramid_json import annotation_as_json, annotation_from
from preferendum.formats.readers.ratings import HIGHEST
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.topics import checked_text
from preferendum.formats.records import Remark, Summary, Text, Topic
from preferendum.methods.corpora import duc, nist, tac
from preferendum.methods.corpora.pyramid_xml import read_peer, read_pyramid
from preferendum.methods.corpora.sgml import Statement, lenient_text, read_document, read_statements, read_summary

Value = TypeVar("Value")

_STATEMENTS = re.compile(r".*topics\.(?:xml|sgml)(?:\.txt)?", re.IGNORECASE)
_SUMMARIES = re.compile(r"models|peers", re.IGNORECASE)
# Folders that hold annotated summaries under the names of the summaries, and one that holds parsed copies of them.
_ANNOTATED = re.compile(r"manual|.*pyramids?.*|.*pans", re.IGNORECASE)
_COPIES = re.compile(r"be", re.IGNORECASE)
_DATA = re.compile(r".*\.(?:jsonl?|ndjson|csv|zip)", re.IGNORECASE)
_PYRAMIDS = re.compile(r".*\.pyr", re.IGNORECASE)
_LANGUAGE = "en"


@dataclass(slots=True)
class _Corpus:
    """What a corpus holds of each topic."""

    documents: dict[str, list[Text]] = field(default_factory=lambda: defaultdict(list))
    statements: dict[str, Statement] = field(default_factory=dict)
    references: dict[str, dict[str, Text]] = field(default_factory=lambda: defaultdict(dict))
    summaries: dict[str, dict[str, Summary]] = field(default_factory=lambda: defaultdict(dict))
    scores: dict[tuple[str, str], dict[str, list[nist.Score]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    pyramids: dict[str, Pyramid] = field(default_factory=dict)
    peers: dict[str, dict[str, tuple[Source, str]]] = field(default_factory=lambda: defaultdict(dict))


def recognised(sources: list[Source]) -> bool:
    """Whether these files are (a part of) a corpus: they have its document sets or its summaries."""
    return any(_is_document(source) or _is_summary(source) for source in sources)


def read_corpus(sources: list[Source], place: Place, draft: Draft) -> None:
    """Add the topics that have documents, references or a Pyramid."""
    corpus = _Corpus()
    others: list[Place] = []
    for source in sources:
        here = Place(place.complaints, source.label)
        reader = _reader(source)
        if reader is None:
            others.append(here)
        else:
            reader(source, here, corpus)
    for other in others:
        other.pass_over("by its name and folder no document, topic, summary, score or Pyramid")
    _take_pyramids_of_peers(corpus, place)
    _add_topics(corpus, place, draft)


def _reader(source: Source) -> Callable[[Source, Place, _Corpus], None] | None:
    if _is_summary(source):
        return _read_summary
    if _PYRAMIDS.fullmatch(source.name):
        return _read_pyramid
    if nist.summary_name(source.name) and _lies_in(_ANNOTATED, source):
        return _note_peer
    if _STATEMENTS.fullmatch(source.name) or duc.TOPIC_SETS.fullmatch(source.name):
        return _read_statements
    if _layouts(source.name):
        return _read_scores
    if _is_document(source):
        return _read_document
    return None


def _is_document(source: Source) -> bool:
    return len(source.parts) > 1 and nist.is_topic_folder(source.parts[-2]) and not _DATA.fullmatch(source.name)


def _is_summary(source: Source) -> bool:
    folders = source.parts[:-1]
    return (
        bool(folders)
        and _SUMMARIES.fullmatch(folders[-1]) is not None
        and nist.summary_name(source.name) is not None
        and not _lies_in(_ANNOTATED, source)
        and not _lies_in(_COPIES, source)
    )


def _lies_in(folder: re.Pattern[str], source: Source) -> bool:
    return any(folder.fullmatch(part) for part in source.parts[:-1])


def _layouts(file: str) -> Mapping[int, nist.Layout] | None:
    tables = {**tac.TABLES, **duc.TABLES}
    return next((layouts for pattern, layouts in tables.items() if pattern.fullmatch(file)), None)


def _read_document(source: Source, place: Place, corpus: _Corpus) -> None:
    topic = nist.topic_name(source.parts[-2])
    text = _lenient(source, place)
    document = read_document(text, place) if text is not None else None
    if document is None or topic is None:
        return
    called = _survived(place, lambda here: name(here, source.name))
    content = _survived(place, lambda here: checked_text(here, document.text, empty=False))
    if called is None or content is None:
        return
    if any(other.name == called for other in corpus.documents[topic]):
        place.pass_over("topic %(topic)s already has a document of this name", topic=topic)
        return
    headline = _line(document.headline, place)
    extra = {"headline": headline} if headline else {}
    corpus.documents[topic].append(Text(called, content, extra=extra))


def _read_statements(source: Source, place: Place, corpus: _Corpus) -> None:
    text = _lenient(source, place)
    if text is None:
        return
    if duc.TOPIC_SETS.fullmatch(source.name):
        rows = [match for line in text.split("\n") if (match := duc.TOPIC_SET.fullmatch(line.strip()))]
        statements = [Statement(row[1], "", row[2]) for row in rows]
    else:
        statements = list(read_statements(text))
    if not statements:
        place.pass_over("no topic in it")
    for statement in statements:
        topic = nist.topic_name(statement.topic)
        if topic is None:
            place.remark("ignored: a topic without a name")
        else:
            title, narrative = _line(statement.title, place), _line(statement.narrative, place)
            corpus.statements.setdefault(topic, Statement(topic, title, narrative))


def _read_summary(source: Source, place: Place, corpus: _Corpus) -> None:
    named = nist.summary_name(source.name)
    text = _lenient(source, place)
    if named is None or text is None:
        return
    topic, who = named
    whole, sentences = read_summary(text)
    given, is_person = "\n".join(sentences or ()) or whole or "", nist.is_person(who)
    checked = _survived(place, lambda here: checked_text(here, given, empty=not is_person))
    if checked is None:
        return
    kept = tuple(sentence for sentence in checked.split("\n") if not blank(sentence))
    whole, sentences = (None, kept) if sentences else (checked, None)
    summaries = corpus.references[topic] if is_person else corpus.summaries[topic]
    if tac.is_human(topic, who):
        place.pass_over("in TAC 2009 people wrote the summaries of systems 2 and 3")
    elif who in summaries:
        # Models often stand among the peers as well.
        if (summaries[who].text, summaries[who].sentences) != (whole, sentences):
            place.pass_over("an earlier summary of topic %(topic)s by %(who)s", topic=topic, who=who)
    elif nist.is_person(who):
        corpus.references[topic][who] = Text(who, whole, sentences)
    else:
        corpus.summaries[topic][who] = Summary(who, whole, sentences)


def _read_scores(source: Source, place: Place, corpus: _Corpus) -> None:
    layouts = _layouts(source.name)
    text = _lenient(source, place)
    if layouts is None or text is None:
        return
    rows = list(nist.read_scores(text, layouts))
    if not rows:
        place.pass_over("no row of scores in it")
    for number, scores in rows:
        if not scores:
            place.at(number).remark("ignored: a row without the columns of this table")
        for score in scores:
            # Both are from the table: the name of a question, and a number whose mean may be beyond every number.
            named = len(score.dimension) <= limits.DIMENSION_CHARACTERS and score.dimension.isascii()
            if not named or abs(score.score) > HIGHEST:
                remark = "ignored: the score %(score)s for %(question)s"
                place.at(number).remark(remark, score=score.score, question=shown(score.dimension))
                continue
            corpus.scores[score.topic, score.summarizer][score.dimension].append(score)


def _read_pyramid(source: Source, place: Place, corpus: _Corpus) -> None:
    topic = nist.topic_name(source.name.split(".")[0])
    data = _bytes(source, place)
    pyramid = read_pyramid(data, place) if data is not None else None
    if topic is None:
        place.pass_over("its name does not begin with a topic")
    elif pyramid is not None and topic in corpus.pyramids:
        place.pass_over("topic %(topic)s already has a pyramid", topic=topic)
    elif pyramid is not None:
        corpus.pyramids[topic] = pyramid


def _note_peer(source: Source, place: Place, corpus: _Corpus) -> None:
    """An annotated summary can be read only when its pyramid is known."""
    named = nist.summary_name(source.name)
    if named is not None and corpus.peers[named[0]].setdefault(named[1], (source, place.file))[0] is not source:
        place.pass_over(
            "the summary of topic %(topic)s by %(who)s is annotated in another file", topic=named[0], who=named[1]
        )


def _take_pyramids_of_peers(corpus: _Corpus, place: Place) -> None:
    """A topic without a .pyr file has the Pyramid that is in its first annotated summary that has one."""
    for topic in sorted(corpus.peers.keys() - corpus.pyramids.keys()):
        tried: list[Remark] = []
        for source, label in corpus.peers[topic].values():
            here = Place(Complaints(), label)
            data = _bytes(source, here)
            pyramid = read_pyramid(data, here) if data is not None else None
            if pyramid is not None:
                here.remark("topic %(topic)s has no .pyr file: its Pyramid is from this one", topic=topic)
                corpus.pyramids[topic], tried = pyramid, here.complaints.remarks
                break
            tried += here.complaints.remarks
        place.complaints.remarks.extend(tried)


def _annotation(topic: str, corpus: _Corpus, place: Place) -> Annotation | None:
    """The topic's pyramid with the annotated summaries, if it can be written and read again."""
    pyramid = corpus.pyramids.get(topic)
    if pyramid is None:
        return None
    peers = dict(_peers(corpus.peers[topic], pyramid, place))
    annotation = Annotation(pyramid, peers, _annotator(topic, peers, corpus))
    line = strict_json.line(annotation_as_json(annotation))

    def again(here: Place) -> Annotation | None:
        given = strict_json.parse_object(here, line)
        return annotation_from(here, given, {}, {}) if given is not None else None

    return _survived(Place(place.complaints, f"{place.file}: {topic}"), again)


def _annotator(topic: str, peers: Iterable[str], corpus: _Corpus) -> str:
    """Who annotated a topic's summaries, as the table of their Pyramid scores says; empty where it names several."""
    by_system = (corpus.scores.get((topic, system), {}) for system in peers)
    names = {score.assessor for scores in by_system for score in scores.get("modified_pyramid", ())}
    return names.pop() if len(names) == 1 else ""


def _peers(sources: Mapping[str, tuple[Source, str]], pyramid: Pyramid, place: Place) -> list[tuple[str, Peer]]:
    peers = []
    for who, (source, label) in sources.items():
        here = Place(place.complaints, label)
        data = _bytes(source, here)
        peer = read_peer(data, pyramid, here) if data is not None else None
        if peer is not None:
            peers.append((who, peer))
    return peers


def _add_topics(corpus: _Corpus, place: Place, draft: Draft) -> None:
    topics = corpus.documents.keys() | corpus.references.keys() | corpus.pyramids.keys()
    for topic in sorted(corpus.summaries.keys() - topics):
        place.pass_over("topic %(topic)s has summaries but no documents and no references", topic=topic)
    for topic in sorted(topics):
        statement = corpus.statements.get(topic) or corpus.statements.get(topic.partition("-")[0])
        annotation = _annotation(topic, corpus, place)
        base = nist.base_of(topic)
        record = replace(_topic(topic, statement, corpus), pyramid=annotation, base=base if base in topics else "")
        if not draft.add_topic(record, place):
            return
    for topic, who in corpus.scores:
        if topic in topics:
            place.remark(
                "ignored: scores of %(who)s in topic %(topic)s, which has no summary by it", topic=topic, who=who
            )
    if elsewhere := sum(topic not in topics for topic, _who in corpus.scores):
        place.remark("ignored: scores of %(count)s summaries of topics that are not here", count=elsewhere)
    if not topics:
        expected = "also document sets such as docs/d30001t/... or D0901A/D0901A-A/..., or references in models/"
        place.refuse("summaries but no documents", expected)


def _topic(topic: str, statement: Statement | None, corpus: _Corpus) -> Topic:
    """The topic, with the scores of its summaries taken out of the corpus."""
    narrative = statement.narrative if statement else ""
    short = len(narrative) <= limits.QUESTION_CHARACTERS
    references = corpus.references[topic].values()
    summaries = [_rated(topic, summary, corpus) for summary in corpus.summaries[topic].values()]
    of_people = (Summary(text.name, text.text, text.sentences, person=True, reference=text.name) for text in references)
    summaries += [_rated(topic, summary, corpus) for summary in of_people]
    return Topic(
        topic,
        tuple(corpus.documents[topic]),
        tuple(references),
        tuple(summaries),
        title=(statement.title if statement else "")[: limits.TITLE_CHARACTERS],
        question=narrative if short else "",
        language=_LANGUAGE,
        extra={} if short else {"narrative": narrative},
    )


def _rated(topic: str, summary: Summary, corpus: _Corpus) -> Summary:
    """The summary with the mean of what people gave it, and what each gave; the scores are taken out of the corpus."""
    scores = corpus.scores.pop((topic, summary.name), {})
    human = {dimension: fmean(score.score for score in of_all) for dimension, of_all in scores.items()}
    by_assessor: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for dimension, of_all in scores.items():
        for score in of_all:
            by_assessor[score.assessor][dimension].append(score.score)
    by_assessor.pop("", None)
    ratings = {who: {name: fmean(given) for name, given in own.items()} for who, own in sorted(by_assessor.items())}
    return replace(summary, human=human, ratings=ratings)


def _bytes(source: Source, place: Place) -> bytes | None:
    if source.size > limits.ANNOTATION:
        place.pass_over("larger than %(limit)s MB", limit=limits.ANNOTATION // limits.MEGABYTE)
        return None
    with source.open() as file:
        return file.read(limits.ANNOTATION)


def _lenient(source: Source, place: Place) -> str | None:
    return _survived(place, lambda here: lenient_text(source, here))


def _line(text: str, place: Place) -> str:
    """A title, a headline or a narrative as it is stored; empty, with a remark, where it cannot be."""
    return _survived(place, lambda here: clean(here, text)) or ""


def _survived(place: Place, read: Callable[[Place], Value | None]) -> Value | None:
    """What `read` gives; its complaints become remarks, since the rest of the corpus is good without it."""
    quiet = Complaints()
    value = read(Place(quiet, place.file, place.line, place.field))
    for remark in quiet.remarks:
        Place(place.complaints, remark.file, remark.line, remark.field).remark(remark.said, **remark.params)
    for complaint in quiet.collected:
        here = Place(place.complaints, complaint.file, complaint.line, complaint.field)
        here.pass_over("found " + complaint.found + "; expected " + complaint.expected, **complaint.params)
    return None if quiet.collected else value
