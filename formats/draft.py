"""What was read so far, each record with the place where it stood, until the whole is checked."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from formats import limits
from formats.complaints import Place
from formats.pyramid import Annotation
from formats.records import HumanScore, LateSummary, Preference, Topic

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Placed(Generic[Record]):
    record: Record
    place: Place


@dataclass(slots=True)
class Draft:
    topics: list[Placed[Topic]] = field(default_factory=list)
    summaries: list[Placed[LateSummary]] = field(default_factory=list)
    human_scores: list[Placed[HumanScore]] = field(default_factory=list)
    preferences: list[Placed[Preference]] = field(default_factory=list)
    pyramids: dict[str, Annotation] = field(default_factory=dict)
    memory: int = 0

    def add_topic(self, topic: Topic, place: Place) -> bool:
        """Add it, or complain and say False where there is too much."""
        texts = (*topic.documents, *topic.references, *topic.summaries)
        self.memory += sum(sys.getsizeof(part) for text in texts for part in (text.text, *(text.sentences or ())))
        if self.memory > limits.MEMORY:
            place.refuse(
                "more than %(limit)s MB of text", "a smaller part of it", limit=limits.MEMORY // limits.MEGABYTE
            )
            return False
        self.topics.append(Placed(topic, place))
        return has_room(self.topics, limits.TOPICS, place)


def has_room(records: list[Placed[Record]], limit: int, place: Place) -> bool:
    """Whether there may be so many of them; a complaint where there are too many."""
    if len(records) > limit:
        place.refuse("more than %(limit)s of them", "at most so many in one file", limit=limit)
    return len(records) <= limit
