"""Leaderboards by people's answers that a machine judge helps, from the worker's records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.db.models.fields.json import KeyTransform

from annotate.database.snapshot import snapshot
from annotate.models import Ranking, Result, ScoredBy, Study, Topic
from annotate.models.analysis import ResultQuerySet, choice_of
from annotate.reports import forecast
from annotate.reports import leaderboard as boards
from annotate.reports.leaderboard import Board
from preferendum.results import LeaderboardRow, from_json
from preferendum.results.helped import TOPICS, Help, HelpedBoard, SummaryScore
from preferendum.results.statistics import Mean, rank
from preferendum.show.analyses.forecast import work_in_words
from preferendum.show.standing import by_author, rows_of

ANALYSIS = "helped-boards"


class UnknownJudge(Exception):
    """No machine of this name helps here; those that do are its arguments."""


@snapshot()
def of_study(study: Study, scored_by: str = "", helped_by: str = "") -> Board:
    """The systems over all topics, as `leaderboard.of_study`; `helped_by`: the judge that helps people, if any.

    Raises `UnknownJudge`.
    """
    board = _with_helpers(study, boards.of_study(study, ScoredBy.WIN_RATE if helped_by else scored_by), helped_by)
    if not board.is_helped:
        return board
    own = from_json(HelpedBoard, _kept(study.pk, helped_by).values_list("record", flat=True).get())
    item_sets = boards.asked_about(study, board.scored_by)
    return replace(
        _with_rows(board, rows_of(own.systems, own.differences, _human_written(board))),
        differences=own.differences,
        judgments=own.help.answers,
        statement=None,
        outlook=lambda: None,
        predicted=(),
        by_length=partial(boards.explained_by_length, board.scored_by, item_sets, own.systems),
    )


@snapshot()
def of_topic(topic: Topic, scored_by: str = "", helped_by: str = "") -> Board:
    """The systems in one topic, as `leaderboard.of_topic`; `helped_by`: the judge that helps people, if any.

    Raises `UnknownJudge`.
    """
    board = boards.of_topic(topic, ScoredBy.WIN_RATE if helped_by else scored_by)
    board = _with_helpers(topic.study, board, helped_by)
    if not board.is_helped:
        return board
    # one topic of a record of thousands of summaries: only this is read
    topics = _kept(topic.study_id, helped_by, TOPICS).values_list("record", flat=True).get()["topics"]
    read = (from_json(SummaryScore, score) for score in topics.get(topic.name, ()))
    means = [Mean(own.system, own.score, own.se, own.low, own.high, 1) for own in read]
    summaries = {row.system: row.summary for row in board.everyone if row.summary is not None}
    results = [own for own in rank(means, {}, {}, is_tested=False) if own.system in summaries]
    return _with_rows(board, rows_of(results, (), _human_written(board), summaries)) if results else board


def _kept(study: int, *keys: str) -> ResultQuerySet:
    return Result.objects.filter(study=study, analysis=ANALYSIS, choice=choice_of(keys))


def _with_helpers(study: Study, board: Board, helped_by: str) -> Board:
    """The board with the judges that can help, none where others than people count, and what the one does."""
    names: Sequence[str] = ()
    if board.scored_by == ScoredBy.WIN_RATE and study.counted_kinds == "people":
        kept = Result.objects.of_study(study, ANALYSIS).exclude(choice="").values_list("choice", flat=True)
        names = sorted(own[0] for own in map(_keys, kept) if len(own) == 1)
    if helped_by and helped_by not in names:
        raise UnknownJudge(*names)
    board = replace(board, helpers=tuple(names))
    if not helped_by:
        return board
    version, of_help = _kept(study.pk, helped_by).values_list("version", KeyTransform("help", "record")).get()
    own, rankings = from_json(Help, of_help), Ranking.objects.filter(study=study, scored_by=ScoredBy.WIN_RATE)
    is_old = rankings.filter(version__gt=version).exists()
    return replace(board, helped=own, is_old=lambda: is_old, work_of_others=partial(_work, study, own))


def _keys(choice: str) -> tuple[str, ...]:
    return Result(choice=choice).keys


def _human_written(board: Board) -> set[str]:
    return {row.system for row in board.everyone if row.person}


def _with_rows(board: Board, rows: Sequence[LeaderboardRow]) -> Board:
    human_written, others = by_author(rows)
    return replace(board, human_written=human_written, rows=others, curve=())


def _work(study: Study, own: Help) -> str:
    """How long people would take for the answers that they need not give; "" where their pace is not known."""
    pace = forecast.pace_of(study, "summaries")
    is_more = own.equivalent > own.answers
    return work_in_words(own.equivalent - own.answers, pace.seconds) if is_more and pace.basis == "taken" else ""
