"""Which systems differ, by people or by a metric, and how many pairs of them each test tells apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import get_args

import numpy as np

from preferendum.methods.meta.resampling import Matrix, PairTests, Seed, paired_tests
from preferendum.results import PairCount, SystemPair, SystemPairs
from preferendum.results.metrics import CountedPairs, PairKind
from preferendum.results.statistics import LEVEL
from preferendum.statistics import benjamini_hochberg, finite, holm
from preferendum.work.scores import Scores

#: The tests by name, as docs/metrics.md describes them.
TESTS = tuple(field.name for field in fields(PairTests))[4:]
_KINDS: Mapping[int, PairKind] = {2: "machines", 1: "mixed", 0: "humans"}


def all_system_pairs(
    scores: Scores,
    draws: int,
    seed: Seed,
    level: float = LEVEL,
    watched: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> tuple[SystemPairs, ...]:
    """Every two systems by people in each dimension, then by each metric, which may have a dimension's name.

    `watched` shows progress over these.
    """
    draws = draws_for(len(scores.systems), draws)
    scorers = [*scores.human.items(), *scores.metrics.items()]
    names = watched([name for name, _matrix in scorers])
    return tuple(
        system_pairs(name, matrix, scores.systems, scores.machines, draws, seed, level)
        for name, (_name, matrix) in zip(names, scorers, strict=True)
    )


def draws_for(systems: int, draws: int) -> int:
    """At least `draws`, and 40 times the pairs.

    A randomised p-value is at least 1 / (1 + draws), and Holm multiplies it by the number of pairs: with fewer draws
    not even the clearest difference could be significant.
    """
    return max(draws, 40 * math.comb(systems, 2))


def system_pairs(
    by: str,
    scores: Matrix,
    systems: Sequence[str],
    machines: Sequence[bool],
    draws: int,
    seed: Seed,
    level: float = LEVEL,
) -> SystemPairs:
    """Test every two systems by one scorer's `scores` (systems, topics); `machines`: which systems no person is."""
    tests = paired_tests(scores, draws, seed)
    p = {test: np.array([getattr(pair, test) for pair in tests], dtype=np.float64) for test in TESTS}
    adjusted = {test: holm(values) for test, values in p.items()}
    discovered = {test: benjamini_hochberg(values) for test, values in p.items()}
    pairs = tuple(
        SystemPair(
            systems[pair.first],
            systems[pair.second],
            _KINDS[machines[pair.first] + machines[pair.second]],
            pair.topics,
            finite(pair.difference),
            *({test: finite(values[test][k]) for test in TESTS} for values in (p, adjusted, discovered)),
        )
        for k, pair in enumerate(tests)
    )
    return SystemPairs(by, level, draws, tuple(_counts(pairs, level)), pairs)


def _counts(pairs: Sequence[SystemPair], level: float) -> Iterator[PairCount]:
    """The counts of all pairs; where there are persons among the systems, of machines and of a machine and a person,
    too.
    """
    is_mixed = any(pair.kind != "machines" for pair in pairs)
    for kind in get_args(CountedPairs) if is_mixed else ("all",):
        own = [pair for pair in pairs if kind in ("all", pair.kind)]
        yield PairCount(kind, len(own), *(_significant([getattr(pair, name) for pair in own], level) for name in _P))


_P = ("p", "holm", "bh")


def _significant(values: Sequence[Mapping[str, float | None]], level: float) -> dict[str, int]:
    return {test: sum(p is not None and p <= level for p in (row[test] for row in values)) for test in TESTS}
