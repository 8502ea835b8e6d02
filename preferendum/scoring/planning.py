"""How many judgments does a study need? Computed from its own texts, before there are judgments.

The study is simulated: utilities of its sentences are drawn from the prior of the fit, pairs are drawn as the worker
draws them, and answers follow Bradley and Terry's model, except that careless annotators toss a coin. The simulated
judgments are fitted and scored like people's, and the standard errors of the differences of systems are those that the
study can expect.

A standard error depends on the assumptions: it grows with the root of p (1 - p), p the chance of an answer. `TYPICAL`
is what real judgments showed (benchmarks/planning.py). Once a study has judgments of its own, what its fits learnt
replaces it, including the careless among its annotators.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from preferendum.evidence import Evidence, Judgments, Settings, SummaryText
from preferendum.fit.preference_matrix import Estimate
from preferendum.fit.similarity import Similarity, similarity, whole
from preferendum.formats.readers.word_counts import WordCounts
from preferendum.results import Forecast, ForecastPoint
from preferendum.scoring.asking import Queue, equally_likely_pairs, telling_pairs
from preferendum.scoring.evaluate import Texts, UndeterminedTopic, estimate, prepare, score
from preferendum.scoring.importance import SharedWords
from preferendum.scoring.scores import Scores
from preferendum.scoring.simulate import seed_for
from preferendum.statistics import finite
from preferendum.summarizers import standard_summaries
from preferendum.vocabulary.background import others_words

Vector = NDArray[np.float64]
#: A run, and the place of a topic.
Step = tuple[int, int]

#: The default numbers of judgments a sentence to try.
PER_SENTENCE = (1, 2, 3, 5, 8, 12)
#: So many topics, evenly chosen by length, stand for all of them, each simulated so many times.
TOPICS, RUNS = 6, 4
#: In longer topics the utilities are drawn without regard to the similarity of sentences.
MOST_SIMILAR = 2000
#: A topic with fewer judgments a sentence says nothing of the prior.
ENOUGH_TO_LEARN = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """What is assumed of sentences and annotators: see `preferendum.results.Forecast`."""

    variance: float
    share: float
    careless: float = 0.1
    ties: float = 0.0
    judgments_per_pair: int = 1
    random_share: float = 1.0
    learnt_from: int = 0


TYPICAL = Assumed(variance=1.2, share=0.7)
#: The share of ties where they are an answer, of the same.
TYPICAL_TIES = 0.24


@dataclass(frozen=True, slots=True)
class Errors:
    """The errors in one simulation of a topic, by number of judgments.

    `variance`: of the difference of two systems, the mean over every two; `sentence`: the mean standard error of a
    utility. None where it is unknown.
    """

    variance: tuple[float | None, ...]
    sentence: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A topic with what rests on its texts alone."""

    evidence: Evidence
    similarity: Similarity
    texts: Texts

    @classmethod
    def of(cls, topic: Evidence, settings: Settings) -> Prepared:
        compared = similarity(topic.sentences, settings.similarity)
        return cls(topic, compared, prepare(topic, compared, settings))

    def fit(self, judgments: Judgments, settings: Settings) -> Estimate | None:
        """None where there are no judgments, or these determine nothing."""
        try:
            return estimate(self.evidence, judgments, self.similarity, settings)
        except UndeterminedTopic:
            return None


def sample(lengths: Sequence[int], most: int = TOPICS) -> list[int]:
    """The topics that represent all, by their numbers of sentences: evenly spaced from the shortest to the longest."""
    able = [place for place in np.argsort(lengths, kind="stable").tolist() if lengths[place] > 1]
    places = np.linspace(0, len(able) - 1, min(most, len(able))).round().astype(int)
    return sorted(able[place] for place in places)


def usual_sizes(lengths: Sequence[int], *others: int) -> tuple[int, ...]:
    """Numbers of judgments a topic, of two digits that count, for topics of so many sentences; and the `others`."""
    sentences = float(np.mean(lengths))
    rounded = [float(f"{times * sentences:.1e}") for times in PER_SENTENCE]
    return tuple(sorted({max(1, int(size)) for size in rounded} | set(others)))


def simulate(
    topic: Prepared, settings: Settings, sizes: Sequence[int], assumed: Assumed, seed: int, run: int
) -> Errors:
    """Simulate one study's judgments of the topic.

    Parameters
    ----------
    topic
        The topic, prepared.
    settings
        How judgments become scores.
    sizes
        Numbers of judgments, ascending.
    assumed
        What is assumed of judgments and of how pairs are drawn.
    seed, run
        Decide everything random: equal numbers give equal judgments.

    Returns
    -------
    Errors
        Those after the first so many judgments, for each of `sizes`.
    """
    rng = np.random.default_rng((*seed_for(seed, topic.evidence.topic_id), run))
    judged = _judged(topic, max(sizes), assumed, rng)
    errors = [errors_of(topic, judged.some(slice(size)), settings) for size in sizes]
    return Errors(tuple(variance for variance, _ in errors), tuple(sentence for _, sentence in errors))


def errors_of(topic: Prepared, judgments: Judgments, settings: Settings) -> tuple[float | None, float | None]:
    """The mean variance of the difference of two systems, and the mean standard error of a utility."""
    fitted = topic.fit(judgments, settings)
    if fitted is None:
        return None, None
    return mean_variance(score(topic.texts, fitted, settings)), sentence_error(fitted)


def sentence_error(fitted: Estimate) -> float | None:
    """The mean standard error of a utility."""
    return finite(float(fitted.covariance.errors().mean()))


def mean_variance(scores: Scores) -> float | None:
    """The variance of the difference of two systems: the mean over every two that have a score; None where nothing can
    be said.
    """
    ranked = np.flatnonzero(np.isfinite(scores.score))
    if len(ranked) < 2:
        return None
    return mean_between(scores.covariance[np.ix_(ranked, ranked)])


def mean_between(covariance: NDArray[np.float64]) -> float | None:
    """The mean variance of the difference of two systems, from the covariance of two or more."""
    own = np.diag(covariance)
    variances = own[:, None] + own - 2 * covariance
    return finite(float(variances[np.triu_indices(len(own), 1)].mean()))


def learnt(fits: Sequence[tuple[Estimate, Judgments, int]]) -> Assumed | None:
    """What fits of judgments on so many sentences say of the prior, if there are any that learn one (`smooth` kernel).

    No annotator counts as careless in addition: what they do is part of what was learnt.
    """
    kernels = [
        (*fit.kernel, len(judged), float(np.sum(judged.outcome == 0.5)))
        for fit, judged, sentences in fits
        if fit.kernel is not None and len(judged) >= ENOUGH_TO_LEARN * sentences
    ]
    if not kernels:
        return None
    variances, shares, judgments, ties = np.array(kernels).T
    return Assumed(
        variance=float(np.exp(np.log(variances).mean())),
        share=float(shares.mean()),
        careless=0.0,
        ties=float(ties.sum() / judgments.sum()),
        learnt_from=int(judgments.sum()),
    )


def seconds_of(topics: Sequence[Evidence]) -> float | None:
    """How long a judgment took, the mean of those whose time is known; None where none is."""
    seconds = np.concatenate([topic.judgments.seconds for topic in topics])
    return finite(float(seconds[np.isfinite(seconds)].mean())) if np.isfinite(seconds).any() else None


def points(sizes: Sequence[int], errors: Mapping[Step, Errors], topics: int) -> tuple[ForecastPoint, ...]:
    """From what was simulated to a study of so many topics."""
    return tuple(_point(place, size, errors, topics) for place, size in enumerate(sizes))


def _point(place: int, size: int, errors: Mapping[Step, Errors], topics: int) -> ForecastPoint:
    by_run: dict[int, list[float | None]] = defaultdict(list)
    for (run, _topic), own in errors.items():
        by_run[run].append(own.variance[place])
    of_studies = [error_of_study(variances, topics) for variances in by_run.values()]
    simulated = [error for error in of_studies if error is not None]
    return ForecastPoint(
        size,
        mean_of(simulated),
        float(np.std(simulated, ddof=1)) if len(simulated) > 1 else None,
        mean_of([own.sentence[place] for own in errors.values()]),
    )


def error_of_study(variances: Sequence[float | None], topics: int) -> float | None:
    """The standard error of the difference of two systems over so many topics; `variances`: of some of them."""
    variance = mean_of(variances)
    return None if variance is None else float(np.sqrt(variance / topics))


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are known; None where none is."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyToSimulate:
    """A study as it is simulated: `topics` represent all; `lengths`: the numbers of sentences of all."""

    topics: Sequence[Prepared]
    lengths: Sequence[int]
    settings: Settings
    sizes: Sequence[int]
    assumed: Assumed
    are_standard: bool
    stop_rule: bool
    runs: int = RUNS
    seed: int = 0

    @property
    def _drawn(self) -> Assumed:
        """The assumptions about draws; until the study has systems of its own, all its pairs are random."""
        return replace(self.assumed, random_share=1.0) if self.are_standard else self.assumed

    @property
    def steps(self) -> list[Step]:
        """Every simulation to run."""
        return [(run, place) for run in range(self.runs) for place in range(len(self.topics))]

    def simulate(self, step: Step) -> Errors:
        run, place = step
        return simulate(self.topics[place], self.settings, self.sizes, self._drawn, self.seed, run)

    def forecast(self, errors: Mapping[Step, Errors]) -> Forecast:
        """What is to be expected, once every step was taken."""
        summaries = (summary for topic in self.topics for summary in topic.evidence.summaries)
        return Forecast(
            topics=len(self.lengths),
            sampled=len(self.topics),
            runs=self.runs,
            seed=self.seed,
            sentences=float(np.mean(self.lengths)),
            systems=len({summary.system for summary in summaries}),
            are_standard=self.are_standard,
            variance=self.assumed.variance,
            share=self.assumed.share,
            learnt_from=self.assumed.learnt_from,
            careless=self.assumed.careless,
            ties=self.assumed.ties,
            judgments_per_pair=self.assumed.judgments_per_pair,
            random_share=self._drawn.random_share,
            stop_rule=self.stop_rule,
            points=points(self.sizes, errors, len(self.lengths)),
        )


def forecast(
    topics: Sequence[Evidence],
    settings: Settings,
    sizes: Sequence[int],
    assumed: Assumed,
    *,
    stop_rule: bool = False,
    runs: int = RUNS,
    seed: int = 0,
    watched: Callable[[Sequence[Step]], Iterable[Step]] = iter,
) -> Forecast:
    """What to expect of a study of these topics with so many judgments a topic.

    Parameters
    ----------
    topics
        Topics that have sentences.
    settings
        How judgments become scores.
    sizes
        Numbers of judgments a topic, ascending.
    assumed
        What is assumed of judgments and of how pairs are drawn.
    stop_rule
        Whether verdicts hold at every look.
    runs
        How many studies are simulated.
    seed
        Of everything random.
    watched
        Shows progress over the simulations.
    """
    lengths = [len(topic.sentences) for topic in topics]
    summarized, are_standard = with_systems([topics[place] for place in sample(lengths)], topics)
    study = StudyToSimulate(
        topics=[Prepared.of(topic, settings) for topic in summarized],
        lengths=lengths,
        settings=settings,
        sizes=sizes,
        assumed=assumed,
        are_standard=are_standard,
        stop_rule=stop_rule,
        runs=runs,
        seed=seed,
    )
    return study.forecast({step: study.simulate(step) for step in watched(study.steps)})


def with_systems(some: Sequence[Evidence], among: Sequence[Evidence]) -> tuple[list[Evidence], bool]:
    """The topics with the systems that the study has, or with standard ones where it has not two to compare yet; and
    whether that is so. `among`: all topics of the study, whose words are the background of each."""
    if len({summary.system for topic in among for summary in topic.summaries}) > 1:
        return list(some), False
    backgrounds = dict(zip((topic.topic_id for topic in among), others_words(among), strict=True))
    return [_summarized(topic, backgrounds[topic.topic_id]) for topic in some], True


def _summarized(topic: Evidence, background: WordCounts | None) -> Evidence:
    made = standard_summaries(topic, background).items()
    return replace(topic, summaries=tuple(SummaryText(name, tuple(sentences)) for name, sentences in made))


def _judged(topic: Prepared, count: int, assumed: Assumed, rng: np.random.Generator) -> Judgments:
    """So many judgments at most: of different pairs, each answered by so many annotators in a row."""
    utilities = _utilities(topic.similarity, assumed, rng)
    queue = queue_of(topic, -(-count // assumed.judgments_per_pair), assumed.random_share, int(rng.integers(1 << 32)))
    first, second = np.repeat(queue.pairs, assumed.judgments_per_pair, axis=0)[:count].T
    m = len(first)
    is_coin = rng.random(m) < assumed.careless
    chance = np.where(is_coin, 0.5, expit(utilities[first] - utilities[second]))
    outcome = (rng.random(m) < chance).astype(np.float64)
    outcome[rng.random(m) < _ties(chance, assumed.ties)] = 0.5
    design = np.repeat(queue.design, assumed.judgments_per_pair)[:count]
    return Judgments(first, second, outcome, np.ones(m), np.arange(m) % assumed.judgments_per_pair, design)


def queue_of(topic: Prepared, count: int, random_share: float, seed: int) -> Queue:
    """So many pairs, as the worker draws them: those that separate systems and random ones, or random ones alone."""
    if random_share < 1 and isinstance(topic.texts, SharedWords):
        return telling_pairs(topic.texts.telling, count, random_share, seed)
    return equally_likely_pairs(len(topic.similarity), count, seed)


def _ties(chance: Vector, share: float) -> Vector:
    """(m,): how likely each answer is a tie: the likelier, the less clear it is."""
    unclear = chance * (1 - chance)
    return np.asarray(share * unclear / max(float(unclear.mean()), 1e-12)) if len(chance) else unclear


def _utilities(compared: Similarity, assumed: Assumed, rng: np.random.Generator) -> Vector:
    """(n,): drawn from the prior N(0, variance (share S + (1 - share) I)) of `preferendum.fit.kernel`."""
    n = len(compared)
    alone = rng.standard_normal(n)
    if n > MOST_SIMILAR:
        return np.asarray(np.sqrt(assumed.variance) * alone)
    values, vectors = np.linalg.eigh(whole(compared))
    together = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(n))
    drawn = np.sqrt(assumed.share) * together + np.sqrt(1 - assumed.share) * alone
    return np.asarray(np.sqrt(assumed.variance) * drawn)
