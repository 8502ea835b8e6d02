"""The tables, one file a writer."""

from annotate.models.account import Token
from annotate.models.corpus import (
    HumanScore,
    Reference,
    SourceDocument,
    Summary,
    System,
    Topic,
    Upload,
)
from annotate.models.crowd import Consent, Participation, Recruitment
from annotate.models.examination import Examination, TopicExamination
from annotate.models.export import Export
from annotate.models.judging import Annotator, Assignment, Judgment, KnownPair, Pair, Tally
from annotate.models.limit import Allowance
from annotate.models.preparation import Sentence, Suggestion, TopicProgress
from annotate.models.preview import Preview
from annotate.models.result import (
    AgreementReport,
    AnnotatorReport,
    Claim,
    Fit,
    Ranking,
    Score,
    SystemScore,
    Utility,
    WorkerPulse,
)
from annotate.models.study import Act, Invitation, Membership, Study

__all__ = [
    "Act",
    "AgreementReport",
    "Allowance",
    "Annotator",
    "AnnotatorReport",
    "Assignment",
    "Claim",
    "Consent",
    "Examination",
    "Export",
    "Fit",
    "HumanScore",
    "Invitation",
    "Judgment",
    "KnownPair",
    "Membership",
    "Pair",
    "Participation",
    "Preview",
    "Ranking",
    "Recruitment",
    "Reference",
    "Score",
    "Sentence",
    "SourceDocument",
    "Study",
    "Suggestion",
    "Summary",
    "System",
    "SystemScore",
    "Tally",
    "Token",
    "Topic",
    "TopicExamination",
    "TopicProgress",
    "Upload",
    "Utility",
    "WorkerPulse",
]
