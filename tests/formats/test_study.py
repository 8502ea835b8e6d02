"""A study goes out as one zip and comes back as it was."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preferendum import formats
from preferendum.formats.archive import study
from preferendum.formats.archive.study_records import (
    AnnotatorRecord,
    AssignmentRecord,
    FitRecord,
    GoldPairRecord,
    HistoryAnswer,
    HistoryRecord,
    HistorySentence,
    JudgmentRecord,
    QuestionnaireAnswers,
    QuestionnaireRecord,
    RemovalRecord,
    ReportedPairRecord,
    SentenceRecord,
    StudyArchive,
    UploadRecord,
)
from preferendum.formats.judge import Judge
from preferendum.formats.pyramid import Annotation, Contributor, Part, Pyramid, Scu
from preferendum.formats.questionnaire import Question
from preferendum.formats.records import KINDS, Summary, Text, Topic
from preferendum.formats.settings import StudySettings
from tests.formats import strategies

KEY = "0b0e7bd2-31fd-4d6b-9d1c-6a4ffd0ae9c1"
SKIPPED_KEY = "0b0e7bd2-31fd-4d6b-9d1c-6a4ffd0ae9c3"
GONE_KEY = "0b0e7bd2-31fd-4d6b-9d1c-6a4ffd0ae9c2"
AT = "2026-01-31T16:53:19.123456+00:00"
ASSIGNMENT = AssignmentRecord(KEY, "T", "w1", "d:0", "d:1", 0, "random", "judged", "", True, AT, AT, "", 0.25)
SKIPPED = AssignmentRecord(
    SKIPPED_KEY, "T", "w1", "d:1", "d:0", 1, "random", "skipped", "broken", False, AT, AT, drawn_for=("lead",)
)
#: One of the systems is called as a sentence is.
OF_SUMMARIES = dataclasses.replace(
    ASSIGNMENT, key="0b0e7bd2-31fd-4d6b-9d1c-6a4ffd0ae9c4", left="lead", right="d:1", of="summaries"
)
STUDY = StudyArchive(
    settings=StudySettings(title="Trial", question="Which is more important?", extra={"mine": [1, 2.5, None]}),
    program_version="0.1.0",
    topics=(
        Topic(
            "T",
            (Text("d", "One. Two."),),
            summaries=(Summary("lead", "One.", human={"r": 4.0}), Summary("d:1", "")),
            pyramid=Annotation(Pyramid("", (Scu("1", "said", (Contributor((Part("One", None),)),)),)), {}, "J"),
        ),
    ),
    sentences=(SentenceRecord("T", "d", 0, 0, "One."), SentenceRecord("T", "d", 1, 0, "Two.")),
    annotators=(
        AnnotatorRecord("w1", "human", AT),
        AnnotatorRecord("m", "machine", AT, judge=Judge("gpt", prompt="Which?", made=("lead",))),
    ),
    assignments=(ASSIGNMENT, SKIPPED, OF_SUMMARIES),
    judgments=(
        JudgmentRecord(KEY, 1, "left", 7.25, AT, confidence=0.5),
        JudgmentRecord(KEY, 2, "undone", None, AT, "page"),
    ),
    fits=(
        FitRecord(
            "T", 1, {"smooth": "paper", "budget": None}, "0.1.0", 1e-12, 7, 3, AT,
            {"d:0": (0.1 + 0.2, -1e-300, 0.5), "d:1": (0.7, 0.0, None)},
            {"lead": (0.5, None, 0.25, 0.75)},
        ),
    ),
    gold_pairs=(
        GoldPairRecord("T", "d:1", "d:0", "training", "Two tells more."),
        GoldPairRecord("T", "d:1", "lead", "gold", of="summaries"),
    ),
    uploads=(UploadRecord("rain.jsonl", 7, "a" * 64, AT, 1, {"topics": 1}),),
    removals=(RemovalRecord("topic", "Gone", "", {"judgments": 1}, AT, 2, None),),
    questionnaires=(
        QuestionnaireRecord(
            1, "before", (Question("Age?", "number"), Question("Skill?", "scale", ("none", "some"), True)), AT
        ),
        QuestionnaireRecord(2, "after", (), AT),
    ),
    questionnaire_answers=(QuestionnaireAnswers("w1", 1, {"Age?": 40.5, "Skill?": 2}, AT),),
    reported_pairs=(ReportedPairRecord(SKIPPED_KEY, "fragment", "Cut off.", AT),),
    history=(
        HistoryRecord(
            GONE_KEY, "Gone", "w1", HistorySentence(0, "d", "One."), HistorySentence(1, "d", "Tow."), 0, "random",
            True, AT, AT, "", (HistoryAnswer(1, "right", 2.5, AT, {"mine": 1}), HistoryAnswer(2, "undone", None, AT)),
        ),
    ),
)  # fmt: skip


def packed(archive: StudyArchive) -> bytes:
    file = io.BytesIO()
    study.write(archive, file)
    return file.getvalue()


def test_a_study_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "study.zip"
    path.write_bytes(packed(STUDY))

    assert study.read(path) == STUDY


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_study_says_comes_back(tmp_path: Path, data: st.DataObject) -> None:
    draw = data.draw
    topics = draw(strategies.topics())
    text = strategies.texts
    archive = StudyArchive(
        StudySettings(
            title=draw(text), question=draw(text), guidelines=draw(text), ties_allowed=draw(st.booleans()),
            seed=draw(st.integers(0, 2**63 - 1)), prior=draw(st.floats(0, 1000)), extra=draw(strategies.extras),
        ),
        draw(text),
        topics,
        tuple(
            SentenceRecord(topic.topic_id, document.name, index, index // 2, draw(text))
            for topic in topics
            for document in topic.documents
            for index in range(2)
        ),
        (AnnotatorRecord(draw(strategies.names), draw(st.sampled_from(KINDS)), draw(strategies.moments)),),
        fits=tuple(
            FitRecord(topic.topic_id, 3, draw(strategies.extras), "1", draw(st.floats(0, 1)), 5, 2**40, AT, {
                f"{document.name}:{index}": (draw(strategies.numbers), draw(strategies.numbers), None)
                for document in topic.documents
                for index in range(2)
            }, {summary.name: (draw(strategies.numbers),) * 4 for summary in topic.summaries})
            for topic in topics
        ),
    )  # fmt: skip
    path = tmp_path / "study.zip"
    path.write_bytes(packed(archive))

    assert study.read(path) == archive
    assert packed(archive) == packed(study.read(path))


def test_the_manifest_is_what_sha256sum_checks() -> None:
    with zipfile.ZipFile(io.BytesIO(packed(STUDY))) as archive:
        for line in archive.read("MANIFEST").decode().splitlines():
            digest, name = line.split("  ")
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
        assert len(archive.namelist()) == 16
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def rewritten(path: Path, change: Callable[[dict[str, str]], None], *, sums: bool = True) -> Path:
    """The study with its files changed, and its sums made right again."""
    with zipfile.ZipFile(io.BytesIO(packed(STUDY))) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    change(files)
    if sums and "MANIFEST" in files:
        files["MANIFEST"] = "".join(
            f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
            for name, text in files.items()
            if name != "MANIFEST"
        )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def edit(file: str, line: int, **keys: Any) -> Callable[[dict[str, str]], None]:
    """Change keys of one record; `...` takes the key away."""

    def change(files: dict[str, str]) -> None:
        lines = files[f"{file}.jsonl"].splitlines()
        record = {k: v for k, v in (json.loads(lines[line - 1]) | keys).items() if v is not ...}
        lines[line - 1] = json.dumps(record)
        files[f"{file}.jsonl"] = "\n".join(lines)

    return change


def setting(**keys: Any) -> Callable[[dict[str, str]], None]:
    def change(files: dict[str, str]) -> None:
        head = json.loads(files["study.json"])
        head["settings"] |= keys
        files["study.json"] = json.dumps({k: v for k, v in head.items() if v is not ...})

    return change


OTHER_KEY = "1b0e7bd2-31fd-4d6b-9d1c-6a4ffd0ae9c1"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit("sentences", 1, topic="U"), 'sentences.jsonl:1: found a sentence of document "d" of topic "U"'),
        (edit("sentences", 2, index=2), "sentences.jsonl:2: index: found 2; expected 1, the next one"),
        (edit("sentences", 2, index="1"), 'sentences.jsonl:2: index: found the text "1"; expected a whole number'),
        (edit("sentences", 2, text=...), "sentences.jsonl:2: text: found no such key; expected all of topic, document"),
        (edit("sentences", 2, owner=1), "sentences.jsonl:2: owner: found an unknown key; expected only topic"),
        (
            edit("annotators", 1, kind="robot"),
            'annotators.jsonl:1: kind: found the text "robot"; expected one of human',
        ),
        (edit("annotators", 1, pseudonym=""), "annotators.jsonl:1: pseudonym: found an empty name"),
        (
            edit("annotators", 1, joined_at="now"),
            'annotators.jsonl:1: joined_at: found "now"; expected a time with its',
        ),
        (
            edit("assignments", 3, of="sentences"),
            'assignments.jsonl:3: left: found "lead"; expected a sentence of the topic',
        ),
        (
            edit("assignments", 3, right="lead"),
            'assignments.jsonl:3: right: found "lead" on both sides; expected summaries of two',
        ),
        (
            edit("assignments", 1, of="summaries"),
            'assignments.jsonl:1: left: found "d:0"; expected a system that summarized',
        ),
        (edit("history", 1, of=["x"]), "history.jsonl:1: of: found a list of 1; expected one of sentences, summaries"),
        (edit("gold_pairs", 2, worse="d:0"), 'gold_pairs.jsonl:2: worse: found "d:0"; expected a system that'),
        (edit("assignments", 1, annotator="w2"), 'assignments.jsonl:1: annotator: found "w2", which is unknown'),
        (edit("assignments", 1, topic="U"), 'assignments.jsonl:1: topic: found "U", which is unknown'),
        (
            edit("assignments", 1, left="d:2"),
            'assignments.jsonl:1: left: found "d:2"; expected a sentence of the topic',
        ),
        (edit("assignments", 1, right="d:0"), 'assignments.jsonl:1: right: found "d:0" on both sides'),
        (edit("assignments", 1, key="K"), 'assignments.jsonl:1: key: found the text "K"; expected a UUID'),
        (edit("assignments", 1, holds_place=1), "assignments.jsonl:1: holds_place: found the number 1; expected true"),
        (
            edit("assignments", 1, state="lost"),
            'assignments.jsonl:1: state: found the text "lost"; expected one of open',
        ),
        (
            edit("judgments", 1, assignment=OTHER_KEY),
            f"judgments.jsonl:1: assignment: found the key {OTHER_KEY}, which no",
        ),
        (edit("judgments", 2, revision=1), f'judgments.jsonl:2: revision: found judgment "{KEY}, revision 1" for the'),
        (edit("judgments", 2, revision=0), "judgments.jsonl:2: revision: found the number 0; expected a whole number"),
        (
            edit("judgments", 1, seconds=-1),
            "judgments.jsonl:1: seconds: found the number -1; expected a number, 0 or more",
        ),
        (edit("judgments", 1, answer="a"), 'judgments.jsonl:1: answer: found the text "a"; expected one of left'),
        (edit("fits", 1, topic="U"), 'fits.jsonl:1: topic: found "U", which is unknown'),
        (edit("fits", 1, scores={"x": [1, 2, 3, 4]}), 'fits.jsonl:1: scores: found "x"; expected systems that'),
        (edit("fits", 1, scores={"lead": [1]}), "fits.jsonl:1: scores.lead: found a list of 1; expected a list of 4"),
        (edit("fits", 1, utilities={"d:9": [1, 2, 3]}), 'fits.jsonl:1: utilities: found "d:9"; expected sentences of'),
        (edit("fits", 1, residual=None), "fits.jsonl:1: residual: found null; expected a number, 0 or more"),
        (edit("gold_pairs", 1, better="d:9"), 'gold_pairs.jsonl:1: better: found "d:9"; expected a sentence of'),
        (edit("gold_pairs", 1, worse="d:1"), 'gold_pairs.jsonl:1: worse: found "d:1" on both sides'),
        (edit("gold_pairs", 1, topic="U"), 'gold_pairs.jsonl:1: topic: found "U", which is unknown'),
        (edit("assignments", 1, expected=...), "assignments.jsonl:1: expected: found no such key; expected all of"),
        (edit("history", 1, key=KEY), f"history.jsonl:1: key: found the key {KEY} of an assignment"),
        (edit("history", 1, annotator="w2"), 'history.jsonl:1: annotator: found "w2", which is unknown'),
        (edit("history", 1, left=7), "history.jsonl:1: left: found the number 7; expected an object in braces"),
        (
            edit("history", 1, right={"number": 0, "document": "d", "text": "Tow."}),
            "history.jsonl:1: right: found another sentence of number 0; expected one each",
        ),
        (
            edit("history", 1, right={"number": 0, "document": "d", "text": "One."}),
            'history.jsonl:1: right: found "One." on both sides',
        ),
        (setting(gold_share=0.6), "study.json:1: settings.gold_share: found the number 0.6; expected a number from 0"),
        (
            edit("topics", 1, base="U"),
            'topics.jsonl:1: base: found "U", which is unknown; expected a topic of the study',
        ),
        (edit("topics", 1, documents=[], pyramid=..., summaries=[]), "topics.jsonl:1: documents: found no documents"),
        (
            setting(judgments_per_pair=0),
            "study.json:1: settings.judgments_per_pair: found the number 0; expected a whole",
        ),
        (setting(smooth="more"), 'study.json:1: settings.smooth: found the text "more"; expected one of kernel'),
        (setting(language="x"), 'study.json:1: settings.language: found the text "x"; expected a language tag'),
        (setting(title=7), "study.json:1: settings.title: found the number 7; expected text in double quotes"),
        (setting(title="x" * 201), "study.json:1: settings.title: found 201 characters; expected at most 200"),
        (setting(prior="1"), 'study.json:1: settings.prior: found the text "1"; expected a number from 0 to 1000'),
        (setting(extra=[]), "study.json:1: settings.extra: found a list of 0; expected an object in braces"),
        (edit("annotators", 1, pseudonym=7), "annotators.jsonl:1: pseudonym: found the number 7; expected a name"),
        (edit("annotators", 1, joined_at=7), "annotators.jsonl:1: joined_at: found the number 7; expected a time"),
        (edit("fits", 1, scores=[]), "fits.jsonl:1: scores: found a list of 0; expected an object in braces"),
        (edit("reported_pairs", 1, assignment=KEY), f"reported_pairs.jsonl:1: assignment: found the key {KEY}, which"),
        (
            edit("questionnaires", 1, questions=[{"text": "A?", "kind": "one", "options": [], "required": False}]),
            'questionnaires.jsonl:1: questions: found "A?"; expected a text, and 2 or more options for a choice',
        ),
        (edit("questionnaires", 1, version=2), "questionnaires.jsonl:2: version: found questionnaire"),
        (
            lambda files: files.update(
                {"questionnaires.jsonl": re.sub('"(before|after)"', '"platform"', files["questionnaires.jsonl"])}
            ),
            "questionnaires.jsonl:2: place: found several versions of a platform; expected at most one",
        ),
        (
            edit("questionnaire_answers", 1, annotator="w2"),
            'questionnaire_answers.jsonl:1: annotator: found "w2", which is unknown',
        ),
        (edit("questionnaire_answers", 1, version=7), "questionnaire_answers.jsonl:1: version: found 7; expected a"),
        *[
            (
                edit("questionnaire_answers", 1, answers=answers),
                f'questionnaire_answers.jsonl:1: answers: found "{text}"; expected an',
            )
            for text, answers in {
                "Age?": {"Age?": "old", "Skill?": 1},
                "Skill?": {"Age?": 7},
                "Whose?": {"Skill?": 1, "Whose?": "mine"},
            }.items()
        ],
        (
            edit("questionnaire_answers", 1, answers={"Skill?": 3}),
            'questionnaire_answers.jsonl:1: answers: found "Skill?"',
        ),
        (
            edit("questionnaire_answers", 1, answers={"Skill?": True}),
            'questionnaire_answers.jsonl:1: answers: found "Skill?"',
        ),
        (
            edit("questionnaire_answers", 1, answers={"Skill?": 1, "Age?": 10**18}),
            'questionnaire_answers.jsonl:1: answers: found "Age?"',
        ),
        (setting(seed=-1), "study.json:1: settings.seed: found the number -1"),
        (lambda files: files.update({"study.json": "{}"}), "study.json:1: format: found no such key; expected all of"),
        (lambda files: files.update({"study.json": ""}), "study.json:1: found 0 lines of settings; expected one"),
        (lambda files: files.update({"extra.txt": ""}), "extra.txt: found a file that does not belong to a study"),
        (lambda files: files.pop("fits.jsonl"), ": found no fits.jsonl in it; expected the archive of a study"),
        (lambda files: files.pop("MANIFEST"), ": found no MANIFEST in it; expected the archive of a study"),
        (lambda files: files.update({"judgments.jsonl": "\n\n"}), "judgments.jsonl:1: found nothing; expected one"),
    ],
)
def test_a_study_that_does_not_hold_together_is_refused(
    tmp_path: Path, change: Callable[[dict[str, str]], None], message: str
) -> None:
    path = rewritten(tmp_path / "study.zip", change)

    with pytest.raises(formats.Refused) as refused:
        study.read(path, name="s.zip")
    messages = [formats.message(complaint) for complaint in refused.value.complaints]
    start = "s.zip" if message.startswith(":") else "s.zip/"
    assert any(found.startswith(start + message) for found in messages), messages


def test_records_that_repeat_what_must_be_unique_are_refused(tmp_path: Path) -> None:
    def change(files: dict[str, str]) -> None:
        for name in ("topics", "annotators", "assignments", "fits"):
            files[f"{name}.jsonl"] *= 2

    with pytest.raises(formats.Refused) as refused:
        study.read(rewritten(tmp_path / "study.zip", change))
    assert {(c.file.partition("/")[2], c.line, c.field) for c in refused.value.complaints} == {
        ("topics.jsonl", 2, "topic_id"),
        *(("annotators.jsonl", line, "pseudonym") for line in (3, 4)),
        *(("assignments.jsonl", line, key) for line in (4, 5, 6) for key in ("key", "occasion")),
        ("fits.jsonl", 2, "data_version"),
    }


def test_a_file_that_changed_after_the_sums_were_made_is_refused(tmp_path: Path) -> None:
    path = rewritten(tmp_path / "study.zip", edit("judgments", 1, answer="right"), sums=False)

    with pytest.raises(formats.Refused) as refused:
        study.read(path)
    assert [formats.message(complaint) for complaint in refused.value.complaints] == [
        "study.zip/judgments.jsonl: found a SHA-256 sum different from that in MANIFEST; "
        "expected the file as it was written"
    ]


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_text("PK")
    with pytest.raises(formats.Refused, match="no zip"):
        study.read(path)
    with pytest.raises(formats.Refused, match="no such file"):
        study.read(tmp_path / "nothing.zip")


def test_the_archive_of_a_study_is_no_bundle_and_the_complaint_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "study.zip"
    path.write_bytes(packed(STUDY))

    with pytest.raises(formats.Refused, match="imported as a study of its own"):
        formats.read(path)


def test_a_study_with_many_judgments_is_read_in_lines(tmp_path: Path) -> None:
    keys = [f"{number:08x}-31fd-4d6b-9d1c-6a4ffd0ae9c1" for number in range(5_000)]
    archive = dataclasses.replace(
        STUDY,
        assignments=[dataclasses.replace(ASSIGNMENT, key=key, occasion=i) for i, key in enumerate(keys)],
        judgments=[JudgmentRecord(key, 1, "right", 1.5, AT) for key in keys],
        reported_pairs=(),
    )
    path = tmp_path / "study.zip"
    path.write_bytes(packed(archive))

    assert [judgment.assignment for judgment in study.read(path).judgments] == keys


def test_a_study_whose_texts_pack_well_is_read_back(tmp_path: Path) -> None:
    text = Text("d", "x" * 999_999)
    archive = dataclasses.replace(
        STUDY,
        topics=(Topic("T", (text,), summaries=STUDY.topics[0].summaries),),
        sentences=(SentenceRecord("T", "d", 0, 0, "x" * 999_999), SentenceRecord("T", "d", 1, 0, "x" * 999_999)),
        fits=(),
    )
    (tmp_path / "study.zip").write_bytes(packed(archive))

    assert study.read(tmp_path / "study.zip") == archive
