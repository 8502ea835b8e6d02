"""Load and save scores from people's judgments and simulated ones together, for the reports on metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import Fit, Result, Sentence, Study, Topic
from annotate.models.analysis import of_head
from evaluation.records.derived import at_rest, keep_of_topic, publish, with_intervals
from evaluation.records.evidence import Snapshot, load_evidence
from evaluation.records.metrics import VERSIONS
from preferendum.evidence import evidence
from preferendum.methods.meta.resampling import Vector
from preferendum.methods.meta.study_convergence import MOST_SENTENCES
from preferendum.methods.metrics.preferences.scores import MixedPreferences
from preferendum.results import TopicMixtures
from preferendum.statistics import finite

_LONG = Exists(Sentence.objects.filter(topic=OuterRef("pk"), position__gte=MOST_SENTENCES).order_by())


@dataclass(frozen=True, slots=True)
class StudyToMix:
    """The topics to mix again, as (key, version); `version`: of the study."""

    study_id: int
    version: int
    topics: tuple[tuple[int, int], ...]


def studies_unmixed() -> QuerySet[Study]:
    """Studies with intervals of agreement and topics to simulate from, where nothing has changed for a while."""
    # The agreement's version counts past mixtures: subtract them, to wait for other changes only.
    version = of_head("metrics") - of_head("mixtures", "turns")
    behind = Study.objects.annotate(wanted=version).filter(wanted__gt=of_head("mixtures"))
    return at_rest(with_intervals(behind)).filter(Exists(_mixable().filter(study=OuterRef("pk"))))


def _mixable() -> QuerySet[Topic]:
    """Topics with judgments and with references or a Pyramid, and short enough for a quick fit."""
    judged = Fit.objects.newest().filter(topic=OuterRef("pk"), judgments__gt=0)
    sources = Q(references__isnull=False) | Q(pyramid__isnull=False)
    return Topic.objects.filter(sources, Exists(judged), ~_LONG).order_by().distinct()


@snapshot()
def load_to_mix(study_id: int) -> StudyToMix | None:
    """The topics that are out of date; None if the study is gone or no longer has metrics."""
    metrics, mixed = (Result.objects.head(study_id, name) for name in ("metrics", "mixtures"))
    if metrics.pk is None:
        return None
    done = Result.objects.filter(topic=OuterRef("pk"), analysis="mixtures")
    topics = _mixable().filter(study=study_id).annotate(version=sum(map(F, VERSIONS)))
    behind = topics.exclude(Exists(done.filter(version=OuterRef("version")))).values_list("pk", "version")
    return StudyToMix(study_id, metrics.version - mixed.turns, tuple(sorted(behind)))


def load_with_sources(topic_id: int, split: Callable[[str, str], Sequence[str]]) -> Snapshot | None:
    """What a fit of the topic rests on, with its references and its Pyramid; None if it is gone or not prepared."""
    loaded = load_evidence(topic_id, split)
    record = next(exports.topic_records(Topic.objects.filter(pk=topic_id)), None)
    if loaded is None or record is None:
        return None
    texts = evidence(replace(record, language=loaded.evidence.language))
    return replace(loaded, evidence=replace(loaded.evidence, references=texts.references, pyramid=texts.pyramid))


def save_mixtures(
    topic: tuple[int, int], systems: Sequence[str], mixtures: Iterable[tuple[MixedPreferences, Vector]]
) -> None:
    """Save a topic's scores, if it still exists."""
    scores, signatures = {}, {}
    for metric, column in mixtures:
        scores[metric.name] = dict(zip(systems, map(finite, column.tolist()), strict=True))
        signatures[metric.name] = metric.signature
    key, version = topic
    keep_of_topic(key, "mixtures", version, TopicMixtures(scores, signatures))


def publish_mixtures(loaded: StudyToMix) -> None:
    """Record that all topics have theirs, so that agreement is computed with them."""
    publish(loaded.study_id, "mixtures", loaded.version, {})
