"""Given values of source sentences, as a table: topic,sentence,value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.tables import Columns, number, read_rows

COLUMNS = Columns(("topic", "sentence", "value"))


def read_sentence_values(
    file: BinaryIO, place: Place, sentences: Mapping[str, frozenset[str]]
) -> dict[str, dict[str, float]]:
    """Read values by topic and sentence (`<document id>:<index>`); `sentences`: those that there are.

    Complains of all others.
    """
    values: dict[str, dict[str, float]] = {}
    for here, row in read_rows(file, place, COLUMNS):
        topic, sentence, value = row["topic"], row["sentence"], number(here.key("value"), row["value"])
        if topic not in sentences:
            here.key("topic").refuse_unknown("topic", topic, sentences, "a topic of the input")
        elif sentence not in sentences[topic]:
            expected = "a sentence of the topic, such as d1:0"
            here.key("sentence").refuse_unknown("sentence", sentence, sentences[topic], expected)
        elif value is not None:
            values.setdefault(topic, {})[sentence] = value
    return values
