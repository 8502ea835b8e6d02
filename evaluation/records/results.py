"""What was worked out, on its way into the tables: published only if nothing newer is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from annotate import __version__
from annotate.health import topics_behind
from annotate.models import Fit, Ranking, Score, Study, System, SystemScore, Topic, TopicProgress, Utility
from evaluation.evaluate import CurvePoint, SummaryResult, TopicResult
from evaluation.ranking import Difference, Standing, SystemResult
from evaluation.records.evidence import Snapshot
from evaluation.records.tries import NO_PROBLEM
from evaluation.scoring import Part

BATCH = 500


@transaction.atomic
def save_result(snapshot: Snapshot, result: TopicResult, seconds: float) -> bool:
    """Publish a fit with its utilities and scores; False where a newer one is there, and this one is thrown away.

    Its curve is that of the fit before with one more point; `save_curve` fills the gaps.
    """
    if not _is_news(snapshot):
        return False
    settings = _settings(snapshot, result)
    covariance = {"systems": [one.system for one in result.summaries], "matrix": result.covariance.tolist()}
    fit = _replace_fit(
        snapshot,
        judgments=result.judgments,
        residual=result.residual,
        iterations=result.iterations,
        seconds=seconds,
        settings=settings,
        curve=_continued(snapshot.topic_id, settings, result),
        curve_owed=True,
        covariance=covariance,
    )
    Utility.objects.bulk_create(_utilities(fit, snapshot, result), BATCH)
    Score.objects.bulk_create(
        [
            _score(fit, key, one, snapshot.sentence_keys)
            for key, one in zip(snapshot.summary_keys, result.summaries, strict=True)
        ],
        BATCH,
    )
    return True


@transaction.atomic
def save_nothing(snapshot: Snapshot) -> bool:
    """Publish that no judgment counts: then there is nothing that utilities or scores could rest on."""
    if not _is_news(snapshot):
        return False
    settings = _settings(snapshot, None)
    _replace_fit(snapshot, judgments=0, residual=0.0, iterations=0, seconds=0.0, settings=settings)
    return True


def _continued(topic_id: int, settings: dict[str, Any], result: TopicResult) -> list[dict[str, Any]]:
    """The curve of the newest fit so far, if it was made with the same settings, and this result as its last point."""
    before = Fit.objects.filter(topic=topic_id).order_by("-data_version").first()
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


def _is_news(snapshot: Snapshot) -> bool:
    """Take the topic's place for this version, if nothing newer is published and the sentences are still the same."""
    progress = TopicProgress.objects.filter(
        topic=snapshot.topic_id,
        fitted_version__lt=snapshot.data_version,
        prepared_version=snapshot.prepared_version,
    )
    return bool(progress.update(fitted_version=snapshot.data_version, **NO_PROBLEM))


def _replace_fit(snapshot: Snapshot, **columns: Any) -> Fit:
    """The fit of this version; older ones stay as a log, without what is kept for the newest one only."""
    Utility.objects.filter(sentence__topic=snapshot.topic_id).delete()
    Score.objects.filter(summary__topic=snapshot.topic_id).delete()
    before = Fit.objects.filter(topic=snapshot.topic_id).order_by("-data_version").first()
    if before is not None:
        Fit.objects.filter(pk=before.pk).update(curve=[], curve_owed=False, covariance={})
    return Fit.objects.create(
        topic_id=snapshot.topic_id,
        data_version=snapshot.data_version,
        last_judgment_id=snapshot.last_judgment_id,
        sentences=len(snapshot.sentence_keys),
        program_version=__version__,
        created_at=timezone.now(),
        **columns,
    )


def _settings(snapshot: Snapshot, result: TopicResult | None) -> dict[str, Any]:
    settings: dict[str, Any] = dataclasses.asdict(snapshot.settings)
    if result is not None and result.kernel is not None:
        settings["kernel"] = list(result.kernel)
    return settings


def _utilities(fit: Fit, snapshot: Snapshot, result: TopicResult) -> list[Utility]:
    nothing = [None] * len(snapshot.sentence_keys)
    columns = zip(
        snapshot.sentence_keys,
        result.strengths.tolist(),
        result.utilities.tolist(),
        nothing if result.se is None else result.se.tolist(),
        nothing if result.low is None else result.low.tolist(),
        nothing if result.high is None else result.high.tolist(),
        result.wins.tolist(),
        result.judged.tolist(),
        strict=True,
    )
    return [
        Utility(
            fit=fit,
            sentence_id=key,
            strength=strength,
            utility=utility,
            se=se,
            low=low,
            high=high,
            wins=wins,
            judgments=judged,
        )
        for key, strength, utility, se, low, high, wins, judged in columns
    ]


def _score(fit: Fit, summary_key: int, one: SummaryResult, sentence_keys: Sequence[int]) -> Score:
    return Score(
        fit=fit,
        summary_id=summary_key,
        score=one.score,
        se=one.se,
        low=one.low,
        high=one.high,
        parts=[_part(part, sentence_keys) for part in one.parts],
    )


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


def study_to_rank(topic_id: int) -> int | None:
    """The study of a topic, if no other topic of it waits to be fitted: then it can be ranked at once."""
    study_id = Topic.objects.filter(pk=topic_id).values_list("study_id", flat=True).first()
    waiting = topics_behind().filter(study=study_id).exclude(pk=topic_id)
    return None if study_id is None or waiting.exists() else study_id


def load_standings(study_id: int) -> Standings | None:
    """The newest fits that rest on judgments; None where the ranking that is there rests on the same ones."""
    progress = TopicProgress.objects.filter(topic__study=study_id)
    version = progress.aggregate(version=Sum("fitted_version"))["version"] or 0
    if not version or Ranking.objects.filter(study=study_id, version__gte=version).exists():
        return None
    fits = Fit.objects.filter(
        topic__study=study_id, data_version=F("topic__progress__fitted_version"), judgments__gt=0
    ).order_by("topic__position")
    scores: dict[int, dict[str, float]] = {}
    rows = Score.objects.filter(fit__in=fits).values_list("fit_id", "summary__system__name", "score")
    for fit_id, system, score in rows:
        scores.setdefault(fit_id, {})[system] = score
    topics = tuple(
        Standing(
            systems=tuple(covariance["systems"]),
            scores=np.array([scores[pk][system] for system in covariance["systems"]]),
            covariance=np.array(covariance["matrix"], dtype=np.float64),
            judgments=judgments,
        )
        for pk, judgments, covariance in fits.values_list("pk", "judgments", "covariance")
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
