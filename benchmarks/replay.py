"""A real crowd as a study: UKPConvArg1 (Habernal and Gurevych, ACL 2016), whose workers compared arguments.

    python -m benchmarks.replay OUTPUT.zip [--topics N] [--judgments N a topic] [--data ../shared/data/ukpconvarg1]
    python manage.py import_study OUTPUT.zip --owner NAME --title "A real crowd"

Arguments become documents of one sentence each. Workers took several pairs at a time, and what is known is when they
took and when they returned them: each pair is given an equal part of that time, and the moment of the return.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from preferendum.formats import Bundle, Preference, Text, Topic, write_preferences, write_topics

DATA = Path("../shared/data/ukpconvarg1")


def read(data: Path = DATA, topics: int | None = None, judgments: int | None = None) -> Bundle:
    """The first so many topics, and the first so many judgments of each."""
    items, rows = (_lines(data / name) for name in ("items.jsonl", "preferences.jsonl"))
    names = list(dict.fromkeys(row["topic"] for row in rows))[:topics]
    taken = Counter((row["annotator"], row["accepted_at"], row["submitted_at"]) for row in rows)
    texts = {
        name: tuple(Text(item["id"], sentences=(item["text"],)) for item in items if item["topic"] == name)
        for name in names
    }
    return Bundle(
        topics=tuple(Topic(name, documents=texts[name]) for name in names),
        preferences=tuple(
            _preference(row, taken)
            for name in names
            for row in [line for line in rows if line["topic"] == name][:judgments]
        ),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _preference(row: dict[str, Any], taken: Counter[tuple[str, str, str]]) -> Preference:
    accepted, submitted = (datetime.strptime(row[key], "%Y-%m-%d %H:%M:%S.%f UTC") for key in _TIMES)
    together = taken[row["annotator"], row["accepted_at"], row["submitted_at"]]
    return Preference(
        topic=row["topic"],
        a=f"{row['item_a_id']}:0",
        b=f"{row['item_b_id']}:0",
        winner=row["winner"],
        annotator=row["annotator"],
        seconds=(submitted - accepted).total_seconds() / together,
        at=submitted.isoformat() + "Z",
    )


_TIMES = ("accepted_at", "submitted_at")


def write(bundle: Bundle, path: Path) -> None:
    """As one zip that the website and `import_study` take."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open("topics.jsonl", "w") as file:
            write_topics(bundle.topics, file)
        with packed.open("preferences.jsonl", "w") as file:
            write_preferences(bundle.preferences, file)


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("output", type=Path)
    options.add_argument("--topics", type=int)
    options.add_argument("--judgments", type=int)
    options.add_argument("--data", type=Path, default=DATA)
    chosen = options.parse_args(arguments)
    bundle = read(chosen.data, chosen.topics, chosen.judgments)
    write(bundle, chosen.output)
    people = len({preference.annotator for preference in bundle.preferences})
    print(f"{len(bundle.topics)} topics, {len(bundle.preferences)} judgments by {people} people: {chosen.output}")


if __name__ == "__main__":
    main()
