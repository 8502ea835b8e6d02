"""A study's progress, and what more answers, annotators or topics would bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Count, Min
from django.utils import timezone

from annotate import forecasts
from annotate.models import Item, ItemSet, Judgment, Ranking, Result, ScoredBy, Study
from annotate.models.judging import JudgmentQuerySet
from annotate.reports import minutes, rests_on, statement
from annotate.reports.study import counts_by_set, wanted_of
from preferendum.formats.records import Of
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Forecast as Record
from preferendum.results import Ground, SummaryForecast
from preferendum.results.outlook import Outlook
from preferendum.results.planning import SECONDS, Pace
from preferendum.results.statement import Answers, Statement, StudyStatement
from preferendum.show.analyses.forecast import StudyForecast

#: The pace is that of the last days.
PACE = timedelta(days=7)

#: What a forecast expects of answers to one question.
Expected = Record | SummaryForecast | None
#: The two questions, by what they ask about, whole summaries first.
QUESTIONS: Mapping[str, Of] = {ScoredBy.WIN_RATE.value: "summaries", ScoredBy.RECOMMENDED.value: "sentences"}


@dataclass(frozen=True, slots=True)
class Course:
    """A study's progress: judgments `done` of those `wanted`. `seconds`: the mean of one, None if unknown. `a_day`: the
    pace of the last week here, None without judgments; `ends_at`: when it will be done at that pace, None if it is done
    or has no pace.
    """

    done: int
    wanted: int
    seconds: float | None
    a_day: float | None
    ends_at: datetime | None

    @property
    def is_full(self) -> bool:
        """Whether all planned judgments are in."""
        return 0 < self.wanted <= self.done


def basis(study: Study) -> tuple[StudyStatement | None, str]:
    """What there is to go by, None where that is nothing, and a version that changes with it."""
    rows = Result.objects.filter(study=study, analysis__in=("statement", "summary-forecast"), choice="")
    heads = {row.analysis: row for row in rows}
    record = heads["statement"].read(StudyStatement) if "statement" in heads else statement.of_study(study)
    has_answers = record is not None and record.answers.rests_on.counted.total > 0
    is_expected = study.compares != "sentences" and "summary-forecast" in heads and heads["summary-forecast"].record
    can_say = record is not None and bool(has_answers or is_expected or forecasts.ready(study))
    return record if can_say else None, "-".join(str(head.computed_at) for head in heads.values())


def of_study(study: Study, record: StudyStatement, simulated: Record | None = None) -> tuple[StudyForecast, ...]:
    """The forecast of each question that is open or has answers."""
    rankings = {row.scored_by: row for row in Ranking.objects.filter(study=study)}
    paces = Item.objects.paces(study)
    each = (
        _of_question(study, scored_by, statement.question(record, scored_by), rankings, paces, simulated)
        for scored_by in QUESTIONS
    )
    return tuple(own for own in each if own is not None)


def outlook(
    study: Study, own: Statement | None, scored_by: str, ranking: Ranking | None, expected: Expected = None
) -> Outlook:
    """Where the question is that this way of scoring answers, with all that its forecast starts from."""
    of = QUESTIONS.get(scored_by, "sentences")
    items = Item.objects.filter(item_set__in=ItemSet.objects.filter(study=study, of=of))
    to_judge = counts_by_set(items.to_judge())
    wanted = sum(wanted_of(study, texts, of_summaries=of == "summaries") for texts in to_judge.values())
    most: int | None = sum(texts * (texts - 1) // 2 * study.judgments_per_pair for texts in to_judge.values())
    if not to_judge:  # of answers that are given elsewhere there is no end
        to_judge, most = counts_by_set(items.filter(not_judged=Item.NotJudged.NO_TEXT)), None
    answers = own.answers if own else Answers()
    differences = ranking.system_differences if ranking else ()
    return Outlook.of(
        of,
        answers.rests_on.counted.total,
        0 if answers.unnamed else answers.human + answers.machine + answers.simulated,
        own.halfwidth if own else None,
        [row.result for row in ranking.systems.select_related("system")] if ranking else (),
        own.ground if own else Ground(),
        planned_share=differences[0].planned_share if differences else None,
        topics=sum(texts > 1 for texts in to_judge.values()),
        planned=wanted,
        most=most,
        expected=expected or _expected(study, of),
        judged=answers.rests_on.counted,
    )


def _expected(study: Study, of: str) -> Expected:
    if of == "summaries":
        return Result.objects.head(study, "summary-forecast").read(SummaryForecast)
    ready = forecasts.ready(study)
    return ready.record if ready else None


def _of_question(
    study: Study,
    scored_by: str,
    own: Statement | None,
    rankings: Mapping[str, Ranking],
    paces: Mapping[bool, float],
    simulated: Record | None,
) -> StudyForecast | None:
    of = QUESTIONS[scored_by]
    if own is None and study.compares not in ("both", of):
        return None
    view = outlook(
        study, own, scored_by, rankings.get(own.scored_by) if own else None, simulated if of == "sentences" else None
    )
    if not view.topics or not (view.now or (view.planned and view.expected)):
        return None
    score = WIN_RATE if of == "summaries" else own.score if own else study.recommended_settings["score"]
    is_old = isinstance(view.expected, Record) and _is_old(study, view.expected)
    return StudyForecast(view, score, pace_of(study, of, paces), is_old)


def pace_of(study: Study, of: str, paces: Mapping[bool, float] | None = None) -> Pace:
    """How long people take for an answer about sentences, or about summaries. `paces`: `Item.objects.paces`."""
    paces = Item.objects.paces(study) if paces is None else paces
    pace = minutes.pace(ItemSet.objects.filter(study=study, of=of), paces.get(of == "summaries", SECONDS))
    return replace(pace, basis="guessed") if pace.basis == "read" and not paces else pace


def _is_old(study: Study, record: Record) -> bool:
    judged = Item.objects.to_judge().of_sources(study)
    now = judged.aggregate(topics=Count("item_set", distinct=True), sentences=Count("pk"))
    sentences = round(record.topics * record.sentences)  # a mean is stored
    share = 1.0 if record.are_standard else study.random_share
    asked = study.judgments_per_pair, share, study.stop_rule
    return (*now.values(), *asked) != (
        *(record.topics, sentences),
        *(record.judgments_per_pair, record.random_share, record.stop_rule),
    )


def course(study: Study) -> Course:
    """The study's progress, by the judgments that count of the leading kind of annotators."""
    asked = ItemSet.objects.filter(study=study)
    to_judge = counts_by_set(Item.objects.to_judge().filter(item_set__in=asked))
    done = wanted = 0
    for own in rests_on.judged_in(asked):
        most = wanted_of(study, to_judge.get(own.pk, 0), of_summaries=own.of == "summaries")
        wanted += most
        done += min(own.rests_on(study.counted_kinds).leading, most)
    now = timezone.now()
    recent = (
        _counted(study)
        .given_here()
        .filter(at__gt=now - PACE, at__lte=now)
        .aggregate(number=Count("pk"), since=Min("at"))
    )
    a_day = _a_day(recent["number"], recent["since"], now)
    to_come = wanted - done
    ends_at = now + timedelta(days=min(to_come / a_day, 36_500)) if a_day and to_come else None
    return Course(done, wanted, minutes.seconds(_counted(study)), a_day, ends_at)


def _counted(study: Study) -> JudgmentQuerySet:
    return Judgment.objects.counted(kind=study.leading_kind).filter(assignment__item_set__study=study).order_by()


def _a_day(judgments: int, since: datetime | None, now: datetime) -> float | None:
    """Judgments of less than a day count as a full day's, since the pace of the first minutes does not last."""
    if since is None or not judgments:
        return None
    return judgments / max((now - since) / timedelta(days=1), 1.0)
