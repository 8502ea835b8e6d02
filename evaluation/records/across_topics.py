"""Load the texts of all topics for the metrics that need them all, and save these metrics' scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import ComputedScore, Result, Study, Summary, Topic, TopicMetrics
from annotate.models.analysis import of_head
from annotate.models.study import sum_of_topics
from evaluation.records.derived import note
from preferendum.evidence import Evidence, evidence
from preferendum.metrics.names import across_topics, listed_metrics, rests_on_all_topics
from preferendum.metrics.registry import with_jackknifed
from preferendum.scoring.across_topics import AcrossTopics
from preferendum.statistics import finite


@dataclass(frozen=True, slots=True)
class StudyTexts:
    """All topics of a study as metrics read them, at one version; `versions`: of each topic, by its key.

    `summaries`: their keys, by topic name, in the order of its evidence. `waiting`: the metrics that have not scored
    this version.
    """

    study_id: int
    version: int
    topics: tuple[Evidence, ...]
    versions: dict[int, int]
    summaries: dict[str, tuple[int, ...]]
    waiting: tuple[str, ...]


def studies_unscored() -> QuerySet[Study]:
    """Studies that want such metrics and whose topics have changed since. Adds the `wanted` version.

    Only those whose topics were scored one by one already: the signatures of both are in one row.
    """
    scored = Exists(TopicMetrics.objects.filter(topic__study=OuterRef("pk")))
    wanting = Study.objects.filter(scored, metric_names__regex=across_topics())
    studies = wanting.annotate(wanted=sum_of_topics("metrics__version"))
    unscored = Topic.objects.unscored().filter(study=OuterRef("pk"))
    return studies.alias(done=of_head("across-topics")).filter(~Exists(unscored), wanted__gt=F("done"))


@snapshot()
def load_study_texts(study_id: int) -> StudyTexts | None:
    """None if the study is gone or all of it is scored."""
    study = studies_unscored().filter(pk=study_id).first()
    if study is None:
        return None
    version: int = study.wanted  # type: ignore[attr-defined]  # annotated
    rows = Topic.objects.filter(study=study).order_by("position")
    topics = tuple(
        evidence(replace(record, language=record.language or study.language)) for record in exports.topic_records(rows)
    )
    keys = Summary.keys_of(versions := dict(rows.values_list("pk", F("text_version") + F("peers_version"))))
    scored = Result.objects.head(study, "across-topics").record or {}
    return StudyTexts(
        study_id,
        version,
        topics,
        versions,
        {
            topic.topic_id: tuple(keys[key, summary.system] for summary in topic.summaries)
            for key, topic in zip(versions, topics, strict=True)
        },
        tuple(name for name in _wanted(study, topics) if scored.get(name) != version),
    )


def _wanted(study: Study, topics: tuple[Evidence, ...]) -> tuple[str, ...]:
    """The study's metrics that need all topics; with people among the peers, also with one reference less."""
    chosen = [name for name in listed_metrics(study.metric_names) if rests_on_all_topics(name)]
    has_people = any(summary.person for topic in topics for summary in topic.summaries)
    return with_jackknifed(chosen) if has_people else tuple(chosen)


@transaction.atomic
def save_across_topics(loaded: StudyTexts, name: str, scored: AcrossTopics) -> None:
    """Publish the scores of one of these metrics for all topics except those changed meanwhile."""
    if not Study.objects.select_for_update(no_key=True).filter(pk=loaded.study_id).values_list("pk"):
        return
    same = [
        topic
        for topic in Topic.objects.select_for_update(no_key=True).filter(study=loaded.study_id).order_by("pk")
        if topic.text_version + topic.peers_version == loaded.versions.get(topic.pk)
    ]
    ComputedScore.objects.filter(summary__topic__in=same, metric=name).delete()
    ComputedScore.objects.bulk_create(
        ComputedScore(summary_id=key, metric=name, score=finite(score))
        for topic in same
        if topic.name in scored.scores
        for key, score in zip(loaded.summaries[topic.name], scored.scores[topic.name].tolist(), strict=True)
    )
    rows = list(TopicMetrics.objects.filter(topic__in=same).select_related("topic"))
    for row in rows:
        _put(row.signatures, name, scored.signature if row.topic.name in scored.scores else "")
        _put(row.absent, name, scored.absent.get(row.topic.name, ""))
    TopicMetrics.objects.bulk_update(rows, ["signatures", "absent"])
    scored_at = Result.objects.head(loaded.study_id, "across-topics").record or {}
    note(loaded.study_id, "across-topics", record=scored_at | {name: loaded.version})


def _put(texts: dict[str, str], name: str, text: str) -> None:
    texts.pop(name, None)
    if text:
        texts[name] = text
