"""The tables, one file a writer."""

from annotate.models.account import AccountName, AccountSession, Token
from annotate.models.analysis import Result
from annotate.models.answered import AnsweredRequest
from annotate.models.audit_log import AuditEntry
from annotate.models.corpus import (
    HumanScore,
    Item,
    ItemSet,
    PyramidAnnotation,
    Reference,
    SourceDocument,
    Summary,
    System,
    Topic,
    Upload,
)
from annotate.models.crowd import AnsweredQuestionnaire, Consent, Participation, Questionnaire, Recruitment
from annotate.models.export import Export
from annotate.models.forecast import Forecast
from annotate.models.job import Job
from annotate.models.judging import (
    Annotator,
    Assignment,
    Design,
    GoldPair,
    Judgment,
    LockedItemSet,
    Pair,
    ReportedPair,
    Tally,
)
from annotate.models.limit import Allowance
from annotate.models.membership import Invitation, Membership
from annotate.models.metric import MetricScore
from annotate.models.metric_report import ComputedScore, TopicMetrics
from annotate.models.preparation import ItemSetProgress, Suggestion
from annotate.models.removal import Removal
from annotate.models.result import AnnotatorReport, Fit, Ranking, Score, ScoredBy, SystemScore, Utility
from annotate.models.study import Study
from annotate.models.webhook import Delivery, Webhook
from annotate.models.what_if import WhatIfQuestion
from annotate.models.worker import Claim, WorkerPulse
