"""Comparisons of TL;DR summaries, as published with Stiennon et al. (2020)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.checks.complaints import Place, kind
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, choice_of, text_of, topic_of


def _recognises(row: Row) -> bool:
    return {"info", "summaries", "choice"} <= row.keys()


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    summaries: Any = row.get("summaries")
    if (
        not isinstance(summaries, list)
        or len(summaries) != 2
        or not all(isinstance(summary, dict) for summary in summaries)
    ):
        here.key("summaries").refuse("%(what)s", "a list of two objects with text and policy", what=kind(summaries))
        return
    info, extra = (value if isinstance(value, dict) else {} for value in (row.get("info"), row.get("extra")))
    yield {
        "topic": next(filter(None, (topic_of(here, info.get(key)) for key in ("id", "post", "article"))), ""),
        "a": text_of(summaries[0].get("policy")),
        "b": text_of(summaries[1].get("policy")),
        "winner": choice_of(here, "choice", row.get("choice"), {"0": "a", "1": "b"}),
        "annotator": text_of(row.get("worker")),
        "texts": {
            "prompt": info.get("post", info.get("article")),
            "a": summaries[0].get("text"),
            "b": summaries[1].get("text"),
        },
        **{key: extra[key] for key in ("confidence",) if extra.get(key) is not None},
    }


READER = Reader(
    name="TL;DR comparisons",
    about="people's choices between two policies; of two texts of one policy they are left out and counted",
    keys="`info`, `summaries` (two of `text`, `policy`), `choice` (0 or 1); `worker`, `extra.confidence`",
    source="the README of summarize-from-feedback (065ea4e)",
    recognises=_recognises,
    judgments=_judgments,
    fields={"a": "summaries[0].policy", "b": "summaries[1].policy", "topic": "info.id", "annotator": "worker"},
    example=(
        '{"info": {"id": "t1", "post": "We moved the shed.", "title": "Shed", "subreddit": "made"}, "summaries": '
        '[{"text": "Shed moved.", "policy": "large"}, {"text": "A shed.", "policy": "small"}], "choice": 0, '
        '"worker": "w1", "batch": "batch1", "split": "train", "extra": {"confidence": 7}}\n'
        '{"info": {"id": "t1", "post": "We moved the shed.", "title": "Shed", "subreddit": "made"}, "summaries": '
        '[{"text": "We moved.", "policy": "large"}, {"text": "Shed moved.", "policy": "large"}], "choice": 1, '
        '"worker": "w2", "batch": "batch1", "split": "train", "extra": {}}\n'
    ),
)
