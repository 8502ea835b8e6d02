"""What a preview needs to know of a study, and its answer as plain values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from django.db.models import F

from annotate.models import Assignment, Fit, Preview, Score, Tally
from evaluation.consensus import Agreement
from evaluation.ranking import Standing
from evaluation.records.people import People
from evaluation.removal import Change


def load_fits(study_id: int) -> dict[int, Standing]:
    """By topic, what its newest fit says of the systems; topics without judgments included."""
    fits = Fit.objects.filter(topic__study=study_id, data_version=F("topic__progress__fitted_version"))
    scores: dict[int, dict[str, float]] = {}
    for topic_id, system, score in Score.objects.filter(fit__in=fits).values_list(
        "fit__topic_id", "summary__system__name", "score"
    ):
        scores.setdefault(topic_id, {})[system] = score
    columns = fits.order_by("topic__position").values_list("topic_id", "judgments", "covariance")
    return {
        topic_id: Standing(
            tuple(covariance["systems"]),
            np.array([scores[topic_id][system] for system in covariance["systems"]]),
            np.array(covariance["matrix"], dtype=np.float64),
            judgments,
        )
        for topic_id, judgments, covariance in columns
        if covariance.get("systems")
    }


def topics_judged(preview: Preview) -> dict[int, int]:
    """The data versions of the topics in which the preview's annotators judged anything that may count."""
    judged = Assignment.objects.filter(
        annotator__in=preview.annotators,
        topic__study=preview.study_id,
        state=Assignment.State.JUDGED,
        holds_place=True,
    )
    tallies = Tally.objects.filter(topic__in=judged.values("topic_id")).order_by("topic__position")
    return dict(tallies.values_list("topic_id", "data_version"))


def as_part(version: int, standing: Standing) -> dict[str, Any]:
    """A topic's answer as JSON keeps it."""
    return {
        "version": version,
        "systems": list(standing.systems),
        "scores": standing.scores.tolist(),
        "covariance": standing.covariance.tolist(),
        "judgments": standing.judgments,
    }


def from_part(part: dict[str, Any]) -> Standing:
    """A topic's answer as it was."""
    return Standing(
        tuple(part["systems"]),
        np.array(part["scores"], dtype=np.float64),
        np.array(part["covariance"], dtype=np.float64).reshape(len(part["systems"]), -1),
        part["judgments"],
    )


def people_numbers(loaded: People, keys: Collection[int]) -> list[int]:
    """The numbers that stand for these annotators."""
    return [number for number, key in enumerate(loaded.annotators) if key in keys]


def as_figures(change: Change, before: Agreement, after: Agreement) -> dict[str, Any]:
    """A preview's answer as JSON keeps it: what cannot be told is null."""
    figures: dict[str, Any] = _cleaned(dataclasses.asdict(change))
    figures["before"]["agreement"] = _cleaned(dataclasses.asdict(before))
    figures["after"]["agreement"] = _cleaned(dataclasses.asdict(after))
    return figures


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
