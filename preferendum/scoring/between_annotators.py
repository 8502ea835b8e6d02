"""How far annotators differ in what they prefer, and what that makes of the errors of systems' scores.

A score is a sum over answers, so each annotator k adds a part of their own, u_kt in topic t, to what the fit expects
(`preferendum.fit.chances`). With v_kt their share of the topic's answers, k is away from the topic's other annotators
by

    e_kt = u_kt - v_kt sum_l u_lt,    E_k = sum_t e_kt / T over all T topics.

If annotators are a sample of their kind, each with a taste of their own that holds in all topics, of variance s^2 in a
score, then, with w_k the mean of v_kt over topics and A = diag(w) - sum_t v_t v_t' / T,

    variance that tastes leave in the score    s^2 |w|^2
    mean of sum_k E_k^2                        s^2 |A|^2 + chance,

chance being what independent answers leave in it: sum_t (1 - |v_t|^2) variance_t / T^2. So R (sum_k E_k^2 - chance),
R = |w|^2 / |A|^2, is what tastes add to the variance v of answers. One pair of systems tells that badly; all of them
together tell by how much errors of answers are too small,

    ratio = max(1, 1 + sum over pairs of R (sum_k (E_ka - E_kb)^2 - chance_ab) / sum over pairs of v_ab)

and the variance of a pair, which also has parts that are the same for all annotators, grows by (ratio - 1) v_ab. Where
all g annotators answer equally often in all topics, R = g / (g - 1), and ratio v is on average the cluster-robust
variance (Liang and Zeger, Biometrika 1986; Cameron and Miller, Journal of Human Resources 2015).

The ratio has (g - 1) r degrees of freedom, r being the number of independent ways in which annotators differ, as many
as would give the squared singular values l of E (g, s) the same (sum l)^2 / sum l^2 = e: the mean of 1 / e is close to
1 / r + 1 / (g - 1), for sums of squares of g - 1 normal vectors. So 1 / r = 1 / e - 1 / (g - 1), between 1 / (s - 1)
and 1. g are annotators who would say as much if they had answered equally often (Kish 1965). Degrees of freedom of
sums are Satterthwaite's (Biometrics 1946). R is large where topics have few annotators in common; beyond
`MOST_INFLATED` it is not known how they differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preferendum.results import Standing

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

#: Of annotators of whom no two share a topic nobody can say how they differ; of pairs of them in each, R is 4.
MOST_INFLATED = 6.0
#: With less than so many equal annotators one of them gave nearly all answers.
FEWEST = 1.5


@dataclass(frozen=True, slots=True)
class Tastes:
    """How far annotators differ. `ratio`: how many times the variance of answers is what it is with them, with so many
    degrees of `freedom`; `spread`: see `preferendum.results.Ground`."""

    ratio: float = 1.0
    freedom: float = np.inf
    spread: float | None = None

    @classmethod
    def of(cls, panel: Panel, away: Matrix, squares: float, chance: float, answers: float) -> Tastes:
        """`away` (g, s): E. Of means over every two systems: `squares`, sum_k (E_ka - E_kb)^2; what `chance` leaves in
        them; and the variance of `answers`."""
        excess = max(panel.inflation * (squares - chance), 0.0)
        others = panel.effective - 1
        own = np.square(np.linalg.svd(away - away.mean(axis=1, keepdims=True), compute_uv=False))
        per_dimension = np.clip(
            np.square(own).sum() / max(own.sum() ** 2, 1e-300) - 1 / others, 1 / (away.shape[1] - 1), 1
        )
        ratio = 1 + excess / answers if answers > 0 else 1.0
        return cls(ratio, float(others / per_dimension), float(np.sqrt(panel.effective * excess)))


@dataclass(frozen=True, slots=True)
class Panel:
    """Who judged some topics: `shares` (T, g), v; rows sum to 1. `of_answers` (T,): which share of a score's variance
    is that of answers: the rest is the same for all annotators."""

    shares: Matrix
    of_answers: Vector

    @classmethod
    def of(cls, standings: Sequence[Standing]) -> Panel | None:
        """None where the annotators of some topic are unknown, or there are no topics."""
        named = [standing.shares for standing in standings]
        if not named or None in named:
            return None
        column = _columns(standings)
        shares, of_answers = np.zeros((len(named), len(column))), np.ones(len(named))
        for k, own in enumerate(named):
            assert own is not None
            shares[k, [column[annotator] for annotator in own.annotators]] = own.judged
            of_answers[k] = own.of_answers
        return cls(shares, of_answers)

    @property
    def number(self) -> int:
        """g."""
        return int(self.shares.shape[1])

    @property
    def effective(self) -> float:
        """The number of annotators who would say as much if they had answered equally often."""
        weights = self.shares.mean(axis=0)
        return float(1 / (weights @ weights))

    @property
    def inflation(self) -> float:
        """R; infinite where no two annotators share a topic."""
        weights = self.shares.mean(axis=0)
        if len(self.shares) == 1:  # the same sum without a matrix of all annotators, who may be thousands
            own = np.square(weights)
            square = float(np.square(weights - own).sum() + own.sum() ** 2 - np.square(own).sum())
        else:
            apart = np.diag(weights) - self.shares.T @ self.shares / len(self.shares)
            square = float(np.square(apart).sum())
        return float(weights @ weights) / square if square > 0 else np.inf

    @property
    def is_informative(self) -> bool:
        """Whether the answers say how far annotators differ."""
        return self.effective >= FEWEST and self.inflation <= MOST_INFLATED

    @property
    def chance(self) -> Vector:
        """(T,): how much of each topic's variance independent answers leave in the sum of squares."""
        return np.asarray(self.of_answers * (1 - np.square(self.shares).sum(axis=1)))


def squares_away(standings: Sequence[Standing], systems: Sequence[str], has: Matrix) -> Matrix:
    """(s, s): sum_k (sum_t e_kt)^2 of how far the row is ahead of the column, over the topics that have both.

    Of known annotators. `has` (T, s): whether the topic has the system. A column without a system has a score of 0.
    """
    pairs = np.zeros((has.shape[1],) * 2)
    for of_annotator in _away(standings, systems, has.shape[1]):
        ahead = of_annotator.T @ has
        pairs += np.square(ahead - ahead.T)
    return pairs


def mean_away(standings: Sequence[Standing], systems: Sequence[str], has: Matrix) -> Matrix:
    """(g, s): E_k of each system's score, over the topics that have it."""
    return np.asarray(_away(standings, systems, len(systems)).sum(axis=1) / np.maximum(has.sum(axis=0), 1))


def without_each(standings: Mapping[str, Standing], systems: Sequence[str], topics: Sequence[str]) -> Matrix | None:
    """(g, systems, topics): by how much each score would be less without each annotator, e_kt / (1 - v_kt).

    `standings` by topic. None where the answers do not say how far annotators differ.
    """
    judged = {topic: standings[topic] for topic in topics if topic in standings and standings[topic].judgments > 0}
    panel = Panel.of([*judged.values()])
    if panel is None or not panel.is_informative:
        return None
    left = np.maximum(1 - panel.shares, 1e-9)
    moved = np.zeros((panel.number, len(systems), len(topics)))
    moved[:, :, [topics.index(topic) for topic in judged]] = (
        _away([*judged.values()], systems, len(systems)) / left.T[:, :, None]
    ).transpose(0, 2, 1)
    return moved


def _away(standings: Sequence[Standing], systems: Sequence[str], columns: int) -> NDArray[np.float64]:
    """(g, T, columns): e_kt of each system's score; 0 where a topic has no such system."""
    row, place = _columns(standings), {system: k for k, system in enumerate(systems)}
    away = np.zeros((len(row), len(standings), columns))
    for topic, standing in enumerate(standings):
        assert standing.shares is not None, "a panel has names"
        added = np.asarray(standing.shares.added, dtype=np.float64)
        own = added - np.outer(standing.shares.judged, added.sum(axis=0))
        places = [place[system] for system in standing.systems]
        away[np.ix_([row[name] for name in standing.shares.annotators], [topic], places)] = own[:, None]
    return away


def _columns(standings: Sequence[Standing]) -> dict[object, int]:
    """The place of each annotator."""
    names = dict.fromkeys(name for standing in standings if standing.shares for name in standing.shares.annotators)
    return {name: k for k, name in enumerate(names)}
