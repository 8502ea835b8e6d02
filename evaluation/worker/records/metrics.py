"""Texts on their way to the metrics, and what metrics and people say of summaries on its way to the reports."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from numpy.typing import NDArray

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import (
    Claim,
    ComputedScore,
    HumanScore,
    MetricAgreementReport,
    MetricScore,
    Score,
    Study,
    StudyAssessors,
    StudyDocumentSets,
    StudyMetrics,
    Summary,
    Topic,
    TopicMetrics,
    TopicMixtures,
)
from evaluation.evidence import Evidence, evidence, with_bases
from evaluation.meta.scores import Scores
from evaluation.meta.study_reports import with_jackknifed
from evaluation.metrics import registry
from evaluation.statistics import finite
from evaluation.worker.records.evidence import settings_of
from formats.metric_names import listed_metrics, rests_on_all_topics
from formats.results import DimensionAgreement, to_json
from formats.results.metrics import Peers
from formats.results.scores import AS_PRINTED, COMBINED, COVERAGE, IMPORTANCE, as_metrics

Vector = NDArray[np.float64]
Matrices = dict[str, NDArray[np.float64]]
#: A topic and a system: where a summary stands in the matrices.
Cell = tuple[int, str]


#: Of each topic: the version of its metrics' scores, and of the fit that its preference scores come from.
VERSIONS = ("metrics__version", "progress__fitted_version")
#: Of a study: the version of the metrics that see all topics, and how often simulated judgments were mixed in.
BESIDE = ("across_version", "mixed")


@dataclass(frozen=True, slots=True)
class MetricTexts:
    """A topic's texts as metrics read them, at one version; `summary_keys` in the order of `evidence.summaries`.

    `metrics`: those that the study wants, and need this topic alone; `across`: those that see all topics. `signatures`:
    by name, of those that scored the texts of this `digest` last.
    """

    topic_id: int
    version: int
    evidence: Evidence
    summary_keys: tuple[int, ...]
    metrics: tuple[str, ...]
    across: tuple[str, ...]
    digest: str
    signatures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StudyScores:
    """What people and metrics say of a study's summaries at one moment.

    `version`: of all of it; `texts_version`: of what does not rest on judgments.
    """

    study_id: int
    version: int
    texts_version: int
    scores: Scores


@snapshot()
def load_texts(topic_id: int) -> MetricTexts | None:
    """The topic with references, summaries and Pyramid, without judgments; None where it is gone, or scored by now."""
    row = Topic.objects.unscored().filter(pk=topic_id).select_related("study").first()
    if row is None:
        return None
    version = row.text_version + row.peers_version
    keys = dict(Summary.objects.filter(topic=row).values_list("system__name", "pk"))
    texts = load_topic(row)
    digest = _digest(texts)
    listed = listed_metrics(row.study.metric_names)
    before = TopicMetrics.objects.filter(topic=row, digest=digest).first()
    return MetricTexts(
        topic_id,
        version,
        texts,
        tuple(keys[summary.system] for summary in texts.summaries),
        tuple(name for name in listed if not rests_on_all_topics(name)),
        tuple(filter(rests_on_all_topics, with_jackknifed(listed))),
        digest,
        before.signatures if before else {},
    )


def load_topic(row: Topic) -> Evidence:
    """What metrics read of a topic, with the references of the one that it is the update of."""
    others = Topic.objects.filter(study=row.study_id, name=row.base) if row.base else Topic.objects.none()
    records = exports.topic_records(Topic.objects.filter(pk=row.pk) | others)
    loaded = with_bases([evidence(replace(topic, language=topic.language or row.study.language)) for topic in records])
    return next(topic for topic in loaded if topic.topic_id == row.name)


def _digest(texts: Evidence) -> str:
    """Of all that metrics read of a topic, so that none scores the same texts twice."""
    summaries = [(summary.system, summary.sentences, summary.person, summary.reference) for summary in texts.summaries]
    references = texts.references, texts.reference_names
    read = (texts.sentence_ids, texts.sentences, references, summaries, texts.language, texts.pyramid)
    earlier = (texts.base_references,) if texts.base else ()
    return hashlib.sha256(repr((*read, *earlier)).encode()).hexdigest()


@transaction.atomic
def save_metric_scores(
    loaded: MetricTexts, scores: Mapping[str, Vector], signatures: Mapping[str, str], absent: Mapping[str, str]
) -> bool:
    """Publish what metrics say of a topic's summaries; False where newer scores are there, or the topic is gone.

    `signatures`: of all metrics; the scores of those that are not in `scores` stay as they are, and so does what
    metrics say that see all topics, until they have seen these texts.
    """
    if not Topic.objects.select_for_update(no_key=True).filter(pk=loaded.topic_id).values_list("pk"):
        return False
    if TopicMetrics.objects.filter(topic=loaded.topic_id, version__gte=loaded.version).exists():
        return False
    before = TopicMetrics.objects.filter(topic=loaded.topic_id).first() or TopicMetrics()
    signatures = {**_some(before.signatures, loaded.across), **signatures}
    absent = {**_some(before.absent, loaded.across), **absent}
    kept = signatures.keys() - scores.keys()
    ComputedScore.objects.filter(summary__topic=loaded.topic_id).exclude(metric__in=kept).delete()
    present = set(Summary.objects.filter(topic=loaded.topic_id).values_list("pk", flat=True))  # some may be removed
    ComputedScore.objects.bulk_create(
        ComputedScore(summary_id=key, metric=name, score=finite(score))
        for name, column in scores.items()
        for key, score in zip(loaded.summary_keys, column.tolist(), strict=True)
        if key in present
    )
    values = {"version": loaded.version, "digest": loaded.digest, "signatures": signatures, "absent": absent}
    now = {"computed_at": timezone.now()}
    TopicMetrics.objects.update_or_create(topic_id=loaded.topic_id, defaults=values | now)
    return True


def _some(texts: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name in names}


def studies_uncompared() -> QuerySet[Study]:
    """The studies with human scores whose agreement with metrics is behind. Adds the `wanted` version.

    Not before every topic is scored, but for those that failed: figures of a part would stand under the words of all.
    """
    has_any = Exists(HumanScore.objects.filter(summary__topic__study=OuterRef("pk")))
    is_behind = Q(metrics__isnull=True) | Q(metrics__version__lt=F("wanted"))
    failed = Claim.objects.filter(name__startswith="metrics:", attempts__gt=1).values_list("name", flat=True)
    keys = [int(name.partition(":")[2]) for name in failed]
    to_score = Exists(Topic.objects.unscored().filter(study=OuterRef("pk")).exclude(pk__in=keys))
    return Study.objects.annotate(wanted=_version()).filter(has_any, is_behind, ~to_score, wanted__gt=0)


def studies_unbounded() -> QuerySet[Study]:
    """Those whose agreement with metrics has no intervals of its version yet. Adds the `wanted` version."""
    behind = Study.objects.filter(metrics__version__gt=F("metrics__bounded_version"))
    return behind.annotate(wanted=F("metrics__version") + F("metrics__bounds"))


def _version() -> Combinable:
    """Of all that a study's reports on metrics rest on."""
    scored, fitted = (Coalesce(Sum(f"topics__{name}"), Value(0)) for name in VERSIONS)
    beside = (Coalesce(Max(f"metrics__{name}"), Value(0)) for name in BESIDE)
    return sum(beside, start=scored + fitted + F("removed_version"))


@snapshot()
def load_study_scores(study_id: int) -> StudyScores | None:
    """All scores of a study's summaries; None where the study is gone."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return None
    version = Study.objects.filter(pk=study_id).annotate(version=_version()).values_list("version", flat=True).get()
    texts_version = Topic.objects.filter(study=study).aggregate(version=Sum(VERSIONS[0]))["version"] or 0
    texts_version += study.removed_version
    texts_version += sum(StudyMetrics.objects.filter(study=study).values_list(*BESIDE).first() or ())
    topics = list(Topic.objects.filter(study=study).order_by("position").values_list("pk", "name"))
    summaries = Summary.objects.filter(topic__study=study)
    systems = sorted(set(summaries.values_list("system__name", flat=True)))
    place = [key for key, _name in topics], systems
    people = set(summaries.filter(person=True).values_list("system__name", flat=True))
    mixed = _mixed(study, systems)
    signatures = _signatures(study)
    tables = (ComputedScore.objects.filter(summary__in=summaries), MetricScore.objects.filter(summary__in=summaries))
    by_metric = _preferences(study) | mixed | _by_name(tables[0], "metric") | _by_name(tables[1], "metric")
    scores = Scores(
        systems=tuple(systems),
        topics=tuple(name for _key, name in topics),
        human=_matrices(_by_name(HumanScore.objects.of_all().filter(summary__in=summaries), "dimension"), *place),
        metrics=_matrices({name: by_metric[name] for name in signatures if name in by_metric}, *place),
        signatures=signatures,
        machines=tuple(system not in people for system in systems),
    )
    return StudyScores(study.pk, version, texts_version, scores)


def _by_name(rows: QuerySet[Any], name: str) -> dict[str, dict[Cell, float]]:
    """Scores of summaries by what gave them."""
    cells: dict[str, dict[Cell, float]] = {}
    for by, topic, system, score in rows.values_list(name, "summary__topic", "summary__system__name", "score"):
        cells.setdefault(by, {})[topic, system] = math.nan if score is None else score
    return cells


def _preferences(study: Study) -> dict[str, dict[Cell, float]]:
    """The study's own scores."""
    cells: dict[str, dict[Cell, float]] = {}
    columns = ("summary__topic", "summary__system__name", "fit__settings__score", "score", "coverage")
    for topic, system, *scored in Score.objects.filter(summary__topic__study=study).values_list(*columns):
        for name, value in as_metrics(*scored).items():
            cells.setdefault(name, {})[topic, system] = math.nan if value is None else value
    return cells


def _mixed(study: Study, systems: Collection[str]) -> dict[str, dict[Cell, float]]:
    """The study's scores with simulated judgments beside its own."""
    cells: dict[str, dict[Cell, float]] = {}
    for topic, scores in TopicMixtures.objects.filter(topic__study=study).values_list("topic", "scores"):
        for name, by_system in scores.items():
            own = {system: score for system, score in by_system.items() if system in systems}
            cells.setdefault(name, {}).update(
                ((topic, system), math.nan if score is None else score) for system, score in own.items()
            )
    return cells


def _signatures(study: Study) -> dict[str, str]:
    """Of every metric that any topic was scored with, preferences first, what it takes to get the same numbers."""
    settings = settings_of(study)
    own = {name: registry.metric(name, settings).signature for name in (IMPORTANCE, COMBINED, AS_PRINTED, COVERAGE)}
    for mixtures in TopicMixtures.objects.filter(topic__study=study).order_by("topic__position"):
        own |= mixtures.signatures
    scored: dict[str, str] = {}
    rows = TopicMetrics.objects.filter(topic__study=study).order_by("topic__position")
    for signatures in rows.values_list("signatures", flat=True):
        scored = signatures | scored
    order = [*with_jackknifed(listed_metrics(study.metric_names)), *sorted(scored)]
    own |= {name: scored[name] for name in order if name in scored}
    given = MetricScore.objects.given().filter(summary__topic__study=study).order_by("metric")
    return own | {name: f"{name}, worked out elsewhere" for name in given.values_list("metric", flat=True).distinct()}


def _matrices(cells: Mapping[str, Mapping[Cell, float]], topics: Sequence[int], systems: Sequence[str]) -> Matrices:
    """(systems, topics) of each, not a number where there is no score."""
    rows, columns = ({key: k for k, key in enumerate(keys)} for keys in (systems, topics))
    matrices = {name: np.full((len(rows), len(columns)), np.nan) for name in cells}
    for name, scores in cells.items():
        for (topic, system), score in scores.items():
            matrices[name][rows[system], columns[topic]] = score
    return matrices


@dataclass(frozen=True, slots=True)
class StoredAgreement:
    """What was worked out last: without intervals, and what has them already."""

    now: DimensionAgreement
    bounded: DimensionAgreement | None


def stored_agreements(study_id: int) -> dict[tuple[Peers, str], StoredAgreement]:
    """By whose summaries it is about and by dimension."""
    rows = MetricAgreementReport.objects.filter(study=study_id).order_by("dimension", "peers")
    return {
        (row.peers, row.dimension): StoredAgreement(row.record, row.bounded_record)  # type: ignore[misc]  # a Literal
        for row in rows
    }


def texts_version(study_id: int) -> int:
    """What the stored agreement of metrics that do not rest on judgments is of; 0 before there is any."""
    return StudyMetrics.objects.filter(study=study_id).values_list("texts_version", flat=True).first() or 0


@transaction.atomic
def save_agreements(loaded: StudyScores, agreements: Mapping[tuple[Peers, str], DimensionAgreement]) -> bool:
    """Publish how metrics agree with people, without intervals; False where newer figures are there.

    Dimensions that nobody is scored in any more are forgotten.
    """
    if not Study.objects.select_for_update(no_key=True).filter(pk=loaded.study_id).values_list("pk"):
        return False
    if StudyMetrics.objects.filter(study=loaded.study_id, version__gte=loaded.version).exists():
        return False
    rows = MetricAgreementReport.objects.filter(study=loaded.study_id)
    for row in rows:
        if (row.peers, row.dimension) not in agreements:
            row.delete()
    for (peers, dimension), agreement in agreements.items():
        values = {"figures": to_json(agreement)}
        rows.update_or_create(study_id=loaded.study_id, peers=peers, dimension=dimension, defaults=values)
    versions = {"version": loaded.version, "texts_version": loaded.texts_version}
    progress = versions | {"problem": "", "computed_at": timezone.now()}
    StudyMetrics.objects.update_or_create(study_id=loaded.study_id, defaults=progress)
    return True


def save_bounds(study_id: int, part: tuple[Peers, str], agreement: DimensionAgreement) -> None:
    """Keep the intervals of one dimension, as far as they are worked out."""
    peers, dimension = part
    rows = MetricAgreementReport.objects.filter(study=study_id, peers=peers, dimension=dimension)
    rows.update(bounded=to_json(agreement))
    StudyMetrics.objects.filter(study=study_id).update(bounds=F("bounds") + 1)


def note_bounded(loaded: StudyScores) -> None:
    """Say that all intervals of this version are there."""
    StudyMetrics.objects.filter(study=loaded.study_id).update(bounded_version=loaded.version, problem="")


def note_metrics_problem(study_id: int, problem: str, _is_given_up: bool) -> None:
    """Say why metrics could not be compared with people; what is there stays."""
    if Study.objects.filter(pk=study_id).exists():
        values = {"problem": problem, "computed_at": timezone.now()}
        StudyMetrics.objects.update_or_create(study_id=study_id, defaults=values)


@transaction.atomic
def save_by_peers(
    table: type[StudyDocumentSets | StudyAssessors], version: str, loaded: StudyScores, reports: Mapping[Peers, Any]
) -> bool:
    """Publish one report for each choice of peers; False where newer figures are there, or the study is gone.

    `version`: the column of `StudyMetrics` that says what they rest on. What there is no report of any more is
    forgotten.
    """
    if not Study.objects.select_for_update(no_key=True).filter(pk=loaded.study_id).values_list("pk"):
        return False
    progress = StudyMetrics.objects.filter(study=loaded.study_id)
    if not progress.filter(**{f"{version}__lt": loaded.version}).exists():
        return False
    rows = table._default_manager.filter(study=loaded.study_id)
    rows.exclude(peers__in=list(reports)).delete()
    for peers, report in reports.items():
        rows.update_or_create(study_id=loaded.study_id, peers=peers, defaults={"figures": to_json(report)})
    progress.update(**{version: loaded.version}, problem="")
    return True
