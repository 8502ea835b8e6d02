"""The hostile files of `tests.formats.hostile`, each read: what must become of it becomes of it, soon and in here."""

from __future__ import annotations

import dataclasses
import io
import os
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from preferendum import formats
from preferendum.formats.records import Existing, ExistingTopic
from tests.formats.hostile import CASES, ENDLESS, Case, Exact, Normalized, Refused

ROOT = Path(__file__).resolve().parents[2]
#: Modules that are loaded when they are first needed.
PROGRAM = (str(ROOT), sys.base_prefix, sys.prefix, *sysconfig.get_paths().values())
KNOWN = Existing({"M1": ExistingTopic({"d1": 3, "d2": 2}, frozenset(["lead", "long"]))})

_heard: list[list[str]] = []


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hooks cannot be taken away again: this one notes things only while somebody listens."""
    if not _heard:
        return
    if event == "open":
        _heard[-1].append(f"open {os.fspath(arguments[0])!s}")
    elif event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.remove", "os.rename", "os.mkdir")):
        _heard[-1].append(f"{event} {arguments}")


sys.addaudithook(_listen)


@contextmanager
def heard() -> Iterator[list[str]]:
    """What this process opens, sends and starts meanwhile."""
    _heard.append([])
    try:
        yield _heard[-1]
    finally:
        _heard.pop()


def elsewhere(events: list[str], upload: Path) -> list[str]:
    """The events that are neither reading the upload nor loading our own program."""
    own = {f"open {upload}"}
    return [one for one in events if one not in own and not one.removeprefix("open ").startswith(PROGRAM)]


def strings(found: Any) -> Iterator[str]:
    """Every text in what was read, names and keys too; not what was remarked on."""
    if isinstance(found, str):
        yield found
    elif dataclasses.is_dataclass(found) and not isinstance(found, type):
        for field in dataclasses.fields(found):
            if field.name != "remarks":
                yield from strings(getattr(found, field.name))
    elif isinstance(found, dict):
        for key, value in found.items():
            yield from strings(key)
            yield from strings(value)
    elif isinstance(found, list | tuple):
        for one in found:
            yield from strings(one)


def wrong(case: Case, outcome: formats.Bundle | formats.Refused) -> str:
    """What is not as it must be; empty where all is."""
    if isinstance(outcome, formats.Refused):
        messages = [formats.message(one) for one in outcome.complaints]
        if not isinstance(case.becomes, Refused):
            return f"refused: {messages[0]}"
        said = (one for one in messages if one.startswith(case.becomes.place) and case.becomes.words in one)
        if (message := next(said, None)) is None:
            return f"not said: {messages[0]}"
        if case.becomes.alone and len(messages) > 1:
            return f"not alone: {messages[1]}"
        clear = message.isprintable() and len(message) < 700 and ": found " in message and "; expected " in message
        return "" if clear else f"unclear: {message}"
    if isinstance(case.becomes, Refused):
        return f"taken, with {[one.said % one.params for one in outcome.remarks][:3]}"
    texts = list(strings(outcome))
    if not any(case.becomes.kept in text for text in texts):
        return f"not kept: {[text[:80] for text in texts][:10]}"
    if isinstance(case.becomes, Normalized) and case.becomes.gone and any(case.becomes.gone in one for one in texts):
        return "not mended"
    unclear = [said for one in outcome.remarks if not (said := one.said % one.params).isprintable()]
    return f"unclear: {unclear}" if unclear else ""


def read(path: Path, case: Case) -> formats.Bundle | formats.Refused:
    try:
        return formats.read(path, name=case.file, existing=KNOWN)
    except formats.Refused as refused:
        return refused


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_must_become_of_a_hostile_file_becomes_of_it(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(case.content())

    with heard() as events:
        start = time.process_time()
        outcome = read(path, case)
        seconds = time.process_time() - start

    assert wrong(case, outcome) == ""
    assert seconds < ENDLESS
    assert elsewhere(events, path) == []
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(outcome, formats.Bundle) and outcome.topics:
        assert written_and_read(outcome, tmp_path / "again.jsonl").topics == outcome.topics


def written_and_read(bundle: formats.Bundle, path: Path) -> formats.Bundle:
    """An export must take whatever an import took."""
    file = io.BytesIO()
    formats.write_topics(bundle.topics, file)
    path.write_bytes(file.getvalue())
    return formats.read(path)


def test_every_importer_has_its_hostile_files() -> None:
    kinds = Counter(case.kind.partition(",")[0] for case in CASES)
    print(dict(kinds), len(CASES))
    assert min(kinds.values()) >= 30
    assert {type(case.becomes) for case in CASES} == {Exact, Normalized, Refused}
    assert max(Counter(map(str, CASES)).values()) == 1


def test_what_leads_elsewhere_would_be_heard(tmp_path: Path) -> None:
    """The watch of these tests is no sham: a reader that opened another file or wrote one would be told of."""
    upload = tmp_path / "upload"
    upload.write_bytes(b"x")
    with heard() as events:
        Path(upload).read_bytes()
        Path("/etc/hostname").exists()
        (tmp_path / "evil.txt").write_text("x")
        (tmp_path / "evil.txt").unlink()
    assert [one.split()[0] for one in elsewhere(events, upload)] == ["open", "os.remove"]
