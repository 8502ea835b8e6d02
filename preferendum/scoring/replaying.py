"""What would fewer of a study's judgments have shown, and would the planner have said so?

A study's judgments are put in other orders, and the results of the first so many a topic are compared with those of all
of them. What the planner says of larger numbers rests on the fits of the smallest (`preferendum.scoring.planning`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import scipy

from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit.chances import RANDOM_SHARE
from preferendum.fit.preference_matrix import Estimate
from preferendum.results import ForecastPoint, Replay, ReplayPoint, Standing
from preferendum.results.scores import is_tested
from preferendum.scoring import planning, planning_summaries
from preferendum.scoring.evaluate import score
from preferendum.scoring.planning import Prepared
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.simulate import seed_for
from preferendum.scoring.win_rate import Answers, Flags, win_rates
from preferendum.statistics import finite

RUNS = 5


@dataclass(frozen=True, slots=True)
class Look:
    """The result of so many judgments a topic in one order; `standings`: by topic, where there are scores."""

    variances: tuple[float | None, ...]
    sentence_errors: tuple[float | None, ...]
    standings: tuple[Standing, ...]
    fits: tuple[tuple[Estimate, Judgments, int], ...]

    @property
    def se(self) -> float | None:
        """The standard error of the difference of two systems over all topics."""
        return planning.error_of_study(self.variances, len(self.variances))

    @property
    def scores(self) -> dict[str, float]:
        """The systems' mean scores."""
        return {result.system: result.score for result in Comparison(self.standings).ranked()}


def replay(
    topics: Sequence[Evidence],
    settings: Settings,
    sizes: Sequence[int],
    *,
    runs: int = RUNS,
    seed: int = 0,
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> Replay:
    """Compare the forecast with what a study came to: its judgments again, in other orders, up to each of the sizes.

    Parameters
    ----------
    topics
        Topics with judgments.
    settings
        How judgments become scores.
    sizes
        Numbers of judgments a topic, ascending.
    runs
        How many orders.
    seed
        Of the orders.
    watched
        Shows progress over the orders.
    """
    prepared = [Prepared.of(topic, settings) for topic in topics]
    whole = _look(prepared, [topic.judgments for topic in topics], settings)
    looks = [_looks(prepared, settings, sizes, seed, run) for run in watched(range(runs))]
    forecasts = _forecasts(prepared, settings, sizes, looks, seed)
    tested = is_tested(settings.score)
    return Replay(
        topics=len(topics),
        systems=len(whole.scores),
        runs=runs,
        seed=seed,
        points=tuple(
            _point(size, forecast, [own[place] for own in looks], whole.scores, is_tested=tested)
            for place, (size, forecast) in enumerate(zip(sizes, forecasts, strict=True))
        ),
    )


def replay_summaries(
    answers: Answers,
    has: Flags,
    sizes: Sequence[int],
    *,
    runs: int = RUNS,
    seed: int = 0,
    watched: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> Replay:
    """Compare the forecast with what answers about whole summaries came to, in other orders, up to each of the sizes.

    The fit of the first order's smallest number says what to expect of the others.

    Parameters
    ----------
    answers
        The answers of all topics.
    has : (topics, systems)
        The summaries there are, as in `preferendum.scoring.win_rate`.
    sizes
        Numbers of answers a topic, ascending.
    runs
        How many orders.
    seed
        Of the orders.
    watched
        Shows progress over the orders.
    """
    whole = win_rates(answers, has).standing
    orders = [
        [win_rates(some, has) for some in _first_answers(answers, sizes, seed, run)] for run in watched(range(runs))
    ]
    looks = [[_of_standing(rates.standing) for rates in own] for own in orders]
    systems, topics, learnt = len(whole.systems), len(np.unique(answers.topic)), orders[0][0].effects.variances
    expected = planning_summaries.forecast(sizes, systems, topics, 0.0, learnt)
    return Replay(
        topics=topics,
        systems=systems,
        runs=runs,
        seed=seed,
        points=tuple(
            _point(point.judgments, point, own, _of_standing(whole).scores, is_tested=True)
            for point, own in zip(expected.points, zip(*looks, strict=True), strict=True)
        ),
    )


def _first_answers(answers: Answers, sizes: Sequence[int], seed: int, run: int) -> Iterator[Answers]:
    """The first so many answers of each topic in one random order; they are yielded in their original order."""
    turn = np.empty(len(answers), dtype=np.int64)
    for topic in np.unique(answers.topic):
        own = np.flatnonzero(answers.topic == topic)
        turn[own] = np.random.default_rng((*seed_for(seed, answers.topics[topic]), run)).permutation(len(own))
    columns = [column.name for column in fields(Answers) if column.name not in ("systems", "topics")]
    for size in sizes:
        yield replace(answers, **{name: getattr(answers, name)[turn < size] for name in columns})


def _of_standing(standing: Standing) -> Look:
    """All topics at once."""
    return Look((planning.mean_between(np.asarray(standing.covariance)),), (), (standing,), ())


def _looks(topics: Sequence[Prepared], settings: Settings, sizes: Sequence[int], seed: int, run: int) -> list[Look]:
    ordered = [_in_order(topic.evidence, seed, run) for topic in topics]
    return [_look(topics, [judged.some(slice(size)) for judged in ordered], settings) for size in sizes]


def _in_order(topic: Evidence, seed: int, run: int) -> Judgments:
    order = np.random.default_rng((*seed_for(seed, topic.topic_id), run)).permutation(len(topic.judgments))
    return Judgments(*(getattr(topic.judgments, column.name)[order] for column in fields(Judgments)))


def _look(topics: Sequence[Prepared], judged: Sequence[Judgments], settings: Settings) -> Look:
    fitted = [(topic, topic.fit(own, settings)) for topic, own in zip(topics, judged, strict=True)]
    scores = [(None if fit is None else score(topic.texts, fit, settings)) for topic, fit in fitted]
    return Look(
        variances=tuple(None if own is None else planning.mean_variance(own) for own in scores),
        sentence_errors=tuple(None if fit is None else planning.sentence_error(fit) for _, fit in fitted),
        standings=tuple(
            own.standing_by(topic.evidence.annotators)
            for (topic, _), own in zip(fitted, scores, strict=True)
            if own is not None
        ),
        fits=tuple(
            (fit, own, len(topic.evidence.sentences))
            for (topic, fit), own in zip(fitted, judged, strict=True)
            if fit is not None
        ),
    )


def _forecasts(
    topics: Sequence[Prepared], settings: Settings, sizes: Sequence[int], looks: Sequence[Sequence[Look]], seed: int
) -> tuple[ForecastPoint, ...]:
    """Forecast by what the first order's smallest number of judgments taught; usual values where that is too little."""
    first = looks[0][0].fits if looks else ()
    per_pair = max(_judgments_a_pair(topic.evidence, sizes[-1]) for topic in topics)
    is_random = all(np.all(topic.evidence.judgments.design == 1) for topic in topics)
    assumed = replace(
        planning.learnt(first) or planning.TYPICAL,
        judgments_per_pair=per_pair,
        random_share=1.0 if is_random else RANDOM_SHARE,
    )
    errors = {
        (run, place): planning.simulate(topic, settings, sizes, assumed, seed, run)
        for run in range(planning.RUNS)
        for place, topic in enumerate(topics)
    }
    return planning.points(sizes, errors, len(topics))


def _judgments_a_pair(topic: Evidence, most: int) -> int:
    """How often a pair must be judged for so many judgments of the topic."""
    n = len(topic.sentences)
    return -(-min(most, len(topic.judgments)) // max(n * (n - 1) // 2, 1)) or 1


def _point(
    size: int, forecast: ForecastPoint, looks: Sequence[Look], whole: dict[str, float], *, is_tested: bool
) -> ReplayPoint:
    return ReplayPoint(
        judgments=size,
        se=planning.mean_of([look.se for look in looks]),
        forecast=forecast.se,
        apart=planning.mean_of([_apart(look) for look in looks]) if is_tested else None,
        tau=planning.mean_of([_tau(look.scores, whole) for look in looks]),
        sentence_se=planning.mean_of([planning.mean_of(look.sentence_errors) for look in looks]),
        sentence_forecast=forecast.sentence_se,
    )


def _apart(look: Look) -> float | None:
    verdicts = [difference.significant for difference in Comparison(look.standings).differences()]
    told = [verdict for verdict in verdicts if verdict is not None]
    return sum(told) / len(told) if told else None


def _tau(scores: dict[str, float], whole: dict[str, float]) -> float | None:
    systems = sorted(scores.keys() & whole.keys())
    if len(systems) < 2:
        return None
    return finite(
        float(scipy.stats.kendalltau([scores[name] for name in systems], [whole[name] for name in systems]).statistic)
    )
