"""How often words occur in a large collection: the number of its documents, then a line `word count [documents]` each.

SIMetrix calls them background counts. Words are as they are written, not stemmed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.lines import read_lines

_EXPECTED = "a word and how often it occurs, such as: quake 12, with the number of documents that have it behind"


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Of a collection of so many `documents`: how often each word occurs, and in how many documents if known."""

    documents: int
    counts: Mapping[str, int]
    document_counts: Mapping[str, int]


def read_word_counts(file: BinaryIO, place: Place) -> WordCounts:
    """The counts of a file; those of a word that it has twice are added. Complains of what is none."""
    documents = 0
    counts: dict[str, int] = {}
    document_counts: dict[str, int] = {}
    for number, line in read_lines(file, place):
        fields = (line or "").split()
        here = place.at(number)
        if number == 1:
            documents = _number(fields[0]) if len(fields) == 1 else 0
            if not documents:
                here.refuse("%(line)s", "the number of documents alone on the first line", line=shown(line or ""))
                break
        elif fields:
            word, *numbers = fields[0], *map(_number, fields[1:])
            if not 1 <= len(numbers) <= 2 or not all(numbers):
                here.refuse("%(line)s", _EXPECTED, line=shown(line))
            elif numbers[1:] and numbers[1] > documents:
                here.refuse("a word in %(count)s documents", "at most %(limit)s", count=numbers[1], limit=documents)
            else:
                counts[word] = counts.get(word, 0) + numbers[0]
                if numbers[1:]:
                    document_counts[word] = max(numbers[1], document_counts.get(word, 0))
    if not place.complaints.collected and (not counts or 0 < len(document_counts) < len(counts)):
        place.refuse("words without the number of documents" if counts else "no words", _EXPECTED)
    return WordCounts(documents, counts, document_counts)


def written_word_counts(word_counts: WordCounts) -> str:
    """The text of such a file, the most frequent words first. Reading it back gives the same."""
    ordered = sorted(word_counts.counts.items(), key=lambda item: (-item[1], item[0]))
    documents = word_counts.document_counts
    lines = [
        " ".join(map(str, (word, count, *([documents[word]] if word in documents else [])))) for word, count in ordered
    ]
    return "\n".join([str(word_counts.documents), *lines, ""])


def _number(text: str) -> int:
    """From 1 on; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
