"""Scores by assessor: their form in JSON, and their means.

    "ratings": [{"assessor": "A", "responsiveness": 4, "fluency": 3}, ...]

The key `raters` with `annotator` in place of `assessor`, as some collections have it, is read in the same way where all
else in it is numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from preferendum.formats.checks import limits, shapes
from preferendum.formats.checks.complaints import Complaints, Place, kind, shown
from preferendum.formats.checks.text import name

#: Scores by assessor and dimension.
Ratings = Mapping[str, Mapping[str, float]]

#: Their mean must be a number, too.
HIGHEST = 1e15
_score = shapes.real(-HIGHEST, HIGHEST)


def means(ratings: Ratings) -> dict[str, float]:
    """The mean of each dimension over those who gave a score."""
    by_dimension: dict[str, list[float]] = {}
    for scores in ratings.values():
        for dimension, score in scores.items():
            by_dimension.setdefault(dimension, []).append(score)
    return {dimension: fmean(scores) for dimension, scores in sorted(by_dimension.items())}


def ratings_from(place: Place, given: Mapping[str, Any]) -> Ratings:
    """The ratings of a summary; none where it has no such key, or `raters` that are something else."""
    if given.get("ratings") is not None:
        return _ratings(place.key("ratings"), given["ratings"], "assessor")
    return raters_from(given) or {}


def raters_from(given: Mapping[str, Any]) -> Ratings | None:
    """The value of `raters`, if that is ratings, and if there are no others."""
    if "raters" not in given or given.get("ratings") is not None:
        return None
    quiet = Complaints()
    ratings = _ratings(Place(quiet, ""), given["raters"], "annotator")
    return None if quiet.collected else ratings


def ratings_as_json(ratings: Ratings) -> list[dict[str, Any]]:
    return [{"assessor": assessor, **scores} for assessor, scores in sorted(ratings.items())]


def _ratings(place: Place, given: Any, who: str) -> Ratings:
    ratings: dict[str, dict[str, float]] = {}
    for number, item in enumerate(shapes.items(place, given)[: limits.ROWS]):
        here = place.key(number)
        if not isinstance(item, dict):
            here.refuse("%(what)s", "an object in braces", what=kind(item))
            continue
        assessor = shapes.name(here.key(who), item.get(who))
        if assessor in ratings:
            here.key(who).refuse("%(name)s for the second time", "each assessor once", name=shown(assessor))
        ratings[assessor] = _scores(here, {key: score for key, score in item.items() if key != who})
    return {assessor: scores for assessor, scores in ratings.items() if scores}


def _scores(place: Place, given: Mapping[str, Any]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for dimension, score in given.items():
        here = place.key(dimension)
        cleaned = name(here, dimension, limits.DIMENSION_CHARACTERS)
        if cleaned == "assessor":
            here.refuse("a dimension of this name", "another name")
        if cleaned:
            scores[cleaned] = _score(here, score)
    return scores
