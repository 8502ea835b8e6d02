"""I12: an export holds the rows of the database at the version that it states, whole, and the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.harness.seen import Seen

#: Run inside: asks for the study twice, as its owner does. The worker writes the first, this process the second.
ASK = """
import time
from annotate import exports

study = Study.objects.get(pk=study)

def wait_for(export):
    deadline = time.monotonic() + 60
    while export.state == "waiting" and time.monotonic() < deadline:
        time.sleep(0.05)
        export.refresh_from_db()
    return [export.state, export.file.path if export.file else "", export.sha256]

first = wait_for(exports.request_export(study, study.created_by))
second = exports.request_export(study, study.created_by)
exports.write_export(second)
result = [first, wait_for(second)]
"""


def exports(seen: Seen) -> Iterator[str]:
    """I12: asks for two exports, and holds them against the rows and each other."""
    contents = []
    for state, path, digest in seen.run(ASK, study=seen.study):
        if state != "ready":
            yield f"an export is {state} after a minute"
            return
        contents.append(Path(path).read_bytes())
        if hashlib.sha256(contents[-1]).hexdigest() != digest:
            yield "an export does not have the SHA-256 sum that is told"
    if contents[0] != contents[1]:
        yield "two exports of one version differ"
    with zipfile.ZipFile(path) as packed:
        yield from differences(seen, {name: packed.read(name) for name in packed.namelist()})


def differences(seen: Seen, files: dict[str, bytes]) -> Iterator[str]:
    """What the files of an archive say that the tables do not, and the other way round."""
    for line in files["MANIFEST"].decode().splitlines():
        digest, _, name = line.partition("  ")
        if hashlib.sha256(files[name]).hexdigest() != digest:
            yield f"{name} is not what MANIFEST says"
    for name, rows in tables(seen).items():
        told = [_row(name, json.loads(line)) for line in files[name].splitlines()]
        if told != rows:
            wrong = next((n for n, (line, row) in enumerate(zip(told, rows, strict=False)) if line != row), "the end")
            yield f"{name} has {len(told)} rows, the database {len(rows)}; they differ first at {wrong}"


def tables(seen: Seen) -> dict[str, list[Any]]:
    """By file: what its rows must say, in their order, as far as `_row` looks at them."""
    topics = seen.tables.rows(
        "SELECT id, name FROM annotate_topic WHERE study_id = ? AND removal_id IS NULL ORDER BY position",
        seen.study,
    )
    fits, sentences = [], []
    for topic in topics:
        rows = seen.tables.rows(
            "SELECT * FROM annotate_fit WHERE item_set_id = ? ORDER BY data_version, scored_by DESC", topic["id"]
        )
        fits += [(topic["name"], row["data_version"], row["scored_by"], row["judgments"]) for row in rows]
        rows = seen.tables.rows("SELECT text FROM annotate_item WHERE item_set_id = ? ORDER BY position", topic["id"])
        sentences += [(topic["name"], row["text"]) for row in rows]
    return {
        "topics.jsonl": [topic["name"] for topic in topics],
        "sentences.jsonl": sentences,
        "annotators.jsonl": [row["pseudonym"] for _, row in sorted(seen.annotators.items())],
        "assignments.jsonl": [
            (row["key"], row["state"], bool(row["holds_place"]), row["occasion"])
            for _, row in sorted(seen.assignments.items())
        ],
        "judgments.jsonl": [
            (seen.assignments[row["assignment_id"]]["key"], row["revision"], row["answer"], row["seconds"])
            for row in seen.judgments
        ],
        "fits.jsonl": fits,
    }


def _row(name: str, told: dict[str, Any]) -> Any:
    match name:
        case "topics.jsonl":
            return told["topic_id"]
        case "sentences.jsonl":
            return told["topic"], told["text"]
        case "annotators.jsonl":
            return told["pseudonym"]
        case "assignments.jsonl":
            return told["key"].replace("-", ""), told["state"], told["holds_place"], told["occasion"]
        case "judgments.jsonl":
            return told["assignment"].replace("-", ""), told["revision"], told["answer"], told["seconds"]
        case _:
            return told["topic"], told["data_version"], told["scored_by"], told["judgments"]
