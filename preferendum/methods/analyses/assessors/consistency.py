"""Assessors of summaries: is each consistent on identical summaries, and does each agree with the others?

K. Owczarzak, P. Rankel, H. Dang & J. Conroy, "Assessing the effect of inconsistent assessors on summarization
evaluation", ACL 2012, section 2. Extractive systems often give the same summary of a topic; an assessor who scores it
twice should give equal scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from preferendum.formats.checks.text import visible
from preferendum.results import AssessorFigure, Bounded, Figure
from preferendum.statistics import bounded
from preferendum.work.ratings import Rating

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Alpha of fewer pairs says too little to call an assessor better or worse than another.
FEWEST_PAIRS = 5
_CELLS = 2_000_000
_FLAT = 1e-12


@dataclass(frozen=True, slots=True)
class Ratings:
    """What assessors gave summaries in one dimension, one entry a rating.

    `assessor`, `system`, `topic` (r,): indices of `names` and of a matrix of scores; `score` (r,).
    """

    names: tuple[str, ...]
    assessor: Numbers
    system: Numbers
    topic: Numbers
    score: Vector

    @classmethod
    def of(cls, given: Iterable[Rating], systems: Sequence[str], topics: Sequence[str]) -> Ratings:
        """The ratings of these systems and topics; assessors by name."""
        row, column = ({name: k for k, name in enumerate(names)} for names in (systems, topics))
        kept = [rating for rating in given if rating.system in row and rating.topic in column]
        names = tuple(sorted({rating.assessor for rating in kept}))
        number = {name: k for k, name in enumerate(names)}
        return cls(
            names,
            np.array([number[rating.assessor] for rating in kept], dtype=np.int64),
            np.array([row[rating.system] for rating in kept], dtype=np.int64),
            np.array([column[rating.topic] for rating in kept], dtype=np.int64),
            np.array([rating.score for rating in kept], dtype=np.float64),
        )

    def __len__(self) -> int:
        return len(self.score)

    def without(self, names: Collection[str]) -> Ratings:
        """The ratings of all assessors but these; the others keep their numbers."""
        out = [k for k, name in enumerate(self.names) if name in names]
        kept = ~np.isin(self.assessor, out)
        return Ratings(self.names, self.assessor[kept], self.system[kept], self.topic[kept], self.score[kept])

    def means(self, shape: tuple[int, int]) -> Matrix:
        """(systems, topics): the mean over assessors; nan without a score."""
        totals, counts = self._summed(shape)
        return _divided(totals, counts).reshape(shape)

    def means_of_others(self, shape: tuple[int, int]) -> Vector:
        """(r,): for each rating the mean of what the others gave the same summary; nan where there is no other."""
        totals, counts = self._summed(shape)
        cell = self._cells(shape)
        return _divided(totals[cell] - self.score, counts[cell] - 1)

    def _summed(self, shape: tuple[int, int]) -> tuple[Vector, Vector]:
        cell, size = self._cells(shape), shape[0] * shape[1]
        totals, counts = (np.bincount(cell, own, size).astype(np.float64) for own in (self.score, np.ones(len(self))))
        return totals, counts

    def _cells(self, shape: tuple[int, int]) -> Numbers:
        return self.system * shape[1] + self.topic


def equal_texts(texts: Mapping[tuple[str, str], str], systems: Sequence[str], topics: Sequence[str]) -> Numbers:
    """(systems, topics): equal numbers where texts are equal, white space aside; -1 where one is empty or missing.

    `texts`: by system and topic.
    """
    numbers: dict[str, int] = {"": -1}

    def number(text: str) -> int:
        return numbers.setdefault(visible(text), len(numbers))

    return np.array(
        [[number(texts.get((system, topic), "")) for topic in topics] for system in systems], dtype=np.int64
    ).reshape(len(systems), len(topics))


def identical_pairs(ratings: Ratings, texts: Numbers) -> tuple[Numbers, Matrix]:
    """(n,), (n, 2): whose, and both scores, of every two summaries of a topic with equal texts.

    `texts`: as `equal_texts` gives them. Of g equal summaries that one assessor scored, all g (g - 1) / 2 pairs.
    """
    text = texts[ratings.system, ratings.topic]
    keys = np.stack([ratings.assessor, ratings.topic, text])
    rows = np.flatnonzero(text >= 0)
    order = rows[np.lexsort(keys[:, rows])]
    begins = np.flatnonzero(np.diff(keys[:, order], axis=1, prepend=-1, append=-1).any(axis=0))
    equal = (order[start:end] for start, end in pairwise(begins.tolist()) if end - start > 1)
    pairs = [own[np.stack(np.triu_indices(len(own), 1), axis=1)] for own in equal]
    both = np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])
    return ratings.assessor[both[:, 0]], ratings.score[both]


def number_of_pairs(ratings: Iterable[Rating], texts: Mapping[tuple[str, str], str]) -> int:
    """How many pairs `identical_pairs` would give, of all dimensions; `texts` by system and topic."""
    by_text = {key: visible(text) for key, text in texts.items()}
    cells = ((own.dimension, own.assessor, own.topic, by_text.get((own.system, own.topic), "")) for own in ratings)
    return sum(comb(n, 2) for (*_who, text), n in Counter(cells).items() if text)


def interval_alpha(pairs: Matrix, times: Matrix) -> Vector:
    """(b,): Krippendorff's alpha for interval values of units with two values each, `pairs` (n, 2).

    `times` (b, n): how often each unit was drawn in each of b resamples; 1 - observed / expected squared difference,
    the latter of any two of all 2n values. Not a number where no two values differ.
    """
    drawn = times.sum(axis=1)
    centred = pairs - pairs.mean()
    observed = times @ ((pairs[:, 0] - pairs[:, 1]) ** 2) / drawn
    totals, squares = times @ centred.sum(axis=1), times @ (centred**2).sum(axis=1)
    expected = 2 * (squares - totals**2 / (2 * drawn)) / (2 * drawn - 1)
    is_flat = expected <= _FLAT * (pairs**2).max()
    return 1 - _divided(observed, np.where(is_flat, 0.0, expected))


def consistency(ratings: Ratings, texts: Numbers, draws: int, seed: int = 0) -> tuple[AssessorFigure, ...]:
    """Compute each assessor's alpha of the two scores of identical summaries (table 1); none where no two are
    identical.
    """
    return _figures(ratings.names, *identical_pairs(ratings, texts), draws, seed)


def agreement(ratings: Ratings, shape: tuple[int, int], draws: int, seed: int = 0) -> tuple[AssessorFigure, ...]:
    """Compute each assessor's alpha of the own score and the mean of the others' of the same summary; none without
    others.

    It is not the paper's: it says how far an assessor is from the others, not from themself.
    """
    others = ratings.means_of_others(shape)
    shared = np.isfinite(others)
    return _figures(
        ratings.names, ratings.assessor[shared], np.stack([ratings.score, others])[:, shared].T, draws, seed
    )


def ranked(figures: Iterable[AssessorFigure]) -> tuple[AssessorFigure, ...]:
    """The best first, equals by name; then those with too few data."""
    return tuple(
        sorted(figures, key=lambda figure: (not figure.is_ranked, -(figure.value.value or 0.0), figure.assessor))
    )


def worst(figures: Sequence[AssessorFigure], k: int) -> tuple[str, ...] | None:
    """The k worst of those ranked, the worst first; None where no other would be left."""
    names = [figure.assessor for figure in reversed(figures) if figure.is_ranked]
    return tuple(names[:k]) if k == 0 or k < len(names) else None


def _figures(
    names: Sequence[str], assessor: Numbers, pairs: Matrix, draws: int, seed: int
) -> tuple[AssessorFigure, ...]:
    if not len(pairs):
        return ()
    return ranked(_figure(name, pairs[assessor == k], draws, (seed, k)) for k, name in enumerate(names))


def _figure(name: str, pairs: Matrix, draws: int, seed: tuple[int, int]) -> AssessorFigure:
    """Alpha and the mean distance of both scores, with percentile intervals over pairs drawn with replacement."""
    n = len(pairs)
    if not n:
        return AssessorFigure(name, Figure(None, 0), is_ranked=False)
    distances = np.abs(pairs[:, 0] - pairs[:, 1])
    times = np.ones((1, n))
    value, distance = float(interval_alpha(pairs, times)[0]), float(distances.mean())
    drawn = [(interval_alpha(pairs, times), times @ distances / n) for times in _resampled(n, draws, seed)]
    alphas, means = (np.concatenate([np.empty(0), *parts]) for parts in zip(*drawn, strict=True)) if drawn else _NONE
    alpha = bounded(value, alphas)
    is_ranked = n >= FEWEST_PAIRS and alpha.value is not None
    return AssessorFigure(name, _with(n, alpha), _with(n, bounded(distance, means)), is_ranked)


_NONE = np.empty(0), np.empty(0)


def _divided(a: Vector, b: Vector) -> Vector:
    """Not a number where b is 0."""
    quotients: Vector = np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0)
    return quotients


def _with(n: int, value: Bounded) -> Figure:
    return Figure(value.value, n, value.low, value.high)


def _resampled(n: int, draws: int, seed: tuple[int, int]) -> Iterator[Matrix]:
    """How often each of n units is drawn, so many resamples at a time that they fit into memory."""
    rng = np.random.default_rng(seed)
    size = max(1, _CELLS // n)
    for done in range(0, draws, size):
        yield rng.multinomial(n, np.full(n, 1 / n), size=min(size, draws - done)).astype(np.float64)
