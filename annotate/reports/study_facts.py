"""What a paper says of a study: its size, annotators, settings, and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Coalesce

from annotate.audit_log import SettingChange, changes_of_settings
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    GoldPair,
    Item,
    ItemSet,
    Judgment,
    Ranking,
    Recruitment,
    Result,
    ScoredBy,
    SourceDocument,
    Study,
    Summary,
)
from annotate.reports import rests_on
from annotate.reports.rests_on import RestsOn
from annotate.reports.study import numbers_of
from preferendum.about import __version__
from preferendum.formats.settings import KINDS_COUNTED, SETTINGS, Setting
from preferendum.metrics.names import listed_metrics
from preferendum.results import Agreement, DimensionAgreement, Ground, StudyAgreement

#: Settings that the paragraph states anyway, and those that are no choice of method, such as the title.
OWN = {"title", "compares", "question", "summary_question", "language", "guidelines", "seed", "metric_names", "pilot"}


@dataclass(frozen=True, slots=True)
class StudyFacts:
    """`topics` to `systems`: how many it has. `annotators`, who are people, `machines`, `first` and `last`: of the
    judgments that count. `random`, `telling` and `planned`: how many of these are about pairs drawn here at random,
    about pairs of sentences drawn because they tell more, and about pairs of summaries drawn before the first answer.

    `excluded`: annotators whose judgments do not count. `recruited`: how many of `annotators` came from the `platform`.

    `unlike`: settings that differ from the recommended ones, with values. `changes`: of settings, by people, after the
    first judgment. `metrics`: those with a figure next to human scores; `scores_compared`: the study's own scores have
    one that is not too early; `metrics_tested`: any difference has a p-value. `ground`: the population that verdicts
    on systems hold for.
    """

    study: Study
    topics: int
    documents: int
    sentences: int
    summaries: int
    systems: int
    rests_on: RestsOn
    annotators: int
    recruited: int
    machines: int
    first: datetime | None
    last: datetime | None
    random: int
    telling: int
    planned: int
    excluded: int
    agreement: Agreement | None
    unlike: Sequence[tuple[Setting, Any]]
    metrics: Sequence[str]
    scores_compared: bool
    metrics_tested: bool
    gold_pairs: int
    practice_pairs: int
    platform: str
    has_consent: bool
    program_version: str
    changes: Sequence[SettingChange]
    ground: Ground | None

    @property
    def judgments(self) -> int:
        return self.rests_on.counted.total


def of_study(study: Study) -> StudyFacts:
    """The study at present, in some fifteen short queries, however large it is."""
    topics = study.topics.all()
    own = SourceDocument.objects.filter(topic__in=topics), Item.objects.of_sources(study)
    number, documents, sentences = numbers_of(study, topics, *own)
    summaries = Summary.objects.filter(topic__in=topics)
    outputs = summaries.aggregate(summaries=Count("pk"), systems=Count("system", distinct=True))
    counted = Assignment.objects.in_place().filter(
        item_set__in=ItemSet.objects.filter(study=study), annotator__kind__in=KINDS_COUNTED[study.counted_kinds]
    )
    sums = counted.aggregate(
        first=Min("closed_at", filter=~Q(reason=Assignment.Reason.IMPORTED)),
        last=Max("closed_at", filter=~Q(reason=Assignment.Reason.IMPORTED)),
        annotators=_annotators(Annotator.Kind.HUMAN),
        recruited=_annotators(Annotator.Kind.HUMAN, annotator__participation__isnull=False),
        machines=_annotators(Annotator.Kind.MACHINE),
        random=Count("pk", filter=Q(reason=Assignment.Reason.RANDOM)),
        telling=Count("pk", filter=Q(reason=Assignment.Reason.SUGGESTED, item_set__of="sentences")),
        planned=Count("pk", filter=Q(reason=Assignment.Reason.SUGGESTED, item_set__of="summaries")),
    )
    record = Result.objects.head(study, "annotators").read(StudyAgreement)
    gold = dict(GoldPair.objects.filter(item_set__study=study).values_list("use").annotate(Count("pk")))
    recruitment = Recruitment.objects.filter(study=study).first()
    by = ScoredBy.WIN_RATE if Ranking.is_by_summaries(study) else ScoredBy.RECOMMENDED
    ranking = Ranking.objects.filter(study=study, scored_by=by, judgments__gt=0).first()
    both = rests_on.by_question(study, ItemSet.objects.filter(study=study))
    return StudyFacts(
        study=study,
        topics=number,
        documents=documents,
        sentences=sentences,
        **outputs,
        rests_on=both[0] + both[1],
        **sums,
        excluded=Annotator.objects.filter(study=study, excluded_at__isnull=False).count(),
        agreement=record.study if record and record.study.pairs else None,
        unlike=_unlike(study),
        **_compared(study),
        gold_pairs=gold.get(GoldPair.Use.GOLD, 0),
        practice_pairs=gold.get(GoldPair.Use.TRAINING, 0),
        platform=recruitment.platform if recruitment else Recruitment.Platform.NONE,
        has_consent=bool(recruitment and recruitment.consent),
        program_version=__version__,
        changes=_changes(study),
        ground=rests_on.ground_of(ranking, both[by == ScoredBy.WIN_RATE].counted) if ranking else None,
    )


def _annotators(kind: str, **others: bool) -> Count:
    return Count("annotator", distinct=True, filter=Q(annotator__kind=kind, **others))


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
    first = of_study.aggregate(at=Min(Coalesce("at", "assignment__created_at")))["at"]
    return changes_of_settings(study, first) if first else []
