"""What the worker finds out, as plain records: stored, shown, exported and given out by the API in one form."""

from preferendum.formats.serialization import Misread, from_json, to_json
from preferendum.results.agreement import (
    Agreement,
    AlphaPoint,
    Bounded,
    DisputedPair,
    PairwiseAgreement,
    StudyAgreement,
    TopicAgreement,
    Why,
)
from preferendum.results.annotators import AnnotatorFigures, Figure
from preferendum.results.assessors import (
    AssessedDimension,
    AssessorFigure,
    AssessorRanking,
    AssessorsReport,
    MetricBeside,
    WithoutWorst,
)
from preferendum.results.diagnostics import (
    Coverage,
    Influence,
    Misfit,
    SmallestSet,
    SystemInfluence,
    TopicDiagnostics,
    TopicInfluence,
)
from preferendum.results.ground import Ground
from preferendum.results.metrics import (
    AgreementReport,
    Baseline,
    Basis,
    Convergence,
    ConvergencePoint,
    Correlation,
    Curves,
    DimensionAgreement,
    DocumentSet,
    DocumentSets,
    DocumentSetsReport,
    MetricAgreement,
    MetricConvergence,
    MetricDifference,
    PairCount,
    PairCounts,
    Passing,
    RankTest,
    SampledAgreement,
    Scatter,
    ScatterPoint,
    ScoreMatrix,
    SentenceAgreement,
    SentenceRanking,
    SentenceRankings,
    SentenceReport,
    SignificantTopics,
    StudyConvergence,
    SystemPair,
    SystemPairs,
    Tested,
    TopicConvergence,
    TopicCorrelations,
    TopicMixtures,
    TopicSamples,
)
from preferendum.results.planning import Forecast, ForecastPoint, Replay, ReplayPoint, SummaryForecast
from preferendum.results.scores import (
    AnnotatorShares,
    CurvePoint,
    Difference,
    Differences,
    Key,
    LeaderboardRow,
    Part,
    ScoreCovariance,
    SourceWords,
    Standing,
    SystemResult,
    WordTerm,
)
from preferendum.results.training import TopicExamples, TrainingReport
from preferendum.results.what_if import GroupOutcome, Outcome, WhatIf, WhatIfTopic
