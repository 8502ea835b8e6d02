"""Diagnostics of what the scores rest on: save them by topic, and load them to be combined."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from django.db.models import Exists, F, OuterRef, QuerySet

from annotate.models import Fit, Result, Study, Summary, Topic
from annotate.models.analysis import of_head, version_of_examinations
from evaluation.records.derived import keep_of_topic
from evaluation.records.evidence import Snapshot, Split, load_evidence
from preferendum.annotators.diagnostics import Diagnosis, Vector
from preferendum.results import TopicDiagnostics
from preferendum.statistics import finite

#: Six digits are enough to show influence, and take a third of the space.
DIGITS = 6


def topics_unexamined() -> QuerySet[Topic]:
    """Topics with judgments whose diagnostics are older than their newest fit. Adds the `wanted` version."""
    judged = Fit.objects.newest().filter(item_set=OuterRef("pk"), judgments__gt=0)
    done = Result.objects.filter(topic=OuterRef("pk"), analysis="diagnostics", version__gte=OuterRef("wanted"))
    topics = Topic.objects.annotate(wanted=F("sentence_set__progress__fitted_version"))
    return topics.filter(Exists(judged), ~Exists(done), wanted__gt=0)


def studies_unexamined() -> QuerySet[Study]:
    """Studies with a topic that was examined after they were. Adds the `wanted` version."""
    examined = Exists(Result.objects.filter(topic__study=OuterRef("pk"), analysis="diagnostics"))
    studies = Study.objects.filter(examined).annotate(wanted=version_of_examinations())
    return studies.alias(done=of_head("influence")).filter(wanted__gt=F("done"))


def load_judged(study_id: int, split: Split) -> tuple[int, list[Snapshot]]:
    """The version at which a study was last examined, and its topics with judgments."""
    keys = Result.objects.of_topics(study_id, "diagnostics").values_list("topic", flat=True)
    loaded = (load_evidence(key, split) for key in keys)
    judged = [topic for topic in loaded if topic is not None and len(topic.evidence.judgments)]
    return Result.objects.head(study_id, "influence").version, judged


def human_authors(study_id: int) -> set[str]:
    """The people among a study's systems, who are not ranked; none where there are no others."""
    people = Summary.human_authors(study_id)
    others = Summary.objects.filter(topic__study=study_id).exclude(system__name__in=people)
    return people if others.exists() else set()


def save_topic_examination(snapshot: Snapshot, version: int, diagnosis: Diagnosis | None) -> None:
    """Save a topic's diagnostics at a fitted version; None if no judgment counts."""
    record = None if diagnosis is None else _with_keys(diagnosis, snapshot)
    keep_of_topic(snapshot.topic_id, "diagnostics", version, record)


def _with_keys(diagnosis: Diagnosis, snapshot: Snapshot) -> TopicDiagnostics:
    kinds = snapshot.evidence.kinds
    leading = np.flatnonzero([kind == snapshot.leading for kind in kinds])
    misfits = (replace(misfit, sentence=snapshot.sentence_keys[int(misfit.sentence)]) for misfit in diagnosis.misfits)
    has_score = np.flatnonzero(np.isfinite(diagnosis.scores))
    return TopicDiagnostics(
        systems=tuple(snapshot.evidence.summaries[k].system for k in has_score),
        scores=_short(diagnosis.scores[has_score]),
        annotators=tuple(snapshot.annotator_keys[number] for number in leading.tolist()),
        without=tuple(map(_short, diagnosis.without[np.ix_(leading, has_score)])),
        coverage=diagnosis.coverage,
        misfits=tuple(misfits),
    )


def fitted_version(topic_id: int) -> int:
    """The version of the topic's published fit; 0 without one."""
    version = Topic.objects.filter(pk=topic_id).values_list("sentence_set__progress__fitted_version", flat=True).first()
    return version or 0


def load_examinations(study_id: int) -> tuple[int, tuple[TopicDiagnostics, ...]]:
    """The version of the diagnostics of a study's topics, and the diagnostics."""
    studies = Study.objects.filter(pk=study_id).annotate(version=version_of_examinations())
    version = studies.values_list("version", flat=True).first() or 0
    records = (row.read(TopicDiagnostics) for row in Result.objects.of_topics(study_id, "diagnostics"))
    return version, tuple(record for record in records if record is not None)


def _short(scores: Vector) -> tuple[float | None, ...]:
    return tuple(finite(float(f"{score:.{DIGITS}g}")) for score in scores.tolist())
