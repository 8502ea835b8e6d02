"""What would fewer of a study's answers about whole summaries have told, and would the planner have said so?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace

import numpy as np
from scipy.stats import kendalltau

from evaluation.scoring.planning_summaries import expected_error
from evaluation.scoring.ranking import Comparison
from evaluation.scoring.simulate import seed_for
from evaluation.scoring.win_rate import Answers, Flags, WinRates, win_rates
from evaluation.statistics import finite
from formats.results import Replay, ReplayPoint


def replay(
    answers: Answers,
    has: Flags,
    sizes: Sequence[int],
    *,
    runs: int,
    seed: int,
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> Replay:
    """The answers of every topic in random orders; `sizes`, of which the smallest tells the planner what to expect,
    ascend. `has`: as in `win_rates`; `watched` counts the orders for who waits."""
    whole = win_rates(answers, has)
    looks = [[win_rates(some, has) for some in _first(answers, sizes, seed, run)] for run in watched(range(runs))]
    topics = len(np.unique(answers.topic))
    return Replay(
        topics=topics,
        systems=len(whole.standing.systems),
        runs=runs,
        seed=seed,
        points=tuple(
            ReplayPoint(
                judgments=size,
                se=_mean([_error(look) for look in own]),
                forecast=expected_error(len(whole.standing.systems), topics, size, looks[0][0].effects.variances),
                apart=_mean([_apart(look) for look in own]),
                tau=_mean([_tau(look, whole) for look in own]),
                sentence_se=None,
                sentence_forecast=None,
            )
            for size, own in zip(sizes, zip(*looks, strict=True), strict=True)
        ),
    )


def _first(answers: Answers, sizes: Sequence[int], seed: int, run: int) -> Iterator[Answers]:
    """The first so many answers of each topic in one order; all of them in the order in which they came."""
    turn = np.empty(len(answers), dtype=np.int64)
    for topic in np.unique(answers.topic):
        own = np.flatnonzero(answers.topic == topic)
        rng = np.random.default_rng((*seed_for(seed, answers.topics[topic]), run))
        turn[own] = rng.permutation(len(own))
    for size in sizes:
        columns = [column.name for column in fields(Answers) if column.name not in ("systems", "topics")]
        yield replace(answers, **{name: getattr(answers, name)[turn < size] for name in columns})


def _error(look: WinRates) -> float | None:
    """Of the difference of two systems, the root mean square over every two."""
    covariance = np.asarray(look.standing.covariance)
    own = np.diag(covariance)
    variances = (own[:, None] + own - 2 * covariance)[np.triu_indices(len(own), 1)]
    return finite(float(np.sqrt(variances.mean()))) if len(variances) else None


def _apart(look: WinRates) -> float | None:
    return _mean([difference.significant for difference in Comparison([look.standing]).differences()])


def _tau(look: WinRates, whole: WinRates) -> float | None:
    some, every = (dict(zip(own.standing.systems, own.standing.scores, strict=True)) for own in (look, whole))
    systems = [name for name in every if name in some]
    if len(systems) < 2:
        return None
    return finite(float(kendalltau([some[name] for name in systems], [every[name] for name in systems]).statistic))


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None
