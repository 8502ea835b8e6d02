"""Zips made to do harm are refused before they do any."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import formats
from formats import limits
from formats.archive import Archive
from formats.complaints import Complaints, Place
from formats.sources import Damaged

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


def entry(name: str, *, mode: int = 0o100644, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = method
    return info


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


def test_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry("topics/aXb.txt"), "x"))
    path.write_bytes(path.read_bytes().replace(b"aXb.txt", b"a\0b.txt"))

    assert "U+0000 (NUL)" in refused(path)[0]


def test_a_name_that_is_not_utf_8_is_refused_and_not_guessed(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry("topics/aXb.txt"), "x"))
    path.write_bytes(path.read_bytes().replace(b"aXb.txt", b"a\xe9b.txt"))

    assert "name is not UTF-8" in refused(path)[0]


def test_a_utf_8_name_without_the_flag_for_it_is_read_as_utf_8(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry("topics/T/documents/eXX.txt"), "x"))
    path.write_bytes(path.read_bytes().replace(b"eXX.txt", "eé.txt".encode()))

    assert [text.name for text in formats.read(path).topics[0].documents] == ["d", "eé"]


def test_a_name_said_to_be_utf_8_that_is_not_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(entry("topics/é.txt"), "x"))
    path.write_bytes(path.read_bytes().replace("é.txt".encode(), b"\xff\xfe.txt"))

    assert "marked as UTF-8 but is not" in refused(path)[0]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (stat.S_IFLNK, "a link or a device"),
        (stat.S_IFIFO, "a link or a device"),
        (stat.S_IFCHR, "a link or a device"),
        (stat.S_IFBLK, "a link or a device"),
        (stat.S_IFSOCK, "a link or a device"),
    ],
)
def test_what_is_no_ordinary_file_is_refused(tmp_path: Path, kind: int, words: str) -> None:
    info = entry("topics/T/documents/e.txt", mode=kind | 0o777)
    path = packed(tmp_path / "z", lambda archive: archive.writestr(info, "/etc/passwd"))

    assert words in refused(path)[0]
    assert refused(path)[0].startswith("z.zip/topics/T/documents/e.txt: ")


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))

    assert "an encrypted entry" in refused(path)[0]


def test_encryption_told_in_the_local_header_alone_is_seen(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    data = bytearray(path.read_bytes())
    data[6] |= 1
    path.write_bytes(bytes(data))

    assert "an encrypted entry" in refused(path)[0]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_rare_packing_method_is_refused(tmp_path: Path, method: int) -> None:
    info = entry("topics/T/documents/e.txt", method=method)
    path = packed(tmp_path / "z", lambda archive: archive.writestr(info, "x"))

    assert "the compression method" in refused(path)[0]


@pytest.mark.parametrize(
    "other",
    ["topics/T/documents/D.txt", "topics/t/documents/d.txt", "topics/T/Documents/d.txt"],
)
def test_names_that_differ_in_case_only_are_refused(tmp_path: Path, other: str) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(other, "x"))

    assert "names that differ in more than case" in refused(path)[0]


def test_names_that_differ_in_composition_only_are_refused(tmp_path: Path) -> None:
    def add(archive: zipfile.ZipFile) -> None:
        archive.writestr("topics/T/documents/é.txt", "x")
        archive.writestr("topics/T/documents/e\u0301.txt", "x")

    assert "the same name as" in refused(packed(tmp_path / "z", add))[0]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr(*GOOD))

    assert "the same name as" in refused(path)[0]


def test_a_file_that_is_also_a_folder_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr("topics/T", "x"))

    assert "a file that is also a folder" in refused(path)[0]


def test_a_bomb_is_refused_by_its_ratio_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = b"a" * 19_000_000
    path = packed(tmp_path / "z", lambda archive: archive.writestr("topics/T/documents/e.txt", bomb))

    assert refused(path) == [
        "z.zip/topics/T/documents/e.txt: found a file compressed more than 100-fold; expected ordinary text"
    ]


def test_one_entry_that_is_too_large_is_refused(tmp_path: Path) -> None:
    def add(archive: zipfile.ZipFile) -> None:
        with archive.open("topics/T/documents/e.txt", "w") as stream:
            for _ in range(256):
                stream.write(b"\0" * 1_048_576)

    assert refused(packed(tmp_path / "z", add))[0] == (
        "z.zip/topics/T/documents/e.txt: found 268 MB when unpacked; expected at most 20 MB in one file"
    )


def test_many_entries_that_are_too_large_together_are_refused(tmp_path: Path) -> None:
    text = " ".join(map(str, range(2_700_000))).encode()[:19_900_000]

    def add(archive: zipfile.ZipFile) -> None:
        for number in range(11):
            archive.writestr(zipfile.ZipInfo(f"{number}.csv"), b"")
        for info in archive.infolist()[1:]:
            info.file_size = len(text)
            info.compress_size = 0

    assert refused(packed(tmp_path / "z", add))[-1] == "z.zip: found 218 MB when unpacked; expected at most 200 MB"


def test_too_many_entries_are_refused_whatever_number_the_end_record_gives(tmp_path: Path) -> None:
    path = tmp_path / "z"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(5_001):
            archive.writestr(zipfile.ZipInfo(f"{number}"), "")
    assert refused(path) == ["z.zip: found 5001 entries; expected at most 5000"]

    data = bytearray(path.read_bytes())
    data[-14:-10] = struct.pack("<2H", 3, 3)
    path.write_bytes(bytes(data))
    assert refused(path) == ["z.zip: found 5001 entries; expected at most 5000"]


def overlapping(count: int) -> bytes:
    """`count` names for the one entry whose bytes they all share."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("topics/T/documents/000.txt", "word " * 200_000)
    data = file.getvalue()
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    record = data[start:end]
    records = b"".join(record.replace(b"000.txt", f"{number:03}.txt".encode()) for number in range(count))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(records), start, 0)
    return data[:start] + records + tail


def test_entries_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_bytes(overlapping(200))

    assert path.stat().st_size < 20_000
    assert refused(path) == ["z.zip: found entries that overlap; expected a ZIP file without overlapping entries"]


def test_an_entry_longer_than_it_said_is_refused_while_it_is_read(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr("summaries.csv", "topic,system,text\n" * 1_000))
    data = bytearray(path.read_bytes())
    for magic, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.index(magic, data.index(magic) + 1)
        data[start + offset : start + offset + 4] = struct.pack("<L", 100)
    path.write_bytes(bytes(data))

    assert any("cannot be" in message for message in refused(path))


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


@pytest.mark.parametrize("kept", [10, 40, 100, -1, -30])
def test_a_zip_that_was_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    path.write_bytes(path.read_bytes()[:kept])

    assert refused(path) == ["z.zip: found a damaged or incomplete ZIP file; expected a complete ZIP file"]


def test_bytes_after_the_end_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    path.write_bytes(path.read_bytes() + b"more")

    assert "damaged or incomplete" in refused(path)[0]


def test_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr("summaries.csv", "topic,system,text\n"))
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    data[start + 16] ^= 0xFF
    path.write_bytes(bytes(data))

    assert any("cannot be decompressed" in message for message in refused(path))


def test_a_zip_in_a_zip_is_refused_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    inner = (tmp_path / "inner").with_suffix(".zip")
    packed(inner, lambda archive: None)
    path = packed(tmp_path / "z", lambda archive: archive.writestr("scores.csv", inner.read_bytes()))

    assert refused(path) == ["z.zip/scores.csv: found a zip; expected one ZIP file with the files themselves"]


def test_something_before_the_zip_makes_it_no_zip(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    path.write_bytes(b"GIF89a" + path.read_bytes())

    assert refused(path)[0].startswith("z.zip")


def test_a_part_of_a_zip_in_parts_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    data = bytearray(path.read_bytes())
    data[-22 + 4] = 1
    path.write_bytes(bytes(data))

    assert "one part of a ZIP file in several parts" in refused(path)[0]


def test_a_zip64_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: None)
    data = path.read_bytes()
    path.write_bytes(data[:-22] + b"PK\x06\x07" + bytes(16) + data[-22:])

    assert "a Zip64 archive" in refused(path)[0]


def test_an_empty_zip_says_what_it_could_have_held(tmp_path: Path) -> None:
    path = tmp_path / "z"
    with zipfile.ZipFile(path, "w"):
        pass

    assert "nothing that can be read; expected topics (.jsonl" in refused(path)[0]


def test_nothing_is_written_beside_the_zip(tmp_path: Path) -> None:
    path = packed(tmp_path / "z", lambda archive: archive.writestr("../evil.txt", "x"))
    refused(path)

    assert [found.name for found in tmp_path.iterdir()] == ["z"]
    assert not (tmp_path.parent / "evil.txt").exists()
