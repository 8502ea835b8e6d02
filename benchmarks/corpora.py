"""The real sets that benchmarks read, and the metrics that need no annotators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from preferendum.evidence import Evidence, evidence
from preferendum.formats import Summary, Text, Topic

DATA = Path(__file__).parents[2] / "shared" / "data"
DEMO = Path(__file__).parents[1] / "annotate" / "demo" / "wikinews.jsonl"
PEERS = ("rouge-1", "rouge-2", "rouge-su4", "js")
#: What needs no references, by the documents and by all systems.
DOCUMENTS = (
    *("js", "js-smoothed", "kl", "kl-summary"),
    *("cosine", "cosine-topic", "topic-share", "topic-fraction", "unigram", "multinomial"),
)
POOLS = ("js-pool", "js-consensus")


@dataclass(frozen=True)
class Set:
    path: Path
    dimension: str | None
    without: tuple[str, ...] = ()


SETS = {
    "summeval": Set(DATA / "summeval" / "topics.jsonl", "relevance", ("human-summaries",)),
    "summeval_op": Set(DATA / "summeval_op" / "topics.jsonl", "relevance", ("human-summaries",)),
    "squality": Set(DATA / "squality" / "topics.jsonl", "overall", ("human",)),
    "wikinews": Set(DEMO, None),
}


def texts(rows: Sequence[dict[str, Any]]) -> tuple[Text, ...]:
    return tuple(Text(row["id"], text=row["text"]) for row in rows)


def read(path: Path, without: Sequence[str]) -> list[Evidence]:
    """The topics of a file; references that are among the judged summaries, less the systems left out, do not count."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    beside = path.parent / "documents.jsonl"
    kept_apart = (
        [json.loads(line) for line in beside.read_text(encoding="utf-8").splitlines()] if beside.exists() else []
    )
    documents = {document["id"]: document for document in kept_apart}
    topics = []
    for line in lines:
        judged = {summary["text"] for summary in line["summaries"] if summary["system"] not in without}
        topics.append(
            Topic(
                line["topic_id"],
                texts(line["documents"] or [documents[name] for name in line["document_ids"]]),
                tuple(reference for reference in texts(line["references"]) if reference.text not in judged),
                tuple(
                    Summary(summary["system"], text=summary["text"], human=summary.get("human", {}))
                    for summary in line["summaries"]
                ),
            )
        )
    return [evidence(topic) for topic in topics]
