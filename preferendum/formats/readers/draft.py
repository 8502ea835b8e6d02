"""What was read so far, each record with the place where it stood, until the whole is checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, TypeVar

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place
from preferendum.formats.records import HumanScore, LateSummary, MetricScore, Of, Preference, Seen, Topic, Turn

Record = TypeVar("Record")

#: By role the column, or columns, of a table that a person named.
Named = Mapping[str, str | Sequence[str]]

#: Bytes of a record itself with its place and names, whatever else it holds.
RECORD = 500


@dataclass(frozen=True, slots=True)
class Placed(Generic[Record]):
    record: Record
    place: Place


@dataclass(slots=True)
class Alone:
    """What rows of preferences may leave out where no topics need to come along; all of them as the first one does.

    `of`: what rows compare that do not say so; `has_topics`: whether rows name their topic; `columns`: those of
    another tool's file that the user named, by our key.
    """

    of: Of | None = None
    has_topics: bool | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Voted:
    """What files of votes bring to a study: `files` whose votes may name new topics; `prompts` by topic, `texts` by
    topic and system, with no turns for a conversation that cannot be shown."""

    files: set[str] = field(default_factory=set)
    prompts: dict[str, str] = field(default_factory=dict)
    texts: dict[tuple[str, str], str | tuple[Turn, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """`alone`: given where preferences may come without topics; `voted`: where a study takes the topics of votes.
    `aspects`: what preferences were said to be about, by the column that says so. `columns`: those of tables that a
    person named. `look`: gets each table with what its columns are taken for.
    """

    topics: list[Placed[Topic]] = field(default_factory=list)
    summaries: list[Placed[LateSummary]] = field(default_factory=list)
    human_scores: list[Placed[HumanScore]] = field(default_factory=list)
    metric_scores: list[Placed[MetricScore]] = field(default_factory=list)
    preferences: list[Placed[Preference]] = field(default_factory=list)
    aspects: dict[tuple[Of, str], str] = field(default_factory=dict)
    memory: int = 0
    alone: Alone | None = None
    voted: Voted | None = None
    columns: Named = field(default_factory=dict)
    look: Callable[[Seen], None] = lambda _table: None
    #: Bytes of spreadsheets that were unpacked from a ZIP file.
    unpacked: int = 0
    unused: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin with all columns that a person named as not met in any table."""
        self.unused = {
            name for named in self.columns.values() for name in ([named] if isinstance(named, str) else named)
        }

    def add_topic(self, topic: Topic, place: Place) -> bool:
        """Add it, or complain and say False where there is too much."""
        texts = (*topic.documents, *topic.references, *topic.summaries)
        self.memory += RECORD * len(texts)
        parts: list[Any] = [part for text in texts for part in (text.text, text.sentences, text.extra)]
        parts += [topic.pyramid, [(summary.ratings, summary.metrics, summary.turns) for summary in topic.summaries]]
        return self._add(self.topics, topic, limits.TOPICS, place, topic.extra, parts)

    def add_row(self, rows: list[Placed[Record]], row: Record, place: Place, *held: Any) -> bool:
        """Add it to those of its kind, or complain and say False where there is too much.

        `held`: its texts and values.
        """
        return self._add(rows, row, limits.ROWS, place, *held)

    def has_room(self, place: Place) -> bool:
        """Whether memory is left; a complaint where there is none."""
        if self.memory > limits.MEMORY:
            actual = "more than %(limit)s MB of texts and values"
            place.refuse(actual, "smaller files", limit=limits.MEMORY // limits.MEGABYTE)
        return self.memory <= limits.MEMORY

    def _add(self, records: list[Placed[Record]], record: Record, limit: int, place: Place, *held: Any) -> bool:
        self.memory += RECORD + sum(map(weight, held))
        if not self.has_room(place):
            return False
        records.append(Placed(record, place))
        if len(records) > limit:
            place.refuse("more than %(limit)s of them", "no more in one file", limit=limit)
        return len(records) <= limit


def weight(value: Any) -> int:
    """How many bytes of memory a value takes with all that is in it."""
    size = sys.getsizeof(value)
    if isinstance(value, str) or not value:
        return size
    if isinstance(value, dict):
        return size + sum(weight(key) + weight(held) for key, held in value.items())
    if isinstance(value, list | tuple):
        return size + sum(map(weight, value))
    if is_dataclass(value):
        return size + sum(weight(getattr(value, column.name)) for column in fields(value))
    return size
