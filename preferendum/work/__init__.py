"""What the worker does for analyses of the plug-in: they say what they need, it loads that and saves what they give.

A `Work` registers itself. Nothing here needs numpy, so that a declaration can be read without the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from preferendum import plugin

if TYPE_CHECKING:
    from preferendum.evidence import Evidence, Settings
    from preferendum.work.ratings import Assessed
    from preferendum.work.scores import Scores

Record = TypeVar("Record")
#: The keys that a record is kept under.
Keys = tuple[str, ...]
#: What an analysis reads: all scores of the study's summaries; with these, what each annotator adds; ratings of
#: summaries by single raters; the topics with judgments.
Need = Literal["scores", "annotators", "ratings", "topics"]
#: When it is due: once summaries are scored, once metrics are compared with people, once that has its intervals, also
#: only while nobody judges; for topics, once there is what sentences can be held against.
When = Literal["scored", "compared", "bounded", "at rest", "mixable", "valued"]

#: A fit of a longer topic takes so long that hundreds of them are left to the command line.
MOST_SENTENCES = 1_000


@dataclass(frozen=True, slots=True)
class JudgedTopic:
    """A topic with judgments. `version`: of its scores and its fit; `kept`: what this analysis has kept of it then.

    `sentences`: their number; `has_values`: whether it has references or a Pyramid.
    """

    key: int
    name: str
    version: int
    sentences: int
    has_values: bool
    kept: Any | None


class AtWork(Protocol):
    """A study, or a topic, as an analysis finds it: what it needs, and where it keeps its records.

    `texts_version`: of the scores that do not rest on judgments; `seed`: of the study.
    """

    @property
    def texts_version(self) -> int: ...

    @property
    def seed(self) -> int: ...

    @property
    def scores(self) -> Scores: ...

    @property
    def ratings(self) -> Assessed | None:
        """None where there are more than `Work.most_ratings`."""

    @property
    def topics(self) -> Sequence[JudgedTopic]:
        """The topics with judgments, in order; the topic itself, where the work is of one."""

    def evidence(self, topic: JudgedTopic) -> tuple[Evidence, Settings] | None:
        """The topic's judgments, texts, references and Pyramid; None if it is gone."""

    def kept(self, kind: type[Record], of: str = "") -> Mapping[Keys, Record]:
        """The records of this analysis, or `of` another."""

    def noted(self) -> Any:
        """What was noted with the records; None without any."""

    def keep(self, keys: Keys, record: Any) -> None:
        """Save one record."""

    def keep_of_topic(self, topic: JudgedTopic, record: Any) -> None:
        """Save what is worked out of one topic."""

    def note(self, noted: Any) -> None:
        """Note how far it is, for people who wait."""

    def finish(self, keys: Collection[Keys]) -> None:
        """Record that all of this version is saved, under these keys, and delete what is under others."""

    def publish(self, records: Mapping[Any, Any], noted: Any = None) -> None:
        """Replace all records by these of this version."""


@dataclass(frozen=True, slots=True)
class Work:
    """An analysis as the worker does it.

    `name`: of its records; `task`, `claim`: of the worker, where that is another. `compute`: takes steps and saves
    something in each; if it takes `turns`, it may be stopped between them. `of_topics`: the name of what it keeps of
    single topics. `patience`: after a success it rests for so many times its duration. `most_ratings`: more of them
    are left to the command line.
    """

    name: str
    when: When
    compute: Callable[[Any], Iterator[None]]
    needs: frozenset[Need] = frozenset({"scores"})
    task: str = ""
    of_topics: str = ""
    turns: bool = False
    patience: float = 0.0
    most_ratings: int = 0
    claim: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", self.task or self.name)
        object.__setattr__(self, "claim", self.claim or self.name)


_works: dict[str, Work] = {}


def register(work: Work) -> None:
    """Make the worker do this, too."""
    _works[work.name] = work


def works() -> tuple[Work, ...]:
    """All that is registered."""
    plugin.load()
    return tuple(_works.values())


def later(module: str, function: str = "compute") -> Callable[[Any], Iterator[None]]:
    """A function of a module that is imported on first use: the mathematics need numpy."""

    def compute(at_work: Any) -> Iterator[None]:
        yield from getattr(import_module(module), function)(at_work)

    return compute
