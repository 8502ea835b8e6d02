"""Which pairs of sentences to show, so that systems are soon separated (docs/model.md, Which pair next).

The importance of a system is a sum of chances whose weights a rest on texts alone, so the texts say which answers
separate systems. If pairs are drawn with probabilities q, and L is the Laplacian of q, the variance of the difference
of two systems is proportional to (a_s - a_t) L^-1 (a_s - a_t)' (`preferendum.fit.chances`). Pairs are drawn with the
probabilities that minimise its sum over all systems s < t: the A-optimal design of experiments, approached by
multiplicative steps, in which each probability grows by the root of what a little more of it would take from the sum
(Silvey, Titterington and Torsney, Communications in Statistics 1978).

Some pairs are drawn as if all were equally likely. They bound the weights of the answers, and systems added later find
answers about all sentences. An answer counts by its probability in the mixture (the balance heuristic of Veach and
Guibas, SIGGRAPH 1995).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from preferendum.fit import sampling
from preferendum.fit.chances import RANDOM_SHARE
from preferendum.fit.sampling import CANDIDATES, Pairs, random_pairs
from preferendum.fit.threads import on_one_thread
from preferendum.fit.uncertainty import Covariance, DenseCovariance

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: At least this share of the pairs is drawn as if all were equally likely: no answer then counts more than 20 times.
LEAST_RANDOM = 0.05
#: More steps take from the sum what they cost where pairs run out: few pairs with nearly all of the probability.
STEPS = 10
#: Of what all pairs tell of systems; a topic where less is left steps back.
LEAST_LEFT = 0.05
#: In topics of more sentences all pairs are equally likely: a step takes a second.
MOST_SENTENCES = 2000


@dataclass(frozen=True, slots=True)
class Queue:
    """Pairs i < j (k, 2) in the order in which to show them; `is_random` (k,): drawn as if all were equally likely;
    `design` (k,): how many times likelier they would have been drawn if all that were left had been equally likely, 0
    for pairs not drawn by lot; `drawn_for`: the systems that they are to separate, None where there are none;
    `is_told`: whether next to nothing is left that would separate systems."""

    pairs: Pairs
    is_random: NDArray[np.bool_]
    design: Vector
    drawn_for: tuple[str, ...] | None = None
    is_told: bool = False


#: Nothing to ask.
NO_PAIRS = Queue(np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.bool_), np.zeros(0))


@dataclass(frozen=True)
class Telling:
    """How likely pairs are to be drawn because they tell systems apart; `importance` (s, n): the systems' weights,
    `systems` (s,): their names."""

    importance: Matrix
    systems: tuple[str, ...]
    _for_some: dict[tuple[str, ...], Telling] = field(default_factory=dict, repr=False)

    def likelihood_for(self, systems: tuple[str, ...] | None) -> NDArray[np.float32] | None:
        """The likelihood of pairs that were drawn for these systems, as far as they are still here; None for all."""
        wanted = set(self.systems if systems is None else systems)
        rows = [row for row, system in enumerate(self.systems) if system in wanted]
        names = tuple(self.systems[row] for row in rows)
        if names == self.systems:
            return self.likelihood
        return self._for_some.setdefault(names, Telling(self.importance[rows], names)).likelihood

    @cached_property
    def likelihood(self) -> NDArray[np.float32] | None:
        """(n, n), symmetric: how many times likelier each pair is than if all were equally likely; None where all are.
        Computed on first use, since it takes longer than a fit."""
        if not 2 < self.importance.shape[1] <= MOST_SENTENCES or not self.tells:
            return None
        return _likelihood(self._apart).astype(np.float32)

    @property
    def tells(self) -> bool:
        """Whether any answer can separate two of the systems."""
        return len(self.systems) > 1 and bool(np.any(np.abs(self._apart) > 1e-12))

    @cached_property
    def share(self) -> NDArray[np.float32] | None:
        """(n, n): of all that pairs would tell of the systems if they were equally likely, what each would; None where
        nothing does, and in topics of too many sentences."""
        if self.importance.shape[1] > MOST_SENTENCES or not self.tells:
            return None
        told = _squares(self._apart.T)
        return np.asarray(2 * told / told.sum(), dtype=np.float32)

    @property
    def _apart(self) -> Matrix:
        return np.asarray(self.importance - self.importance.mean(axis=0))


@on_one_thread
def _likelihood(apart: Matrix) -> Matrix:
    n = apart.shape[1]
    even = np.ones((n, n)) - np.eye(n)
    likelihood = even
    for _ in range(STEPS):
        mixed = RANDOM_SHARE * even + (1 - RANDOM_SHARE) * likelihood
        laplacian = np.diag(mixed.sum(axis=1)) - mixed
        reached = linalg.solve(laplacian + 1.0, apart.T, assume_a="pos", check_finite=False)
        likelihood = likelihood * np.sqrt(_squares(reached))
        likelihood *= n * (n - 1) / likelihood.sum()
    return likelihood


def _squares(rows: Matrix) -> Matrix:
    """(n, n): of the distances of every two of the rows (n, s)."""
    products = rows @ rows.T
    own = np.diag(products)
    return np.asarray(np.maximum(own[:, None] + own - 2 * products, 0.0))


def telling_pairs(
    telling: Telling,
    count: int,
    random_share: float,
    seed: int | Sequence[int],
    taken: Collection[tuple[int, int]] = (),
) -> Queue:
    """Draw pairs that tell systems apart by lot, none twice.

    Parameters
    ----------
    telling
        How much the answer to a pair would tell of the systems.
    count
        At most so many pairs.
    random_share
        The share of them that is drawn as if all pairs were equally likely.
    seed
        Of the draw.
    taken
        Pairs i < j to leave out.
    """
    rng = np.random.default_rng(seed)
    candidates = random_pairs(telling.importance.shape[1], CANDIDATES, int(rng.integers(1 << 32)), taken)
    i, j = candidates.T
    likelihood, share = telling.likelihood, telling.share
    drawn = np.zeros(len(candidates)) if likelihood is None else likelihood[i, j]
    queue = draw(candidates, drawn.astype(np.float64), count, random_share, rng)
    n = telling.importance.shape[1]
    left = n * (n - 1) / 2 - len(taken)  # the candidates may be only some of these
    is_told = not telling.tells if share is None else share[i, j].sum() * left / max(len(i), 1) < LEAST_LEFT
    return replace(queue, drawn_for=None if likelihood is None else telling.systems, is_told=bool(is_told))


def draw(candidates: Pairs, likelihood: Vector, count: int, random_share: float, rng: np.random.Generator) -> Queue:
    """Draw from the candidates, each in proportion to its likelihood, or all equally.

    Parameters
    ----------
    candidates : (c, 2)
        Pairs i < j.
    likelihood : (c,)
        How likely each is to be drawn.
    count
        At most so many pairs.
    random_share
        The share of them that is drawn as if all were equally likely; at least `LEAST_RANDOM`.
    rng
        What draws.
    """
    share = max(random_share, LEAST_RANDOM)
    likelihood, is_left = likelihood.copy(), np.ones(len(candidates))
    drawn, is_random, design = [], [], []
    for left in range(len(candidates), max(len(candidates) - count, 0), -1):
        sums = np.cumsum(likelihood)
        total = sums[-1]
        random = not total > 0 or bool(rng.random() < share)
        if random:
            sums = np.cumsum(is_left)
        place = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        drawn.append(place)
        is_random.append(random)
        design.append(1 / (share + (1 - share) * left * likelihood[place] / total) if total > 0 else 1.0)
        likelihood[place] = is_left[place] = 0.0
    return Queue(candidates[drawn], np.array(is_random, dtype=np.bool_), np.array(design))


def equally_likely_pairs(n: int, count: int, seed: int, taken: Collection[tuple[int, int]] = ()) -> Queue:
    """So many of n sentences, all at random."""
    pairs = random_pairs(n, count, seed, taken)
    return Queue(pairs, np.ones(len(pairs), dtype=np.bool_), np.ones(len(pairs)))


def informative_pairs(
    utilities: Vector,
    errors: Covariance,
    count: int,
    seed: int | Sequence[int],
    taken: Collection[tuple[int, int]] = (),
) -> Queue:
    """Choose pairs where there are no systems and will be none: those whose answers tell most of sentences.

    Parameters
    ----------
    utilities : (n,)
        Of the sentences, from a fit.
    errors
        The covariance of these utilities.
    count
        At most so many pairs.
    seed
        Of the random pairs that are tried.
    taken
        Pairs i < j to leave out.
    """
    if len(utilities) > MOST_SENTENCES or not isinstance(errors, DenseCovariance):
        return NO_PAIRS
    rng = np.random.default_rng(seed)
    chosen = sampling.informative_pairs(utilities, errors.matrix, count, int(rng.integers(1 << 32)), taken)
    return Queue(chosen, np.zeros(len(chosen), dtype=np.bool_), np.zeros(len(chosen)))
