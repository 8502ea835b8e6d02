"""Who a study's checks can find: the exact test of the flags, and its power. Plain Python, as pages need it, too.

An annotator's checks are pairs that another annotator judged as well (the same answer?), gold pairs (the expected one?)
and repeats (the same one again?). An annotator with significantly fewer right than the others is flagged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, exp, lgamma

#: The false alarms of each test: one honest annotator in a hundred, at most.
ALARM = 0.01
#: How often honest annotators give the same answer to a shared pair, and the expected one to a gold pair: what is
#: usual, for studies that do not know their own figures yet.
USUAL_AGREEMENT, USUAL_GOLD = 0.75, 0.93
#: A share of checks is called enough if it finds so many of those who toss a coin.
WANTED = 0.8
#: Where half of all answers are second ones, every pair has two.
EVERY_PAIR_TWICE = 0.5
#: Shares that are looked at for one that is enough.
SHARES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
#: More checks than this of one annotator, or of all others, change the power by less than is said.
MOST = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """What checks tell about an annotator with so many `answers`, among so many `annotators`.

    `by_shared`, `by_gold`: the probability that one who tosses a coin is flagged by the shared or gold pairs there are;
    `enough_shared`, `enough_gold`: the smallest share of pairs that would find `WANTED` of them, None if none does.
    """

    answers: int
    annotators: int
    shared_share: float
    gold_share: float
    by_shared: float
    by_gold: float
    enough_shared: float | None
    enough_gold: float | None


def finding(answers: int, annotators: int, shared_share: float, gold_share: float) -> Finding:
    """Work out who would be found where each of so many annotators gives so many answers."""

    def shared(share: float) -> float:
        own = round(2 * share * answers)  # a shared pair is a check of both who judged it
        return chance_to_find(own, max(round(share * answers * annotators) - own, 0), USUAL_AGREEMENT)

    def gold(share: float) -> float:
        return chance_to_find(round(share * answers), round(share * answers) * (annotators - 1), USUAL_GOLD)

    def enough(powers: Iterator[tuple[float, float]]) -> float | None:
        return next((share for share, power in powers if power >= WANTED), None)

    return Finding(
        *(answers, annotators, shared_share, gold_share, shared(shared_share), gold(gold_share)),
        enough((share, shared(share)) for share in SHARES),
        enough((share, gold(share)) for share in SHARES),
    )


@cache
def chance_to_find(own: int, others: int, honest: float, careless: float = 0.5) -> float:
    """The probability that an annotator whose checks are right with probability `careless` is flagged.

    `own`: the number of their checks; `others`: that of all honest annotators, right with probability `honest`.
    """
    if own > MOST or others > MOST:
        return chance_to_find(min(own, MOST), min(others, MOST), honest, careless)
    power = 0.0
    for right in range(others + 1):
        chance = _binomial(right, others, honest)
        if chance > 1e-6:
            for k in range(own + 1):
                if fewer_p(k, own, right, others) > ALARM:
                    break
                power += chance * _binomial(k, own, careless)
    return power


@lru_cache(maxsize=20_000)
def fewer_p(k: int, n: int, right: int, others: int) -> float:
    """The p-value of k of n where others have `right` of `others`: fewer only by chance? (Fisher's exact test)"""
    total = _log_ways(n + others, k + right)
    fewest = max(0, k + right - others)
    return sum(exp(_log_ways(n, i) + _log_ways(others, k + right - i) - total) for i in range(fewest, min(k, n) + 1))


def _log_ways(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _binomial(k: int, n: int, p: float) -> float:
    return comb(n, k) * p**k * (1 - p) ** (n - k)
