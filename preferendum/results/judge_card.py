"""A machine judge held against people: the record of its card (`preferendum.card`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from preferendum.formats.judge import Judge

#: Fewer pairs than this that people judged, too, say nothing.
FEWEST_PAIRS = 30
#: Notes of figures: too few pairs or answers; surely more, or less, often than people.
TOO_EARLY, MORE, LESS = "too early", "more than people", "less than people"
#: The note of an order of so few systems that it takes next to no different values.
FEW_SYSTEMS = "too few systems for an interval"
#: The figures that sentences are made of.
AGREES, TIES = "agrees with people, both decided", "ties"
#: How often the first wins: where sides were drawn, or asked both ways; and where they are those of a file.
FIRST_WINS, FIRST_NAMED = "first shown wins, of decided answers", "first named wins, of decided answers"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the card: the judge's `value` and interval, people's (`human`), and on how many it rests (`n`).

    `unit`: "%" for shares, "answers", or "" for other numbers; `note`: see `TOO_EARLY`.
    """

    what: str
    value: float | None
    low: float | None
    high: float | None
    human: float | None
    n: int
    unit: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bias:
    """How much better than people the judge finds a system than it finds others, -u, in utilities: its 95% interval
    and the p-value, adjusted for the number of systems (Holm 1979). `by_maker`: by the same maker as the judge."""

    system: str
    value: float
    low: float
    high: float
    p: float
    by_maker: bool = False


@dataclass(frozen=True, slots=True)
class JudgeCard:
    """A judge's card: its figures `rows`, its `biases`, the largest first, of so many `answers` of its own and so many
    by people (`human`). `is_nameless`: no answer of people says which topic it is about. `about`: what is known of the
    judge; `first`, `last`: the days of its answers, as ISO dates, "" where no time is known."""

    judge: str
    rows: tuple[Row, ...]
    biases: tuple[Bias, ...]
    answers: int
    human: int
    is_nameless: bool = False
    about: Judge = field(default_factory=Judge)
    first: str = ""
    last: str = ""

    def row(self, what: str) -> Row | None:
        """The figure of this name; None where the card has none."""
        return next((row for row in self.rows if row.what == what), None)
