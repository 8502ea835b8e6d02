"""How much is taken, tried with limits made small."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from preferendum import formats
from preferendum.formats.archive import study
from preferendum.formats.checks import limits
from preferendum.formats.checks.limits import Limits
from tests.formats.test_corpora import PYRAMID, STORY, on_disk
from tests.formats.test_study import STUDY

TOPIC = '{"topic_id": "T%d", "documents": [{"id": "d", "text": "One."}]}\n'
ROW = '{"topic": "T", "a": "d:0", "b": "d:1", "winner": "a"}\n'


def messages(path: Path) -> list[str]:
    with pytest.raises(formats.Refused) as refused:
        formats.read(path, name="x")
    return [formats.message(complaint) for complaint in refused.value.complaints]


@pytest.mark.parametrize(
    ("limit", "content", "message"),
    [
        (
            "TOPICS",
            "".join(TOPIC % n for n in range(4)),
            "x:4: found more than 3 of them; expected no more in one file",
        ),
        ("ROWS", ROW * 4, "x:4: found more than 3 of them"),
        ("ROWS", "topic,a,b,winner\n" + "T,d:0,d:1,a\n" * 4, "x:5: found more than 3 of them"),
        ("ROWS", "topic,system,text\n" + "".join(f"T,s{n},x\n" for n in range(4)), "x:5: found more than 3 of them"),
        ("ROWS", "topic,system,dimension,score\n" + "T,s,r,1\n" * 4, "x:5: found more than 3 of them"),
        ("ROWS", "topic,system,metric,score\n" + "T,s,r,1\n" * 4, "x:5: found more than 3 of them"),
        ("VALUES", TOPIC.replace("}\n", ', "x": [1,2,3,4]}') % 1, "x:1: found more than 3 values; expected fewer"),
        ("COLUMNS", "topic,a,b,winner\n", "x:1: found more than 3 columns; expected fewer"),
        ("MEMORY", TOPIC % 1, "x:1: found more than 0 MB of texts and values; expected smaller files"),
        ("TEXT", '{"topic_id": "T", "documents": [{"id": "d", "sentences": ["On", "e."]}]}', "x:1: documents[0].sent"),
        ("TEXT", '{"topic_id": "T", "documents": [{"id": "d", "text": "éé"}]}', "x:1: documents[0].text: found a text"),
    ],
)
def test_more_than_enough_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, content: str, message: str
) -> None:
    monkeypatch.setattr(limits, limit, 3)
    path = tmp_path / "x"
    path.write_text(content)

    found = messages(path)
    assert found[-1].startswith(message), found


def test_a_quoted_value_may_not_run_on_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LINE", 100)
    path = tmp_path / "x"
    path.write_text('topic,a,b,winner\n"T\n' + "word\n" * 100)

    assert messages(path)[0].startswith("x:2: found a value of more than 100 characters")


def test_a_quoted_value_with_a_bad_line_in_it_is_refused_at_that_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b'topic,system,text\nT,s,"one\n\xff\ntwo"\n')

    assert messages(path)[0].startswith("x:3: found the byte 0xFF at byte 1 of the line, which is not UTF-8")


def test_a_header_that_cannot_be_read_is_the_only_complaint(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"topic,system,text,\xe9\nT,s,x,y\nT,s,x,y\n")

    assert len(messages(path)) == 1


def test_a_directory_has_limits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DIRECTORY", Limits(entries=2, folders=3))
    on_disk(tmp_path / "many", {f"{n}.csv": "" for n in range(3)})
    assert messages(tmp_path / "many")[-1] == "x: found more than 2 files or 200 MB; expected less"

    on_disk(tmp_path / "deep", {"a/b/c/d/e.csv": ""})
    assert (
        messages(tmp_path / "deep")[0] == "a/b/c/d/e.csv: found more than 3 folders deep; expected a flatter directory"
    )


def test_what_is_no_file_in_a_directory_is_refused_and_never_opened(tmp_path: Path) -> None:
    on_disk(tmp_path, {"topics/T/documents/d.txt": "One."})
    os.mkfifo(tmp_path / "topics/T/documents/e.txt")

    assert messages(tmp_path) == [
        "topics/T/documents/e.txt: found neither a file nor a folder; expected ordinary files"
    ]


def test_a_file_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    (tmp_path / os.fsdecode(b"topics/caf\xe9.txt")).write_text("One.")

    assert messages(tmp_path) == [
        "topics/caf\\u{DCE9}.txt: found a file name that is not UTF-8; expected file names in UTF-8"
    ]


def test_a_file_that_may_not_be_read_is_a_complaint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    path.write_text(ROW)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert messages(path) == ["x: found a file that cannot be read (PermissionError); expected a complete file"]
    with pytest.raises(formats.Refused, match="PermissionError"):
        study.read(path)


def test_folders_that_a_zip_names_by_themselves_hold_nothing(
    zipped: Callable[[Mapping[str, str | bytes]], Path],
) -> None:
    path = zipped({"topics/": "", "topics/T/": "", "topics/T/documents/": "", "topics/T/documents/d.txt": "One."})

    assert formats.read(path).topics[0].topic_id == "T"


def test_a_study_has_limits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    study.write(STUDY, file)
    path = tmp_path / "study.zip"
    path.write_bytes(file.getvalue())
    monkeypatch.setattr(limits, "STUDY", Limits(upload=1_000_000, entries=8))
    with pytest.raises(formats.Refused, match="entries"):
        study.read(path)
    monkeypatch.setattr(limits, "STUDY", Limits(upload=100))
    with pytest.raises(formats.Refused, match="at most"):
        study.read(path)


def test_a_manifest_that_is_no_list_of_sums_is_refused_by_line(tmp_path: Path) -> None:
    file = io.BytesIO()
    study.write(STUDY, file)
    with zipfile.ZipFile(file) as good, zipfile.ZipFile(tmp_path / "s.zip", "w") as bad:
        for name in good.namelist():
            bad.writestr(name, b"sums\n" if name == "MANIFEST" else good.read(name))

    with pytest.raises(formats.Refused) as refused:
        study.read(tmp_path / "s.zip")
    assert formats.message(refused.value.complaints[0]) == (
        's.zip/MANIFEST:1: found "sums"; expected a SHA-256 sum, two spaces and a name'
    )


def test_a_corpus_says_what_it_leaves_out_because_of_its_size_or_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ANNOTATION", 10)
    files = {
        "a/d301i/x": STORY,
        "b/d301i/x": STORY,
        "pyramids/D301.pyr": PYRAMID,
        "ROUGE/models/D301.M.250.I.A": "One.",
        "ROUGE/peers/D301.M.250.I.A": "Two.",
        "ROUGE/peers/D301.M.250.I.1": "<html><body>Three.<p>Four.</body></html>",
    }
    bundle = formats.read(on_disk(tmp_path, files))

    assert [remark.said % remark.params for remark in bundle.remarks] == [
        "ignored: an earlier summary of topic D301 by A",
        "ignored: topic D301 already has a document of this name",
        "ignored: larger than 0 MB",
    ]
    assert bundle.topics[0].summaries[0].text == "Three.\nFour."


def test_only_the_first_twenty_unknown_names_get_suggestions(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("topic,system,metric,score\n" + "".join(f"topic,system{n:02},m,1\n" for n in range(30)))

    with pytest.raises(formats.Refused) as refused:
        formats.read(path, existing=formats.Existing({"topic": formats.ExistingTopic({"d": 1}, frozenset({"system"}))}))
    assert sum("most similar" in complaint.found for complaint in refused.value.complaints) == 20
