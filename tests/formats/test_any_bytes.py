"""Whatever the bytes are, reading gives a bundle or complaints: never anything else, and never slowly."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from preferendum import formats
from preferendum.formats.archive import study
from tests.formats.test_corpora import TAC_2008
from tests.formats.test_study import STUDY

GOOD_TOPIC = (
    b'{"topic_id": "T", "language": "en", "documents": [{"id": "d", "sentences": ["One \\u00e9.", "Two."]}],'
    b' "summaries": [{"system": "s", "text": "One.", "human": {"r": 4.5}}], "mine": [null, {"x": 1}]}\n'
)
GOOD_TABLE = b'topic,a,b,winner,annotator,seconds,at\nT,d:0,d:1,a,"w ""1""",7.5,2026-01-31T16:53:19Z\n'


def zip_of(method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        packed.writestr("w/topics/T2/documents/d.txt", "One. Two.")
        packed.writestr("w/topics/T2/summaries/s.txt", "One.")
        packed.writestr("w/topics.jsonl", GOOD_TOPIC)
        packed.writestr("w/preferences.csv", GOOD_TABLE)
        packed.writestr("w/human_scores.csv", "topic,system,dimension,score\nT2,s,r,3\n")
    return file.getvalue()


def corpus_bytes() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, content in TAC_2008.items():
            packed.writestr(name, content)
    return file.getvalue()


def study_bytes() -> bytes:
    file = io.BytesIO()
    study.write(STUDY, file)
    return file.getvalue()


SEEDS = {
    "topics": GOOD_TOPIC,
    "table": GOOD_TABLE,
    "scores": b"topic,system,dimension,score\nT,s,r,3\n",
    "stored zip": zip_of(zipfile.ZIP_STORED),
    "packed zip": zip_of(zipfile.ZIP_DEFLATED),
    "study": study_bytes(),
    "corpus": corpus_bytes(),
}
SPLICES = [
    b'"',
    b"\\",
    b"\0",
    b"\r",
    b"\n",
    b",",
    b"{" * 30,
    b"\xff",
    b"PK\x03\x04",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"\xed",
]


def mutated(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        position = rng.randrange(len(changed))
        match rng.randrange(4):
            case 0:
                changed[position] ^= 1 << rng.randrange(8)
            case 1:
                changed[position] = rng.randrange(256)
            case 2:
                changed[position:position] = rng.choice(SPLICES)
            case 3:
                del changed[position : position + rng.choice([1, 4, 40])]
        if not changed:
            break
    return bytes(changed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_valid_file_with_broken_bytes_gives_a_bundle_or_complaints(tmp_path: Path, seed: str) -> None:
    rng = random.Random(seed)
    readers: list[Callable[[Path], object]] = [formats.read, study.read]
    outcomes, messages = set(), []
    for _ in range(400):
        path = tmp_path / "x"
        path.write_bytes(mutated(SEEDS[seed], rng))
        for read in readers if seed == "study" else readers[:1]:
            try:
                read(path)
                outcomes.add("read")
            except formats.Refused as refused:
                outcomes.add("refused")
                messages += map(formats.message, refused.complaints)
    assert "refused" in outcomes
    assert all(message.isprintable() for message in messages)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
@example(data=b"PK\x05\x06")
@example(data=b"PK\x03\x04" + b"PK\x05\x06" + b"\0" * 18)
@example(data=b"\xef\xbb\xbf")
def test_any_bytes_at_all_give_a_bundle_or_complaints(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    for read in (formats.read, study.read):
        with pytest.raises(formats.Refused):
            read(path)


HEAD, TAIL = b'{"topic_id": "T", "documents": [{"id": "d", "text": "', b'"}]}'
MARKS = b"\\u0301\\u0323"


@pytest.mark.parametrize(
    "content",
    [
        HEAD + MARKS * 100_000 + TAIL,
        HEAD + b"\\" * 4_000_001,
        b'{"a": ' + b"\\" * 4_000_000,
        b"{" + b'\\"' * 2_000_000,
        b'{"a":"' * 600_000,
        b"[" * 4_000_000,
        b'topic,a,b,winner\n"' + b'""' * 2_000_000,
        b"topic,a,b,winner\n" + b'"\n' * 200_001,
        b"topic,a,b,winner\n" + b"," * 4_000_000,
        b'{"x": ' + b"9" * 4_000_000 + b"}",
        b'{"x": 0.' + b"9" * 4_000_000 + b"}",
        b"{" + b",".join(b'"%d": 1' % number for number in range(200_000)) + b"}",
    ],
    ids=range(12),
)
def test_files_made_to_be_slow_are_refused_too(tmp_path: Path, content: bytes) -> None:
    """Each takes a second or so where work grows with size, and hours where it grows with the square of it."""
    path = tmp_path / "x.jsonl" if content.startswith((b"{", b"[")) else tmp_path / "x.csv"
    path.write_bytes(content)

    with pytest.raises(formats.Refused):
        formats.read(path)
