"""How NIST names things in DUC and TAC, and how its tables are laid out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from preferendum.formats.readers.tables import is_number

# D0901A-A, d30001t, D0601A, and in summaries D0901-A, D301: a letter after the digits says who chose the documents.
_TOPIC = re.compile(r"d?(\d{2,5})[a-z]?(?:-([a-c]))?", re.IGNORECASE)
_FOLDER = re.compile(r"d\d{2,5}[a-z]?(?:-[a-c])?", re.IGNORECASE)
# D0901-A.M.100.A.F: topic and set, multi-document, words, who chose the documents, who summarized.
_SUMMARY = re.compile(
    r"(D\d{2,5}(?:-[A-C])?)\.[MP]\.\d{1,4}\.[A-Z]\.(\w{1,10})(?:\.(?:html?|txt|pan|pyr))?", re.IGNORECASE
)
_ASSESSOR = re.compile(r"[A-Za-z0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns (from 0) of summarizer and scores by dimension; `question` tells scores of one name apart.

    `assessor`: the column of who gave the scores; `others`: of scores that another one gave, by their columns.
    """

    summarizer: int
    scores: Mapping[int, str]
    question: int | None = None
    assessor: int | None = None
    others: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    topic: str
    summarizer: str
    dimension: str
    score: float
    assessor: str = ""


def topic_name(text: str) -> str | None:
    """The topic that a folder, a summary or a row of a table is about, as summaries name it: D0901-A, D301."""
    match = _TOPIC.fullmatch(text.strip())
    return match and f"D{match[1]}" + (f"-{match[2].upper()}" if match[2] else "")


def base_of(topic: str) -> str:
    """The first set (D0901-A) of an update set of TAC (D0901-B); empty for others."""
    return f"{topic.removesuffix('-B')}-A" if topic.endswith("-B") else ""


def is_topic_folder(folder: str) -> bool:
    return _FOLDER.fullmatch(folder) is not None


def summary_name(file_name: str) -> tuple[str, str] | None:
    """The topic and the summarizer that a summary's file name gives; None where it is none."""
    match = _SUMMARY.fullmatch(file_name)
    topic = match and topic_name(match[1])
    return (topic, match[2]) if match and topic else None


def is_person(summarizer: str) -> bool:
    """Letters are people, numbers are systems."""
    return summarizer.isalpha()


def read_scores(text: str, layouts: Mapping[int, Layout]) -> Iterator[tuple[int, list[Score]]]:
    """The number and the scores of each row; none where the row cannot be read. `layouts`: by number of columns.

    Lines before the first row that begins with a topic are a header.
    """
    begun = False
    for number, line in enumerate(text.split("\n"), 1):
        cells = line.split()
        topic = topic_name(cells[0]) if cells else None
        begun = begun or (topic is not None and len(cells) in layouts)
        if not cells or not begun:
            continue
        layout = layouts.get(len(cells))
        yield number, list(_scores(cells, topic, layout)) if topic and layout else []


def _scores(cells: list[str], topic: str, layout: Layout) -> Iterator[Score]:
    for column, dimension in layout.scores.items():
        if is_number(cells[column]):
            asked = "" if layout.question is None else f"_{cells[layout.question]}"
            place = layout.others.get(column, layout.assessor)
            assessor = cells[place] if place is not None and _ASSESSOR.fullmatch(cells[place]) else ""
            yield Score(topic, cells[layout.summarizer], dimension + asked, float(cells[column]), assessor)
