"""Systems in order, of one topic or of a whole study, as the worker left them in the tables."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Sum

from annotate.comparing import Difference, compare
from annotate.models import Annotator, Fit, Ranking, Score, Study, System, SystemScore, Topic, TopicProgress
from annotate.overview import counted_assignments, worker_is_there

#: What the scores were with fewer judgments: (judgments, score by system), fewest first.
Curve = tuple[tuple[int, Mapping[str, float]], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One system's place. `low` and `high` bound 95% of what its score may be, `rank_low` and `rank_high` its rank.

    `better_than`: the systems that it is significantly better than. `summary_id`: on a topic's board, the summary.
    """

    rank: int
    system: System
    score: float
    low: float | None
    high: float | None
    rank_low: int
    rank_high: int
    topics: int
    better_than: tuple[str, ...] = ()
    summary_id: int | None = None


@dataclass(frozen=True, slots=True)
class Board:
    """A leaderboard with what it rests on. `fitted_at` is None where nothing was computed yet.

    `behind`: topics whose judgments or texts are newer than their scores. `version` changes whenever anything that is
    shown here may have changed.
    """

    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    curve: Curve
    topics: int
    judgments: int
    simulated: int
    fitted_at: datetime | None
    settings: Mapping[str, Any]
    program_version: str
    behind: int
    problem: str
    has_worker: bool
    version: str
    of_topic: bool = field(default=False)

    @property
    def order(self) -> str:
        """The systems from best to worst: what a listener wants to hear of when it changes."""
        return ", ".join(row.system.name for row in self.rows)


def version_of_study(study: Study) -> str:
    """Changes with everything that the study's board shows; cheap enough to be asked for every second."""
    ranking = Ranking.objects.filter(study=study).values_list("version", "problem", "created_at").first()
    return _version(ranking, _versions(Topic.objects.filter(study=study)), worker_is_there())


def version_of_topic(topic: Topic) -> str:
    """Changes with everything that the topic's board shows."""
    problem = TopicProgress.objects.filter(topic=topic).values_list("problem", flat=True).first()
    return _version(problem, _versions(Topic.objects.filter(pk=topic.pk)), worker_is_there())


def of_study(study: Study) -> Board:
    """The systems over all topics."""
    version = version_of_study(study)
    ranking = Ranking.objects.filter(study=study).first()
    fits = newest_fits(study)
    standings = SystemScore.objects.filter(ranking=ranking).select_related("system").order_by("rank", "system__name")
    differences = _differences(ranking.differences if ranking else [])
    beaten = _beaten(differences)
    rows = tuple(
        Row(
            rank=one.rank,
            system=one.system,
            score=one.score,
            low=one.low,
            high=one.high,
            rank_low=one.rank_low,
            rank_high=one.rank_high,
            topics=one.topics,
            better_than=beaten.get(one.system.name, ()),
        )
        for one in (standings if ranking else ())
    )
    return Board(
        rows=rows,
        differences=differences,
        curve=_mean_curve([fit.curve for fit in fits]),
        topics=ranking.topics if ranking else 0,
        judgments=ranking.judgments if ranking else 0,
        simulated=_simulated(fits),
        fitted_at=ranking.created_at if ranking else None,
        settings=fits[0].settings if fits else {},
        program_version=fits[0].program_version if fits else "",
        behind=_behind(Topic.objects.filter(study=study)),
        problem=ranking.problem if ranking else "",
        has_worker=worker_is_there(),
        version=version,
    )


def of_topic(topic: Topic) -> Board:
    """The systems in one topic, by the score of their summary."""
    version = version_of_topic(topic)
    fit = newest_fit(topic)
    rows = Score.objects.filter(fit=fit).select_related("summary__system")
    scores = list(rows.order_by("-score", "summary__system__name")) if fit else []
    differences = _topic_differences(fit, scores)
    return Board(
        rows=_topic_rows(scores, differences),
        differences=differences,
        curve=_curve(fit.curve) if fit else (),
        topics=1,
        judgments=fit.judgments if fit else 0,
        simulated=_simulated([fit] if fit else []),
        fitted_at=fit.created_at if fit else None,
        settings=fit.settings if fit else {},
        program_version=fit.program_version if fit else "",
        behind=_behind(Topic.objects.filter(pk=topic.pk)),
        problem=TopicProgress.objects.filter(topic=topic).values_list("problem", flat=True).first() or "",
        has_worker=worker_is_there(),
        version=version,
        of_topic=True,
    )


def newest_fit(topic: Topic) -> Fit | None:
    """The fit that the topic's utilities and scores are of."""
    return Fit.objects.filter(topic=topic).order_by("-data_version").first()


def newest_fits(study: Study) -> list[Fit]:
    """The newest fit of each topic that has one."""
    return list(
        Fit.objects.filter(topic__study=study, data_version=F("topic__progress__fitted_version")).order_by(
            "topic__position"
        )
    )


def _topic_rows(scores: Sequence[Score], differences: Sequence[Difference]) -> tuple[Row, ...]:
    """Ranks that significant differences leave open, as on the study's board."""
    beaten = _beaten(differences)
    beaten_by = Counter(worse for several in beaten.values() for worse in several)
    rows = []
    for score in scores:
        name = score.summary.system.name
        rank = 1 + sum(other.score > score.score for other in scores)
        rows.append(
            Row(
                rank=rank,
                system=score.summary.system,
                score=score.score,
                low=score.low,
                high=score.high,
                rank_low=min(rank, 1 + beaten_by[name]),
                rank_high=max(rank, len(scores) - len(beaten.get(name, ()))),
                topics=1,
                better_than=beaten.get(name, ()),
                summary_id=score.summary_id,
            )
        )
    return tuple(rows)


def _topic_differences(fit: Fit | None, scores: Sequence[Score]) -> tuple[Difference, ...]:
    """Every two systems of the topic; none where nothing says how sure the scores are together."""
    systems = fit.covariance.get("systems", []) if fit and fit.judgments else []
    known = {score.summary.system.name: score.score for score in scores}
    if fit is None or not known.keys() <= set(systems):
        return ()
    return tuple(compare(known, systems, fit.covariance["matrix"]))


def _differences(found: Iterable[Mapping[str, Any]]) -> tuple[Difference, ...]:
    return tuple(
        Difference(
            better=one["better"],
            worse=one["worse"],
            difference=one["difference"],
            low=one.get("low"),
            high=one.get("high"),
            p=one.get("p"),
            significant=bool(one.get("significant")),
        )
        for one in found
    )


def _beaten(differences: Iterable[Difference]) -> dict[str, tuple[str, ...]]:
    """Whom each system is significantly better than."""
    beaten: dict[str, tuple[str, ...]] = {}
    for one in differences:
        if one.significant:
            beaten[one.better] = (*beaten.get(one.better, ()), one.worse)
    return beaten


def _curve(found: Iterable[Mapping[str, Any]]) -> Curve:
    """The entries that name the same systems as the last one: a summary that came later has no past."""
    entries = [(int(entry["judgments"]), dict(entry["scores"])) for entry in found]
    systems = set(entries[-1][1]) if entries else set()
    return tuple(entry for entry in entries if set(entry[1]) == systems)


def _mean_curve(found: Sequence[Iterable[Mapping[str, Any]]]) -> Curve:
    """Mean scores over topics at equal shares of each topic's judgments; systems that summarized all topics."""
    curves = [curve for curve in map(_curve, found) if curve]
    if not curves:
        return ()
    systems = set.intersection(*(set(curve[-1][1]) for curve in curves))
    steps = min(len(curve) for curve in curves)
    if not systems:
        return ()
    entries = []
    for step in range(1, steps + 1):
        points = [curve[round(step * len(curve) / steps) - 1] for curve in curves]
        scores = {system: sum(point[1][system] for point in points) / len(points) for system in sorted(systems)}
        entries.append((sum(point[0] for point in points), scores))
    return tuple(entries)


def _simulated(fits: Sequence[Fit]) -> int:
    """How many of the judgments that these fits rest on were simulated."""
    judged = counted_assignments().filter(
        topic__in=[fit.topic_id for fit in fits], annotator__kind=Annotator.Kind.SIMULATED
    )
    return judged.aggregate(number=Count("pk"))["number"] if fits else 0


def _behind(topics: Any) -> int:
    """How many of these topics have judgments or texts that are newer than their scores."""
    return int(topics.filter(progress__fitted_version__lt=F("tally__data_version")).count())


def _versions(topics: Any) -> tuple[Any, ...]:
    sums = topics.aggregate(Sum("progress__fitted_version"), Sum("tally__data_version"), Count("pk"))
    fitted, data, number = sums.values()
    owed = Fit.objects.filter(topic__in=topics, curve_owed=True).count()
    # How far behind matters to nobody, only that it is so: a board that is behind is not drawn anew at every click.
    return fitted, fitted != data, number, owed


def _version(*found: Any) -> str:
    return hashlib.blake2s(repr(found).encode(), digest_size=8).hexdigest()
