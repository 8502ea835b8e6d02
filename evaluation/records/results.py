"""Save fits and rankings: each is published only if nothing newer is there."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import Avg, Min, QuerySet
from django.utils import timezone

from annotate import studies
from annotate.database.rows import put
from annotate.database.snapshot import snapshot
from annotate.models import (
    Fit,
    ItemSetProgress,
    Ranking,
    Score,
    ScoredBy,
    Study,
    Summary,
    System,
    SystemScore,
    Topic,
    Utility,
)
from annotate.models.study import sum_of_topics
from evaluation.records import statement
from evaluation.records.evidence import Snapshot
from evaluation.records.suggestions import replace_suggestions
from preferendum.about import __version__
from preferendum.evidence import AS_PUBLISHED, Settings
from preferendum.results import (
    CurvePoint,
    Differences,
    Ground,
    Part,
    ScoreCovariance,
    SourceWords,
    Standing,
    SystemResult,
    from_json,
    to_json,
)
from preferendum.results.scores import is_tested
from preferendum.scoring.asking import NO_PAIRS, Queue
from preferendum.scoring.covariance import pack, unpack
from preferendum.scoring.evaluate import TopicResult
from preferendum.scoring.missing import means_of_missing
from preferendum.scoring.stopping import StopRule

#: What answers about sentences are scored by.
BY_SENTENCES = (ScoredBy.RECOMMENDED, ScoredBy.PUBLISHED)
#: The results of a topic, by `ScoredBy`.
Results = Mapping[ScoredBy, TopicResult]

BATCH = 500
#: Of a system's result, what is stored elsewhere.
DERIVED = ("system", "coverage", "lacking")
#: The points of a curve continued at every fit; at this many, every second one is dropped.
MOST_POINTS = 50
#: Columns emptied in fits that are not the newest.
NOT_KEPT: Mapping[str, Any] = {
    "curve": [],
    "curve_owed": False,
    "covariance": {},
    "differences": {},
    "ground": {},
    "words": {},
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """The results of a topic by `ScoredBy`, none where no judgment counts; the seconds that they took; the pairs to
    suggest."""

    snapshot: Snapshot
    results: Results
    seconds: float = 0.0
    to_ask: Queue = NO_PAIRS


def save_results(fits: Sequence[Fitted]) -> int:
    """Publish the fits of topics with utilities, scores and the pairs to suggest, all at once; discard those of topics
    where these or newer ones are there. The number of those published.

    Their curves are those of the previous fits with one more point; `save_curve` fills the gaps.
    """
    rows = {own.snapshot.topic_id: _fits(own) for own in fits}
    with transaction.atomic():
        same = _same(fits)
        keys = [own.snapshot.topic_id for own in same]
        ItemSetProgress.objects.bulk_create([ItemSetProgress(item_set_id=key) for key in keys], ignore_conflicts=True)
        before = _newest_fits(keys)
        news = [own for own in same if _is_news(own)]
        if not news:
            return 0
        _publish([(own, fit) for own in news for fit in rows[own.snapshot.topic_id]], before)
        if left_out := [key for own in news for key in own.snapshot.left_out]:
            Utility.objects.filter(sentence__in=left_out).delete()
        if unjudged := [own.snapshot.topic_id for own in news if not own.results]:
            # Without judgments there are no utilities and no scores.
            Utility.objects.filter(sentence__item_set__in=unjudged).delete()
            Score.objects.filter(summary__topic__in=unjudged, scored_by__in=BY_SENTENCES).delete()
        replace_suggestions([(own.snapshot, own.to_ask) for own in news])
    return len(news)


def _fits(own: Fitted) -> list[Fit]:
    """The fits to be stored, without their curves."""
    if own.results:
        return [_fit(own.snapshot, scored_by, **_columns(own, result)) for scored_by, result in own.results.items()]
    columns = {"judgments": 0, "residual": 0.0, "iterations": 0, "seconds": 0.0}
    settings = own.snapshot.settings, AS_PUBLISHED
    return [
        _fit(own.snapshot, scored_by, settings=_settings(own.snapshot, chosen), **columns)
        for scored_by, chosen in zip(BY_SENTENCES, settings, strict=True)
    ]


def _columns(own: Fitted, result: TopicResult) -> dict[str, Any]:
    """What a fit says, with the covariance of the scores, the differences between every two systems, and what these
    rest on."""
    compared = result.comparison.tested(is_tested=is_tested(result.settings.score), stop_rule=own.snapshot.stop_rule)
    return {
        "judgments": result.judgments,
        "residual": result.residual,
        "iterations": result.iterations,
        "seconds": own.seconds,
        "settings": _settings(own.snapshot, result.settings, result.kernel),
        "curve_owed": True,
        "covariance": to_json(pack(result.standing)),
        "differences": to_json(compared.columns()),
        "ground": to_json(compared.ground),
        "words": {} if result.words is None else to_json(_with_keys(result.words, own.snapshot)),
    }


def _fit(snapshot: Snapshot, scored_by: str, **columns: Any) -> Fit:
    return Fit(
        item_set_id=snapshot.topic_id,
        scored_by=scored_by,
        data_version=snapshot.data_version,
        last_judgment_id=snapshot.last_judgment_id,
        sentences=len(snapshot.sentence_keys),
        program_version=__version__,
        created_at=timezone.now(),
        **columns,
    )


def _publish(rows: Sequence[tuple[Fitted, Fit]], before: Mapping[tuple[int, str], Fit]) -> None:
    """Add these fits; older ones stay as a log, without what is kept for the newest only."""
    older = [before.get((fit.item_set_id, fit.scored_by)) for _own, fit in rows]
    Fit.objects.filter(pk__in=[fit.pk for fit in older if fit is not None]).update(**NOT_KEPT)
    judged: list[tuple[Fit, Snapshot, TopicResult]] = []
    for last, (own, fit) in zip(older, rows, strict=True):
        if (result := own.results.get(ScoredBy(fit.scored_by))) is not None:
            fit.curve = _continued(last, fit.settings, result)
            judged.append((fit, own.snapshot, result))
    Fit.objects.bulk_create(fit for _own, fit in rows)
    # Each fit has a row for every compared sentence and every summary: nothing of the previous fit remains.
    if judged:
        put(Utility, ["sentence_id", "scored_by"], _together([_utilities(*row) for row in judged]))
        put(Score, ["summary_id", "scored_by"], _together([_scores(*row) for row in judged]))


def _together(several: Sequence[Mapping[str, Sequence[Any]]]) -> dict[str, list[Any]]:
    """The columns of several fits, one below the other."""
    return {name: list(chain.from_iterable(own[name] for own in several)) for name in several[0]}


def _newest_fits(topics: Sequence[int]) -> dict[tuple[int, str], Fit]:
    """The newest fits of these topics, by topic and way of scoring."""
    fits = Fit.objects.newest(*BY_SENTENCES).filter(item_set__in=topics)
    return {(fit.item_set_id, fit.scored_by): fit for fit in fits.only("item_set", "scored_by", "settings", "curve")}


def _continued(before: Fit | None, settings: dict[str, Any], result: TopicResult) -> list[dict[str, Any]]:
    """The curve of the previous fit, if its settings were the same, with this result as the last point."""
    points = before.curve if before is not None and _shared(before.settings) == _shared(settings) else []
    now = CurvePoint(result.judgments, dict(zip(result.standing.systems, result.standing.scores, strict=True)))
    kept = [point for point in points if point["judgments"] < result.judgments]
    return (kept[1::2] if len(kept) >= MOST_POINTS else kept) + [to_json(now)]


def owes_curve(snapshot: Snapshot, scored_by: str) -> bool:
    """Whether the curve of this version's fit has gaps: an attempt that ran out of time may have filled them."""
    return _owing(snapshot, scored_by).exists()


def save_curve(snapshot: Snapshot, scored_by: str, curve: Sequence[CurvePoint]) -> bool:
    """Publish the curve of a fit, if that is still the newest one and rests on the same data."""
    return bool(_owing(snapshot, scored_by).update(curve=to_json(curve), curve_owed=False))


def _owing(snapshot: Snapshot, scored_by: str) -> QuerySet[Fit]:
    fits = Fit.objects.filter(item_set=snapshot.topic_id, data_version=snapshot.data_version, scored_by=scored_by)
    return fits.filter(curve_owed=True)


def _same(fits: Sequence[Fitted]) -> list[Fitted]:
    """The fits of topics whose sentences and summaries are the same, and stay so until the transaction ends: others are
    fitted again."""
    keys = [own.snapshot.topic_id for own in fits]
    locked = Topic.objects.select_for_update(no_key=True).filter(pk__in=keys).order_by("pk")
    cut = set(locked.values_list("pk", "cut_version"))
    present = set(Summary.objects.filter(topic__in=keys).order_by().values_list("pk", flat=True))
    both = ((own, own.snapshot) for own in fits)
    return [own for own, s in both if (s.topic_id, s.cut_version) in cut and present.issuperset(s.summary_keys)]


def _is_news(own: Fitted) -> bool:
    """Mark the topic as fitted at this version, if nothing newer is published."""
    snapshot = own.snapshot
    older = ItemSetProgress.objects.filter(item_set=snapshot.topic_id, fitted_version__lt=snapshot.data_version)
    news = {"fitted_version": snapshot.data_version, "judged": snapshot.judged, "is_told": own.to_ask.is_told}
    return bool(older.update(**news, problem=""))


def _settings(snapshot: Snapshot, settings: Settings, learnt: tuple[float, float] | None = None) -> dict[str, Any]:
    """Everything that may differ between two fits of the same judgments."""
    columns: dict[str, Any] = dataclasses.asdict(settings) | {"counted_kinds": snapshot.counted_kinds}
    return columns if learnt is None else columns | {"kernel": list(learnt)}


def _utilities(fit: Fit, snapshot: Snapshot, result: TopicResult) -> dict[str, Sequence[Any]]:
    n = len(snapshot.sentence_keys)
    nulls = [None] * n
    return {
        "scored_by": [fit.scored_by] * n,
        "fit_id": [fit.pk] * n,
        "sentence_id": snapshot.sentence_keys,
        "strength": result.strengths.tolist(),
        "utility": result.utilities.tolist(),
        "value": result.values.tolist(),
        "se": nulls if result.se is None else result.se.tolist(),
        "low": nulls if result.low is None else result.low.tolist(),
        "high": nulls if result.high is None else result.high.tolist(),
        "wins": result.wins.tolist(),
        "judgments": result.judged.tolist(),
    }


def _scores(fit: Fit, snapshot: Snapshot, result: TopicResult) -> dict[str, Sequence[Any]]:
    summaries = result.summaries
    columns = "score", "coverage", "by_length", "se", "low", "high"
    return {
        "scored_by": [fit.scored_by] * len(summaries),
        "fit_id": [fit.pk] * len(summaries),
        "summary_id": snapshot.summary_keys,
        **{name: [getattr(summary, name) for summary in summaries] for name in columns},
        "parts": [json.dumps(to_json([_with_key(part, snapshot) for part in summary.parts])) for summary in summaries],
    }


def _with_key(part: Part, snapshot: Snapshot) -> Part:
    """The part with the key of the nearest sentence in place of its number."""
    return part if part.nearest is None else replace(part, nearest=snapshot.sentence_keys[int(part.nearest)])


def _with_keys(words: SourceWords, snapshot: Snapshot) -> SourceWords:
    """The words with the keys of the sentences in place of their numbers."""
    keys = snapshot.sentence_keys
    return replace(words, sentences=tuple(tuple((keys[int(i)], n) for i, n in of_word) for of_word in words.sentences))


@dataclass(frozen=True, slots=True)
class Standings:
    """What a study's topics say of its systems. `version`: the sum of the topics' fitted versions.

    `settings`: of the fits; None if they differ between topics, so that a mean over topics is meaningless. `coverage`:
    by system, the mean over the same topics. `stop_rule`: decides the verdicts, if it is on. `number`: of topics that
    were judged.
    """

    study_id: int
    scored_by: str
    version: int
    judgments: int
    settings: Mapping[str, Any] | None
    topics: tuple[Standing, ...]
    coverage: Mapping[str, float]
    number: int
    stop_rule: StopRule | None = None


@snapshot()
def load_standings(study_id: int) -> tuple[Standings, ...]:
    """The newest fits that rest on judgments, by both ways of scoring; none if the stored rankings rest on the same
    ones.

    Everything is read as it was at one moment: scores of a fit that is published meanwhile belong to it alone.
    """
    versions = Study.objects.annotate(version=sum_of_topics("progress__fitted_version"))
    version = versions.filter(pk=study_id).values_list("version", flat=True).first()
    ranked = Ranking.objects.filter(study=study_id, scored_by__in=BY_SENTENCES).aggregate(version=Min("version"))[
        "version"
    ]
    if not version or (ranked is not None and ranked >= version):
        return ()
    return tuple(_standings(study_id, scored_by, version) for scored_by in BY_SENTENCES)


def _standings(study_id: int, scored_by: str, version: int) -> Standings:
    by_topic = standings_by_topic(study_id, scored_by)
    topics = tuple(standing for standing in by_topic.values() if standing.judgments)
    fits = Fit.objects.newest(scored_by).filter(item_set__study=study_id, judgments__gt=0)
    shared = [_shared(settings) for settings in fits.values_list("settings", flat=True)]
    covered = Score.objects.filter(fit__in=fits, score__isnull=False, coverage__isnull=False).order_by()
    means = covered.values_list("summary__system__name").annotate(Avg("coverage"))
    is_missing = len({frozenset(topic.systems) for topic in topics}) > 1
    of_topics = list(covered.values_list("fit__item_set", "summary__system__name", "coverage")) if is_missing else []
    return Standings(
        study_id=study_id,
        scored_by=scored_by,
        version=version,
        judgments=sum(topic.judgments for topic in topics),
        settings=None if any(settings != shared[0] for settings in shared) else shared[0] if shared else {},
        topics=topics,
        coverage=dict(means) | means_of_missing(of_topics),
        number=len(topics),
        stop_rule=_stop_rule(study_id) if scored_by == ScoredBy.RECOMMENDED else None,
    )


def _stop_rule(study_id: int) -> StopRule | None:
    """The study's stop rule, with the number of judgments planned for all its topics."""
    study = Study.objects.get(pk=study_id)
    return StopRule(study.judgments_per_topic * study.topics.count()) if study.stop_rule else None


def _shared(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a study's fits share: not what a kernel learnt, nor the prior of topics without a maximum."""
    own = {"kernel", "prior"} if settings.get("score") == "published" else {"kernel"}
    return {name: value for name, value in settings.items() if name not in own}


@snapshot()
def standings_by_topic(study_id: int, scored_by: str = ScoredBy.RECOMMENDED) -> dict[int, Standing]:
    """The systems' scores in the newest fits at one moment, by topic, in topic order."""
    newest = Fit.objects.newest(scored_by).filter(item_set__study=study_id)
    scores: dict[int, dict[str, float]] = {}
    rows = Score.objects.filter(fit__in=newest, score__isnull=False)
    for topic_id, system, score in rows.values_list("fit__item_set_id", "summary__system__name", "score"):
        scores.setdefault(topic_id, {})[system] = score or 0.0
    fits = newest.order_by("item_set").values_list("item_set_id", "judgments", "covariance")
    return {
        topic_id: unpack(from_json(ScoreCovariance, covariance), scores[topic_id], judgments)
        for topic_id, judgments, covariance in fits
        if covariance.get("systems") and topic_id in scores  # all of its summaries may have been removed since
    }


@transaction.atomic
def save_ranking(
    standings: Standings, systems: Sequence[SystemResult], differences: Differences, ground: Ground
) -> bool:
    """Publish a ranking; if this or a newer one is there, discard it and return False.

    Topics fitted under different settings have no ranking: the previous one stays.
    """
    study_id, scored_by = standings.study_id, standings.scored_by
    study = Study.objects.select_for_update(no_key=True).filter(pk=study_id)  # nothing is removed meanwhile
    if not study.values_list("pk") or _lacks_systems(standings):
        return False
    _ensure_ranking(study_id, scored_by)
    columns: dict[str, Any] = {"version": standings.version, "problem": ""}
    if standings.settings is not None:
        columns |= {
            "topics": standings.number,
            "judgments": standings.judgments,
            "settings": standings.settings,
            "differences": to_json(differences),
            "ground": to_json(ground),
            "created_at": timezone.now(),
        }
    own = Ranking.objects.filter(study=study_id, scored_by=scored_by)
    if not own.filter(version__lt=standings.version).update(**columns):
        return False
    if standings.settings is not None:
        _replace_systems(own.get(), standings, systems)
        if scored_by != ScoredBy.RECOMMENDED:  # that of equations 2 to 5 follows at once
            statement.state(study.get())
        studies.conclude_verdicts(study_id, differences.rows, by_summaries=scored_by == ScoredBy.WIN_RATE)
    return True


def _lacks_systems(standings: Standings) -> bool:
    """Whether systems were removed since: then the study is ranked again."""
    present = System.objects.filter(study=standings.study_id).values_list("name", flat=True)
    return not set(present).issuperset(chain.from_iterable(topic.systems for topic in standings.topics))


def _replace_systems(ranking: Ranking, standings: Standings, systems: Sequence[SystemResult]) -> None:
    keys = dict(System.objects.filter(study=standings.study_id).values_list("name", "pk"))
    SystemScore.objects.filter(ranking=ranking).delete()
    rows = [
        SystemScore(
            ranking=ranking,
            system_id=keys[result.system],
            coverage=standings.coverage.get(result.system),
            **{name: value for name, value in to_json(result).items() if name not in DERIVED},
        )
        for result in systems
    ]
    SystemScore.objects.bulk_create(rows, BATCH)


def _ensure_ranking(study_id: int, scored_by: str) -> None:
    row = Ranking(study_id=study_id, scored_by=scored_by, created_at=timezone.now())
    Ranking.objects.bulk_create([row], ignore_conflicts=True)


def note_ranking_problem(
    study_id: int, problem: str, _is_given_up: bool, scored_by: str = ScoredBy.RECOMMENDED
) -> None:
    """Note why the study could not be ranked; its present ranking stays."""
    if Study.objects.filter(pk=study_id).exists():
        _ensure_ranking(study_id, scored_by)
        Ranking.objects.filter(study=study_id, scored_by=scored_by).update(problem=problem)


def note_topic_problem(topic_id: int, problem: str, _is_given_up: bool) -> None:
    """Note why the topic could not be cut or fitted; its present results stay."""
    if Topic.objects.filter(pk=topic_id).exists():
        ItemSetProgress.objects.update_or_create(item_set_id=topic_id, defaults={"problem": problem})


def problems_of(study_id: int) -> dict[str, str]:
    """The reasons why the last attempt failed, by the topic's name."""
    failed = ItemSetProgress.objects.filter(item_set__study=study_id).exclude(problem="").order_by("item_set")
    return dict(failed.values_list("item_set__topic__name", "problem"))
