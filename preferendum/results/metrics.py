"""What metrics say of summaries and systems, and how it agrees with what people say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from preferendum.metrics.names import PREFERENCES
from preferendum.results.agreement import UNKNOWN, Bounded
from preferendum.results.scores import MIXED

#: Of summaries (within a topic, then the mean over topics), of systems (of their means over topics), of all summaries.
Level = Literal["summary", "system", "global"]
Peers = Literal["machines", "all"]
Over = Literal["systems", "topics", "both"]
#: Whose judgments: people's, or simulated from references or a Pyramid.
Judged = Literal["man", "ref", "py"]
#: Where the values of sentences are from.
Values = Literal["pyramid", "references", "given"]
#: Of two systems: both machines, a machine and a person, two persons.
PairKind = Literal["machines", "mixed", "humans"]
CountedPairs = Literal["all", "machines", "mixed"]
#: The dimensions of human scores that readers want to see first, where there are any of them.
MAIN = ("overall", "responsiveness", "relevance")


def main_first(dimension: str) -> tuple[int, str]:
    """To sort dimensions by: the main ones, then all others by name."""
    name = dimension.casefold()
    return MAIN.index(name) if name in MAIN else len(MAIN), dimension


@dataclass(frozen=True, slots=True)
class Basis:
    """What preferences rest on: so many `judgments` about so many `sentences`, in `judged` of the `topics` that people
    scored."""

    judgments: int
    sentences: int
    judged: int
    topics: int

    @classmethod
    def of(cls, counts: Iterable[tuple[int, int]]) -> Basis:
        """From the judgments and the sentences of each topic."""
        judgments, sentences = zip(*counts, strict=True)
        return cls(sum(judgments), sum(sentences), sum(map(bool, judgments)), len(judgments))

    @property
    def is_early(self) -> bool:
        """The floor below which preferences are not tested: every topic judged, a judgment a sentence on average."""
        return self.judged < self.topics or self.judgments < self.sentences

    def is_early_for(self, metric: str) -> bool:
        """Whether the metric rests on these judgments alone, and they are too few."""
        return self.is_early and metric.startswith(PREFERENCES[:-1]) and MIXED not in metric


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems over the topics that both have: the first's mean score less the second's, and p-values by test.

    `holm`, `bh`: corrected, by Holm and by Benjamini and Hochberg, for the number of all pairs. None: unknown.
    """

    first: str
    second: str
    kind: PairKind
    topics: int
    difference: float | None
    p: Mapping[str, float | None]
    holm: Mapping[str, float | None]
    bh: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class PairCount:
    """Of so many pairs of a kind, how many each test tells apart: by `p`, `holm` and `bh` of the pairs."""

    kind: CountedPairs
    pairs: int
    p: Mapping[str, int]
    holm: Mapping[str, int]
    bh: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How many pairs of systems one scorer, people in a dimension or a metric, tells apart at `level`."""

    by: str
    level: float
    draws: int
    counts: tuple[PairCount, ...]


@dataclass(frozen=True, slots=True)
class StudyPairs:
    """The counts of people in every dimension and of every metric."""

    human: tuple[PairCounts, ...]
    metrics: tuple[PairCounts, ...]


@dataclass(frozen=True, slots=True)
class SystemPairs:
    """Every two systems compared by one scorer: people in a dimension, or a metric. `level` of significance."""

    by: str
    level: float
    draws: int
    counts: tuple[PairCount, ...]
    pairs: tuple[SystemPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Bounded):
    """A correlation over n items with its bootstrap interval; None where it is undefined.

    At the level of summaries n counts topics. There is no p-value: it would take items for independent that share
    systems and topics. `fisher_low`, `fisher_high`: the 95% interval by Fisher's z, of systems' Pearson alone.
    """

    n: int
    fisher_low: float | None = None
    fisher_high: float | None = None


@dataclass(frozen=True, slots=True)
class SignificantTopics:
    """Of the `topics` in which a coefficient is defined, how many have a p-value below the level, and their range."""

    topics: int
    significant: int
    share: float | None
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class TopicCorrelations:
    """One topic: how many summaries both people and the metric scored; agreement, coefficients and p-values by name."""

    topic: str
    summaries: int
    agreement: float | None
    values: Mapping[str, float | None]
    p: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How well a metric orders summaries as people do in a dimension.

    `agreement` (Zopf 2018, equation 1): the mean over topics, and pooled over all pairs. `correlations`: by level and
    coefficient; `significant`: by coefficient. `accuracy`: of all pairs, ties included, where scores within `epsilon`
    are tied. `undefined_topics`: left out at the level of summaries.
    """

    metric: str
    signature: str
    agreement: Bounded
    agreement_pooled: Bounded
    correlations: Mapping[Level, Mapping[str, Correlation]]
    significant: Mapping[str, SignificantTopics]
    accuracy: float | None
    epsilon: float | None
    undefined_topics: int
    topics: tuple[TopicCorrelations, ...]

    def is_of_same_scores(self, other: MetricAgreement) -> bool:
        """Whether both rest on the same scores, so that the intervals of one are those of the other."""
        mine, theirs = (
            (agreement.agreement.value, agreement.agreement_pooled.value, agreement.topics, agreement.signature)
            for agreement in (self, other)
        )
        return mine == theirs


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(Bounded):
    """A difference with its interval, its p-value, and that corrected by Holm for all differences tested with it."""

    p: float | None
    holm: float | None = None


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """The first metric less the second: in agreement, in the systems' Pearson correlation, and Williams' test of that.

    The first two by permutation.
    """

    first: str
    second: str
    agreement: Tested
    pearson: Tested
    williams_t: float | None
    williams_p: float | None
    williams_holm: float | None = None


@dataclass(frozen=True, slots=True)
class DimensionAgreement:
    """The metrics' agreement with people's scores in one dimension. `basis`: None where judgments are unknown."""

    dimension: str
    topics: int
    systems: int
    metrics: tuple[MetricAgreement, ...]
    differences: tuple[MetricDifference, ...] = ()
    basis: Basis | None = None

    def with_intervals(self, bounded: DimensionAgreement | None) -> DimensionAgreement:
        """The agreement with the intervals of those metrics that have the same scores there; with tests if all have."""
        intervals = {metric.metric: metric for metric in bounded.metrics} if bounded else {}
        metrics = tuple(
            own if (own := intervals.get(metric.metric)) and own.is_of_same_scores(metric) else metric
            for metric in self.metrics
        )
        is_whole = bounded is not None and metrics == bounded.metrics
        return replace(self, metrics=metrics, differences=bounded.differences if bounded and is_whole else ())


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """The metrics' agreement with people, by dimension, and what the figures rest on.

    Intervals vary what `over` says, by so many `draws`; with none there are no intervals. `level` of significance.
    `minutes`: by topic, how long its judgments took, where that is known. `is_by_raters`: the same people gave the
    preferences.
    """

    peers: Peers
    over: Over
    draws: int
    seed: int
    level: float
    dimensions: tuple[DimensionAgreement, ...]
    minutes: Mapping[str, float] = field(default_factory=dict)
    is_by_raters: bool = False


@dataclass(frozen=True, slots=True)
class RankTest:
    """A chi-squared statistic of ranks with its degrees of freedom and p-value."""

    statistic: float
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """A topic: its n scores, their mean rank among all, Tukey's interval of that, and the topics that differ from it.

    Two topics differ if their intervals do not meet, where both have equally many scores; `differs` is exact.
    """

    topic: str
    n: int
    mean_rank: float
    low: float
    high: float
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """Scores (topics, systems), None where there is none; the first so many systems are machines, the others people."""

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    machines: int
    scores: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class DocumentSets:
    """The topics by one scorer: whether their scores differ, which pairs of them do, and all scores.

    `by_human`: people in a dimension; else a metric. `kruskal`: Kruskal and Wallis' test over topics; `friedman`: over
    systems, where no score is missing.
    """

    by: str
    by_human: bool
    kruskal: RankTest | None
    friedman: RankTest | None
    pairs: int
    different: int
    sets: tuple[DocumentSet, ...]
    matrix: ScoreMatrix


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """A system's mean score by a metric (`x`) and by people (`y`)."""

    system: str
    machine: bool
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Scatter:
    """A metric against people, system by system, with the line through the machines and their `sd` from it.

    `gap`: how far people's summaries lie above the line on average, in units of `sd`. None: unknown.
    """

    dimension: str
    metric: str
    points: tuple[ScatterPoint, ...]
    slope: float | None = None
    intercept: float | None = None
    sd: float | None = None
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentSetsReport:
    """The topics by every scorer, and every metric against people in every dimension."""

    peers: Peers
    level: float
    scorers: tuple[DocumentSets, ...]
    scatters: tuple[Scatter, ...]


@dataclass(frozen=True, slots=True)
class ConvergencePoint:
    """The agreement with so many judgments a topic: its mean and standard deviation over runs.

    `undefined`: in how many runs of a topic there was none.
    """

    judgments: int
    agreement: float | None
    sd: float | None
    undefined: int


@dataclass(frozen=True, slots=True)
class TopicConvergence:
    """One topic, and how many judgments it has: points beyond that have all of them."""

    topic: str
    judgments: int
    points: tuple[ConvergencePoint, ...]


@dataclass(frozen=True, slots=True)
class MetricConvergence:
    """A metric that rests on judgments: the mean over topics, and each topic."""

    metric: str
    signature: str
    points: tuple[ConvergencePoint, ...]
    topics: tuple[TopicConvergence, ...]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A metric without judgments: its agreement, the mean over topics and in each."""

    metric: str
    signature: str
    agreement: float | None
    topics: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Passing:
    """With how many judgments a topic, and any more, the metric is shown to agree better than the baseline, by the
    interval of the difference; None: with none of those tried.

    `ahead`: the difference with all judgments; its interval holds for all passings together.
    """

    metric: str
    baseline: str
    judgments: int | None
    ahead: Bounded = UNKNOWN


@dataclass(frozen=True, slots=True)
class Convergence:
    """How the agreement with people in a dimension grows with the number of judgments a topic."""

    dimension: str
    runs: int
    seed: int
    sizes: tuple[int, ...]
    metrics: tuple[MetricConvergence, ...]
    baselines: tuple[Baseline, ...]
    passings: tuple[Passing, ...]
    basis: Basis | None = None


@dataclass(frozen=True, slots=True)
class StudyConvergence:
    """How a study's agreement with people in a dimension grows with the number of judgments a topic.

    `judgments`: all that it rests on, by kind of annotators; `left_out`: how many topics have too many sentences.
    """

    curves: Convergence
    judgments: Mapping[str, int]
    left_out: int


@dataclass(frozen=True, slots=True)
class Curves:
    """What is kept of one dimension, and in words the judgments that it rests on."""

    kept: StudyConvergence
    rests_on: str


@dataclass(frozen=True, slots=True)
class SampledAgreement:
    """A topic's agreement with people in each run with so many of its judgments; in one run, if those are all."""

    metric: str
    judgments: int
    peers: Peers
    dimension: str
    runs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class TopicSamples:
    """A topic's agreement with people from fewer judgments, as far as it is computed.

    `judgments`: how many the topic has, by kind of annotators; `remaining`: how many numbers of judgments remain.
    """

    judgments: Mapping[str, int]
    samples: tuple[SampledAgreement, ...]
    remaining: int


@dataclass(frozen=True, slots=True)
class TopicMixtures:
    """Scores of a topic's summaries from its judgments and simulated ones together, by metric and system.

    They count from when all topics of the study have theirs. `signatures`: by metric.
    """

    scores: Mapping[str, Mapping[str, float | None]]
    signatures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SentenceAgreement:
    """One topic: the pairs of sentences with different values; the share of them in the order of the utilities."""

    topic: str
    judgments: int
    pairs: int
    agreement: float | None


@dataclass(frozen=True, slots=True)
class SentenceRanking:
    """Sentences ranked by people's judgments (man) or simulated ones (ref, py) under one smoothing.

    `agreement`: the mean over topics; `pooled`: over all pairs. A tie of the utilities counts one half.
    """

    judgments: Judged
    smooth: str
    agreement: float | None
    pooled: float | None
    topics: tuple[SentenceAgreement, ...]


@dataclass(frozen=True, slots=True)
class SentenceReport:
    """Rankings of sentences against values from the Pyramid, from the references, or given."""

    against: Values
    rankings: tuple[SentenceRanking, ...]


@dataclass(frozen=True, slots=True)
class SentenceRankings:
    """How well a topic's sentences are ordered, against each kind of values; `seed`: of the simulated judgments."""

    seed: int
    reports: tuple[SentenceReport, ...]
