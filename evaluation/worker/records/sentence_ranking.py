"""How well utilities order a topic's sentences, on its way to the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate import exports
from annotate.models import PyramidAnnotation, Reference, SentenceRankingReport, Topic
from evaluation.evidence import Evidence, Settings, evidence
from evaluation.worker.records.evidence import Split, load_evidence
from formats.results import SentenceReport, to_json


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """A topic's judgments beside its references and its Pyramid; `version`: of all of it, or newer."""

    topic_id: int
    version: int
    evidence: Evidence
    settings: Settings
    seed: int


def topics_with_unranked_sentences() -> QuerySet[Topic]:
    """Topics with references or a Pyramid, and sentences, whose ranking is behind. Adds the `wanted` version."""
    has_values = Exists(Reference.objects.filter(topic=OuterRef("pk"))) | Exists(
        PyramidAnnotation.objects.filter(topic=OuterRef("pk"))
    )
    is_behind = Q(sentence_ranking__isnull=True) | Q(sentence_ranking__version__lt=F("wanted"))
    fitted = Coalesce(F("progress__fitted_version"), Value(0))
    topics = Topic.objects.cut().annotate(wanted=F("text_version") + F("peers_version") + fitted)
    return topics.filter(has_values, is_behind)


def load_ranked_sentences(topic_id: int, split: Split) -> RankedSentences | None:
    """None where the topic is gone, not prepared, or ranked by now."""
    behind = topics_with_unranked_sentences().filter(pk=topic_id)
    versions = behind.values_list("text_version", "peers_version", "progress__fitted_version").first()
    loaded = load_evidence(topic_id, split) if versions is not None else None
    if versions is None or loaded is None:
        return None
    record = next(exports.topic_records(Topic.objects.filter(pk=topic_id)))
    texts = evidence(replace(record, documents=(), summaries=(), language=loaded.evidence.language))
    whole = replace(loaded.evidence, references=texts.references, pyramid=texts.pyramid)
    return RankedSentences(topic_id, sum(version or 0 for version in versions), whole, loaded.settings, loaded.seed)


@transaction.atomic
def save_sentence_ranking(loaded: RankedSentences, reports: Sequence[SentenceReport]) -> bool:
    """Publish how well sentences are ordered; False where newer figures are there, or the topic is gone."""
    if not Topic.objects.select_for_update(no_key=True).filter(pk=loaded.topic_id).values_list("pk"):
        return False
    if SentenceRankingReport.objects.filter(topic=loaded.topic_id, version__gte=loaded.version).exists():
        return False
    values = {"version": loaded.version, "seed": loaded.seed, "figures": to_json(reports)}
    SentenceRankingReport.objects.update_or_create(
        topic_id=loaded.topic_id, defaults=values | {"computed_at": timezone.now()}
    )
    return True
