"""What annotators answered, as the figures about them need it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Judgments

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one topic, in the order of time: `judgments` (a is the left sentence) and, for each of them,
    `seconds` read (nan if unknown), the `least` seconds that reading takes, whether it is `counted` in fits, whether it
    is a `repeat` of a pair that the same annotator had seen before, the `expected` share of the left sentence (nan
    where it is unknown), whether it is `sided`: nobody knows which sentence of an imported one was on the left, and the
    share of the left one if the `longer` is preferred (nan where both are as long).

    `time` (m,) orders answers over topics.
    """

    judgments: Judgments
    seconds: Vector
    least: Vector
    counted: NDArray[np.bool_]
    repeat: NDArray[np.bool_]
    expected: Vector
    sided: NDArray[np.bool_]
    longer: Vector
    time: Numbers


@dataclass(slots=True)
class Sheet:
    """One annotator's answers: in which topics, and which rows there."""

    topics: list[int] = field(default_factory=list)
    rows: list[Numbers] = field(default_factory=list)

    def column(self, topics: Sequence[NDArray[np.generic]], order: Numbers | slice = slice(None)) -> Vector:
        """One number for each answer, out of those of all topics."""
        parts = [topics[topic][rows] for topic, rows in zip(self.topics, self.rows, strict=True)]
        return np.concatenate(parts).astype(np.float64)[order] if parts else np.zeros(0)

    def in_time(self, topics: Sequence[Answers]) -> Numbers:
        """The order of the answers in time."""
        return np.argsort(self.column([answers.time for answers in topics]), kind="stable")


def sheets(topics: Sequence[Answers], annotators: int) -> list[Sheet]:
    """The answers of each of so many annotators."""
    own = [Sheet() for _ in range(annotators)]
    for number, answers in enumerate(topics):
        for annotator, rows in rows_of_each(answers.judgments.annotator):
            own[annotator].topics.append(number)
            own[annotator].rows.append(rows)
    return own


def rows_of_each(annotator: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Each annotator in (m,), with their rows, in order."""
    order = np.argsort(annotator, kind="stable")
    numbers, starts = np.unique(annotator[order], return_index=True)
    return zip(numbers.tolist(), np.split(order, starts[1:]), strict=False)
