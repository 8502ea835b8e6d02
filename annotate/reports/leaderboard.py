"""Systems in order, of one topic or of a whole study, from the worker's tables."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial, reduce
from operator import or_
from typing import Any

from django.db.models import Avg, Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce, Length
from django.utils.functional import cached_property
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotate.database.snapshot import snapshot
from annotate.models import Fit, Item, ItemSet, Judgment, Ranking, Result, Score, ScoredBy, Study, Summary, Topic
from annotate.models.analysis import of_head
from annotate.models.corpus import NEEDS_DOCUMENTS, unfitted
from annotate.models.study import sum_of_topics
from annotate.reports import forecast, rests_on, statement
from annotate.reports.method import value_in_words
from annotate.reports.study import is_busy, worker_is_there
from preferendum.metrics.names import WIN_RATE
from preferendum.results import CurvePoint, Difference, Ground, LeaderboardRow, ScoreCovariance, SystemResult
from preferendum.results.helped import Help
from preferendum.results.length import ByLength
from preferendum.results.outlook import Needed, Outlook, needed
from preferendum.results.scores import PredictedSystem, PredictedSystems, has_intervals
from preferendum.results.statement import Answers, RestsOn, Statement
from preferendum.results.statistics import Mean, quantile, rank, z_of
from preferendum.show.analyses.forecast import might_show
from preferendum.show.helped import help_notes
from preferendum.show.points import Unit, over_all_topics, unit_of, why_untested
from preferendum.show.standing import by_author, open_tests, rows_of, statement_words, tests_of, verdict

#: So many topics without judgments are named.
NAMED = 3
#: Screen readers announce the order of so many systems.
HEARD = 30
#: Scores with fewer judgments, fewest first.
Curve = tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A topic whose scores are missing or old, and why."""

    topic: Topic
    problem: str


@dataclass(frozen=True)
class Board:
    """A leaderboard with what it rests on. `fitted_at` is None if nothing was computed yet.

    `rows`: systems, ranked among themselves; `human_written`: people's summaries, likewise; alone, they are `rows`.
    `scored_by`: which of the two ways of scoring; `unranked`: systems whose summaries share no word with their sources.
    `behind`: topics whose judgments or texts are newer than their scores; `failures`: those that could not be scored.
    `is_outdated`: scores were computed under earlier settings. `added_prior`: how many topics needed a prior that the
    paper does not have; `without_documents`: how many have no questions for lack of documents. `ground`: the population
    that verdicts hold for. `statement`: what the worker says of the study's question, which pages repeat; None of a
    topic, and of another way of scoring than the study's; `answers`: those to the question, whatever the way. `version`
    changes whenever anything shown here may have changed. `outlook`: what more answers would bring, of the study's
    question; `by_length`: how much the length of sentences, or of summaries, explains; `predicted`: unjudged systems,
    by win rate. `ways`: of scoring that the study has. `helpers`: the judges that can help people, `helped`: what the
    one does that helps here, `work_of_others`: what people would do without it, in words. `is_old`: topics have newer
    scores. `asked`: topics that can be judged, `unjudged`: those without a judgment that counts.
    """

    scored_by: str
    rows: tuple[LeaderboardRow, ...]
    human_written: tuple[LeaderboardRow, ...]
    unranked: tuple[str, ...]
    differences: tuple[Difference, ...]
    ground: Ground
    curve: Curve
    topics: int
    judgments: int
    rests_on: RestsOn
    fitted_at: datetime | None
    settings: Mapping[str, Any]
    program_version: str
    behind: int
    failures: tuple[Failure, ...]
    is_outdated: bool
    added_prior: int
    has_worker: bool
    version: str
    by_length: Callable[[], ByLength | None]
    problem: str = ""
    outlook: Callable[[], Outlook | None] = lambda: None
    is_old: Callable[[], bool] = lambda: False
    statement: Statement | None = None
    answers: Answers | None = None
    ways: Sequence[tuple[str, str]] = ()
    of_topic: bool = False
    predicted: tuple[PredictedSystem, ...] = ()
    helpers: tuple[str, ...] = ()
    helped: Help | None = None
    work_of_others: Callable[[], str] = lambda: ""
    without_documents: int = 0
    asked: int = 0
    unjudged: tuple[str, ...] = ()

    @property
    def named_unjudged(self) -> str:
        """The first of the topics without judgments."""
        return ", ".join(self.unjudged[:NAMED]) + ("…" if len(self.unjudged) > NAMED else "")

    @property
    def order(self) -> str:
        """The first systems, best first, for screen readers to announce when it changes."""
        return ", ".join(row.system for row in self.rows[:HEARD])

    @property
    def score(self) -> str:
        """What the systems are ranked by."""
        return str(self.settings.get("score", "importance"))

    @property
    def why_untested(self) -> str:
        """Why systems are not tested for differences; "" if they are."""
        if self.of_topic and self.score == WIN_RATE:
            return _("Win rates are tested over all topics together, not in one topic.")
        return why_untested(self.score)

    @property
    def over_all_topics(self) -> str:
        """How systems that lack summaries are compared with others; "" where none does."""
        is_missing = self.score != WIN_RATE and any(row.lacking for row in self.everyone)
        return over_all_topics() if is_missing else ""

    @property
    def has_intervals(self) -> bool:
        return has_intervals(self.score)

    @cached_property
    def unit(self) -> Unit:
        """The unit of the scores, the same in the table, the figure and the files for papers."""
        return unit_of(self.score, [(row.score, row.low, row.high) for row in self.everyone])

    @cached_property
    def everyone(self) -> tuple[LeaderboardRow, ...]:
        """People, then the other systems."""
        return *self.human_written, *self.rows

    def place(self, row: LeaderboardRow) -> int | None:
        """The rank of a system; people have none if there are others."""
        return None if row in self.human_written else row.rank

    @property
    def ranked_curve(self) -> Curve:
        """Scores of the ranked systems alone."""
        names = {row.system for row in self.rows}
        points = (({name: point.scores[name] for name in point.scores if name in names}, point) for point in self.curve)
        return tuple(replace(point, scores=scores) for scores, point in points)

    @cached_property
    def moves(self) -> dict[str, int]:
        """The number of places that each system has risen (below 0: fallen) since `moved_since` judgments, if its
        earlier place is outside its present interval of ranks.
        """
        if len(self.curve) < 2:
            return {}
        before, now = (_places(point.scores) for point in self.ranked_curve[-2:])
        left = {row.system: before[row.system] for row in self.rows if _has_left(row, before.get(row.system))}
        return {system: place - now[system] for system, place in left.items() if place != now[system]}

    @property
    def moved_since(self) -> int:
        """The number of judgments that `moves` starts from."""
        return self.curve[-2].judgments if len(self.curve) > 1 else 0

    @property
    def answer(self) -> str:
        """What the answers show of the order, in words; "" if there are none, or if nothing is tested."""
        if not self.judgments or self.why_untested:
            return ""
        needed = self.needed
        words = statement_words(self.statement) if self.statement else verdict(self.rows, self.differences, self.ground)
        return words + (f" {might_show(needed, is_clearest=True)}" if needed else "")

    @property
    def help_notes(self) -> list[str]:
        """What is to be said of a judge's help, in sentences; nothing of people alone."""
        if self.helped is None:
            return []
        notes = help_notes(self.helped, self.work_of_others(), is_tested=not self.why_untested)
        return [f"{note}." for note in notes]

    @property
    def is_helped(self) -> bool:
        """Whether a judge's answers are borrowed for these scores."""
        return self.helped is not None and not self.helped.why_not

    @cached_property
    def rests_on_words(self) -> str:
        """Who gave the judgments that it rests on, for files; with the judge that helps."""
        counted = self.rests_on.counted.words
        if self.helped is None or not self.is_helped:
            return counted
        return _("%(counted)s, helped by %(judge)s") % {"counted": counted, "judge": self.helped.judge}

    @property
    def basis(self) -> str:
        """Who gave the judgments that it rests on, in a sentence."""
        if self.answers:
            return self.answers.words
        return _("Judgments: %(kinds)s.") % {"kinds": self.rests_on.counted.words}

    @cached_property
    def needed(self) -> Needed | None:
        """How many judgments might show the clearest difference that is still open, if it is real."""
        unsure = open_tests(self.rows, self.tests)
        return judgments_needed(self, max(unsure, key=partial(_z, tests=len(self.tested)))) if unsure else None

    @property
    def most_apart(self) -> float:
        """How far two scores can be apart."""
        return 1.0 if self.score == WIN_RATE else math.inf

    @cached_property
    def tests(self) -> list[Difference]:
        """The tested differences of the ranked systems."""
        return tests_of(self.rows, self.differences)

    @cached_property
    def tested(self) -> list[Difference]:
        """The differences with a test."""
        return [difference for difference in self.differences if difference.significant is not None]

    @cached_property
    def holds_at_every_look(self) -> bool:
        """Whether differences are tested by the stop rule."""
        return any(difference.planned_share is not None for difference in self.differences)

    @property
    def faults(self) -> tuple[Failure, ...]:
        """The failures that are not the worker's, which tries again where it was only busy."""
        return tuple(own for own in self.failures if not is_busy(own.problem))

    @property
    def busy(self) -> str:
        """When the worker, which was busy, tries again; "" where it was not."""
        return next((own.problem for own in self.failures if is_busy(own.problem)), "")

    @property
    def is_catching_up(self) -> bool:
        """Whether a worker will add newer judgments; it adds none to topics that failed."""
        return self.has_worker and self.behind > len(self.faults)


def headline(study: Study) -> ScoredBy:
    """The way of scoring that the study shows first."""
    if Ranking.is_by_summaries(study):
        return ScoredBy.WIN_RATE
    return ScoredBy.PUBLISHED if study.score == "published" else ScoredBy.RECOMMENDED


def ways_of_scoring(study: Study, judged: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """Ways of scoring that the study asks for or has, with names, the one it opens with first; as published only where
    that is its setting. `judged`: with judgments."""
    if judged is None:
        judged = Ranking.objects.filter(study=study, judgments__gt=0).values_list("scored_by", flat=True)
    chosen = set(judged)
    chosen |= set() if study.compares == "sentences" else {ScoredBy.WIN_RATE.value}
    chosen |= set() if study.compares == "summaries" else {ScoredBy.RECOMMENDED.value, ScoredBy.PUBLISHED.value}
    chosen -= set() if study.score == "published" else {ScoredBy.PUBLISHED.value}
    names, first = names_of_ways(study), headline(study)
    return [(way, names[way]) for way in sorted(names, key=lambda way: way != first) if way in chosen]


def names_of_ways(study: Study) -> dict[str, str]:
    """The ways of scoring, named after the score that each ranks by."""
    recommended = value_in_words("score", study.recommended_settings["score"])
    return {
        ScoredBy.WIN_RATE.value: _("Win rate"),
        ScoredBy.RECOMMENDED.value: capfirst(recommended.partition(":")[0]),
        ScoredBy.PUBLISHED.value: _("As published (Zopf 2018)"),
    }


def version_of_study(study: Study) -> str:
    """Changes with everything that the study's board shows; cheap enough to poll every second."""
    return _version_of_study(study, _rankings(study), worker_is_there())


def _rankings(study: Study) -> list[tuple[Any, ...]]:
    """Each ranking's way of scoring, its number of judgments, and its version."""
    derived = {"predicted": of_head("later-systems", study="study"), "helped": of_head("helped-boards", study="study")}
    rankings = Ranking.objects.filter(study=study).order_by("pk").annotate(**derived)
    return list(rankings.values_list("scored_by", "judgments", "version", "problem", "created_at", *derived))


def _version_of_study(study: Study, rankings: Sequence[tuple[Any, ...]], has_worker: bool) -> str:
    asked = _versions(ItemSet.objects.filter(study=study))
    return _version(rankings, study.score, study.compares, asked, has_worker)


def is_behind(study: Study) -> bool:
    """Whether the board waits for newer judgments or texts; topics that failed add none."""
    waiting = ItemSet.objects.filter(unfitted(), study=study)
    return waiting.exclude(progress__problem__gt="").exists()


def version_of_topic(topic: Topic) -> str:
    """Changes with everything that the topic's board shows."""
    asked, helped = ItemSet.objects.filter(topic=topic), Result.objects.head(topic.study_id, "helped-boards").version
    return _version(topic.study.score, topic.study.compares, _versions(asked), worker_is_there(), helped)


@snapshot()
def of_study(study: Study, scored_by: str = "") -> Board:
    """The systems over all topics, by default by the study's headline score."""
    scored_by = scored_by or headline(study)
    has_worker = worker_is_there()
    rankings = _rankings(study)
    version = _version_of_study(study, rankings, has_worker)
    ranking = Ranking.objects.filter(study=study, scored_by=scored_by).first()
    fits = newest_fits(study, scored_by)
    results, people, ranked = standings(ranking) if ranking else ([], (), ())
    differences = ranking.system_differences if ranking else ()
    settings = ranking.settings if ranking else {}
    item_sets = asked_about(study, scored_by)
    own = statement.question(statement.of_study(study), scored_by)
    unfinished = _unfinished(item_sets)
    rests = own.answers.rests_on if own else RestsOn(study.counted_kinds)
    stated = own if own and own.scored_by == scored_by else None
    return Board(
        asked=next((own.asked for own in unfinished), 0),
        unjudged=tuple(str(own) for own in unfinished if own.is_unjudged and not own.lacks_documents),
        scored_by=scored_by,
        human_written=people,
        rows=ranked,
        unranked=_unranked(fits, {result.system for result in results}),
        differences=differences,
        ground=rests_on.ground_of(ranking, rests.counted),
        curve=_mean_curve([_curve(fit) for fit in fits if is_under(fit, settings)]),
        topics=ranking.topics if ranking else 0,
        judgments=ranking.judgments if ranking else 0,
        rests_on=rests,
        fitted_at=ranking.created_at if ranking else None,
        settings=settings,
        program_version=fits[0].program_version if fits else "",
        behind=sum(own.is_behind for own in unfinished),
        failures=_failures(unfinished),
        is_outdated=bool(results) and is_outdated(study, scored_by, settings),
        added_prior=sum(needs_prior(fit) for fit in fits),
        problem=ranking.problem if ranking else "",
        has_worker=has_worker,
        version=version,
        outlook=partial(forecast.outlook, study, stated, scored_by, ranking) if stated else lambda: None,
        is_old=partial(_is_old, study, scored_by, ranking, fits),
        by_length=(lambda: stated.by_length) if stated else partial(explained_by_length, scored_by, item_sets, results),
        statement=stated,
        answers=own.answers if own else None,
        ways=ways_of_scoring(study, [way for way, judgments, *_rest in rankings if judgments]),
        without_documents=sum(own.lacks_documents for own in unfinished),
        predicted=_predicted(study, {result.system for result in results}) if scored_by == ScoredBy.WIN_RATE else (),
    )


def standings(ranking: Ranking) -> tuple[list[Any], tuple[LeaderboardRow, ...], tuple[LeaderboardRow, ...]]:
    """The results of all systems, and the rows of people and of the other systems."""
    of_people = Exists(Summary.objects.filter(system=OuterRef("system"), person=True))
    standings = ranking.systems.annotate(is_of_people=of_people).select_related("system")
    rows = list(standings.order_by("rank", "system__name"))
    results = [row.result for row in rows]
    by_people = {row.system.name for row in rows if row.is_of_people}
    return results, *by_author(rows_of(results, ranking.system_differences, by_people))


@snapshot()
def of_topic(topic: Topic, scored_by: str = "") -> Board:
    """The systems in one topic, by the score of their summary."""
    scored_by = scored_by or headline(topic.study)
    version = version_of_topic(topic)
    item_sets = asked_about(topic.study, scored_by, topic)
    rests, fit = rests_on.of_sets(topic.study, item_sets), newest_fit(item_sets.first(), scored_by)
    scores = list(Score.objects.filter(fit=fit).select_related("summary__system")) if fit else []
    ranked = {score.summary.system.name: score for score in scores if score.score is not None}
    differences = fit.system_differences if fit else ()
    means = [Mean(system, score.score or 0.0, score.se, score.low, score.high, 1) for system, score in ranked.items()]
    settings = fit.settings if fit else {}
    is_tested = scored_by != ScoredBy.WIN_RATE and not why_untested(settings.get("score", "importance"))
    significant = [own for own in differences if own.significant]
    better, worse = Counter(own.worse for own in significant), Counter(own.better for own in significant)
    results = _with_kept_ranks(rank(means, better, worse, is_tested=is_tested), fit if is_tested else None)
    people, rows = by_author(
        rows_of(
            [replace(result, coverage=ranked[result.system].coverage) for result in results],
            differences,
            {system for system, score in ranked.items() if score.summary.person},
            {system: score.summary_id for system, score in ranked.items()},
        )
    )
    return Board(
        scored_by=scored_by,
        human_written=people,
        rows=rows,
        unranked=tuple(sorted(score.summary.system.name for score in scores if score.score is None)),
        differences=differences,
        ground=rests_on.ground_of(fit, rests.counted),
        curve=_curve(fit) if fit else (),
        topics=1,
        judgments=fit.judgments if fit else 0,
        rests_on=rests,
        fitted_at=fit.created_at if fit else None,
        settings=settings,
        program_version=fit.program_version if fit else "",
        behind=item_sets.filter(unfitted()).count(),
        failures=_failures(_unfinished(item_sets)),
        is_outdated=bool(scores) and is_outdated(topic.study, scored_by, settings),
        added_prior=int(fit is not None and needs_prior(fit)),
        has_worker=worker_is_there(),
        version=version,
        by_length=partial(explained_by_length, scored_by, item_sets, results),
        ways=ways_of_scoring(topic.study),
        of_topic=True,
    )


def judgments_needed(board: Board, difference: Difference) -> Needed | None:
    """How many judgments might show a difference that they do not show yet."""
    tests, outlook = len(board.tested), board.outlook()
    return needed(outlook, _z(difference, tests), tests) if outlook else None


def ends_of(score: str, values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest score, of importance as far from 0 as each other; 0 and 1 where there are none."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    return (-max(-low, high), max(-low, high)) if score == "importance" else (low, high)


def asked_about(study: Study, scored_by: str, topic: Topic | None = None) -> QuerySet[ItemSet]:
    """The item sets that these scores rest on: of all topics of the study, or of one."""
    asked = ItemSet.objects.filter(study=study, of="summaries" if scored_by == ScoredBy.WIN_RATE else "sentences")
    return asked if topic is None else asked.filter(topic=topic)


def newest_fit(item_set: ItemSet | None, scored_by: str = ScoredBy.RECOMMENDED) -> Fit | None:
    """The fit of the item set's current utilities and scores."""
    return Fit.objects.filter(item_set=item_set, scored_by=scored_by).order_by("-data_version").first()


def newest_fits(study: Study, scored_by: str = ScoredBy.RECOMMENDED) -> list[Fit]:
    """The newest fit of each item set that has one."""
    newest = Fit.objects.newest(scored_by).filter(item_set__study=study).order_by("item_set")
    return list(newest.defer("covariance", "differences", "words"))


def is_outdated(study: Study, scored_by: str, settings: Mapping[str, Any]) -> bool:
    """Whether scores were computed under settings that the study no longer has."""
    wanted: dict[str, Any] = {"counted_kinds": study.counted_kinds}
    if scored_by == ScoredBy.RECOMMENDED:
        wanted |= study.recommended_settings
    return any(settings.get(name) != value for name, value in wanted.items())


def is_under(fit: Fit, settings: Mapping[str, Any]) -> bool:
    """Whether a fit was made under the settings of a board; the prior of topics without a maximum is their own."""
    return all(fit.settings.get(name) == value for name, value in settings.items())


def needs_prior(fit: Fit) -> bool:
    """Whether the topic has no finite maximum as published, and was fitted with a prior that the paper lacks."""
    return fit.scored_by == ScoredBy.PUBLISHED and bool(fit.settings.get("prior"))


def what_is_missing(study: Study, topic: Topic | None = None, scored_by: str = "") -> str:
    """What an empty board waits for: "topics", "documents", "summaries", "judgments", "worker"; or "" for a moment."""
    of = forecast.QUESTIONS.get(scored_by or headline(study), "sentences")
    topics = Topic.objects.filter(study=study) if topic is None else Topic.objects.filter(pk=topic.pk)
    number = topics.aggregate(all=Count("pk"), bare=Count("pk", filter=NEEDS_DOCUMENTS))
    if not number["all"]:
        return "topics"
    compared = ItemSet.objects.filter(topic__in=topics, of="summaries")
    if number["bare"] == number["all"] and (of == "sentences" or not compared.exists()):
        return "documents"
    if not Summary.objects.filter(topic__in=topics).exists():
        return "summaries"
    asked = ItemSet.objects.filter(topic__in=topics, of=of)
    if not Judgment.objects.counted().filter(assignment__item_set__in=asked).exists():
        return "judgments"
    return "" if worker_is_there() else "worker"


def _has_left(row: LeaderboardRow, place: int | None) -> bool:
    if place is None or row.rank_low is None or row.rank_high is None:
        return False
    return not row.rank_low <= place <= row.rank_high


def _places(scores: Mapping[str, float]) -> dict[str, int]:
    ordered = sorted(scores, key=lambda system: (-scores[system], system))
    return {system: place for place, system in enumerate(ordered, 1)}


def _z(difference: Difference, tests: int) -> float:
    """How many standard errors a difference is from 0, by its interval; no more than a normal error with its p-value of
    so many tests, since few annotators leave much in doubt (preferendum.scoring.between_annotators)."""
    if difference.low is None or difference.high is None:
        return 0.0
    se = (difference.high - difference.low) / 2 / quantile(difference.planned_share)
    by_interval = abs(difference.difference) / se if se else math.inf
    return min(by_interval, z_of(difference.p, tests, difference.planned_share)) if difference.p else by_interval


def _failures(item_sets: Iterable[ItemSet]) -> tuple[Failure, ...]:
    problems = ((own.topic, own.progress.problem) for own in item_sets if hasattr(own, "progress"))
    return tuple(Failure(topic, problem) for topic, problem in problems if problem)


def _unranked(fits: Sequence[Fit], ranked: Collection[str]) -> tuple[str, ...]:
    """Systems that share no word with any of their sources."""
    without = Score.objects.filter(fit__in=[fit.pk for fit in fits], score=None)
    names = set(without.values_list("summary__system__name", flat=True))
    return tuple(sorted(names - set(ranked)))


def _predicted(study: Study, judged: Collection[str]) -> tuple[PredictedSystem, ...]:
    """Predictions for systems without judgments, the best first."""
    record = Result.objects.head(study, "later-systems").read(PredictedSystems)
    present = set(study.systems.values_list("name", flat=True)) - set(judged)
    systems = record.systems if record else ()
    return tuple(sorted((own for own in systems if own.system in present), key=lambda own: (-own.score, own.system)))


def explained_by_length(
    scored_by: str, item_sets: QuerySet[ItemSet], results: Iterable[SystemResult]
) -> ByLength | None:
    """How much of these results the length of sentences, or of summaries, explains."""
    if scored_by == ScoredBy.WIN_RATE:
        texts = Item.objects.filter(item_set__in=item_sets).order_by().values_list("system")
        lengths = dict(texts.annotate(characters=Avg(Length("text"))))
        return ByLength.of({result.system: result.score for result in results}, lengths, of_summaries=True)
    scores = Score.objects.filter(fit__item_set__in=item_sets, fit__judgments__gt=0, scored_by=ScoredBy.RECOMMENDED)
    means = scores.order_by().values_list("summary__system__name").annotate(Avg("by_length"))
    return ByLength.of({result.system: result.score for result in results}, dict(means))


def _with_kept_ranks(results: Sequence[SystemResult], fit: Fit | None) -> Sequence[SystemResult]:
    """For too many systems to compare here: with the ranks that the worker found possible."""
    covariance = fit.score_covariance if fit else ScoreCovariance()
    ranks = dict(zip(covariance.systems, covariance.ranks, strict=False))
    if not ranks.keys() >= {result.system for result in results}:
        return results
    kept = ((result, *ranks[result.system]) for result in results)
    return [replace(result, rank_low=low, rank_high=high) for result, low, high in kept]


def _curve(fit: Fit) -> Curve:
    """The points with the same systems as the last one: a later summary has no past."""
    points = fit.curve_points
    return tuple(point for point in points if point.scores.keys() == points[-1].scores.keys())


def _mean_curve(curves: Iterable[Curve]) -> Curve:
    """Mean scores over topics at equal shares of each topic's judgments; systems that summarized all topics."""
    curves = [curve for curve in curves if curve]
    systems = sorted(set.intersection(*(set(curve[-1].scores) for curve in curves))) if curves else []
    if not systems:
        return ()
    steps = min(len(curve) for curve in curves)
    means = []
    for step in range(1, steps + 1):
        points = [curve[round(step * len(curve) / steps) - 1] for curve in curves]
        scores = {system: sum(point.scores[system] for point in points) / len(points) for system in systems}
        means.append(CurvePoint(sum(point.judgments for point in points), scores))
    return tuple(means)


def _is_old(study: Study, scored_by: str, ranking: Ranking | None, fits: Sequence[Fit]) -> bool:
    """Whether topics have newer scores than those that systems are ranked by. Win rates come with their ranking."""
    if scored_by == ScoredBy.WIN_RATE or not fits:
        return False
    fitted = Study.objects.annotate(fitted=sum_of_topics("progress__fitted_version")).values_list("fitted", flat=True)
    return (ranking.version if ranking else 0) < (fitted.get(pk=study.pk) or 0)


def _unfinished(item_sets: QuerySet[ItemSet]) -> list[Any]:
    """The item sets, in order, that have newer data than scores, lack items, have no judgment that counts, or failed,
    with which of these it is, and how many have items: few of a study with many topics."""
    asked = item_sets.filter(tally__isnull=False).order_by().values("study").annotate(n=Count("pk")).values("n")
    unjudged = ~Exists(Judgment.objects.counted().filter(assignment__item_set=OuterRef("pk")))
    flags = {"is_behind": unfitted(), "lacks_documents": Q(tally__isnull=True), "is_unjudged": Q(unjudged)}
    wrapped = {name: Case(When(flag, then=True), default=False) for name, flag in flags.items()}
    rows = item_sets.filter(reduce(or_, flags.values()) | Q(progress__problem__gt=""))
    rows = rows.annotate(**wrapped, asked=Coalesce(Subquery(asked), 0))
    return list(rows.select_related("topic", "progress").defer("progress__judged").order_by("pk"))


def _versions(item_sets: QuerySet[ItemSet]) -> tuple[Any, ...]:
    sums = item_sets.aggregate(
        fitted=Sum("progress__fitted_version"),
        data=Sum("tally__data_version"),
        number=Count("pk"),
        failed=Count("pk", filter=Q(progress__problem__gt="")),
        owed=Count("pk", filter=Exists(Fit.objects.filter(item_set=OuterRef("pk"), curve_owed=True))),
    )
    # Only whether it is out of date matters: an outdated board is not redrawn at every click.
    return sums["fitted"], sums["fitted"] != sums["data"], sums["number"], sums["failed"], sums["owed"]


def _version(*shown: Any) -> str:
    return hashlib.blake2s(repr(shown).encode(), digest_size=8).hexdigest()
