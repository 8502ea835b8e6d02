"""An exported study as evidence: what the worker fits, from the archive alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from preferendum.compared_sentences import Row, compared_sentences
from preferendum.evidence import Evidence, evidence, judgments
from preferendum.formats.archive.study_preferences import counted
from preferendum.formats.archive.study_records import StudyArchive
from preferendum.formats.records import Preference


def evidence_of(archive: StudyArchive) -> Iterator[Evidence]:
    """Its topics with the judgments that count."""
    kinds = {"": "human"} | {row.pseudonym: row.kind for row in archive.annotators}
    judged: dict[str, set[str]] = defaultdict(set)
    for shown in archive.assignments:
        if shown.of == "sentences" and shown.state == "judged":
            judged[shown.topic] |= {shown.left, shown.right}
    rows: dict[str, list[Row[str]]] = defaultdict(list)
    for sentence in archive.sentences:
        name = f"{sentence.document}:{sentence.index}"
        rows[sentence.topic].append(Row(name, name, sentence.text, sentence.not_judged))
    by_topic: dict[str, list[Preference]] = defaultdict(list)
    for preference in counted(archive):
        by_topic[preference.topic].append(preference)
    for topic in archive.topics:
        name, language = topic.topic_id, topic.language or archive.settings.language
        own = compared_sentences(rows[name], judged[name])
        # A sentence against its own copy says nothing.
        about = [p for p in by_topic[name] if p.of == "sentences" and own.places[p.a] != own.places[p.b]]
        texts = evidence(
            replace(topic, documents=(), language=language), [p for p in by_topic[name] if p.of == "summaries"]
        )
        annotators = tuple(dict.fromkeys(p.annotator for p in about))
        yield replace(
            texts,
            sentence_ids=tuple(row.name for row in own.rows),
            sentences=tuple(row.text for row in own.rows),
            judgments=judgments(about, own.places),
            kinds=tuple(kinds[annotator] for annotator in annotators),
            annotators=annotators if all(annotators) else (),
        )
