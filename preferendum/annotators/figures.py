"""Every figure about an annotator, with its n and its interval, and what an admin should look at.

docs/annotator-figures.md says what each means and does not mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from preferendum.annotators.answers import Answers, Numbers, Sheet, rows_of_each, sheets
from preferendum.annotators.consistency import circularity, repeats
from preferendum.annotators.detectors import Honesty, Responses, Suspicion, honesty, suspect
from preferendum.annotators.reliability import Reliability
from preferendum.results import AnnotatorFigures, Figure
from preferendum.results.checks import ALARM, fewer_p
from preferendum.results.statistics import Z95, share
from preferendum.statistics import even_odds_p, finite, mean, median, robust_z

Vector = NDArray[np.float64]

#: What is right or wrong: the answer of another annotator to the same pair, a gold pair, a repeat.
CHECKS = ("shared", "gold", "repeats")
#: A robust z of log seconds below this, or hasty more often than not, from at least so many answers, raises the
#: question whether the annotator reads.
FAST_Z, FAST_N = -3.5, 10


def describe(topics: Sequence[Answers], annotators: int, reliability: Reliability) -> tuple[AnnotatorFigures, ...]:
    """Each annotator's figures. `reliability`: of the same topics, with the differences without each annotator."""
    own = sheets(topics, annotators)
    speeds = _speeds(topics, annotators)
    responses = [_responses(topics, sheet, reliability) for sheet in own]
    honest = honesty(responses)
    slopes, shared = _slopes(topics, reliability), _shared(topics, annotators)
    described = [
        _describe_one(topics, sheet, responses[k], honest, slopes[k], finite(speeds[k]), shared[k])
        for k, sheet in enumerate(own)
    ]
    totals = {name: [sum(of) for of in zip(*_counts(described, name), strict=True)] for name in CHECKS}
    return tuple(replace(record, flags=record.flags + _failed(record.figures, totals)) for record in described)


def _responses(topics: Sequence[Answers], sheet: Sheet, reliability: Reliability) -> Responses:
    """The responses of annotators without pairs that they had seen before: who remembers an unusual answer would seem
    to give it twice.

    Answers whose sides are unknown get random ones, so that the order in a file is never taken for a liking.
    """
    order = sheet.in_time(topics)
    order = order[sheet.column([answers.repeat for answers in topics], order) == 0]
    left = sheet.column([answers.judgments.outcome for answers in topics], order)
    mean, variance = sheet.column(reliability.mean, order), sheet.column(reliability.variance, order)
    is_sided = sheet.column([answers.sided for answers in topics], order) == 1
    turned = ~is_sided & (np.random.default_rng(0).random(len(order)) < 0.5)
    return np.where(turned, 1 - left, left), np.where(turned, -mean, mean), variance


def _speeds(topics: Sequence[Answers], annotators: int) -> Vector:
    """(K,): robust z of each annotator's median log seconds among all annotators'."""
    who = np.concatenate([answers.judgments.annotator for answers in topics] or [np.zeros(0, dtype=np.int64)])
    seconds = np.concatenate([answers.seconds for answers in topics] or [np.zeros(0)])
    timed = np.isfinite(seconds) & (seconds > 0)
    medians = np.full(annotators, np.nan)
    for annotator, rows in rows_of_each(who[timed]):
        medians[annotator] = np.median(np.log(seconds[timed][rows]))
    return robust_z(medians)


def _slopes(topics: Sequence[Answers], reliability: Reliability) -> list[Figure]:
    """How steeply each annotator follows what the others find important: 1 is usual."""
    counted = np.zeros(len(reliability.beta), dtype=np.int64)
    for answers in topics:
        np.add.at(counted, answers.judgments.annotator[answers.counted], 1)
    values, errors = reliability.beta / reliability.usual, reliability.sd / reliability.usual
    return [
        Figure(value, n, value - Z95 * error, value + Z95 * error, chance=0.0)
        for value, error, n in zip(values.tolist(), errors.tolist(), counted.tolist(), strict=True)
    ]


def _describe_one(
    topics: Sequence[Answers],
    sheet: Sheet,
    responses: Responses,
    honest: Honesty,
    slope: Figure,
    speed: float | None,
    shared: Figure,
) -> AnnotatorFigures:
    order = sheet.in_time(topics)
    left = sheet.column([answers.judgments.outcome for answers in topics], order)
    expected = sheet.column([answers.expected for answers in topics], order)
    suspicion = suspect(*responses, honest)
    figures = {
        "answers": Figure(float(len(left)), len(left)),
        **_times(topics, sheet, order, speed),
        **_sides(left[sheet.column([answers.sided for answers in topics], order) == 1]),
        "longer": _longer(left, sheet.column([answers.longer for answers in topics], order)),
        "ties": _share(left == 0.5),
        "shared": shared,
        "repeats": repeats(topics, sheet),
        "gold": _share(expected[np.isfinite(expected)] == left[np.isfinite(expected)]),
        "circles": circularity(topics, sheet),
        "fit": _fit(responses[0], honest.chance(*responses[1:])),
        "e": Figure(suspicion.e, len(responses[0])),
        "noticed": Figure(float(suspicion.since), len(responses[0])),
        "reliability": slope,
    }
    return AnnotatorFigures(figures, _flags(figures, suspicion))


def _times(topics: Sequence[Answers], sheet: Sheet, order: Numbers, speed: float | None) -> dict[str, Figure]:
    """How long, how fast compared with all annotators, and how often faster than one can read."""
    seconds = sheet.column([answers.seconds for answers in topics], order)
    hasty = seconds < sheet.column([answers.least for answers in topics], order)
    timed = np.isfinite(seconds)
    return {
        "seconds": median(seconds[timed]),
        "speed": Figure(speed, int(timed.sum())),
        "hasty": _share(hasty[timed]),
    }


def _sides(left: Vector) -> dict[str, Figure]:
    """How often the left one, how often the other side than just before."""
    decided = left[left != 0.5]
    return {
        "left": _even_odds(decided == 1),
        "alternation": _even_odds(np.diff(decided) != 0),
    }


def _longer(left: Vector, longer: Vector) -> Figure:
    """How often the longer one, where one is longer and one is preferred."""
    rows = np.isfinite(longer) & (left != 0.5)
    return _share(left[rows] == longer[rows])


def _share(happened: NDArray[np.bool_]) -> Figure:
    return share(int(happened.sum()), len(happened))


def _even_odds(happened: NDArray[np.bool_]) -> Figure:
    """How often it happened, with the p-value of that under even odds."""
    k, n = int(happened.sum()), len(happened)
    return share(k, n, even_odds_p(k, n), 0.5)


def _fit(left: Vector, p: Vector) -> Figure:
    """Mean log-likelihood of an answer under the others' strengths, less ln 1/2, so that a coin has 0.

    `p`: chance that an honest annotator prefers the left one; answers with 1/2 are left out: the others are no guide.
    """
    left, p = left[p != 0.5], p[p != 0.5]
    return mean(left * np.log(p) + (1 - left) * np.log1p(-p) + math.log(2), chance=0.0)


def _flags(figures: Mapping[str, Figure], suspicion: Suspicion) -> tuple[str, ...]:
    """Names of what an admin should look at."""
    flags = [suspicion.kind] if suspicion.since else []
    speed, hasty = figures["speed"].value, figures["hasty"].low
    is_fast = (speed is not None and speed < FAST_Z) or (hasty is not None and hasty > 0.5)
    if is_fast and figures["seconds"].n >= FAST_N:
        flags.append("fast")
    return tuple(flags)


def _shared(topics: Sequence[Answers], annotators: int) -> list[Figure]:
    """How often each annotator gave the answer of another one to the same pair, with each answer compared once: with
    the one before it, so that the comparisons of a pair with many answers hardly depend on each other.
    """
    same, compared = np.zeros(annotators, dtype=np.int64), np.zeros(annotators, dtype=np.int64)
    for answers in topics:
        of_pair: dict[tuple[int, int], list[tuple[int, float]]] = {}
        judgments = answers.judgments
        for row in np.flatnonzero(answers.counted & ~answers.repeat).tolist():
            a, b, outcome = int(judgments.a[row]), int(judgments.b[row]), float(judgments.outcome[row])
            given = of_pair.setdefault((min(a, b), max(a, b)), [])
            given.append((int(judgments.annotator[row]), outcome if a < b else 1 - outcome))
        for given in of_pair.values():
            for (annotator, answer), (other, another) in zip(given, [given[-1], *given], strict=False):
                if annotator != other:
                    compared[annotator] += 1
                    same[annotator] += answer == another
    return [share(k, n, chance=0.5) for k, n in zip(same.tolist(), compared.tolist(), strict=True)]


def _counts(described: Sequence[AnnotatorFigures], name: str) -> list[tuple[int, int]]:
    """How many checks of this name each annotator has right, and of how many."""
    return [(record.figures[name].count, record.figures[name].n) for record in described]


def _failed(figures: Mapping[str, Figure], totals: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """The checks that an annotator has right less often than a coin, or too seldom for one of the others."""
    failed = []
    for name in CHECKS:
        k, n = figures[name].count, figures[name].n
        right, of = totals[name]
        if _is_below_half(figures[name]) or (n and fewer_p(k, n, right - k, of - n) <= ALARM):
            failed.append(name)
    return tuple(failed)


def _is_below_half(figure: Figure) -> bool:
    return figure.high is not None and figure.high < 0.5
