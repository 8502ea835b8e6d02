"""What was worked out, on its way into the tables: published only if nothing newer is there."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Sum
from django.utils import timezone

from annotate import __version__
from annotate.health import topics_behind
from annotate.models import Fit, Ranking, Score, Study, System, SystemScore, Topic, TopicProgress, Utility
from annotate.prepared import Changes, Prepared
from evaluation.evaluate import CurvePoint, TopicResult
from evaluation.ranking import Difference, Standing, SystemResult
from evaluation.records.evidence import Snapshot
from evaluation.records.rows import put
from evaluation.records.suggestions import replace_suggestions
from evaluation.records.tries import NO_PROBLEM
from evaluation.scoring import Part

BATCH = 500


@transaction.atomic
def save_result(
    snapshot: Snapshot, result: TopicResult, seconds: float, to_ask: Collection[tuple[int, int]] = ()
) -> bool:
    """Publish a fit with its utilities and scores and the pairs to ask next; False where a newer one is there, and
    this one is thrown away.

    Its curve is that of the fit before with one more point; `save_curve` fills the gaps.
    """
    if not _is_news(snapshot):
        return False
    settings = _settings(snapshot, result)
    before = _newest_fit(snapshot.topic_id)
    fit_id = _add_fit(
        snapshot,
        before,
        judgments=result.judgments,
        residual=result.residual,
        iterations=result.iterations,
        seconds=seconds,
        settings=settings,
        curve=_continued(before, settings, result),
        curve_owed=True,
        covariance={"systems": [one.system for one in result.summaries], "matrix": result.covariance.tolist()},
    )
    # Every sentence and every summary has its row in each fit, so that nothing is left of the one before.
    put(Utility, ["sentence_id"], _utilities(fit_id, snapshot, result))
    put(Score, ["summary_id"], _scores(fit_id, snapshot, result))
    replace_suggestions(snapshot, to_ask)
    return True


@transaction.atomic
def save_nothing(snapshot: Snapshot) -> bool:
    """Publish that no judgment counts: then there is nothing that utilities or scores could rest on."""
    if not _is_news(snapshot):
        return False
    Utility.objects.filter(sentence__topic=snapshot.topic_id).delete()
    Score.objects.filter(summary__topic=snapshot.topic_id).delete()
    _add_fit(
        snapshot,
        _newest_fit(snapshot.topic_id),
        judgments=0,
        residual=0.0,
        iterations=0,
        seconds=0.0,
        settings=_settings(snapshot, None),
        curve=[],
        curve_owed=False,
        covariance={},
    )
    replace_suggestions(snapshot, ())
    return True


class Before(NamedTuple):
    """The newest fit so far."""

    pk: int
    settings: dict[str, Any]
    curve: list[dict[str, Any]]


_before = Prepared(
    lambda topic: Fit.objects.filter(topic=topic).order_by("-data_version").values_list(*Before._fields)[:1]
)


def _newest_fit(topic_id: int) -> Before | None:
    return next((Before(*row) for row in _before(topic_id)), None)


def _continued(before: Before | None, settings: dict[str, Any], result: TopicResult) -> list[dict[str, Any]]:
    """The curve of the newest fit so far, if it was made with the same settings, and this result as its last point."""
    points = before.curve if before is not None and before.settings == settings else []
    now = {"judgments": result.judgments, "scores": {one.system: one.score for one in result.summaries}}
    return [point for point in points if point["judgments"] < result.judgments] + [now]


def save_curve(snapshot: Snapshot, curve: Sequence[CurvePoint]) -> bool:
    """Publish the curve of a fit, if the fit is still the newest one and rests on the same data."""
    fit = Fit.objects.filter(topic=snapshot.topic_id, data_version=snapshot.data_version, curve_owed=True)
    return bool(fit.update(curve=[dataclasses.asdict(point) for point in curve], curve_owed=False))


def leave_curve(topic_id: int) -> None:
    """Try no longer to fill the gaps of this topic's curve; the next fit owes it anew."""
    Fit.objects.filter(topic=topic_id, curve_owed=True).update(curve_owed=False)


_publish = Changes(
    lambda topic, version, prepared: [
        (
            TopicProgress.objects.filter(topic=topic, fitted_version__lt=version, prepared_version=prepared),
            {"fitted_version": version, **NO_PROBLEM},
        )
    ]
)


def _is_news(snapshot: Snapshot) -> bool:
    """Take the topic's place for this version, if nothing newer is published and the sentences are still the same."""
    return any(_publish(topic=snapshot.topic_id, version=snapshot.data_version, prepared=snapshot.prepared_version))


_outdate = Changes(
    lambda fit: [(Fit.objects.filter(pk=fit), {"curve": [], "curve_owed": False, "covariance": {}})],
)


def _add_fit(snapshot: Snapshot, before: Before | None, **columns: Any) -> int:
    """The fit of this version; older ones stay as a log, without what is kept for the newest one only."""
    if before is not None:
        _outdate(fit=before.pk)
    fit = Fit.objects.create(
        topic_id=snapshot.topic_id,
        data_version=snapshot.data_version,
        last_judgment_id=snapshot.last_judgment_id,
        sentences=len(snapshot.sentence_keys),
        program_version=__version__,
        created_at=timezone.now(),
        **columns,
    )
    return fit.pk


def _settings(snapshot: Snapshot, result: TopicResult | None) -> dict[str, Any]:
    settings: dict[str, Any] = dataclasses.asdict(snapshot.settings)
    if result is not None and result.kernel is not None:
        settings["kernel"] = list(result.kernel)
    return settings


def _utilities(fit_id: int, snapshot: Snapshot, result: TopicResult) -> dict[str, Sequence[Any]]:
    n = len(snapshot.sentence_keys)
    nothing = [None] * n
    return {
        "fit_id": [fit_id] * n,
        "sentence_id": snapshot.sentence_keys,
        "strength": result.strengths.tolist(),
        "utility": result.utilities.tolist(),
        "se": nothing if result.se is None else result.se.tolist(),
        "low": nothing if result.low is None else result.low.tolist(),
        "high": nothing if result.high is None else result.high.tolist(),
        "wins": result.wins.tolist(),
        "judgments": result.judged.tolist(),
    }


def _scores(fit_id: int, snapshot: Snapshot, result: TopicResult) -> dict[str, Sequence[Any]]:
    summaries = result.summaries
    return {
        "fit_id": [fit_id] * len(summaries),
        "summary_id": snapshot.summary_keys,
        "score": [one.score for one in summaries],
        "se": [one.se for one in summaries],
        "low": [one.low for one in summaries],
        "high": [one.high for one in summaries],
        "parts": [json.dumps([_part(part, snapshot.sentence_keys) for part in one.parts]) for one in summaries],
    }


def _part(part: Part, sentence_keys: Sequence[int]) -> dict[str, Any]:
    return {
        "text": part.sentence,
        "nearest": None if part.nearest is None else sentence_keys[part.nearest],
        "similarity": part.similarity,
        "value": part.value,
        "factor": part.factor,
        "closeness": part.closeness,
        "weight": part.weight,
    }


@dataclass(frozen=True, slots=True)
class Standings:
    """What a study's topics say of its systems. `version`: the sum of the topics' fitted versions."""

    study_id: int
    version: int
    judgments: int
    topics: tuple[Standing, ...]


_study = Prepared(
    lambda topic: (
        Topic.objects.filter(pk=topic)
        .annotate(waiting=Exists(topics_behind().filter(study=OuterRef("study")).exclude(pk=OuterRef("pk"))))
        .order_by()
        .values_list("study_id", "waiting")
    )
)


def study_to_rank(topic_id: int) -> int | None:
    """The study of a topic, if no other topic of it waits to be fitted: then it can be ranked at once."""
    return next((study_id for study_id, waiting in _study(topic_id) if not waiting), None)


_versions = Prepared(
    lambda study: (
        Study.objects.filter(pk=study)
        .annotate(version=Sum("topics__progress__fitted_version"))
        .values_list("version", "ranking__version")
    )
)
_scores_by_fit = Prepared(
    lambda study: Score.objects.filter(
        summary__topic__study=study, fit__data_version=F("summary__topic__progress__fitted_version")
    ).values_list("fit_id", "summary__system__name", "score")
)
_judged_fits = Prepared(
    lambda study: (
        Fit.objects.filter(topic__study=study, data_version=F("topic__progress__fitted_version"), judgments__gt=0)
        .order_by("topic__position")
        .values_list("pk", "judgments", "covariance")
    )
)


def load_standings(study_id: int) -> Standings | None:
    """The newest fits that rest on judgments; None where the ranking that is there rests on the same ones."""
    version, ranked = next(iter(_versions(study_id)), (0, None))
    if not version or (ranked is not None and ranked >= version):
        return None
    scores: dict[int, dict[str, float]] = {}
    for fit_id, system, score in _scores_by_fit(study_id):
        scores.setdefault(fit_id, {})[system] = score
    topics = tuple(
        Standing(
            systems=tuple(covariance["systems"]),
            scores=np.array([scores[pk][system] for system in covariance["systems"]]),
            covariance=np.array(covariance["matrix"], dtype=np.float64),
            judgments=judgments,
        )
        for pk, judgments, covariance in _judged_fits(study_id)
        if covariance.get("systems")
    )
    return Standings(study_id, version, sum(topic.judgments for topic in topics), topics)


@transaction.atomic
def save_ranking(standings: Standings, systems: Sequence[SystemResult], differences: Sequence[Difference]) -> bool:
    """Publish a ranking; False where a newer one is there, and this one is thrown away."""
    study_id = standings.study_id
    if not Study.objects.filter(pk=study_id).exists():
        return False
    Ranking.objects.bulk_create([Ranking(study_id=study_id, created_at=timezone.now())], ignore_conflicts=True)
    columns = {
        "version": standings.version,
        "topics": len(standings.topics),
        "judgments": standings.judgments,
        "differences": [_difference(one) for one in differences],
        "problem": "",
        "created_at": timezone.now(),
    }
    if not Ranking.objects.filter(study=study_id, version__lt=standings.version).update(**columns):
        return False
    ranking = Ranking.objects.get(study=study_id)
    keys = dict(System.objects.filter(study=study_id).values_list("name", "pk"))
    SystemScore.objects.filter(ranking=ranking).delete()
    SystemScore.objects.bulk_create(
        [
            SystemScore(
                ranking=ranking,
                system_id=keys[one.system],
                score=one.score,
                low=one.low,
                high=one.high,
                rank=one.rank,
                rank_low=one.rank_low,
                rank_high=one.rank_high,
                topics=one.topics,
            )
            for one in systems
        ],
        BATCH,
    )
    return True


def note_ranking_failure(study_id: int, problem: str) -> None:
    """Say why the study could not be ranked; the ranking that is there stays."""
    if Study.objects.filter(pk=study_id).exists():
        Ranking.objects.bulk_create([Ranking(study_id=study_id, created_at=timezone.now())], ignore_conflicts=True)
        Ranking.objects.filter(study=study_id).update(problem=problem)


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "better": one.better,
        "worse": one.worse,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "significant": one.significant,
    }
