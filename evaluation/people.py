"""Every figure about the people who judge, with its n and its interval, and what an admin should look at.

Two detectors; one may look at them after every answer, and together they are wrong about no more than one honest
person in a hundred, ever (benchmarks/crowds.py counts them). Honest is who answers as the others do: by strengths
fitted without them, with the slope and the lapses that are usual in this crowd, perhaps with a liking for a side.

An e-value (Ville 1939; Wasserman, Ramdas & Balakrishnan 2020): how much better than anything honest a kind of clicking
explains the answers so far. And, since coin tosses are hard to tell from people early on, the most powerful test of a
coin against honesty, made anew after every answer: how many false alarms it may have given by the n-th is fixed before
(Lan & DeMets 1983), and the chance under honesty of having come so far is exact, a convolution in which whoever was
noticed is taken out.

Given the others' answers, one's own are independent of each other, so both hold so far as the others' strengths are
known: that they are estimated is in the variance, that they move while others judge is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.special import expit, logsumexp

from evaluation.annotators import circles, fair, repeats, share, side_bias
from evaluation.evidence import Judgments
from evaluation.reliability import Reliability

Vector = NDArray[np.float64]

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
#: A robust z of log seconds below this, or hasty more often than not, from at least so many answers, asks whether
#: somebody reads.
FAST_Z, FAST_N = -3.5, 10
#: A triple's share of circles under coin tosses.
CIRCLES_BY_CHANCE = 0.25
MOST_SENTENCES = 400
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered in one topic, in the order of time: `judgments` (a is the left sentence) and, for each of them,
    `seconds` read (nan if unknown), the `least` seconds that reading takes, whether it is `counted` in fits, whether it
    is a `repeat` of a pair that the same person had seen before, and the `known` share of the left sentence (nan where
    nobody knows the answer).

    `time` (m,) orders answers over topics.
    """

    judgments: Judgments
    seconds: Vector
    least: Vector
    counted: NDArray[np.bool_]
    repeat: NDArray[np.bool_]
    known: Vector
    time: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with what it rests on: n, a 95% interval where there is one, a p-value, the value by chance."""

    value: float
    n: int
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    chance: float = math.nan


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What the detectors say. `e`: the average e-value now; `most`: the largest it has been; `since`: after how many
    answers one of them first spoke up (0: never); `kind`: which kind of clicking explains the answers
    best by now."""

    e: float
    most: float
    since: int
    kind: str


@dataclass(frozen=True, slots=True)
class Person:
    """One annotator's figures by name, and the flags: a flag is a question, not a verdict."""

    figures: Mapping[str, Figure]
    flags: tuple[str, ...]
    suspicion: Suspicion
    reliability: float


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
    """What one person's answers look like, in the order in which they came.

    `left` (m,): 1 the left sentence was preferred, 0 the right one, 0.5 a tie (says nothing here); `mean`, `variance`
    (m,): of utility left minus right, had the person judged nothing.
    """
    honest = Honesty() if honest is None else honest
    told = left != 0.5
    left, mean, variance = left[told], mean[told], variance[told]
    if not len(left):
        return Suspicion(1.0, 1.0, 0, "coin")
    p = honest.chance(mean, variance)
    log_e = _clicking(left, p).cumsum(axis=1) - _honest(left, mean, variance, honest)
    average = logsumexp(log_e, axis=0, b=np.array(list(KINDS.values()))[:, None])
    passed = (np.flatnonzero(average >= math.log(ALARM)) + 1).tolist()
    since = min([*passed[:1], *([noticed] if (noticed := _no_better_than_a_coin(left, p)) else [])], default=0)
    preferred = log_e[:, -1] + np.log([EVIDENT if kind == "coin" else 1.0 for kind in KINDS])
    kind = list(KINDS)[int(np.argmax(preferred))]
    e = np.exp(np.minimum(average, 700.0))
    return Suspicion(float(e[-1]), float(e.max()), since, kind)


def honesty(sheets: Sequence[tuple[Vector, Vector, Vector]]) -> Honesty:
    """The slope and the lapses that are usual among people, from everybody's (left, mean, variance), see `suspect`.

    Some of them may click: everybody is honest or else one of `KINDS`, and what is honest is the mean of what may be,
    weighed by how well it explains the crowd and by a weak prior, which decides where hardly anybody judged.
    """
    told = [tuple(one[sheet[0] != 0.5] for one in sheet) for sheet in sheets]
    told = [sheet for sheet in told if len(sheet[0])]
    left, mean, variance = (np.concatenate([sheet[i] for sheet in told] or [np.zeros(0)]) for i in range(3))
    starts = np.cumsum([0] + [len(sheet[0]) for sheet in told[:-1]])[: len(told)]
    usual = Honesty()
    clicking = np.array([_clicking(one, usual.chance(m, v)).sum(axis=1) for one, m, v in told]).reshape(-1, len(KINDS))
    clicks = logsumexp(clicking, axis=1) - math.log(len(KINDS))
    log_weight = np.empty((len(SLOPES), len(LAPSES), len(DISHONEST)))
    for row, slope in enumerate(SLOPES):
        for column, lapse in enumerate(LAPSES):
            p = Honesty(slope, lapse).chance(mean, variance)
            said = np.log(np.where(left == 1, p, 1 - p))
            each = np.add.reduceat(said, starts) if len(told) else np.zeros(0)
            mixed = np.logaddexp(np.log1p(-DISHONEST)[:, None] + each, np.log(DISHONEST)[:, None] + clicks)
            prior = -((np.log(slope) / 0.3) ** 2) / 2 - lapse / 0.05
            log_weight[row, column] = mixed.sum(axis=1) + prior
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return Honesty(float(weight.sum(axis=(1, 2)) @ SLOPES), float(weight.sum(axis=(0, 2)) @ LAPSES))


def _clicking(left: Vector, p: Vector) -> NDArray[np.float64]:
    """(kinds, m): log-likelihood of each answer under each kind of clicking; p: that an honest person goes left."""
    turns = np.concatenate([[np.nan], np.abs(np.diff(left))])
    inverted = np.log(np.where(left == 1, 1 - p, p))
    return np.array([np.full(len(left), -math.log(2)), _adaptive(left), _adaptive(turns), inverted])


def _honest(left: Vector, mean: Vector, variance: Vector, honest: Honesty) -> Vector:
    """(m,): log-likelihood of the answers so far under the honest person whom they fit best."""
    lapses = (*LAPSES[::2].tolist(), honest.lapse)
    found = []
    for liking in LIKINGS:
        for lapse in lapses:
            p = Honesty(honest.slope, lapse).chance(mean, variance, liking)
            found.append(np.log(np.where(left == 1, p, 1 - p)).cumsum())
    return np.asarray(np.max(found, axis=0))


def _allowed(n: int) -> float:
    """How many of all honest people the test for a coin may have been wrong about by their n-th answer."""
    early = BY_VERDICT * min(1.0, n / VERDICT) ** 3
    return early + LATER * max(0.0, 1 - VERDICT / n)


def _no_better_than_a_coin(left: Vector, p: Vector) -> int:
    """After how many answers they had become too unlike honest ones and too like coin tosses; 0: never.

    `p` (m,): that an honest person prefers the left one. The statistic is the log-likelihood ratio of a coin to
    honesty, each answer's part rounded to `STEP`. `chances` is its distribution among honest people who are not
    noticed yet; whoever is furthest out is noticed, as many as are allowed by then.
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

    nan: a first answer, which nothing can be said of, counts half and half.
    """
    happened = np.nan_to_num(events)
    known = np.isfinite(events)
    before = np.cumsum(happened) - happened
    of = np.cumsum(known) - known
    p = (before + 0.5) / (of + 1)
    chance = np.where(happened == 1, p, 1 - p)
    return np.log(np.where(known, chance, 0.5))


@dataclass(slots=True)
class _Sheet:
    """One person's rows, over topics."""

    topics: list[int] = field(default_factory=list)
    rows: list[NDArray[np.int64]] = field(default_factory=list)

    def column(self, topics: Sequence[NDArray[np.generic]], order: NDArray[np.int64] | slice = slice(None)) -> Vector:
        """One number a judgment, out of those of all topics."""
        parts = [topics[topic][rows] for topic, rows in zip(self.topics, self.rows, strict=True)]
        return np.concatenate(parts).astype(np.float64)[order] if parts else np.zeros(0)


def describe(topics: Sequence[Answers], annotators: int, found: Reliability) -> tuple[Person, ...]:
    """Everybody's figures. `found`: reliabilities and differences without each person, of the same topics."""
    sheets = [_Sheet() for _ in range(annotators)]
    for number, one in enumerate(topics):
        order = np.argsort(one.judgments.annotator, kind="stable")
        people, starts = np.unique(one.judgments.annotator[order], return_index=True)
        for person, rows in zip(people.tolist(), np.split(order, starts[1:]), strict=False):
            sheets[person].topics.append(number)
            sheets[person].rows.append(rows)
    speeds = _speeds(topics, annotators)
    told = [_told(topics, sheet, found) for sheet in sheets]
    usual = honesty(told)
    counted = np.zeros(annotators, dtype=np.int64)
    for one in topics:
        np.add.at(counted, one.judgments.annotator[one.counted], 1)
    reliabilities = [
        Figure(value, n, value - Z95 * sd, value + Z95 * sd, chance=0.0)
        for value, sd, n in zip(
            (found.beta / found.usual).tolist(), (found.sd / found.usual).tolist(), counted.tolist(), strict=True
        )
    ]
    return tuple(
        _person(topics, sheet, told[person], usual, reliabilities[person], speeds[person])
        for person, sheet in enumerate(sheets)
    )


def _told(topics: Sequence[Answers], sheet: _Sheet, found: Reliability) -> tuple[Vector, Vector, Vector]:
    """What they answered (the left one's share), and mean and variance of what the others think of it, in time.

    Without pairs that they had seen before: who remembers an unusual answer would seem to give it twice.
    """
    order = np.argsort(sheet.column([one.time for one in topics]), kind="stable")
    order = order[sheet.column([one.repeat for one in topics], order) == 0]
    left = sheet.column([one.judgments.outcome for one in topics], order)
    return left, sheet.column(found.mean, order), sheet.column(found.variance, order)


def _speeds(topics: Sequence[Answers], annotators: int) -> Vector:
    """(K,): robust z of each person's median log seconds among everybody's: (x - median) / (1.4826 MAD)."""
    who = np.concatenate([one.judgments.annotator for one in topics] or [np.zeros(0, dtype=np.int64)])
    seconds = np.concatenate([one.seconds for one in topics] or [np.zeros(0)])
    timed = np.isfinite(seconds) & (seconds > 0)
    medians = np.full(annotators, np.nan)
    order = np.argsort(who[timed], kind="stable")
    people, starts = np.unique(who[timed][order], return_index=True)
    for person, logs in zip(people.tolist(), np.split(np.log(seconds[timed][order]), starts[1:]), strict=False):
        medians[person] = np.median(logs)
    known = np.isfinite(medians)
    if known.sum() < 3:
        return np.full(annotators, np.nan)
    middle = np.median(medians[known])
    spread = 1.4826 * np.median(np.abs(medians[known] - middle))
    return np.asarray((medians - middle) / spread) if spread > 0 else np.full(annotators, np.nan)


def _person(
    topics: Sequence[Answers],
    sheet: _Sheet,
    told: tuple[Vector, Vector, Vector],
    honest: Honesty,
    reliability: Figure,
    speed: float,
) -> Person:
    order = np.argsort(sheet.column([one.time for one in topics]), kind="stable")
    left = sheet.column([one.judgments.outcome for one in topics], order)
    seconds = sheet.column([one.seconds for one in topics], order)
    known = sheet.column([one.known for one in topics], order)
    hasty = seconds < sheet.column([one.least for one in topics], order)
    timed = np.isfinite(seconds)
    suspicion = suspect(*told, honest)
    figures = {
        "answers": Figure(float(len(left)), len(left)),
        "seconds": _median(seconds[timed]),
        "speed": Figure(speed, int(timed.sum())),
        "hasty": _share(hasty[timed]),
        **_sides(left),
        "repeats": _repeats(topics, sheet),
        "gold": _share(known[np.isfinite(known)] == left[np.isfinite(known)]),
        "circles": _circles(topics, sheet),
        "fit": _fit(told[0], honest.chance(*told[1:])),
        "e": Figure(suspicion.e, len(told[0])),
        "noticed": Figure(float(suspicion.since), len(told[0])),
        "reliability": reliability,
    }
    return Person(figures, _flags(figures, suspicion), suspicion, reliability.value)


def _share(happened: NDArray[np.bool_], chance: float = math.nan) -> Figure:
    found = share(int(happened.sum()), len(happened))
    return Figure(found.value, found.n, found.low, found.high, chance=chance)


def _median(seconds: Vector) -> Figure:
    """Between those order statistics that hold the median in 95 of 100 samples, whatever the distribution."""
    n = len(seconds)
    if not n:
        return Figure(math.nan, 0)
    ordered = np.sort(seconds)
    if special.bdtr(0, n, 0.5) > 0.025:
        return Figure(float(np.median(seconds)), n)
    beyond = math.ceil(special.bdtrik(0.025, n, 0.5))
    return Figure(float(np.median(seconds)), n, float(ordered[beyond - 1]), float(ordered[n - beyond]))


def _sides(left: Vector) -> dict[str, Figure]:
    """How often the left one, how often neither, how often the other side than just before."""
    told = left[left != 0.5]
    changed = np.diff(told) != 0
    bias = side_bias(int(told.sum()), int(len(told) - told.sum()))
    p = fair(int(changed.sum()), len(changed))
    turns = _share(changed)
    return {
        "left": Figure(bias.left.value, bias.left.n, bias.left.low, bias.left.high, bias.p, 0.5),
        "ties": _share(left == 0.5),
        "alternation": Figure(turns.value, turns.n, turns.low, turns.high, p, 0.5),
    }


def _repeats(topics: Sequence[Answers], sheet: _Sheet) -> Figure:
    """How often the same sentence was preferred again when the same pair came again."""
    first, again = [], []
    for topic, rows in zip(sheet.topics, sheet.rows, strict=True):
        one = topics[topic]
        seen: dict[tuple[int, int], float] = {}
        for row in rows[np.argsort(one.time[rows], kind="stable")].tolist():
            a, b = int(one.judgments.a[row]), int(one.judgments.b[row])
            value = float(one.judgments.outcome[row])
            pair, lower = ((a, b), value) if a < b else ((b, a), 1 - value)
            if one.repeat[row] and pair in seen:
                first.append(seen[pair])
                again.append(lower)
            elif not one.repeat[row]:
                seen[pair] = lower
    found = repeats(np.array(first), np.array(again))
    return Figure(found.value, found.n, found.low, found.high, chance=0.5)


def _circles(topics: Sequence[Answers], sheet: _Sheet) -> Figure:
    """The share of circular triads in all topics together; topics with very many sentences in question left out."""
    circular = triples = 0
    for topic, rows in zip(sheet.topics, sheet.rows, strict=True):
        one = topics[topic].judgments
        sentences, at = np.unique(np.concatenate([one.a[rows], one.b[rows]]), return_inverse=True)
        if len(rows) < 3 or len(sentences) > MOST_SENTENCES or len(rows) < len(sentences) // 2 + 1:
            continue
        wins = np.zeros((len(sentences), len(sentences)))
        a, b = at[: len(rows)], at[len(rows) :]
        np.add.at(wins, (a, b), one.outcome[rows])
        np.add.at(wins, (b, a), 1 - one.outcome[rows])
        found = circles(wins)
        circular, triples = circular + found.circular, triples + found.triples
    shared = share(circular, triples)
    return Figure(shared.value, shared.n, shared.low, shared.high, chance=CIRCLES_BY_CHANCE)


def _fit(left: Vector, p: Vector) -> Figure:
    """Log-likelihood of the answers under the others' strengths, less n ln 1/2, an answer: 0 is what a coin gets.

    `p`: that an honest person prefers the left one. The interval is that of a mean, from the spread of the answers.
    """
    gained = left * np.log(p) + (1 - left) * np.log1p(-p) + math.log(2)
    n = len(gained)
    if n < 2:
        return Figure(float(gained.mean()) if n else math.nan, n, chance=0.0)
    margin = Z95 * float(gained.std(ddof=1)) / math.sqrt(n)
    value = float(gained.mean())
    return Figure(value, n, value - margin, value + margin, chance=0.0)


def _flags(figures: Mapping[str, Figure], suspicion: Suspicion) -> tuple[str, ...]:
    """Names of what an admin should look at."""
    asked = [suspicion.kind] if suspicion.since else []
    enough = figures["seconds"].n >= FAST_N
    if enough and (figures["speed"].value < FAST_Z or figures["hasty"].low > 0.5):
        asked.append("fast")
    if figures["gold"].high < 0.5:
        asked.append("gold")
    if figures["repeats"].high < 0.5:
        asked.append("repeats")
    return tuple(asked)
