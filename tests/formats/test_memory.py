"""The largest upload that is taken, and the greediest that is not, fit into a process of modest size."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.formats import hostile

ROOT = Path(__file__).resolve().parents[2]
#: Megabytes more than the program itself takes.
MORE = 300
#: Prints what reading gave and how many megabytes the process has grown for it. (`resource.getrusage` would give the
#: peak of whoever started the process, where that was higher.)
READING = """
import sys
from preferendum import formats
def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
before = peak()
existing = formats.Existing({"M1": formats.ExistingTopic({"d": 500000})})
try:
    outcome = formats.read(sys.argv[1], existing=existing)
    said = "read"
except formats.Refused:
    said = "refused"
print(said, round(peak() - before))
"""


def grown(path: Path) -> tuple[str, int]:
    found = subprocess.run(
        [sys.executable, "-c", READING, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    said, megabytes = found.stdout.split()
    return said, int(megabytes)


@cache
def text(size: int, seed: int) -> str:
    """Few words, which pack well."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcde", k=6)) for _ in range(40)]
    return " ".join(rng.choices(words, k=size // 7))[:size] + "."


def topics(path: Path) -> None:
    """49 MB of topics. One character in each makes Python keep the whole text in four bytes a character."""
    with path.open("w") as file:
        for number in range(49):
            document = {"id": "d", "text": text(990_000, number % 7) + "\U0001f600"}
            file.write(json.dumps({"topic_id": f"T{number}", "documents": [document]}, ensure_ascii=False) + "\n")


def texts(path: Path) -> None:
    """Nearly 200 MB of plain texts in a zip of less than 50."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for number in range(198):
            packed.writestr(f"topics/T{number}/documents/d.txt", text(990_000, number % 7))


def judgments(path: Path) -> None:
    with path.open("w") as file:
        file.writelines(
            f'{{"topic": "M1", "a": "d:{number}", "b": "d:{number + 1}", "winner": "a", "annotator": "w{number}", '
            f'"at": "2026-01-31T16:53:19Z", "seconds": 7.5}}\n'
            for number in range(200_000)
        )


def summaries(path: Path) -> None:
    with path.open("w") as file:
        file.write("topic,system,text\n")
        file.writelines(f"M1,system {number},{'word ' * 45}\n" for number in range(199_000))


def documents(path: Path) -> None:
    """More than a million of them."""
    with path.open("w") as file:
        for number in range(40):
            line = {"topic_id": f"T{number}", "documents": [{"id": f"{n}", "text": "x"} for n in range(39_000)]}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def values(path: Path) -> None:
    """Lines of many small values each, in keys that nobody knows and everybody keeps."""
    with path.open("w") as file:
        for number in range(60):
            line = {"topic_id": f"T{number}", "documents": [{"id": "d", "text": "x"}], "x": [[1.5]] * 90_000}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def one_line(path: Path) -> None:
    path.write_bytes(b'{"topic_id": "' + b"x" * 49_000_000)


def of_case(name: str) -> Callable[[Path], None]:
    """A file of the hostile ones, by the end of its name."""

    def make(path: Path) -> None:
        (case,) = (case for case in hostile.CASES if str(case).endswith(name))
        path.write_bytes(case.content())

    return make


CASES = {
    "topics in wide characters": (topics, "read"),
    "texts in a zip": (texts, "read"),
    "200,000 judgments": (judgments, "read"),
    "199,000 summaries": (summaries, "read"),
    "values nobody knows": (values, "refused"),
    "tiny documents": (documents, "refused"),
    "one line": (one_line, "refused"),
    "a bomb": (of_case("a zip: a bomb of 64 MB"), "refused"),
    "entries that share their bytes": (of_case("200 entries that share their bytes"), "refused"),
    "elements in each other": (of_case("600,000 elements in each other"), "read"),
    "attributes": (of_case("the same attributes many times"), "read"),
    "a billion laughs": (of_case("a billion laughs"), "read"),
    "brackets": (of_case("100,000 lists in each other"), "refused"),
}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux how large a process is")
@pytest.mark.parametrize("name", CASES)
def test_no_upload_takes_more_memory_than_there_is_for_it(name: str, tmp_path: Path) -> None:
    make, outcome = CASES[name]
    path = tmp_path / "upload"
    make(path)

    said, megabytes = grown(path)

    print(f"{name}: {path.stat().st_size // 1_000_000} MB, {said}, {megabytes} MB more")
    assert said == outcome
    assert megabytes < MORE
