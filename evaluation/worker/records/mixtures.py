"""Scores from people's judgments and simulated ones together, on their way to the reports on metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import Fit, Sentence, Study, StudyMetrics, Topic, TopicMixtures
from evaluation.evidence import evidence
from evaluation.meta.resampling import Vector
from evaluation.meta.study_convergence import MOST_SENTENCES
from evaluation.metrics.preferences import MixedPreferences
from evaluation.statistics import finite
from evaluation.worker.records.convergence import QUIET
from evaluation.worker.records.evidence import Snapshot, load_evidence
from evaluation.worker.records.metrics import VERSIONS

_LONG = Exists(Sentence.objects.filter(topic=OuterRef("pk"), position__gte=MOST_SENTENCES).order_by())


@dataclass(frozen=True, slots=True)
class StudyToMix:
    """The topics whose judgments are to be mixed anew, with the version of each; `version`: of the study."""

    study_id: int
    version: int
    topics: tuple[tuple[int, int], ...]


def studies_unmixed() -> QuerySet[Study]:
    """Those with intervals of their agreement and topics to simulate from, where nothing has changed for a while."""
    now = timezone.now()
    behind = Study.objects.annotate(wanted=F("metrics__version") - F("metrics__mixed")).filter(
        metrics__mixed_version__lt=F("wanted"), metrics__bounded_version__gte=F("metrics__version")
    )
    can_be = Exists(_mixable().filter(study=OuterRef("pk")))
    return behind.exclude(metrics__computed_at__range=(now - QUIET, now)).filter(can_be)


def _mixable() -> QuerySet[Topic]:
    """Topics with judgments and with references or a Pyramid, of which a fit takes a moment."""
    judged = Fit.objects.newest().filter(topic=OuterRef("pk"), judgments__gt=0)
    sources = Q(references__isnull=False) | Q(pyramid__isnull=False)
    return Topic.objects.filter(sources, Exists(judged), ~_LONG).order_by().distinct()


@snapshot()
def load_to_mix(study_id: int) -> StudyToMix | None:
    """What is behind; None where the study is gone, or has no metrics any more."""
    progress = StudyMetrics.objects.filter(study=study_id).first()
    if progress is None:
        return None
    topics = _mixable().filter(study=study_id).annotate(version=sum(map(F, VERSIONS)))
    behind = topics.exclude(mixtures__version=F("version")).values_list("pk", "version")
    return StudyToMix(study_id, progress.version - progress.mixed, tuple(sorted(behind)))


def load_with_sources(topic_id: int, split: Callable[[str, str], Sequence[str]]) -> Snapshot | None:
    """What a fit of the topic rests on, with its references and its Pyramid; None where it is gone or not prepared."""
    loaded = load_evidence(topic_id, split)
    record = next(exports.topic_records(Topic.objects.filter(pk=topic_id)), None)
    if loaded is None or record is None:
        return None
    texts = evidence(replace(record, language=loaded.evidence.language))
    return replace(loaded, evidence=replace(loaded.evidence, references=texts.references, pyramid=texts.pyramid))


@transaction.atomic
def save_mixtures(
    topic: tuple[int, int], systems: Sequence[str], mixtures: Iterable[tuple[MixedPreferences, Vector]]
) -> None:
    """Keep a topic's scores, if it is still there."""
    key, version = topic
    scores, signatures = {}, {}
    for metric, column in mixtures:
        scores[metric.name] = dict(zip(systems, map(finite, column.tolist()), strict=True))
        signatures[metric.name] = metric.signature
    if Topic.objects.select_for_update(no_key=True).filter(pk=key).values_list("pk"):
        values = {"version": version, "scores": scores, "signatures": signatures}
        TopicMixtures.objects.update_or_create(topic_id=key, defaults=values)


def publish_mixtures(loaded: StudyToMix) -> None:
    """Say that all topics have theirs, and that agreement is to be worked out with them."""
    progress = StudyMetrics.objects.filter(study=loaded.study_id)
    progress.update(mixed_version=loaded.version, mixed=F("mixed") + 1, problem="")
