"""Training a metric without people's scores: it learns to tell references from what mutations make of them.

G. Luo, H. Li, Y. He & F. S. Bao, "PrefScore: pairwise preference learning for reference-free summarization quality
assessment", COLING 2022, sections 2.1 and 2.2: of the versions s_0, s_1 ... of a reference, each worse than the one
before, the Bradley-Terry model gives the better one of any two the probability 1 / (1 + exp(f(d, worse) -
f(d, better))). Stories are topics with the same documents; pairs of one story are never parted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit

from preferendum.about import __version__
from preferendum.evidence import Evidence, SummaryText
from preferendum.methods.metrics.trained.files import LeftOut, Linear, Source, TrainedMetric
from preferendum.methods.metrics.trained.mutations import NEGATIVES, Text, chain
from preferendum.methods.metrics.trained.prefscore import FEATURES, Documents, Prefscore
from preferendum.methods.metrics.trained.scores import digest
from preferendum.methods.training.training import sha256_of
from preferendum.metrics.registry import MissingEvidence
from preferendum.results.preference_training import PreferenceTraining
from preferendum.statistics import bounded_share

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

PENALTY = 1e-3
"""Of the squared length of w, so that w stays finite where every pair is told apart."""
TOLERANCE = 1e-7
"""The steepest slope that is left, as it is aimed at."""
ROUNDING = 1e-9
"""Features are sums and logarithms of up to some thousands: differences below this are none."""
PARTS = 10
"""Into how many parts stories are put to be left out in turn, if there are so many."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class PreferenceCourse:
    """How to train. `source`: a name for the topics; `first_steps`: use the first worse versions of a reference, in
    place of as many drawn from all of them."""

    source: str = ""
    documents: Documents = "mean"
    seed: int = 0
    negatives: int = NEGATIVES
    first_steps: bool = False

    def train(self, topics: Sequence[Evidence]) -> tuple[TrainedMetric, PreferenceTraining]:
        """The metric, and how it does on stories that taught it nothing.

        Raises `MissingEvidence` where no topic has documents and references.
        """
        taught = [topic for topic in topics if topic.sentences and _texts(topic)]
        if not taught:
            raise MissingEvidence("nothing to learn from: no topic has documents and references")
        stories = list(dict.fromkeys(map(digest, taught)))
        pairs = self._pairs(taught, [stories.index(digest(topic)) for topic in taught])
        parts = _parts(len(stories))
        left_out = [bradley_terry(FEATURES, pairs.some(~np.isin(pairs.story, part)).differences) for part in parts]
        references = [text for topic in taught for text in _texts(topic)]
        source = Source(
            self.source, "learnt", sha256_of(references), len(references), {t.topic_id: digest(t) for t in taught}
        )
        metric = TrainedMetric(
            kind="prefscore",
            method="bradley-terry",
            target="",
            peers="",
            linear=bradley_terry(FEATURES, pairs.differences),
            sources=(source,),
            left_out=tuple(
                LeftOut(tuple(stories[k] for k in part), linear) for part, linear in zip(parts, left_out, strict=True)
            ),
            options={"documents": self.documents, "seed": str(self.seed)},
            program_version=__version__,
        )
        by_story = {k: linear for part, linear in zip(parts, left_out, strict=True) for k in part}
        return metric, self._report(pairs, by_story, len(references))

    def _pairs(self, topics: Sequence[Evidence], stories: Sequence[int]) -> Pairs:
        rng = np.random.default_rng(self.seed)
        of_topic = [k for k, topic in enumerate(topics) for _ in _texts(topic)]
        references = [text for topic in topics for text in _texts(topic)]
        chains = [chain(references, k, rng, self.negatives, self.first_steps) for k in range(len(references))]
        features = Prefscore(FEATURES, self.documents)
        parts = []
        for k, topic in enumerate(topics):
            own = [versions for versions, at in zip(chains, of_topic, strict=True) if at == k]
            parts.append(_pairs_of(topic, own, stories[k], features))
        columns = ("differences", "words", "story")
        return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))

    def _report(self, pairs: Pairs, left_out: dict[int, Linear], references: int) -> PreferenceTraining:
        stories = np.unique(pairs.story).tolist()
        by_story = {story: pairs.some(pairs.story == story) for story in stories}
        draws = np.random.default_rng(self.seed).integers(len(stories), size=(RESAMPLES, len(stories)))
        told = [_right(part.differences @ _weights(left_out[story])) for story, part in by_story.items() if left_out]
        longer = [_right(part.words) for part in by_story.values()]
        accuracy, by_length = (_over_stories(shares, draws) for shares in (told, longer))
        n = len(stories)
        return PreferenceTraining(
            references, n, len(pairs.story), bounded_share(*accuracy, n), bounded_share(*by_length, n)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Preferences between versions of references: `differences` (m, f) of the better from the worse one's features,
    `words` (m,) of their numbers of words, `story` (m,) the number of the pair's documents."""

    differences: Matrix
    words: Vector
    story: NDArray[np.int64]

    def some(self, rows: NDArray[np.bool_]) -> Pairs:
        return Pairs(self.differences[rows], self.words[rows], self.story[rows])


def bradley_terry(names: Sequence[str], differences: Matrix) -> Linear:
    """The w that minimizes mean log(1 + exp(-w . difference)) + PENALTY |w|^2, each feature in units of its size.

    One that differs by rounding alone weighs nothing. Raises `ArithmeticError` if it does not settle.
    """
    size = np.sqrt((differences**2).mean(axis=0))
    per_unit = np.divide(1.0, size, out=np.zeros_like(size), where=size > ROUNDING)
    scaled = differences * per_unit

    def loss(w: Vector) -> tuple[float, Vector]:
        margins = scaled @ w
        gradient = -(expit(-margins) @ scaled) / len(scaled) + 2 * PENALTY * w
        return float(np.logaddexp(0, -margins).mean() + PENALTY * w @ w), gradient

    start = np.zeros(scaled.shape[1])
    solution = scipy.optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-13, "gtol": TOLERANCE}
    )
    if np.abs(solution.jac).max() > 100 * TOLERANCE:
        raise ArithmeticError(f"the weights did not converge: {solution.message}")
    weights = (solution.x * per_unit).tolist()
    return Linear(0.0, {name: (weight, None) for name, weight in zip(names, weights, strict=True)})


def _parts(stories: int) -> list[list[int]]:
    """The stories that are left out together, by number; none of a single one, which leaves nothing to learn from."""
    parts = min(PARTS, stories)
    return [list(range(k, stories, parts)) for k in range(parts)] if stories > 1 else []


def _texts(topic: Evidence) -> list[Text]:
    return [text for reference in topic.references if (text := tuple(line for line in reference if line.split()))]


def _pairs_of(topic: Evidence, chains: Sequence[Sequence[Text]], story: int, features: Prefscore) -> Pairs:
    versions = [text for steps in chains for text in steps]
    values = features.values(replace(topic, summaries=tuple(SummaryText(str(k), v) for k, v in enumerate(versions))))
    lengths = np.array([sum(len(line.split()) for line in text) for text in versions], dtype=np.float64)
    starts = np.cumsum([0, *map(len, chains[:-1])])
    better, worse = np.concatenate(
        [start + np.stack(np.triu_indices(len(steps), 1)) for start, steps in zip(starts, chains, strict=True)], axis=1
    )
    return Pairs(values[better] - values[worse], lengths[better] - lengths[worse], np.full(len(better), story))


def _weights(linear: Linear) -> Vector:
    return np.array([weight for weight, _ in linear.features.values()])


def _right(differences: Vector) -> Vector:
    """1 where the better text has the greater score, one half where both have the same."""
    return (np.sign(differences) + 1) / 2


def _over_stories(shares: Sequence[Vector], draws: NDArray[np.int64]) -> tuple[float, Vector]:
    """The mean over all pairs, and the same of drawn stories; not numbers where nothing was held out."""
    if not shares:
        return np.nan, np.empty(0)
    right, pairs = (np.array([of(part) for part in shares], dtype=np.float64) for of in (np.sum, len))
    return float(right.sum() / pairs.sum()), right[draws].sum(axis=1) / pairs[draws].sum(axis=1)
