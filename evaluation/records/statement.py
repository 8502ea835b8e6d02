"""Make the record of what may be said of a study (`preferendum.results.statement`), once its systems were ranked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Min

from annotate import webhooks
from annotate.models import Annotator, Assignment, Delivery, Ranking, ScoredBy, Study
from annotate.reports import forecast, leaderboard, rests_on
from evaluation.records import derived
from preferendum.formats.settings import KINDS_COUNTED, CountedKinds
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Ground
from preferendum.results.length import ByLength
from preferendum.results.outlook import halfwidth
from preferendum.results.scores import is_tested
from preferendum.results.statement import Answers, Headline, Limit, RestsOn, Statement, StudyStatement
from preferendum.show.standing import between, headline_of

HUMAN, Reason = Annotator.Kind.HUMAN, Assignment.Reason


class _Group(NamedTuple):
    """An annotator's judgments about one question that are there for one reason; `participation`: the key of where
    the annotator came from a platform, if so."""

    of: str
    annotator: int
    kind: str
    is_unnamed: bool
    participation: int | None
    reason: str
    holds_place: bool
    number: int
    first: datetime | None
    last: datetime | None


class _Pairs(NamedTuple):
    """How many pairs of a topic have judgments that count about one question; `topic`: its name, which may be ""."""

    of: str
    topic: str
    number: int


def state(study: Study) -> None:
    """Count and conclude, in the caller's transaction, which holds the study's lock: the last is the newest."""
    by = ScoredBy.PUBLISHED if study.score == "published" else ScoredBy.RECOMMENDED
    ways = {"sentences": by, "summaries": ScoredBy.WIN_RATE}
    rankings = {row.scored_by: row for row in Ranking.objects.filter(study=study, scored_by__in=ways.values())}
    groups, pairs, kinds = _groups(study), _pairs(study), study.counted_kinds
    about = {of: ([own for own in groups if own.of == of], [own for own in pairs if own.of == of]) for of in ways}
    each = {of: _statement(study, _answers(*about[of], kinds), way, rankings.get(way)) for of, way in ways.items()}
    judged = {of: own for of, own in each.items() if own.answers.rests_on.total}
    derived.keep(
        study.pk, "statement", (), StudyStatement(_answers(groups, pairs, kinds), checks=_checks(study), **judged)
    )
    webhooks.conclude(study, Delivery.Event.QUOTA, lambda: forecast.course(study).is_full)


def _checks(study: Study) -> tuple[str, ...]:
    judged = Assignment.objects.lasting().filter(item_set__study=study, state=Assignment.State.JUDGED)
    by_people = judged.filter(annotator__kind=HUMAN).exclude(reason__in=Assignment.WANTED)
    return tuple(by_people.order_by("reason").values_list("reason", flat=True).distinct())


def _groups(study: Study) -> list[_Group]:
    """All judgments of the study that count if their annotators' kind does, with imported ones that compare copies."""
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__study=study).order_by()
    by = ("item_set__of", *(f"annotator{own}" for own in ("", "__kind", "__is_unnamed", "__participation")))
    sums = Count("pk"), Min("closed_at"), Max("closed_at")
    return [_Group(*row) for row in rows.values_list(*by, "reason", "holds_place").annotate(*sums)]


def _pairs(study: Study) -> list[_Pairs]:
    counted = Assignment.objects.counted().filter(item_set__study=study).order_by()
    by_topic = counted.values_list("item_set__of", "item_set__topic__name").annotate(Count("pair", distinct=True))
    return [_Pairs(*row) for row in by_topic]


def _statement(study: Study, answers: Answers, way: str, ranking: Ranking | None) -> Statement:
    if ranking is None:  # the other question was ranked first
        score = WIN_RATE if way == ScoredBy.WIN_RATE else study.score
        return Statement(answers, way, score, systems=0, headline=Headline(), ground=Ground())
    score, differences = ranking.settings.get("score", "importance"), ranking.system_differences
    ground = rests_on.ground_of(ranking, answers.rests_on.counted)
    results, _people, rows = leaderboard.standings(ranking)
    asked = leaderboard.asked_about(study, ranking.scored_by)
    by_length = leaderboard.explained_by_length(ranking.scored_by, asked, results)
    return Statement(
        answers=answers,
        scored_by=ranking.scored_by,
        score=score,
        systems=len(rows),
        headline=headline_of(rows, differences, ground, is_tested=is_tested(score))
        if ranking.judgments
        else Headline(),
        ground=ground,
        halfwidth=halfwidth(between(rows, differences)),
        limits=tuple(_limits(ground, answers, by_length)),
        by_length=by_length,
    )


def _limits(ground: Ground, answers: Answers, by_length: ByLength | None) -> list[Limit]:
    limits: list[Limit] = ["early"] if ground.is_early else []
    limits += ["annotators"] if ground.about != "kind" else []
    limits += ["topic"] if answers.topics == 1 else []
    return limits + (["length"] if by_length and by_length.is_headline else [])


def _answers(groups: Sequence[_Group], pairs: Sequence[_Pairs], kinds: CountedKinds) -> Answers:
    numbers: Counter[tuple[str, str, bool, str]] = Counter()
    for own in groups:
        numbers[own.kind, own.reason, own.holds_place, own.of] += own.number
    rests = (rests_on.of_judgments(kinds, *key, number) for key, number in numbers.items())
    counted = [own for own in groups if own.holds_place and own.kind in KINDS_COUNTED[kinds]]
    people = [own for own in counted if own.kind == HUMAN]
    here = [own for own in counted if own.reason != Reason.IMPORTED]
    drawn = Counter[tuple[str, str]]()
    for own in here:
        drawn[own.reason, own.of] += own.number
    return Answers(
        sum(rests, RestsOn(kinds)),
        human=len({own.annotator for own in people if not own.is_unnamed}),
        machine=len({own.annotator for own in counted if own.kind == Annotator.Kind.MACHINE}),
        simulated=len({own.annotator for own in counted if own.kind == Annotator.Kind.SIMULATED}),
        unnamed=sum(own.number for own in people if own.is_unnamed),
        recruited=len({own.annotator for own in people if own.participation}),
        pairs=sum(own.number for own in pairs),
        topics=len({own.topic for own in pairs} - {""}),
        first=_day(min((own.first for own in here if own.first), default=None)),
        last=_day(max((own.last for own in here if own.last), default=None)),
        random=drawn[Reason.RANDOM, "sentences"] + drawn[Reason.RANDOM, "summaries"],
        telling=drawn[Reason.SUGGESTED, "sentences"],
        planned=drawn[Reason.SUGGESTED, "summaries"],
    )


def _day(at: datetime | None) -> str:
    return at.date().isoformat() if at else ""
