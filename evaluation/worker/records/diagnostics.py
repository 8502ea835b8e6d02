"""What the scores rest on, looked at closely: on its way into the tables, and read back to be put together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate.models import Examination, Fit, Study, Topic, TopicExamination
from annotate.models.study import sum_of_topics
from evaluation.diagnostics import Diagnosis, Vector
from evaluation.statistics import finite
from evaluation.worker.records.evidence import Snapshot, Split, load_evidence
from formats.results import Influence, SmallestSet, TopicDiagnostics, from_json, to_json

#: Six digits are enough to say who moves what, and a third of the room.
DIGITS = 6


def topics_unexamined() -> QuerySet[Topic]:
    """Topics with judgments whose last examination is behind their newest fit. Adds the `wanted` version."""
    judged = Fit.objects.newest().filter(topic=OuterRef("pk"), judgments__gt=0)
    is_behind = Q(examination__isnull=True) | Q(examination__version__lt=F("progress__fitted_version"))
    topics = Topic.objects.annotate(wanted=F("progress__fitted_version"))
    return topics.filter(is_behind, Exists(judged), wanted__gt=0)


def studies_unexamined() -> QuerySet[Study]:
    """Studies of which a topic was examined since they were. Adds the `wanted` version."""
    return (
        Study.objects.annotate(wanted=sum_of_topics("examination__version"))
        .filter(wanted__gt=0)
        .filter(Q(examination__isnull=True) | Q(examination__version__lt=F("wanted")))
    )


def studies_unsearched() -> QuerySet[Study]:
    """Studies whose smallest set of judgments was sought before they were last examined. Adds the `wanted` version."""
    behind = Study.objects.filter(examination__searched_version__lt=F("examination__version"))
    return behind.annotate(wanted=F("examination__version"))


def load_judged(study_id: int, split: Split) -> tuple[int, list[Snapshot]]:
    """The version that a study was last examined at, and its topics with judgments."""
    version = Examination.objects.filter(study=study_id).values_list("version", flat=True).first() or 0
    keys = Topic.objects.filter(study=study_id, examination__isnull=False).order_by("position")
    loaded = (load_evidence(key, split) for key in keys.values_list("pk", flat=True))
    return version, [topic for topic in loaded if topic is not None and len(topic.evidence.judgments)]


def save_smallest_set(study_id: int, version: int, smallest: SmallestSet | None) -> None:
    """Publish which judgments the first place hangs on; a late one is thrown away."""
    older = Examination.objects.filter(study=study_id, searched_version__lt=version)
    older.update(searched_version=version, smallest_set={} if smallest is None else to_json(smallest))


def save_topic_examination(snapshot: Snapshot, version: int, diagnosis: Diagnosis | None) -> None:
    """Keep what was found of a topic at a fitted version; None where no judgment counts."""
    figures = {} if diagnosis is None else to_json(_with_keys(diagnosis, snapshot))
    if Topic.objects.filter(pk=snapshot.topic_id).exists():
        values = {"version": version, "figures": figures, "computed_at": timezone.now()}
        TopicExamination.objects.update_or_create(topic_id=snapshot.topic_id, defaults=values)


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
    """The version that the topic's published fit is of; 0 where there is none."""
    version = Topic.objects.filter(pk=topic_id).values_list("progress__fitted_version", flat=True).first()
    return version or 0


def load_examinations(study_id: int) -> tuple[int, tuple[TopicDiagnostics, ...]]:
    """What was found of each of a study's topics, and the sum of the versions."""
    rows = TopicExamination.objects.filter(topic__study=study_id).order_by("topic__position")
    examined = list(rows.values_list("version", "figures"))
    diagnostics = tuple(from_json(TopicDiagnostics, figures) for _version, figures in examined if figures)
    return sum(version for version, _figures in examined), diagnostics


@transaction.atomic
def save_examination(study_id: int, version: int, influence: Influence | None) -> None:
    """Publish what single annotators move; a late one is thrown away."""
    if not Study.objects.select_for_update(no_key=True).filter(pk=study_id).values_list("pk"):
        return
    now = timezone.now()
    Examination.objects.bulk_create([Examination(study_id=study_id, computed_at=now)], ignore_conflicts=True)
    older = Examination.objects.filter(study=study_id, version__lt=version)
    older.update(version=version, figures={} if influence is None else to_json(influence), computed_at=now)


def _short(scores: Vector) -> tuple[float | None, ...]:
    return tuple(finite(float(f"{score:.{DIGITS}g}")) for score in scores.tolist())
