"""What a paper says of a study: its size, annotators, settings, and agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Min, Q
from django.db.models.functions import Coalesce

from annotate import judging
from annotate.audit_log import SettingChange, changes_of_settings
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    GoldPair,
    Item,
    Judgment,
    Recruitment,
    Result,
    SourceDocument,
    Study,
    Summary,
)
from annotate.reports import statement
from annotate.reports.study import numbers_of
from preferendum.about import __version__
from preferendum.formats.judge import Judge, judge_of
from preferendum.formats.settings import KINDS_COUNTED, SETTINGS, Setting
from preferendum.metrics.names import listed_metrics
from preferendum.results import DimensionAgreement, StudyAgreement
from preferendum.results.statement import Answers, Statement

#: Settings that the paragraph states anyway, and those that are no choice of method, such as the title.
OWN = {"title", "compares", "question", "summary_question", "language", "guidelines", "seed", "metric_names", "pilot"}


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with answers that would count if those of machines do: how many, and about how many pairs in both
    orders."""

    name: str
    about: Judge
    answers: int
    both_orders: int


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """`topics` to `systems`: how many it has; `human_systems`: how many of the systems are people; `only_answers`:
    nothing is here to judge, since they were given elsewhere and came without texts. `answers`: those
    that count, to all questions, and who gave them, as the worker counted; None while it has not.

    `machines`: those that judged, whether their answers count or not. `excluded`: annotators who judged and whose
    judgments do not count. `platform`: where some of the people were recruited.

    `questions`: what the worker says of each question that has judgments that count. `checks`: why people judged pairs
    here whose answers never count: practice, gold pairs, repeats. `own_questions`: of topics that have one of their
    own, with how many have it, the most frequent first.

    `unlike`: settings that differ from the recommended ones, with values. `changes`: of settings, by people, after the
    first judgment. `metrics`: those with a figure next to human scores; `scores_compared`: the study's own scores have
    one that is not too early; `metrics_tested`: any difference has a p-value.
    """

    study: Study
    topics: int
    documents: int
    sentences: int
    summaries: int
    systems: int
    human_systems: int
    only_answers: bool
    answers: Answers | None
    excluded: int
    agreement: StudyAgreement | None
    unlike: Sequence[tuple[Setting, Any]]
    metrics: Sequence[str]
    scores_compared: bool
    metrics_tested: bool
    practice_pairs: int
    checks: Sequence[str]
    own_questions: Mapping[str, int]
    platform: str
    has_consent: bool
    program_version: str
    changes: Sequence[SettingChange]
    questions: Mapping[str, Statement]
    machines: Sequence[Machine]

    @property
    def here(self) -> int:
        """How many of the judgments that count people gave here."""
        return self.answers.rests_on.counted.here if self.answers else 0

    @property
    def asked_here(self) -> list[str]:
        """The questions to which these are."""
        return [of for of, own in self.questions.items() if own.answers.rests_on.counted.here]

    @property
    def compared(self) -> list[str]:
        """The questions that judgments which count are about; of a study without any, those that it is to ask."""
        return list(self.questions or self.study.questions)


def of_study(study: Study) -> StudyFacts:
    """The study at present, in some fifteen short queries, however large it is."""
    topics = study.topics.all()
    own = SourceDocument.objects.filter(topic__in=topics), Item.objects.of_sources(study)
    number, documents, sentences = numbers_of(study, topics.exclude(name=""), *own)
    summaries = Summary.objects.filter(topic__in=topics)
    outputs = summaries.aggregate(
        summaries=Count("pk"),
        systems=Count("system", distinct=True),
        human_systems=Count("system", distinct=True, filter=Q(person=True)),
    )
    record = Result.objects.head(study, "annotators").read(StudyAgreement)
    recruitment = Recruitment.objects.filter(study=study).first()
    stated = statement.of_study(study)
    questions: dict[str, Statement | None] = {}
    if stated:
        questions = {"sentences": stated.sentences, "summaries": stated.summaries}
    return StudyFacts(
        study=study,
        topics=number,
        documents=documents,
        sentences=sentences,
        **outputs,
        only_answers=judging.has_only_answers(study),
        answers=stated.answers if stated else None,
        excluded=Annotator.objects.lasting().filter(study=study, excluded_at__isnull=False, judged__gt=0).count(),
        agreement=record,
        unlike=_unlike(study),
        **_compared(study),
        practice_pairs=GoldPair.objects.filter(item_set__study=study, use=GoldPair.Use.TRAINING).count(),
        checks=stated.checks if stated else (),
        own_questions=_own_questions(study),
        platform=recruitment.platform if recruitment else Recruitment.Platform.NONE,
        has_consent=bool(recruitment and recruitment.consent),
        program_version=__version__,
        changes=_changes(study),
        questions={of: own for of, own in questions.items() if own and own.answers.rests_on.counted.total},
        machines=_machines(study),
    )


def _machines(study: Study) -> list[Machine]:
    rows = Annotator.objects.arrived().filter(study=study, kind=Annotator.Kind.MACHINE)
    described = {key: (name, judge_of(judge)) for key, name, judge in rows.values_list("pk", "pseudonym", "judge")}
    if not described:
        return []
    given = Assignment.objects.in_place().filter(annotator__in=described).order_by().values("annotator", "pair")
    answers, both = Counter[int](), Counter[int]()
    numbers = Count("pk"), Count("swapped", distinct=True)
    for annotator, _pair, number, orders in given.values_list("annotator", "pair", *numbers):
        answers[annotator] += number
        both[annotator] += orders == 2
    return [
        Machine(*described[key], answers[key], both[key]) for key in sorted(answers, key=lambda key: described[key][0])
    ]


def _own_questions(study: Study) -> dict[str, int]:
    own = study.topics.exclude(question="").order_by().values_list("question").annotate(topics=Count("pk"))
    return dict(own.order_by("-topics", "question"))


def _compared(study: Study) -> dict[str, Any]:
    """The metrics whose agreement with people has an interval, in any dimension."""
    read = [row.read(DimensionAgreement) for row in Result.objects.by_keys(study, "intervals").values()]
    dimensions = [dimension for dimension in read if dimension]
    bounded = {own.metric for every in dimensions for own in every.metrics if own.agreement.low is not None}
    return {
        "metrics": [name for name in listed_metrics(study.metric_names) if name in bounded],
        "scores_compared": not any(every.basis and every.basis.is_early for every in dimensions),
        "metrics_tested": any(own.agreement.p is not None for every in dimensions for own in every.differences),
    }


def _unlike(study: Study) -> list[tuple[Setting, Any]]:
    """Leaves out what the product set by the size of the study: no person chose it."""
    entries = AuditEntry.objects.filter(study=study, action="plan judgments").order_by("number")
    planned = [entry.detail["judgments_per_topic"][1] for entry in entries]
    own = OWN | {"judgments_per_topic"} if study.judgments_per_topic in planned[-1:] else OWN
    values = [(setting, getattr(study, setting.name)) for setting in SETTINGS if setting.name not in own]
    return [(setting, value) for setting, value in values if value != setting.default]


def _changes(study: Study) -> list[SettingChange]:
    """Changes after the first judgment of a kind that counts, practice aside. Its import stands for an unknown time."""
    given = Judgment.objects.arrived().filter(assignment__annotator__kind__in=KINDS_COUNTED[study.counted_kinds])
    of_study = given.filter(item_set__study=study).exclude(assignment__reason=Assignment.Reason.TRAINING)
    if not (changes := changes_of_settings(study, study.created_at)):
        return []
    first = of_study.aggregate(at=Min(Coalesce("at", "assignment__created_at")))["at"]
    return [change for change in changes if first and change.at > first]
