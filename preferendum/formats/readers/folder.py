"""The folder layout: topics/<topic>/documents/*.txt, references/*.txt, summaries/<system>.txt; tables at the top."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place
from preferendum.formats.checks.text import name
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.sources import Source, read_text
from preferendum.formats.readers.topics import joined_text
from preferendum.formats.records import Summary, Text, Topic

Part = TypeVar("Part", bound=Text)

LAYOUT = "topics/<topic>/documents/*.txt, references/*.txt or summaries/<system>.txt"
_PLACES = ("documents", "references", "summaries")


def belongs(source: Source) -> bool:
    """Whether the file lies in the part of the layout that holds texts."""
    return len(source.parts) > 1 and source.parts[0] == "topics"


def read_folder(sources: Iterable[Source], place: Place, draft: Draft) -> None:
    """The topics of all files for which `belongs` is true."""
    by_topic: dict[str, list[Source]] = {}
    for source in sources:
        here = Place(place.complaints, source.label)
        if len(source.parts) != 4 or source.parts[2] not in _PLACES:
            here.refuse("a file in an unknown place", LAYOUT)
        elif not source.name.lower().endswith(".txt"):
            here.refuse("a file that does not end in .txt", LAYOUT)
        else:
            by_topic.setdefault(source.parts[1], []).append(source)
    for topic_id, files in by_topic.items():
        before = len(place.complaints.collected)
        here = Place(place.complaints, "/".join(files[0].label.split("/")[:-2]))
        topic = Topic(
            name(here, topic_id) or "",
            _texts(files, "documents", place, _text),
            _texts(files, "references", place, _text),
            _texts(files, "summaries", place, _summary),
        )
        if len(place.complaints.collected) > before:
            continue
        if not (topic.documents or topic.references or len(topic.summaries) > 1):
            expected = "documents/*.txt (people judge their sentences), or references/*.txt, or two summaries/*.txt"
            here.refuse("no documents", expected)
        elif not draft.add_topic(topic, here):
            return


def _texts(files: list[Source], where: str, place: Place, make: Callable[[str, str], Part]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for source in files:
        if source.parts[2] != where:
            continue
        here = Place(place.complaints, source.label)
        unchecked = read_text(source, here, limits.TEXT)
        text = None if unchecked is None else joined_text(here, unchecked, empty=where == "summaries")
        called = name(here, source.stem)
        if text is not None and called is not None:
            parts.append(make(called, text))
    return tuple(parts)


def _text(called: str, text: str) -> Text:
    return Text(called, text)


def _summary(called: str, text: str) -> Summary:
    return Summary(called, text)
