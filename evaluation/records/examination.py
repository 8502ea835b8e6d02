"""What the scores rest on, looked at closely: on its way into the tables, and read back to be put together."""

from __future__ import annotations

import dataclasses
import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotate.models import Examination, Fit, Study, Topic
from annotate.models import TopicExamination as Row
from evaluation.examination import Moved, Robustness, TopicExamination
from evaluation.records.evidence import Snapshot

#: A topic is looked at again after so long at the earliest, and after so many times as long as the last look took.
PAUSE = timedelta(seconds=30)
PATIENCE = 20.0
#: Six digits are enough to say who moves what, and a third of the room.
DIGITS = 6


def topics_unexamined(now: datetime) -> QuerySet[Topic]:
    """Topics with judgments whose last examination is behind their newest fit, if that is not too fresh."""
    judged = Fit.objects.filter(topic=OuterRef("pk"), data_version=OuterRef("progress__fitted_version"))
    rested = Q(examination__computed_at__lte=now - PAUSE) | Q(examination__computed_at__gt=now + PAUSE)
    behind = Q(examination__version__lt=F("progress__fitted_version")) & rested
    return Topic.objects.filter(
        Q(examination__isnull=True) | behind, Exists(judged.filter(judgments__gt=0)), progress__fitted_version__gt=0
    )


def is_rested(seconds: float | None, computed_at: datetime | None, now: datetime) -> bool:
    """Whether a topic that took so long was left alone for long enough."""
    if computed_at is None or seconds is None:
        return True
    return computed_at <= now - timedelta(seconds=PATIENCE * seconds)


def studies_unexamined() -> QuerySet[Study]:
    """Studies of which a topic was examined since they were."""
    return (
        Study.objects.annotate(version=Sum("topics__examination__version"))
        .filter(version__gt=0)
        .filter(Q(examination__isnull=True) | Q(examination__version__lt=F("version")))
    )


def save_topic_examination(snapshot: Snapshot, version: int, found: TopicExamination | None, seconds: float) -> None:
    """Keep what was found of a topic at a fitted version; None: nothing could be, and none looks again until then."""
    figures: dict[str, Any] = {}
    if found is not None:
        figures = {
            "coverage": dataclasses.asdict(found.coverage),
            "misfits": [
                dataclasses.asdict(one) | {"sentence": snapshot.sentence_keys[one.sentence]} for one in found.misfits
            ],
            "systems": [one.system for one in snapshot.evidence.summaries],
            "scores": [_short(score) for score in found.scores.tolist()],
            "people": list(snapshot.annotator_keys),
            "without": [[_short(score) for score in row] for row in found.without.tolist()],
        }
    if Topic.objects.filter(pk=snapshot.topic_id).exists():
        values = {"version": version, "figures": figures, "seconds": seconds, "computed_at": timezone.now()}
        Row.objects.update_or_create(topic_id=snapshot.topic_id, defaults=values)


def fitted_version(topic_id: int) -> int:
    """The version that the topic's published fit is of; 0 where there is none."""
    found = Topic.objects.filter(pk=topic_id).values_list("progress__fitted_version", flat=True).first()
    return found or 0


def load_examinations(study_id: int) -> tuple[int, tuple[Moved, ...]]:
    """What single people move in each of a study's topics, and the sum of the versions."""
    rows = list(Row.objects.filter(topic__study=study_id).order_by("topic__position").values_list("version", "figures"))
    moved = tuple(
        Moved(
            systems=tuple(figures["systems"]),
            people=tuple(figures["people"]),
            scores=np.array([_long(score) for score in figures["scores"]], dtype=np.float64),
            without=np.array([[_long(score) for score in row] for row in figures["without"]], dtype=np.float64).reshape(
                len(figures["people"]), len(figures["systems"])
            ),
        )
        for _version, figures in rows
        if figures.get("systems")
    )
    return sum(version for version, _figures in rows), moved


@transaction.atomic
def save_examination(study_id: int, version: int, found: Robustness | None) -> None:
    """Publish whether the ranking survives; a late one is thrown away."""
    if not Study.objects.filter(pk=study_id).exists():
        return
    now = timezone.now()
    Examination.objects.bulk_create([Examination(study_id=study_id, computed_at=now)], ignore_conflicts=True)
    figures = {} if found is None else dataclasses.asdict(found)
    ours = Examination.objects.filter(study=study_id, version__lt=version)
    ours.update(version=version, figures=figures, computed_at=now)


def _short(score: float) -> float | None:
    return float(f"{score:.{DIGITS}g}") if math.isfinite(score) else None


def _long(score: float | None) -> float:
    return math.nan if score is None else score
