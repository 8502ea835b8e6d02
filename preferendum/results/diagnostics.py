"""What the scores rest on: coverage, sentences that fit badly, and the influence of single annotators."""

from __future__ import annotations

from dataclasses import dataclass, field

from preferendum.formats.serialization import written_as
from preferendum.results.scores import Key


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a topic was judged, and whether it is connected.

    `judgments`: how many sentences have 0, 1, 2, ... judgments; `pairs`: how many different ones were compared.
    `parts`: the numbers of sentences in the parts that comparisons connect, the largest first; `strong_components`:
    those in the parts where every sentence is preferred to every other one, directly or over others (Ford 1957). With
    more than one and no prior there are no finite utilities. Sentences without judgments are in neither.
    """

    sentences: int
    judgments: tuple[int, ...]
    pairs: int
    parts: tuple[int, ...]
    strong_components: tuple[int, ...] = field(metadata=written_as("circuits"))

    @property
    def judged(self) -> int:
        """How many sentences have a judgment."""
        return sum(self.judgments[1:])

    @property
    def median(self) -> int:
        """The (lower) median number of judgments of a sentence."""
        seen = 0
        for judgments, sentences in enumerate(self.judgments):
            seen += sentences
            if 2 * seen >= self.sentences:
                return judgments
        return 0

    @property
    def least(self) -> int:
        """The smallest number of judgments of a sentence."""
        return next((judgments for judgments, sentences in enumerate(self.judgments) if sentences), 0)

    @property
    def most(self) -> int:
        """The largest number of judgments of a sentence."""
        return max(len(self.judgments) - 1, 0)

    @property
    def is_connected(self) -> bool:
        """Whether comparisons tie all judged sentences together."""
        return len(self.parts) <= 1


@dataclass(frozen=True, slots=True)
class Misfit:
    """A sentence that won more or less often than its utility lets one expect; `z`: the standardized residual."""

    sentence: Key
    z: float
    wins: float
    expected: float
    judgments: int


@dataclass(frozen=True, slots=True)
class TopicInfluence:
    """`scores` (s,) of a topic's summaries, and what they are `without` (k, s) each annotator; None: unknown."""

    systems: tuple[str, ...]
    scores: tuple[float | None, ...]
    annotators: tuple[int, ...] = field(metadata=written_as("people"))
    without: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class TopicDiagnostics(TopicInfluence):
    """Everything that was found when a topic was looked at closely."""

    coverage: Coverage
    misfits: tuple[Misfit, ...]


@dataclass(frozen=True, slots=True)
class SystemInfluence:
    """One system: its rank, the ranks that leaving out any one annotator can give it, and its largest change.

    `change` is that of the mean score, when `annotator` is left out (None where no annotator changes anything).
    """

    system: str
    rank: int
    rank_low: int
    rank_high: int
    change: float
    annotator: Key | None = field(metadata=written_as("person"))


@dataclass(frozen=True, slots=True)
class SmallestSet:
    """The smallest set of judgments found without which `instead` is first and no longer `first`.

    `judgments`: which; `among`: how many there are.
    """

    first: str
    instead: str
    judgments: tuple[Key, ...]
    among: int


@dataclass(frozen=True, slots=True)
class Influence:
    """Whether the ranking holds when any one annotator is left out.

    So many `annotators` were left out in turn, `unknown` of them without a result. `new_firsts`: who changes the first
    place when left out, and which system is first then.
    """

    annotators: int = field(metadata=written_as("people"))
    unknown: int
    first: str
    new_firsts: tuple[tuple[Key, str], ...] = field(metadata=written_as("takers"))
    systems: tuple[SystemInfluence, ...]

    @property
    def survives(self) -> bool:
        """Whether the first place stays the same without any one annotator."""
        return not self.new_firsts
