"""What the worker finds out, as plain records: stored, shown, exported and given out by the API in one form."""

from formats.results.agreement import (
    Agreement,
    AlphaPoint,
    Bounded,
    DisputedPair,
    PairwiseAgreement,
    StudyAgreement,
    TopicAgreement,
    Why,
)
from formats.results.annotators import AnnotatorFigures, Figure
from formats.results.diagnostics import (
    Coverage,
    Influence,
    Misfit,
    SystemInfluence,
    TopicDiagnostics,
    TopicInfluence,
)
from formats.results.scores import (
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
from formats.results.serialization import Misread, from_json, to_json
from formats.results.what_if import Outcome, WhatIf, WhatIfTopic

__all__ = [
    "Agreement",
    "AlphaPoint",
    "AnnotatorFigures",
    "Bounded",
    "Coverage",
    "CurvePoint",
    "Difference",
    "DisputedPair",
    "Figure",
    "Influence",
    "Key",
    "LeaderboardRow",
    "Misfit",
    "Misread",
    "Outcome",
    "PairwiseAgreement",
    "Part",
    "ScoreCovariance",
    "SourceWords",
    "Standing",
    "StudyAgreement",
    "SystemInfluence",
    "SystemResult",
    "TopicAgreement",
    "TopicDiagnostics",
    "TopicInfluence",
    "WhatIf",
    "WhatIfTopic",
    "Why",
    "WordTerm",
    "from_json",
    "to_json",
]
