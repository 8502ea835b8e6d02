"""What zips hold in all, and names in them; files made to do harm are in `hostile`."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from preferendum import formats
from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.readers.packed import Archive
from preferendum.formats.readers.sources import Damaged
from tests.formats.hostile import entry

GOOD = ("topics/T/documents/d.txt", "One. Two.")


def refused(path: Path) -> list[str]:
    with pytest.raises(formats.Refused) as info:
        formats.read(path, name="z.zip")
    return [formats.message(complaint) for complaint in info.value.complaints]


def packed(path: Path, add: Callable[[zipfile.ZipFile], object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(*GOOD)
        add(archive)
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../evil.txt", "a path that leads out of the ZIP file"),
        ("topics/../../evil.txt", "a path that leads out of the ZIP file"),
        ("/etc/passwd", "an absolute path"),
        ("C:/evil.txt", "an absolute path"),
        ("C:evil.txt", "an absolute path"),
        ("..\\evil.txt", "a backslash in the name"),
        ("//host/share", "an absolute path"),
        ("a//b.txt", "a path with an empty part"),
        ("./b.txt", "a path with an empty part"),
        ("x" * 300, "a name of 300 bytes"),
        ("a/" * 200 + "b", "a name of 401 bytes"),
        ("1/2/3/4/5/6/b.txt", "6 folders deep; expected at most 5"),
        ("a\u0085b", "NEL"),
    ],
)
def test_a_name_that_leads_astray_is_refused(tmp_path: Path, name: str, words: str) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry(name), "x"))

    messages = refused(path)
    assert len(messages) == 1
    assert words in messages[0]
    assert messages[0].isprintable()


def test_a_utf_8_name_without_the_flag_for_it_is_read_as_utf_8(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry("topics/T/documents/eXX.txt"), "x"))
    path.write_bytes(path.read_bytes().replace(b"eXX.txt", "eé.txt".encode()))

    assert [text.name for text in formats.read(path).topics[0].documents] == ["d", "eé"]


def test_many_entries_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    text = " ".join(map(str, range(2_700_000))).encode()[:19_900_000]

    def add(archive: zipfile.ZipFile) -> None:
        for number in range(11):
            archive.writestr(zipfile.ZipInfo(f"{number}.csv"), b"")
        for info in archive.infolist()[1:]:
            info.file_size = len(text)
            info.compress_size = 0

    assert refused(packed(tmp_path / "z", add))[-1] == "z.zip: found 218 MB when unpacked; expected at most 200 MB"


def test_bytes_are_counted_over_all_entries_whatever_the_headers_say(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr("more.txt", "x" * 500))
    archive = Archive(path, Place(Complaints(), "z.zip"), limits.Limits(unpacked=505))

    with archive:
        assert archive.sources == []
    generous = Archive(path, Place(Complaints(), "z.zip"), limits.Limits(unpacked=600))
    with generous:
        first = generous.sources[0]
        with first.open() as stream:
            assert len(stream.read()) == 500
        with first.open() as stream, pytest.raises(Damaged):
            stream.read()
