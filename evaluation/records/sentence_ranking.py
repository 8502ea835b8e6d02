"""Load topics to compute how well utilities order their sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from annotate import exports
from annotate.models import PyramidAnnotation, Reference, Result, Topic
from evaluation.records.evidence import Split, load_evidence
from preferendum.evidence import Evidence, Settings, evidence


@dataclass(frozen=True, slots=True)
class RankedSentences:
    """A topic's judgments, references and Pyramid, at this `version` or a newer one."""

    version: int
    evidence: Evidence
    settings: Settings
    seed: int


def topics_with_unranked_sentences() -> QuerySet[Topic]:
    """Topics with sentences and references or a Pyramid whose ranking is out of date. Adds the `wanted` version."""
    has_values = Exists(Reference.objects.filter(topic=OuterRef("pk"))) | Exists(
        PyramidAnnotation.objects.filter(topic=OuterRef("pk"))
    )
    done = Result.objects.filter(topic=OuterRef("pk"), analysis="sentence-ranking", version__gte=OuterRef("wanted"))
    fitted = Coalesce(F("progress__fitted_version"), Value(0))
    topics = Topic.objects.cut().annotate(wanted=F("text_version") + F("peers_version") + fitted)
    return topics.filter(has_values, ~Exists(done))


def load_ranked_sentences(topic_id: int, split: Split) -> RankedSentences | None:
    """None if the topic is gone, not prepared, or already ranked."""
    behind = topics_with_unranked_sentences().filter(pk=topic_id)
    versions = behind.values_list("text_version", "peers_version", "progress__fitted_version").first()
    loaded = load_evidence(topic_id, split) if versions is not None else None
    if versions is None or loaded is None:
        return None
    record = next(exports.topic_records(Topic.objects.filter(pk=topic_id)))
    texts = evidence(replace(record, documents=(), summaries=(), language=loaded.evidence.language))
    whole = replace(loaded.evidence, references=texts.references, pyramid=texts.pyramid)
    return RankedSentences(sum(version or 0 for version in versions), whole, loaded.settings, loaded.seed)
