"""What a metric is, and how one is found by its name.

To add a metric, add a file to `preferendum.methods.metrics`: it defines a class that keeps the promises of `Metric` and
calls `register`. Nothing else has to change: the form of a study, the worker and `evaluate agree` have it at once.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from preferendum import plugin
from preferendum.formats.words import gettext_noop

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from preferendum.evidence import Evidence, Settings

Options = Mapping[str, str]
"""What stands behind a metric's name: `rouge-2:f:words=100` gives {"f": "", "words": "100"}."""


class Need(StrEnum):
    """What a topic must have so that a metric can score its summaries.

    `OTHER_TOPICS` is no metric's need: it says that there are too few others to compare with.
    """

    DOCUMENTS = "documents"
    REFERENCES = "references"
    JUDGMENTS = "judgments"
    PYRAMIDS = "pyramids"
    HUMAN_SCORES = "human scores"
    BASES = "references of an earlier set"
    OTHER_TOPICS = "other topics"
    LATIN = "texts in Latin letters"


class Metric(Protocol):
    """Gives each summary of a topic a number.

    `name`: as requested, with options; `signature`: everything that others must know to get the same numbers.
    """

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    @property
    def needs(self) -> frozenset[Need]: ...

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """(summaries,): higher is better, not a number where the metric has nothing to say about a summary."""


@runtime_checkable
class SeesAllTopics(Protocol):
    """A metric for which the scores of one topic's summaries rest on other topics, too."""

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        """The metric that has seen all topics, and scores any of them.

        Raises `MissingEvidence` if these topics do not suffice, and `UnknownMetric` if an option does not fit them.
        """


JACKKNIFE = "jackknife"
"""The option of metrics that can leave out each reference in turn and take the mean."""
MODELS = "models"
"""The option of metrics that can take fewer references than there are."""

Make = Callable[[str, Options, "Settings | None"], Metric]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a metric.

    `about`: an example of its value, if it takes one, and in a few words what it does; `value`: a pattern of the value
    in a study's settings, None for an option of the command line alone, such as a file; `across_topics`: whether the
    scores of one topic then rest on other topics, too.
    """

    about: str
    value: str | None = ""
    across_topics: bool = False


#: Patterns of values: a whole number from 1 on, a number above 0, a share.
WHOLE, NUMBER = "=[1-9][0-9]{0,4}", r"=[1-9][0-9]{0,2}(\.[0-9]{1,5})?"
SHARE = r"=(0(\.[0-9]{1,5})?|1)"
#: The options of every metric that is scored over references.
OVER_REFERENCES: Mapping[str, Option] = {
    JACKKNIFE: Option("the mean over the sets that lack one reference", value=None),  # done wherever people are peers
    MODELS: Option("=1: by so many references, the first by name", WHOLE),
}


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Metrics that one file provides.

    `options`: by name; `either`: those that contradict each other. `takes`: what must follow the name before any
    option, such as FILE; `make` finds it among the options. `titles`: by the name of a metric, what it is called on
    pages, if that is not its name in capitals. `for_studies`: whether a study can have its summaries scored with them;
    `across_topics`: whether the scores of one topic rest on other topics, too; `place`: in lists, the smallest first;
    `cites`: the key of their paper in `preferendum.show.citations`; `rests_on`: what summaries are compared with.
    """

    names: tuple[str, ...]
    options: Mapping[str, Option]
    make: Make
    takes: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)
    either: Collection[frozenset[str]] = ()
    for_studies: bool = True
    across_topics: bool = False
    place: int = 100
    cites: str = ""
    rests_on: str = gettext_noop("the source documents")


class UnknownMetric(ValueError):
    """A metric or an option of that name does not exist; the message says which there are."""


class MissingEvidence(ValueError):
    """Requested metrics need what some topics do not have; the message names both."""


_families: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make the family's metrics known by their names, which must be new."""
    for name in family.names:
        if name in _families:
            raise ValueError(f"there is a metric called {name} already")
        _families[name] = family


def families() -> tuple[Family, ...]:
    """Every family, by place and then by the names of their files."""
    plugin.load()
    return tuple(sorted(dict.fromkeys(_families.values()), key=lambda family: family.place))


def family_of(name: str) -> Family | None:
    """The family of a metric, by its name without options."""
    plugin.load()
    return _families.get(name)


def later(module: str) -> Make:
    """A module's function `make`. The module is imported on first use: the mathematics need numpy."""
    return lambda name, options, settings: import_module(module).make(name, options, settings)


def metric(asked: str, settings: Settings | None = None) -> Metric:
    """The metric that a name stands for: `rouge-1`, or with options after colons `rouge-2:f:words=100`.

    `settings`: how judgments become scores, for the metrics that rest on them; as usual for None. Raises
    `UnknownMetric`.
    """
    plugin.load()
    name, *given = asked.split(":")
    family = _families.get(name)
    if family is None:
        near = get_close_matches(name, _families, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise UnknownMetric(f"there is no metric called {name!r}{hint}; there are: {', '.join(sorted(_families))}")
    taken = {}
    if family.takes:
        if not given or not given[0]:
            raise UnknownMetric(f"{name} needs a {family.takes.lower()}, as in {name}:{family.takes}")
        taken, given = {family.takes: given[0]}, given[1:]
    options = dict(map(_option, given))
    unknown = [option for option in options if option not in family.options]
    if unknown and not family.options:
        raise UnknownMetric(f"{name} has no options, so not {unknown[0]!r}")
    if unknown:
        raise UnknownMetric(f"{name} has no option {unknown[0]!r}; its options are: {', '.join(family.options)}")
    return family.make(asked, options | taken, settings)


def prepared(metrics: Iterable[Metric], topics: Sequence[Evidence]) -> list[Metric]:
    """The metrics, ready to score any of the topics; most are that anyway. Raises what their `prepared` raises."""
    return [metric.prepared(topics) if isinstance(metric, SeesAllTopics) else metric for metric in metrics]


def without_one_reference(asked: str) -> str:
    """The metric that scores systems by one reference less, as people who wrote one are scored; else the same one."""
    return f"{asked}:{JACKKNIFE}" if _takes(asked, JACKKNIFE) else asked


def names_for(topic: Evidence, chosen: Sequence[str]) -> tuple[str, ...]:
    """The metrics that a topic's summaries are scored with; with people among the peers, by one reference less, too.

    Metrics that are not installed are passed over.
    """
    chosen = [name for name in chosen if family_of(name.partition(":")[0])]
    has_people = any(summary.person for summary in topic.summaries)
    return with_jackknifed(chosen) if has_people else tuple(chosen)


def with_jackknifed(chosen: Sequence[str]) -> tuple[str, ...]:
    """Metrics, then those among them that can score by one reference less, doing so."""
    return tuple(dict.fromkeys([*chosen, *map(without_one_reference, chosen)]))


def by_fewer_references(asked: str, numbers: Sequence[int]) -> tuple[str, ...]:
    """The metric by each of these numbers of references; itself where it cannot do that or names a number already."""
    return tuple(f"{asked}:{MODELS}={number}" for number in numbers if _takes(asked, MODELS)) or (asked,)


def _takes(asked: str, option: str) -> bool:
    """Whether there is such a metric, with an option that it was not given yet."""
    name, *given = asked.split(":")
    family = family_of(name)
    return family is not None and option in family.options and option not in dict(map(_option, given))


def whole_number(asked: str, options: Options, option: str) -> int | None:
    """The number that an option was given; None without the option. Raises `UnknownMetric` for anything else."""
    if option not in options:
        return None
    try:
        return int(options[option])
    except ValueError:
        raise UnknownMetric(f"{asked}: {option} must be a whole number, such as {option}=100") from None


def number(asked: str, options: Options, option: str) -> float | None:
    """The number above 0 that an option was given; None without the option. Raises `UnknownMetric` otherwise."""
    if option not in options:
        return None
    try:
        value = float(options[option])
    except ValueError:
        value = math.nan
    if 0 < value < math.inf:
        return value
    raise UnknownMetric(f"{asked}: {option} must be a number above 0, such as {option}=10")


def usable(metrics: Iterable[Metric], topic: Evidence) -> tuple[list[Metric], dict[str, Need]]:
    """The metrics that can score this topic's summaries, and by name what the topic lacks for each of the others."""
    able, absent = [], {}
    for metric in metrics:
        need = lacking(metric, topic)
        if need is None:
            able.append(metric)
        else:
            absent[metric.name] = need
    return able, absent


def lacking(metric: Metric, topic: Evidence) -> Need | None:
    """The first thing that the metric needs and the topic does not have."""
    return next((need for need in sorted(metric.needs) if not _has[need](topic)), None)


def check(metrics: Iterable[Metric], topics: Sequence[Evidence]) -> None:
    """Raise `MissingEvidence` if a metric needs what some topic does not have."""
    complaints = []
    for metric in metrics:
        for need in sorted(metric.needs):
            lacking = [topic.topic_id for topic in topics if not _has[need](topic)]
            if lacking:
                complaints.append(f"{metric.name} needs {need}, and there are none for {_listed(lacking, len(topics))}")
    if complaints:
        raise MissingEvidence("\n".join(complaints))


def _is_latin(topic: Evidence) -> bool:
    """Whether at least half of the letters of references and summaries are Latin; so where there are none."""
    texts = chain(chain(*topic.references, *topic.base_references), *(own.sentences for own in topic.summaries))
    letters = _LETTER.findall(unicodedata.normalize("NFC", " ".join(texts)))
    return 2 * sum(map(bool, map(_LATIN.match, letters))) >= len(letters)


_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-zªºÀ-\u02af\u1d00-\u1d25\u1e00-\u1effﬀ-ﬆＡ-Ｚａ-ｚ]")

_has: Mapping[Need, Callable[[Evidence], bool]] = {
    Need.DOCUMENTS: lambda topic: bool(topic.sentences),
    Need.REFERENCES: lambda topic: bool(topic.references),
    Need.JUDGMENTS: lambda topic: len(topic.judgments) > 0,
    Need.PYRAMIDS: lambda topic: topic.pyramid is not None,
    Need.HUMAN_SCORES: lambda topic: any(summary.human for summary in topic.summaries),
    Need.BASES: lambda topic: bool(topic.base_references),
    Need.LATIN: _is_latin,
}


def _option(given: str) -> tuple[str, str]:
    name, _, value = given.partition("=")
    return name, value


def _listed(topics: Sequence[str], among: int, shown: int = 10) -> str:
    names = ", ".join(topics[:shown]) + (f" and {len(topics) - shown} more" if len(topics) > shown else "")
    if len(topics) == among:
        return f"any topic ({names})"
    return f"topic {names}" if len(topics) == 1 else f"topics {names}"
