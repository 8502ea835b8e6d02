"""What comes later, as CSV: summaries of further systems, and what people thought of summaries."""

from __future__ import annotations

from typing import BinaryIO

from formats import limits, strict_json
from formats.complaints import Place
from formats.draft import Draft
from formats.records import HumanScore, LateSummary, Summary
from formats.tables import Columns, number, read_rows
from formats.text import name
from formats.topics import checked_text

SUMMARIES = Columns(("topic", "system", "text"), others=True)
HUMAN_SCORES = Columns(("topic", "system", "dimension", "score"))


def read_summaries(file: BinaryIO, place: Place, draft: Draft) -> None:
    for here, row in read_rows(file, place, SUMMARIES):
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        text = checked_text(here.key("text"), row["text"], empty=True)
        extra = strict_json.extras(here, dict(row), frozenset(SUMMARIES.needed))
        if topic and system and text is not None:
            summary = LateSummary(topic, Summary(system, text, extra=extra))
            if not draft.add_row(draft.summaries, summary, here, text, extra):
                return


def read_human_scores(file: BinaryIO, place: Place, draft: Draft) -> None:
    for here, row in read_rows(file, place, HUMAN_SCORES):
        topic, system = name(here.key("topic"), row["topic"]), name(here.key("system"), row["system"])
        dimension = name(here.key("dimension"), row["dimension"], limits.DIMENSION_CHARACTERS)
        score = number(here.key("score"), row["score"])
        if not (topic and system and dimension) or score is None:
            continue
        if not draft.add_row(draft.human_scores, HumanScore(topic, system, dimension, score), here):
            return
