"""Every figure about the people who judge, with its n and its interval, and what an admin should look at.

Two detectors, both good whenever one looks, together wrong about no more than some one honest person in a hundred, ever
(their bounds add up to 1.5%; benchmarks/crowds.py counts fewer). Honest is who answers as the others do (strengths
fitted without them), with some lapses and perhaps a liking for a side.

An e-value (Ville 1939; Wasserman, Ramdas & Balakrishnan 2020): how much better than anything honest a kind of clicking
explains the answers so far. And, since coin tosses are hard to tell from people early on, the most powerful test of a
coin against honesty, made only when somebody reaches certain numbers of answers, each with its share of the false
alarms (Lan & DeMets 1983); the distribution under honesty is exact (a convolution).

Both hold so far as the others' strengths are known: that they are estimated is in the variance, that they move while
others judge is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logsumexp

from evaluation.annotators import circles, repeats, share, side_bias
from evaluation.evidence import Judgments
from evaluation.reliability import Reliability

Vector = NDArray[np.float64]

#: Kinds of clicking, and how much of the false alarms of the e-value each may use up.
KINDS = {"coin": 0.4, "sided": 0.2, "alternating": 0.2, "inverted": 0.2}
#: An average e-value of this much is a flag: one false alarm in a thousand honest people, ever.
ALARM = 1000.0
#: Answers are said to be more than random only if that explains them so many times better.
EVIDENT = 20.0
#: After how many answers a coin is tested for, and the false alarms that each of these tests may give.
LOOKS = {20: 0.0003, 40: 0.013, 80: 0.0002, 160: 0.0001, 320: 0.0001, 640: 0.00005, 1280: 0.00005}
LAPSES = (0.02, 0.05, 0.1, 0.15)
LAPSE = 0.02
LIKINGS = (-0.4, -0.2, 0.0, 0.2, 0.4)
#: Nats; the test's statistic is rounded to it, and its distribution then exact.
STEP = 0.05
#: A robust z of log seconds below this, from at least so many answers, asks whether somebody reads.
FAST_Z, FAST_N = -3.5, 10
#: A triple's share of circles under coin tosses.
CIRCLES_BY_CHANCE = 0.25
MOST_SENTENCES = 400


@dataclass(frozen=True, slots=True)
class Answers:
    """What was answered in one topic, in the order of time: `judgments` (a is the left sentence) and, for each of them,
    `seconds` read (nan if unknown), whether it is counted in fits, whether it is a `repeat` of a pair that the same
    person had seen before, and the `known` share of the left sentence (nan where nobody knows the answer).

    `time` (m,) orders answers over topics.
    """

    judgments: Judgments
    seconds: Vector
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


def suspect(left: Vector, mean: Vector, variance: Vector) -> Suspicion:
    """What one person's answers look like, in the order in which they came.

    `left` (m,): 1 the left sentence was preferred, 0 the right one, 0.5 a tie (says nothing here); `mean`, `variance`
    (m,): of utility left minus right, had the person judged nothing.
    """
    told = left != 0.5
    left, mean, variance = left[told], mean[told], variance[told]
    if not len(left):
        return Suspicion(1.0, 1.0, 0, "coin")
    honest = _honest(left, mean, variance)
    clicking = np.array(
        [
            np.full(len(left), -math.log(2)).cumsum(),
            _adaptive(left),
            _adaptive(np.concatenate([[np.nan], np.abs(np.diff(left))])),
            _inverted(left, mean, variance).cumsum(),
        ]
    )
    log_e = clicking - honest
    average = logsumexp(log_e, axis=0, b=np.array(list(KINDS.values()))[:, None])
    passed = (np.flatnonzero(average >= math.log(ALARM)) + 1).tolist()
    looks = [n for n, alpha in LOOKS.items() if n <= len(left) and _coin(left[:n], mean[:n], variance[:n]) <= alpha]
    since = min(passed[:1] + looks[:1], default=0)
    preferred = log_e[:, -1] + np.log([EVIDENT if kind == "coin" else 1.0 for kind in KINDS])
    kind = list(KINDS)[int(np.argmax(preferred))]
    e = np.exp(np.minimum(average, 700.0))
    return Suspicion(float(e[-1]), float(e.max()), since, kind)


def _coin(left: Vector, mean: Vector, variance: Vector) -> float:
    """The p-value of answers as unlike the others' as these from an honest person.

    The statistic is the log-likelihood ratio of a coin to honesty, each answer's part rounded to `STEP`.
    """
    p = _chance(mean, variance)
    parts = np.rint(np.array([-np.log(2 * (1 - p)), -np.log(2 * p)]) / STEP).astype(np.int64)
    reached = int(np.where(left == 1, parts[1], parts[0]).sum())
    lowest = int(parts.min(axis=0).sum())
    if reached <= lowest:
        return 1.0
    chances = np.ones(1)
    for to_left, (right, chosen) in zip(p.tolist(), parts.T.tolist(), strict=True):
        apart = abs(chosen - right)
        high = to_left if chosen > right else 1 - to_left
        following = np.zeros(len(chances) + apart)
        following[: len(chances)] = (1 - high) * chances
        following[apart:] += high * chances
        chances = following
    return float(chances[reached - lowest :].sum())


def _chance(mean: Vector, variance: Vector) -> Vector:
    """(m,): that an honest person prefers the left one, the uncertainty of the strengths and lapses included."""
    return np.asarray((1 - LAPSE) * expit(mean / np.sqrt(1 + np.pi * variance / 8)) + LAPSE / 2)


def _honest(left: Vector, mean: Vector, variance: Vector) -> Vector:
    """(m,): log-likelihood of the answers so far under the honest person whom they fit best."""
    liking, lapse = (grid.ravel()[:, None] for grid in np.meshgrid(LIKINGS, LAPSES))
    p = expit((mean + liking) / np.sqrt(1 + np.pi * variance / 8))
    p = (1 - lapse) * p + lapse / 2
    return np.asarray(np.log(np.where(left == 1, p, 1 - p)).cumsum(axis=1).max(axis=0))


def _inverted(left: Vector, mean: Vector, variance: Vector) -> Vector:
    p = _chance(-mean, variance)
    return np.asarray(np.log(np.where(left == 1, p, 1 - p)))


def _adaptive(events: Vector) -> Vector:
    """(m,): log-likelihood so far of a coin whose bias is learnt as it is tossed (Krichevsky & Trofimov 1981).

    nan: a first answer, which nothing can be said of, counts half and half.
    """
    happened = np.nan_to_num(events)
    known = np.isfinite(events)
    before = np.cumsum(happened) - happened
    of = np.cumsum(known) - known
    p = (before + 0.5) / (of + 1)
    chance = np.where(happened == 1, p, 1 - p)
    return np.log(np.where(known, chance, 0.5)).cumsum()


@dataclass(slots=True)
class _Sheet:
    """One person's rows, over topics."""

    topics: list[int] = field(default_factory=list)
    rows: list[NDArray[np.int64]] = field(default_factory=list)


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
    return tuple(
        _person(topics, sheet, found, float(found.beta[person]), speeds[person]) for person, sheet in enumerate(sheets)
    )


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


def _person(topics: Sequence[Answers], sheet: _Sheet, found: Reliability, beta: float, speed: float) -> Person:
    def column(values: Sequence[NDArray[np.generic]]) -> Vector:
        parts = [values[topic][rows] for topic, rows in zip(sheet.topics, sheet.rows, strict=True)]
        return np.concatenate(parts).astype(np.float64)[order] if parts else np.zeros(0)

    times = [topics[topic].time[rows] for topic, rows in zip(sheet.topics, sheet.rows, strict=True)]
    order = np.argsort(np.concatenate(times), kind="stable") if times else np.zeros(0, dtype=np.int64)
    left = column([one.judgments.outcome for one in topics])
    seconds = column([one.seconds for one in topics])
    known = column([one.known for one in topics])
    mean, variance = found.typical * column(found.mean), found.typical**2 * column(found.variance)
    timed = seconds[np.isfinite(seconds)]
    suspicion = suspect(left, mean, variance)
    figures = {
        "answers": Figure(float(len(left)), len(left)),
        "seconds": Figure(float(np.median(timed)) if len(timed) else math.nan, len(timed)),
        "speed": Figure(speed, len(timed)),
        **_sides(left),
        "repeats": _repeats(topics, sheet),
        "gold": _share(known[np.isfinite(known)] == left[np.isfinite(known)]),
        "circles": _circles(topics, sheet),
        "fit": _fit(left, mean, variance),
        "e": Figure(suspicion.e, len(left)),
        "reliability": Figure(beta, len(left)),
    }
    return Person(figures, _flags(figures, suspicion), suspicion, beta)


def _share(happened: NDArray[np.bool_], chance: float = math.nan) -> Figure:
    found = share(int(happened.sum()), len(happened))
    return Figure(found.value, found.n, found.low, found.high, chance=chance)


def _sides(left: Vector) -> dict[str, Figure]:
    """How often the left one, how often neither, how often the other side than just before."""
    told = left[left != 0.5]
    changed = np.diff(told) != 0
    bias = side_bias(int(told.sum()), int(len(told) - told.sum()))
    p = float(stats.binomtest(int(changed.sum()), len(changed)).pvalue) if len(changed) else math.nan
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


def _fit(left: Vector, mean: Vector, variance: Vector) -> Figure:
    """Log-likelihood of the answers under the others' strengths, less n ln 1/2, an answer: 0 is what a coin gets.

    The interval is that of a mean, from the spread of the answers.
    """
    p = expit(mean / np.sqrt(1 + np.pi * variance / 8))
    gained = left * np.log(p) + (1 - left) * np.log1p(-p) + math.log(2)
    n = len(gained)
    if n < 2:
        return Figure(float(gained.mean()) if n else math.nan, n, chance=0.0)
    margin = 1.959963984540054 * float(gained.std(ddof=1)) / math.sqrt(n)
    value = float(gained.mean())
    return Figure(value, n, value - margin, value + margin, chance=0.0)


def _flags(figures: Mapping[str, Figure], suspicion: Suspicion) -> tuple[str, ...]:
    """Names of what an admin should look at."""
    asked = [suspicion.kind] if suspicion.since else []
    if figures["speed"].value < FAST_Z and figures["speed"].n >= FAST_N:
        asked.append("fast")
    if figures["gold"].high < 0.5:
        asked.append("gold")
    if figures["repeats"].high < 0.5:
        asked.append("repeats")
    return tuple(asked)
