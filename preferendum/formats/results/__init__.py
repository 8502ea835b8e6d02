"""What the worker finds out, as plain records: stored, shown, exported and given out by the API in one form."""

from preferendum.formats.results.agreement import (
    Agreement,
    AlphaPoint,
    Bounded,
    DisputedPair,
    PairwiseAgreement,
    StudyAgreement,
    TopicAgreement,
    Why,
)
from preferendum.formats.results.annotators import AnnotatorFigures, Figure
from preferendum.formats.results.assessors import (
    AssessedDimension,
    AssessorFigure,
    AssessorRanking,
    AssessorsReport,
    MetricBeside,
    WithoutWorst,
)
from preferendum.formats.results.diagnostics import (
    Coverage,
    Influence,
    Misfit,
    SmallestSet,
    SystemInfluence,
    TopicDiagnostics,
    TopicInfluence,
)
from preferendum.formats.results.ground import Ground
from preferendum.formats.results.metrics import (
    AgreementReport,
    Baseline,
    Basis,
    Convergence,
    ConvergencePoint,
    Correlation,
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
from preferendum.formats.results.planning import Forecast, ForecastPoint, Replay, ReplayPoint, SummaryForecast
from preferendum.formats.results.scores import (
    AnnotatorShares,
    CurvePoint,
    Difference,
    Key,
    LeaderboardRow,
    Part,
    ScoreCovariance,
    SourceWords,
    Standing,
    SystemResult,
    WordTerm,
)
from preferendum.formats.results.serialization import Misread, from_json, to_json
from preferendum.formats.results.training import TopicExamples, TrainingReport
from preferendum.formats.results.what_if import GroupOutcome, Outcome, WhatIf, WhatIfTopic
