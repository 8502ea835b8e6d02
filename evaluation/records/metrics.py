"""Load texts for the metrics and save their scores; load people's and metrics' scores of summaries for the reports."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from numpy.typing import NDArray

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import (
    Claim,
    ComputedScore,
    Fit,
    HumanScore,
    Item,
    MetricScore,
    Result,
    Score,
    Study,
    Summary,
    Topic,
    TopicMetrics,
)
from annotate.models.analysis import of_head
from annotate.models.study import sum_of_topics, total_of_topics
from evaluation.records.evidence import settings_of
from evaluation.records.results import standings_by_topic
from preferendum.evidence import Evidence, evidence, with_bases
from preferendum.metrics import registry
from preferendum.metrics.names import IMPORTANCE, OWN, listed_metrics, rests_on_all_topics
from preferendum.metrics.registry import with_jackknifed
from preferendum.results.scores import as_metrics
from preferendum.scoring.between_annotators import without_each
from preferendum.statistics import finite
from preferendum.work.scores import Scores

Vector = NDArray[np.float64]
Matrices = dict[str, NDArray[np.float64]]
#: (topic, system): the place of a summary in the matrices.
Cell = tuple[int, str]


#: Of each topic: the version of its metrics' scores, and of the fit that gives its preference scores.
VERSIONS = ("metrics__version", "progress__fitted_version")
#: The same for each topic of a query.
OF_TOPIC = ("metrics__version", "sentence_set__progress__fitted_version")


@dataclass(frozen=True, slots=True)
class MetricTexts:
    """A topic's texts as metrics read them, at one version; `summary_keys` in the order of `evidence.summaries`.

    `metrics`: those that the study wants and that need this topic alone; `across`: those that need all topics.
    `signatures`: by name, of the metrics that last scored the texts of this `digest`.
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
    """People's and metrics' scores of a study's summaries at one moment.

    `version`: of all scores; `texts_version`: of those that do not rest on judgments.
    """

    study_id: int
    version: int
    texts_version: int
    scores: Scores


@snapshot()
def load_texts(topic_id: int) -> MetricTexts | None:
    """The topic with references, summaries and Pyramid, without judgments; None if it is gone or already scored."""
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
    """What metrics read of a topic, with the references of the base topic that it updates."""
    others = Topic.objects.filter(study=row.study_id, name=row.base) if row.base else Topic.objects.none()
    records = exports.topic_records(Topic.objects.filter(pk=row.pk) | others)
    loaded = with_bases([evidence(replace(topic, language=topic.language or row.study.language)) for topic in records])
    return next(topic for topic in loaded if topic.topic_id == row.name)


def _digest(texts: Evidence) -> str:
    """A digest of all that metrics read of a topic, so that none scores the same texts twice."""
    summaries = [(summary.system, summary.sentences, summary.person, summary.reference) for summary in texts.summaries]
    references = texts.references, texts.reference_names
    read = (texts.sentence_ids, texts.sentences, references, summaries, texts.language, texts.pyramid)
    earlier = (texts.base_references,) if texts.base else ()
    return hashlib.sha256(repr((*read, *earlier)).encode()).hexdigest()


@transaction.atomic
def save_metric_scores(
    loaded: MetricTexts, scores: Mapping[str, Vector], signatures: Mapping[str, str], absent: Mapping[str, str]
) -> bool:
    """Publish metrics' scores of a topic's summaries; False if these or newer ones exist, or the topic is gone.

    `signatures`: of all metrics; the scores of those not in `scores` stay, and so do those of metrics that need all
    topics, until these have scored the new texts.
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
    """Studies with human scores whose agreement with metrics is out of date. Adds the `wanted` version.

    Only once every topic is scored, except those that failed: figures about a part would pass for figures about all.
    """
    has_any = Exists(HumanScore.objects.filter(summary__topic__study=OuterRef("pk")))
    failed = Claim.objects.filter(name__startswith="metrics:", attempts__gt=1).values_list("name", flat=True)
    keys = [int(name.partition(":")[2]) for name in failed]
    to_score = Exists(Topic.objects.unscored().filter(study=OuterRef("pk")).exclude(pk__in=keys))
    studies = Study.objects.annotate(wanted=_version())
    return studies.filter(has_any, ~to_score, wanted__gt=of_head("metrics"))


def _version() -> Combinable:
    """The version of all that a study's reports on metrics rest on."""
    scored, fitted = (Coalesce(total_of_topics(name), 0) for name in VERSIONS)
    version: Combinable = scored + fitted + F("removed_version") + _beside()
    return version


def _beside() -> Any:
    """The version of the metrics that need all topics, plus how often simulated judgments were mixed in."""
    return of_head("across-topics") + of_head("mixtures", "turns")


@snapshot()
def load_study_scores(study_id: int, *, with_annotators: bool = False) -> StudyScores | None:
    """All scores of a study's summaries; `with_annotators`: what each annotator adds. None if the study is gone."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return None
    of_texts = Coalesce(sum_of_topics(VERSIONS[0]), 0) + _beside()
    versions = Study.objects.filter(pk=study_id).annotate(version=_version(), of_texts=of_texts)
    version, texts_version = versions.values_list("version", "of_texts").get()
    topics = list(Topic.objects.filter(study=study).order_by("position").values_list("pk", "name"))
    summaries = Summary.objects.filter(topic__study=study)
    systems = sorted(set(summaries.values_list("system__name", flat=True)))
    place = [key for key, _name in topics], systems
    people = Summary.human_authors(study_id)
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
        counts=_counts([key for key, _name in topics]),
        without_each=_without_each(study.pk, systems, topics) if with_annotators else {},
    )
    return StudyScores(study.pk, version, texts_version, scores)


def _without_each(study_id: int, systems: Sequence[str], topics: Sequence[tuple[int, str]]) -> Matrices:
    """What importance owes to each annotator."""
    names = dict(topics)
    standings = {names[key]: own for key, own in standings_by_topic(study_id).items() if key in names}
    moved = without_each(standings, systems, [name for _key, name in topics])
    return {} if moved is None else {IMPORTANCE: moved}


def _counts(topics: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The number, by topic, of judgments that its scores rest on, and of its sentences to judge."""
    judged = dict(Fit.objects.newest().filter(item_set__in=topics).values_list("item_set", "judgments"))
    asked = Item.objects.to_judge().filter(item_set__in=topics).order_by()
    sentences = dict(asked.values_list("item_set").annotate(Count("pk")))
    return tuple((judged.get(key, 0), sentences.get(key, 0)) for key in topics)


def _by_name(rows: QuerySet[Any], name: str) -> dict[str, dict[Cell, float]]:
    """Scores of summaries by metric or dimension."""
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
    """The study's scores from its own judgments and simulated ones together."""
    cells: dict[str, dict[Cell, float]] = {}
    for topic, record in Result.objects.of_topics(study, "mixtures").values_list("topic", "record"):
        for name, by_system in record["scores"].items():
            own = {system: score for system, score in by_system.items() if system in systems}
            cells.setdefault(name, {}).update(
                ((topic, system), math.nan if score is None else score) for system, score in own.items()
            )
    return cells


def _signatures(study: Study) -> dict[str, str]:
    """What is needed to reproduce the numbers of every metric that scored any topic, preferences first."""
    settings = settings_of(study)
    own = {name: registry.metric(name, settings).signature for name in OWN}
    for mixtures in Result.objects.of_topics(study, "mixtures").values_list("record", flat=True):
        own |= mixtures["signatures"]
    scored: dict[str, str] = {}
    rows = TopicMetrics.objects.filter(topic__study=study).order_by("topic__position")
    for signatures in rows.values_list("signatures", flat=True):
        scored = signatures | scored
    order = [*with_jackknifed(listed_metrics(study.metric_names)), *sorted(scored)]
    own |= {name: scored[name] for name in order if name in scored}
    given = MetricScore.objects.given().filter(summary__topic__study=study).order_by("metric")
    return own | {name: f"{name}, worked out elsewhere" for name in given.values_list("metric", flat=True).distinct()}


def _matrices(cells: Mapping[str, Mapping[Cell, float]], topics: Sequence[int], systems: Sequence[str]) -> Matrices:
    """(systems, topics) of each, NaN where there is no score."""
    rows, columns = ({key: k for k, key in enumerate(keys)} for keys in (systems, topics))
    matrices = {name: np.full((len(rows), len(columns)), np.nan) for name in cells}
    for name, scores in cells.items():
        for (topic, system), score in scores.items():
            matrices[name][rows[system], columns[topic]] = score
    return matrices
