"""Who clicks without reading? Two detectors.

Both may be read after every answer. Together they ever flag at most one honest annotator in a hundred
(benchmarks/archive/crowds.py counts them). Honest annotators answer as the others do: by strengths fitted without them,
with the slope and the lapses that are usual in this crowd, perhaps with a liking for a side.

The first is an e-value (Ville 1939; Wasserman, Ramdas & Balakrishnan 2020): how much better than anything honest a kind
of clicking explains the answers so far. Coin tosses look like people at first, so the second is the most powerful test
of a coin against honesty, repeated after every answer. The false alarms allowed by the n-th answer are fixed before
(Lan & DeMets 1983); the chance of the statistic under honesty is exact, a convolution without those already noticed.

Given the others' answers, an annotator's answers are independent of each other, so both hold as far as the others'
strengths are known: the variance includes that they are estimated, but not that they change while others judge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Vector = NDArray[np.float64]
#: One annotator's answers in the order in which they came: (m,) the left one's share, and mean and variance of what the
#: others think of it.
Responses = tuple[Vector, Vector, Vector]

#: Kinds of clicking, and how much of the false alarms of the e-value each may use up.
KINDS = {"coin": 0.4, "sided": 0.2, "alternating": 0.2, "inverted": 0.2}
#: An average e-value of this much is a flag: one false alarm in a thousand honest people, ever.
ALARM = 1000.0
#: Answers are said to be more than random only if that explains them so many times better.
EVIDENT = 20.0
#: The false alarms of the test for a coin: by the answer of this number (as its third power), and in all time after.
VERDICT, BY_VERDICT, LATER = 40, 0.008, 0.001
#: Nats; the test's statistic is rounded to it, and its distribution then exact.
STEP = 0.05
#: Chances below this at the harmless end are let go.
NEVER = 1e-12
#: What an honest person may be like: how steeply they follow the strengths, how often they press any key, liked sides.
SLOPES = np.array([0.6, 0.7, 0.85, 1.0, 1.15, 1.3, 1.5, 1.75])
LAPSES = np.array([0.01, 0.03, 0.05, 0.08, 0.12, 0.16])
LIKINGS = (-0.4, -0.2, 0.0, 0.2, 0.4)
#: And how many of a crowd may be none.
DISHONEST = np.array([0.02, 0.1, 0.2, 0.35])


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What the detectors say. `e`: the average e-value now; `since`: after how many answers one of them first spoke
    up (0: never); `kind`: which kind of clicking explains the answers best by now."""

    e: float
    since: int
    kind: str


@dataclass(frozen=True, slots=True)
class Honesty:
    """What honest answers look like in a crowd: the chance of a preference is (1 - lapse) s(slope d) + lapse / 2."""

    slope: float = 1.0
    lapse: float = 0.05

    def chance(self, mean: Vector, variance: Vector, liking: Vector | float = 0.0) -> Vector:
        """That an honest person prefers the left one of two whose utilities are known so well, elementwise."""
        spread = np.sqrt(1 + np.pi * self.slope**2 * variance / 8)
        return np.asarray((1 - self.lapse) * expit((self.slope * mean + liking) / spread) + self.lapse / 2)


def suspect(left: Vector, mean: Vector, variance: Vector, honest: Honesty | None = None) -> Suspicion:
    """The suspicion that one annotator's answers raise, in the order of time.

    `left` (m,): 1 the left sentence was preferred, 0 the right one, 0.5 a tie (ignored); `mean`, `variance`
    (m,): of utility left minus right, without the annotator's own judgments.
    """
    honest = Honesty() if honest is None else honest
    decided = left != 0.5
    left, mean, variance = left[decided], mean[decided], variance[decided]
    if not len(left):
        return Suspicion(1.0, 0, "coin")
    p = honest.chance(mean, variance)
    log_e = _clicking(left, p).cumsum(axis=1) - _honest(left, mean, variance, honest)
    average = logsumexp(log_e, axis=0, b=np.array(list(KINDS.values()))[:, None])
    passed = (np.flatnonzero(average >= math.log(ALARM)) + 1).tolist()
    since = min([*passed[:1], *([noticed] if (noticed := _no_better_than_a_coin(left, p)) else [])], default=0)
    preferred = log_e[:, -1] + np.log([EVIDENT if kind == "coin" else 1.0 for kind in KINDS])
    kind = list(KINDS)[int(np.argmax(preferred))]
    return Suspicion(float(np.exp(np.minimum(average[-1], 700.0))), since, kind)


def honesty(everybody: Sequence[Responses]) -> Honesty:
    """The usual slope and lapses of annotators, from the (left, mean, variance) of each, see `suspect`.

    Some of them may click: each is honest or one of `KINDS`. The result is the mean over possible slopes and lapses,
    weighed by how well they explain the crowd and by a weak prior, which decides where there are few judgments.
    """
    decided = [tuple(column[left != 0.5] for column in (left, mean, variance)) for left, mean, variance in everybody]
    decided = [responses for responses in decided if len(responses[0])]
    left, mean, variance = (np.concatenate([responses[i] for responses in decided] or [np.zeros(0)]) for i in range(3))
    starts = np.cumsum([0] + [len(responses[0]) for responses in decided[:-1]])[: len(decided)]
    usual = Honesty()
    clicking = np.array([_clicking(y, usual.chance(m, v)).sum(axis=1) for y, m, v in decided]).reshape(-1, len(KINDS))
    clicks = logsumexp(clicking, axis=1) - math.log(len(KINDS))
    log_weight = np.empty((len(SLOPES), len(LAPSES), len(DISHONEST)))
    for row, slope in enumerate(SLOPES):
        for column, lapse in enumerate(LAPSES):
            p = Honesty(slope, lapse).chance(mean, variance)
            log_likelihood = np.log(np.where(left == 1, p, 1 - p))
            each = np.add.reduceat(log_likelihood, starts) if len(decided) else np.zeros(0)
            mixed = np.logaddexp(np.log1p(-DISHONEST)[:, None] + each, np.log(DISHONEST)[:, None] + clicks)
            prior = -((np.log(slope) / 0.3) ** 2) / 2 - lapse / 0.05
            log_weight[row, column] = mixed.sum(axis=1) + prior
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return Honesty(float(weight.sum(axis=(1, 2)) @ SLOPES), float(weight.sum(axis=(0, 2)) @ LAPSES))


def _clicking(left: Vector, p: Vector) -> NDArray[np.float64]:
    """(kinds, m): log-likelihood of each answer by each kind of clicking; p: chance of an honest left answer."""
    turns = np.concatenate([[np.nan], np.abs(np.diff(left))])
    inverted = np.log(np.where(left == 1, 1 - p, p))
    return np.array([np.full(len(left), -math.log(2)), _adaptive(left), _adaptive(turns), inverted])


def _honest(left: Vector, mean: Vector, variance: Vector, honest: Honesty) -> Vector:
    """(m,): log-likelihood of the answers so far under the honest person whom they fit best."""
    lapses = (*LAPSES[::2].tolist(), honest.lapse)
    log_likelihoods = []
    for liking in LIKINGS:
        for lapse in lapses:
            p = Honesty(honest.slope, lapse).chance(mean, variance, liking)
            log_likelihoods.append(np.log(np.where(left == 1, p, 1 - p)).cumsum())
    return np.asarray(np.max(log_likelihoods, axis=0))


def _allowed(n: int) -> float:
    """How many of all honest people the test for a coin may have been wrong about by their n-th answer."""
    early = BY_VERDICT * min(1.0, n / VERDICT) ** 3
    return early + LATER * max(0.0, 1 - VERDICT / n)


def _no_better_than_a_coin(left: Vector, p: Vector) -> int:
    """The number of answers after which they were too unlike honest ones and too like coin tosses; 0: never.

    `p` (m,): chance that an honest annotator prefers the left one. The statistic is the log-likelihood ratio of a coin
    to honesty, each answer's part rounded to `STEP`. `chances` is its distribution among honest annotators who are not
    noticed yet; those furthest out are noticed, as many as are allowed by then.
    """
    parts = np.rint(np.array([-np.log(2 * (1 - p)), -np.log(2 * p)]) / STEP).astype(np.int64)
    reached = np.where(left == 1, parts[1], parts[0]).cumsum().tolist()
    chances, lowest, noticed = np.ones(1), 0, 0.0
    for n, (to_left, (right, chosen)) in enumerate(zip(p.tolist(), parts.T.tolist(), strict=True), start=1):
        apart = abs(chosen - right)
        high = to_left if chosen > right else 1 - to_left
        following = np.zeros(len(chances) + apart)
        following[: len(chances)] = (1 - high) * chances
        following[apart:] += high * chances
        lowest += min(right, chosen)
        beyond = following[::-1].cumsum()
        out = int(np.searchsorted(beyond, _allowed(n) - noticed, side="right"))
        if out:
            noticed += float(beyond[out - 1])
            following = following[: len(following) - out]
        if reached[n - 1] - lowest >= len(following):
            return n
        harmless = int(np.searchsorted(following.cumsum(), NEVER))
        chances, lowest = following[harmless:], lowest + harmless
    return 0


def _adaptive(events: Vector) -> Vector:
    """(m,): log-likelihood of each toss of a coin whose bias is learnt as it is tossed (Krichevsky & Trofimov 1981).

    nan: a first answer, which has no event, counts 1/2.
    """
    happened = np.nan_to_num(events)
    is_told = np.isfinite(events)
    before = np.cumsum(happened) - happened
    tosses = np.cumsum(is_told) - is_told
    p = (before + 0.5) / (tosses + 1)
    chance = np.where(happened == 1, p, 1 - p)
    return np.log(np.where(is_told, chance, 0.5))
