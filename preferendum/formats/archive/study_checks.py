"""What the records of a study's archive must look like, each by itself and all of them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from preferendum.formats import settings
from preferendum.formats.archive.study_records import HistorySentence, StudyArchive
from preferendum.formats.checks import shapes
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.questionnaire import why_unfit
from preferendum.formats.readers.preferences import TWO_OF
from preferendum.formats.readers.topics import LANGUAGE
from preferendum.formats.records import Of, Topic
from preferendum.formats.settings import Setting
from preferendum.metrics.names import metrics, unknown_metrics


def _check_of(setting: Setting) -> shapes.Check:
    if setting.choices:
        return shapes.one_of(setting.choices)
    if setting.type is bool:
        return shapes.flag
    if setting.type is str:
        return shapes.words(int(setting.high))
    if setting.type is int:
        return shapes.whole(int(setting.low), int(setting.high))
    return shapes.real(setting.low, setting.high)


def _metric_names(place: Place, value: Any) -> str:
    names: str = shapes.words(500)(place, value)
    for name in unknown_metrics(names):
        place.refuse_unknown("metric", name, metrics(), "names of metrics with commas between them")
    return names


SETTINGS: dict[str, shapes.Check] = {
    **{setting.name: _check_of(setting) for setting in settings.SETTINGS},
    "metric_names": _metric_names,
    "language": shapes.matching(LANGUAGE, "a language tag such as en, de or pt-BR"),
    "extra": shapes.free,
}
#: Of archives.
FORMAT = 1
HEAD: dict[str, shapes.Check] = {
    "format": shapes.whole(1, FORMAT),
    "program_version": shapes.words(40),
    "settings": shapes.free,
}

#: By topic and what two of them are, the names of what may be compared there.
_Names = dict[tuple[str, Of], set[str]]
_A_TEXT: Mapping[Of, str] = {"sentences": "a sentence of the topic", "summaries": "a system that summarized the topic"}


def check_whole(archive: StudyArchive, place: Place) -> None:
    """Check that every name refers to something, and that what must be unique is."""

    def at(file: str) -> Callable[[int], Place]:
        # Blank lines are refused, so that the i-th record stands on line i + 1.
        return lambda i: Place(place.complaints, f"{place.file}/{file}", i + 1)

    topics = {topic.topic_id: topic for topic in archive.topics}
    _unique([topic.topic_id for topic in archive.topics], "topic", "topic_id", at("topics.jsonl"))
    for i, topic in enumerate(archive.topics):
        if topic.base and topic.base not in topics:
            at("topics.jsonl")(i).key("base").refuse_unknown("topic", topic.base, topics, "a topic of the study")
    names: _Names = {
        **{(topic, "sentences"): names for topic, names in _checked_sentences(archive, at("sentences.jsonl")).items()},
        **{(name, "summaries"): {own.name for own in topic.summaries} for name, topic in topics.items()},
    }
    _unique([annotator.pseudonym for annotator in archive.annotators], "annotator", "pseudonym", at("annotators.jsonl"))
    for i, annotator in enumerate(archive.annotators):
        if annotator.judge and annotator.kind != "machine":
            at("annotators.jsonl")(i).key("judge").refuse("a judge of kind %(kind)s", "a machine", kind=annotator.kind)
    _check_assignments(archive, topics, names, at("assignments.jsonl"))
    _check_judgments(archive, at("judgments.jsonl"))
    _check_reported_pairs(archive, at("reported_pairs.jsonl"))
    _check_history(archive, at("history.jsonl"))
    _check_fits(archive, topics, names, at("fits.jsonl"))
    _check_gold_pairs(archive, topics, names, at("gold_pairs.jsonl"))
    _check_questionnaires(archive, at("questionnaires.jsonl"), at("questionnaire_answers.jsonl"))


def _checked_sentences(archive: StudyArchive, at: Callable[[int], Place]) -> dict[str, set[str]]:
    """The names of the sentences by topic; those of a document must be numbered from 0 without a gap."""
    following = {(topic.topic_id, document.name): 0 for topic in archive.topics for document in topic.documents}
    names: dict[str, set[str]] = {topic.topic_id: set() for topic in archive.topics}
    for i, sentence in enumerate(archive.sentences):
        document = (sentence.topic, sentence.document)
        if document not in following:
            at(i).refuse(
                "a sentence of document %(document)s of topic %(topic)s, which is not in topics.jsonl",
                "documents of the study",
                document=shown(sentence.document),
                topic=shown(sentence.topic),
            )
        elif sentence.index != following[document]:
            at(i).key("index").refuse(
                "%(index)s", "%(wanted)s, the next one", index=sentence.index, wanted=following[document]
            )
        else:
            following[document] += 1
            names[sentence.topic].add(f"{sentence.document}:{sentence.index}")
    return names


def _check_assignments(
    archive: StudyArchive, topics: Mapping[str, Topic], names: _Names, at: Callable[[int], Place]
) -> None:
    annotators = {annotator.pseudonym for annotator in archive.annotators}
    seen: set[tuple[str, str, Of, frozenset[str], int]] = set()
    _unique([assignment.key for assignment in archive.assignments], "key", "key", at)
    for i, assignment in enumerate(archive.assignments):
        if assignment.topic not in topics:
            at(i).key("topic").refuse_unknown("topic", assignment.topic, topics, "a topic of the study")
            continue
        for side, called in (("left", assignment.left), ("right", assignment.right)):
            if called not in names[assignment.topic, assignment.of]:
                at(i).key(side).refuse("%(name)s", _A_TEXT[assignment.of], name=shown(called))
        if assignment.left == assignment.right:
            at(i).key("right").refuse("%(name)s on both sides", TWO_OF[assignment.of], name=shown(assignment.left))
        if assignment.annotator not in annotators:
            at(i).key("annotator").refuse_unknown(
                "annotator", assignment.annotator, annotators, "an annotator of the study"
            )
        sides = frozenset((assignment.left, assignment.right))
        pair = (assignment.annotator, assignment.topic, assignment.of, sides, assignment.occasion)
        if pair in seen:
            at(i).key("occasion").refuse("the same pair shown twice on one occasion", "a different occasion each time")
        seen.add(pair)


def _check_judgments(archive: StudyArchive, at: Callable[[int], Place]) -> None:
    keys = {assignment.key for assignment in archive.assignments}
    revisions = [f"{judgment.assignment}, revision {judgment.revision}" for judgment in archive.judgments]
    _unique(revisions, "judgment", "revision", at)
    for i, judgment in enumerate(archive.judgments):
        if judgment.assignment not in keys:
            actual, expected = (
                "the key %(key)s, which no assignment has",
                "the key of an assignment in assignments.jsonl",
            )
            at(i).key("assignment").refuse(actual, expected, key=judgment.assignment)


def _check_reported_pairs(archive: StudyArchive, at: Callable[[int], Place]) -> None:
    skipped = {assignment.key for assignment in archive.assignments if assignment.skip_reason}
    for i, report in enumerate(archive.reported_pairs):
        if report.assignment not in skipped:
            actual, expected = "the key %(key)s, which no skipped pair has", "the key of one in assignments.jsonl"
            at(i).key("assignment").refuse(actual, expected, key=report.assignment)


def _check_history(archive: StudyArchive, at: Callable[[int], Place]) -> None:
    annotators = {annotator.pseudonym for annotator in archive.annotators}
    keys = {assignment.key for assignment in archive.assignments}
    _unique([row.key for row in archive.history], "key", "key", at)
    sentences: dict[int, tuple[str, Of, HistorySentence]] = {}
    seen: set[tuple[str, frozenset[int], int]] = set()
    for i, row in enumerate(archive.history):
        for side, sentence in (("left", row.left), ("right", row.right)):
            own = (row.topic, row.of, sentence)
            if sentences.setdefault(sentence.number, own) != own:
                at(i).key(side).refuse("another sentence of number %(number)s", "one each", number=sentence.number)
        if row.key in keys:
            at(i).key("key").refuse("the key %(key)s of an assignment", "another key", key=row.key)
        if row.left.number == row.right.number:
            at(i).key("right").refuse("%(name)s on both sides", TWO_OF[row.of], name=shown(row.left.text))
        if row.annotator not in annotators:
            at(i).key("annotator").refuse_unknown("annotator", row.annotator, annotators, "an annotator of the study")
        pair = (row.annotator, frozenset((row.left.number, row.right.number)), row.occasion)
        if pair in seen:
            at(i).key("occasion").refuse("the same pair shown twice on one occasion", "a different occasion each time")
        seen.add(pair)
    revisions = [
        (i, f"{row.key}, revision {answer.revision}") for i, row in enumerate(archive.history) for answer in row.answers
    ]
    _unique([name for _i, name in revisions], "judgment", "answers", lambda j: at(revisions[j][0]))


def _check_fits(archive: StudyArchive, topics: Mapping[str, Topic], names: _Names, at: Callable[[int], Place]) -> None:
    _unique(
        [f"{fit.topic}, version {fit.data_version}, {fit.scored_by}" for fit in archive.fits], "fit", "data_version", at
    )
    for i, fit in enumerate(archive.fits):
        if fit.topic not in topics:
            at(i).key("topic").refuse_unknown("topic", fit.topic, topics, "a topic of the study")
            continue
        for called in sorted(fit.utilities.keys() - names[fit.topic, "sentences"]):
            at(i).key("utilities").refuse("%(name)s", "sentences of the topic", name=shown(called))
        for called in sorted(fit.scores.keys() - {summary.name for summary in topics[fit.topic].summaries}):
            at(i).key("scores").refuse("%(name)s", "systems that summarized the topic", name=shown(called))


def _check_gold_pairs(
    archive: StudyArchive, topics: Mapping[str, Topic], names: _Names, at: Callable[[int], Place]
) -> None:
    seen: set[tuple[str, Of, frozenset[str]]] = set()
    for i, gold_pair in enumerate(archive.gold_pairs):
        if gold_pair.topic not in topics:
            at(i).key("topic").refuse_unknown("topic", gold_pair.topic, topics, "a topic of the study")
            continue
        for key, called in (("better", gold_pair.better), ("worse", gold_pair.worse)):
            if called not in names[gold_pair.topic, gold_pair.of]:
                at(i).key(key).refuse("%(name)s", _A_TEXT[gold_pair.of], name=shown(called))
        if gold_pair.better == gold_pair.worse:
            at(i).key("worse").refuse("%(name)s on both sides", TWO_OF[gold_pair.of], name=shown(gold_pair.worse))
        pair = (gold_pair.topic, gold_pair.of, frozenset((gold_pair.better, gold_pair.worse)))
        if pair in seen:
            at(i).key("worse").refuse("the same pair for the second time", "each once")
        seen.add(pair)


def _check_questionnaires(
    archive: StudyArchive, at: Callable[[int], Place], at_answers: Callable[[int], Place]
) -> None:
    annotators = {annotator.pseudonym for annotator in archive.annotators}
    asked = {str(own.version): own.questions for own in archive.questionnaires}
    _unique([str(own.version) for own in archive.questionnaires], "questionnaire", "version", at)
    for i, own in enumerate(archive.questionnaires):
        for question in own.questions:
            if not question.is_askable:
                at(i).key("questions").refuse(
                    "%(text)s", "a text, and 2 or more options for a choice", text=shown(question.text)
                )
    of_platform = {str(own.version) for own in archive.questionnaires if own.place == "platform"}
    if len(of_platform) > 1:
        at(len(archive.questionnaires) - 1).key("place").refuse("several versions of a platform", "at most one")
    given = [(str(own.version) in of_platform, own.annotator) for own in archive.questionnaire_answers]
    for is_of_platform in (False, True):
        rows = [i for i, (own, _name) in enumerate(given) if own == is_of_platform]
        places = [at_answers(i) for i in rows]
        _unique([given[i][1] for i in rows], "annotator", "annotator", places.__getitem__)
    for i, answered in enumerate(archive.questionnaire_answers):
        if answered.annotator not in annotators:
            at_answers(i).key("annotator").refuse_unknown(
                "annotator", answered.annotator, annotators, "an annotator of the study"
            )
        if str(answered.version) not in asked:
            version = answered.version
            at_answers(i).key("version").refuse("%(version)s", "a version of the questionnaire", version=version)
        elif unfit := why_unfit(asked[str(answered.version)], answered.answers):
            expected = "an answer that the question allows, for each that requires one"
            at_answers(i).key("answers").refuse("%(text)s", expected, text=shown(unfit))


def _unique(names: Sequence[str], called: str, key: str, at: Callable[[int], Place]) -> None:
    """`called`: what the names are of; `key`: the field to complain of."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            actual = "%(called)s %(name)s for the second time"
            at(i).key(key).refuse(actual, "each once", called=called, name=shown(name, 100))
        seen.add(name)
