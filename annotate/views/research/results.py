"""Leaderboards on the page and for papers, and one summary's score step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import Annotator, Item, Score, ScoredBy, Study, Summary, System, Topic
from annotate.reports import diagnostics, helped, metric_scores, plots
from annotate.reports import leaderboard as boards
from annotate.reports.answers_between import against
from annotate.reports.figure_files import FIGURES
from annotate.reports.leaderboard import Board
from annotate.reports.method import settings_in_words
from annotate.reports.plots import Plot
from annotate.reports.scores import parts_of, tinted, with_names, word_terms
from annotate.reports.words_in_common import mark_shared
from annotate.views.research.analyses import table_part
from annotate.views.research.download import FIGURE, TABLE, Content, Download, download, figure_file
from annotate.views.research.pages import LATEX, UNCHANGED, as_file, csv_table, digest, is_seen, page
from preferendum.formats.readers.tables import tab_separated
from preferendum.metrics.names import WIN_RATE
from preferendum.results import LeaderboardRow, Part, WordTerm
from preferendum.results.statistics import MOST_COMPARED
from preferendum.show import standing
from preferendum.show.analyses.metric_scores import of_summary
from preferendum.show.latex import write_latex
from preferendum.show.plots import Scale
from preferendum.show.points import Unit, unit_of, what_a_point_is, what_a_win_rate_is
from preferendum.show.shown import as_it_is, p_value, sentences

COLUMNS = (
    *("rank", "system", "score", "low", "high", "rank_low", "rank_high"),
    *("topics", "lacking", "coverage", "rests_on", "person", "better_than_holds_at"),
)
MARGIN = 4.0
SYSTEMS_A_PAGE = MOST_COMPARED
#: So few systems need no search, and fit beside each other.
SHORT = 20


@in_study("see")
@require_safe
def leaderboard(request: HttpRequest, study: Study) -> HttpResponse:
    """The systems over all topics; updates itself while open."""
    if "seen" in request.GET and is_seen(request, boards.version_of_study(study)):
        return HttpResponse(status=UNCHANGED)
    board = _board(request, study)
    made_up_alone = not board.rests_on.counted.total and Annotator.Kind.SIMULATED in board.rests_on.kinds_beside
    if made_up_alone and "seen" not in request.GET:
        return redirect("kind_leaderboard", study_id=study.pk, kind=Annotator.Kind.SIMULATED)
    if "seen" in request.GET:
        return _board_page(request, study, board)
    verdicts = [] if board.helped else diagnostics.first_place(study, board.scored_by)
    verdicts += diagnostics.both_questions(study) if len(board.ways) > 1 and not board.helped else []
    return _board_page(request, study, board, here="leaderboard", verdicts=verdicts)


@in_study("see")
@require_safe
def topic_leaderboard(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """The systems in one topic; updates itself while open."""
    topic = get_object_or_404(Topic.objects.select_related("study"), study=study, pk=topic_id)
    if "seen" in request.GET and is_seen(request, boards.version_of_topic(topic)):
        return HttpResponse(status=UNCHANGED)
    return _board_page(request, study, _board(request, study, topic), topic=topic, show="leaderboard")


@in_study("see")
@require_safe
def leaderboard_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The leaderboard over all topics as a file."""
    return _file(request, _board(request, study), form, slugify(study.title) or "study")


@in_study("see")
@require_safe
def topic_leaderboard_file(request: HttpRequest, study: Study, topic_id: int, form: str) -> HttpResponse:
    """The leaderboard of one topic as a file."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    return _file(request, _board(request, study, topic), form, slugify(topic.name) or "topic")


@in_study("see")
@require_safe
def summary(request: HttpRequest, study: Study, summary_id: int) -> HttpResponse:
    """A summary's score as a sum whose every term can be checked by hand."""
    row = get_object_or_404(
        Summary.objects.select_related("topic__metrics", "system"), topic__study=study, pk=summary_id
    )
    scored_by = asked_scored_by(request) or boards.headline(study)
    score = Score.objects.filter(summary=row, scored_by=scored_by).select_related("fit", "summary__system").first()
    answers = against(row) if scored_by == ScoredBy.WIN_RATE else ()
    explained = _by_sentences(row) if scored_by == ScoredBy.WIN_RATE else score
    words, parts = word_terms(explained), parts_of(explained)
    source = explained.fit.source_words if explained else None
    return page(
        request,
        study,
        "research/boards/summary.html",
        topic=row.topic,
        summary=row,
        language=row.topic.language or study.language,
        scored_by=scored_by,
        view_of={
            "scored_by": scored_by,
            "score": score.fit.settings.get("score") if score else "",
            "ways": boards.ways_of_scoring(study),
        },
        score=score,
        explained=explained,
        unit_of_terms=_unit(explained),
        against=answers,
        answered=sum(compared.given.total() for compared in answers),
        words=(named := with_names(words)),
        source=source,
        tinted=list(tinted(row.whole, source, named)) if source else (),
        parts=[(part, nearest, *_beside(part, nearest)) for part, nearest in parts],
        copied=_as_table(words, parts),
        total=math.fsum([*(term.contribution for term in words), *(part.contribution for part, _nearest in parts)]),
        unit=_unit(score),
        settings=settings_in_words(explained.fit.settings) if explained else [],
        table=(table := metric_scores.table_of([row])),
        part=table_part(of_summary(table), study.pk, {}) if table.dimensions else None,
    )


def _unit(score: Score | None) -> Unit:
    return unit_of(score.fit.settings["score"], [(score.score, score.low, score.high)]) if score else unit_of("")


def _by_sentences(summary: Summary) -> Score | None:
    """The summary's score by the answers about sentences of its topic, if there are any."""
    scores = Score.objects.filter(summary=summary, scored_by=ScoredBy.RECOMMENDED, fit__judgments__gt=0)
    return scores.select_related("fit", "summary__system").first()


def _beside(part: Part, nearest: Item | None) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """A sentence of a summary and the most similar source sentence, each split by the words they share."""
    if nearest is None:
        return [(part.text, False)], []
    return mark_shared(part.text, nearest.text), mark_shared(nearest.text, part.text)


def _as_table(words: Sequence[WordTerm], parts: Sequence[tuple[Part, Item | None]]) -> str:
    """The terms of a score, to be copied into a spreadsheet."""
    columns: tuple[str, ...]
    if words:
        columns = ("word", "times in the sources", "IDF", "value", "contribution")
        return tab_separated(columns, [(w.word, w.occurrences, w.idf, w.value, w.contribution) for w in words])
    columns = ("sentence", "most similar source sentence", "similarity", "weight", "strength", "redundancy", "product")
    rows = [
        (p.text, nearest.text if nearest else "", p.similarity, p.weight, p.value, p.factor, p.contribution)
        for p, nearest in parts
    ]
    return tab_separated(columns, rows) if rows else ""


def asked_scored_by(request: HttpRequest) -> str:
    """The way of scoring that is requested; "" if there is no such way."""
    asked = request.GET.get("scored_by", "")
    return asked if asked in ScoredBy.values else ""


def _board(request: HttpRequest, study: Study, topic: Topic | None = None) -> Board:
    """The board of the study or of a topic, by the way of scoring and with the judge's help that are requested."""
    asked = asked_scored_by(request), request.GET.get("helped_by", "")
    try:
        return helped.of_topic(topic, *asked) if topic else helped.of_study(study, *asked)
    except helped.UnknownJudge as error:
        raise Http404 from error


def _board_page(request: HttpRequest, study: Study, board: Board, **context: Any) -> HttpResponse:
    """The whole page, or only its figures for a page that is open already."""
    is_news = "seen" in request.GET
    asked = _asked_systems(request) | ({"helped_by": board.helped.judge} if board.helped else {})
    is_ranked = any(row.system == asked.get("against") for row in board.rows)
    against = asked["against"] if is_ranked and board.differences and not board.why_untested else ""
    figures = _differences_to(board, against) if against else {row.system: row for row in board.everyone}
    numbers = [number for own in figures.values() for number in (own.score, own.low, own.high)]
    scale = scale_of("importance" if against else board.score, numbers)
    chosen = Paginator(_chosen_rows(board, asked), SYSTEMS_A_PAGE).get_page(request.GET.get("page"))
    shown = list(chosen)
    context |= {
        "board": board,
        "chosen": chosen,
        "asked": asked,
        "keep": f"{urlencode({'scored_by': board.scored_by} | asked)}&",
        "is_long": len(board.rows) > SHORT,
        "lines": _lines(board, shown, study, figures, scale),
        "people": [] if against else _lines(board, board.human_written, study, figures, scale),
        "against": against,
        "against_head": board.unit.named(_("Difference to %(system)s") % {"system": against}),
        "unit": board.unit,
        "zero": (scale.at(0.0) if against else average_at(board.score, scale)) if board.rows else None,
        "far_apart": standing.far_apart(board.rows, board.tests),
        "has_coverage": has_coverage(board),
        "missing": None if board.rows else boards.what_is_missing(study, context.get("topic"), board.scored_by),
        "equal_within": board.unit.with_unit(f"{board.unit.of(study.equal_within):g}"),
        "matrix": _matrix(board, study.equal_within),
        "settings": settings_in_words(board.settings),
        "rank_plot": (rank_plot := plots.board_ranks(board, SYSTEMS_A_PAGE)),
        "downloads": _downloads(study, board, context.get("topic"), has_ranks=rank_plot is not None),
        "reordered": is_news and request.GET.get("order") != _order(board),
        "order": _order(board),
    }
    if not is_news:
        template = "research/boards/topic_leaderboard.html" if board.of_topic else "research/boards/leaderboard.html"
        return page(request, study, template, **context)
    response = page(request, study, "research/boards/board_news.html", **context)
    if "empty" in request.GET and board.rows:
        response["HX-Refresh"] = "true"  # the page was empty, so there is no scroll position to keep
    return response


def _asked_systems(request: HttpRequest) -> dict[str, str]:
    """The systems requested: those with these letters in their names, and the one to hold all `against`."""
    asked = {name: request.GET.get(name, "").strip()[:200] for name in ("name", "against")}
    return {name: value for name, value in asked.items() if value}


def _chosen_rows(board: Board, asked: Mapping[str, str]) -> list[LeaderboardRow]:
    letters = asked.get("name", "").casefold()
    return [row for row in board.rows if letters in row.system.casefold()]


def _downloads(study: Study, board: Board, topic: Topic | None, *, has_ranks: bool) -> list[Download]:
    """The files of a board; a study that is not scored as published has that as a table."""
    name, keys = ("topic_leaderboard", [study.pk, topic.pk]) if topic else ("leaderboard", [study.pk])
    asked = {"scored_by": board.scored_by} | ({"helped_by": board.helped.judge} if board.helped else {})
    title = _("Scores with their intervals") if board.has_intervals else _("Scores")
    parts = [download(title, name, (*FIGURE, *TABLE), keys, asked)]
    if has_ranks:
        parts.append(download(_("The ranking over time"), f"{name}_ranks", FIGURE, keys, asked))
    if board.predicted:
        parts.append(download(_("Systems that nobody judged, predicted"), f"{name}_predicted", TABLE[1:], keys, asked))
    if board.scored_by == ScoredBy.RECOMMENDED:
        published = {"scored_by": ScoredBy.PUBLISHED.value}
        parts.append(download(boards.names_of_ways(study)[ScoredBy.PUBLISHED], name, TABLE, keys, published))
    return parts


def has_coverage(board: Board) -> bool:
    """Whether coverage is shown next to the score."""
    return board.score in ("importance", "combined")


def _lines(
    board: Board, shown: Sequence[LeaderboardRow], study: Study, figures: Mapping[str, LeaderboardRow], scale: Scale
) -> list[dict[str, Any]]:
    """The rows of a page with the places of their intervals on the small plots, and the systems they link to.

    `figures`: what is shown of each system, its score or a difference; `scale`: of all that is drawn.
    """
    named = System.objects.filter(study=study, name__in=[row.system for row in shown])
    keys = {} if board.of_topic else dict(named.values_list("name", "pk"))
    moves = board.moves
    beside = (
        standing.brackets(shown, board.tests)
        if len(shown) <= SHORT and tuple(shown) == board.rows
        else [[]] * len(shown)
    )
    alike = standing.alike(board.rows, board.tests) if any(beside) else {}
    return [
        {
            "row": row,
            "own": own,
            "alike": ", ".join(alike.get(row.system, ())),
            "brackets": lanes,
            "system": keys.get(row.system),
            "moved": moves.get(row.system, 0),
            "fallen": -moves.get(row.system, 0),
            "x": None if own is None else scale.at(own.score),
            "low": None if own is None or own.low is None else scale.at(own.low),
            "high": None if own is None or own.high is None else scale.at(own.high),
        }
        for row, lanes in zip(shown, beside, strict=True)
        for own in [figures.get(row.system)]
    ]


def _differences_to(board: Board, against: str) -> dict[str, LeaderboardRow]:
    """The rows with their differences to a system, and the intervals of these, in place of their scores; without that
    system, and those that share no topic with it."""
    rows = {row.system: row for row in board.rows}
    figures = {}
    for own in (difference.within(board.most_apart) for difference in board.differences):
        if own.worse == against and own.better in rows:
            figures[own.better] = replace(rows[own.better], score=own.difference, low=own.low, high=own.high)
        if own.better == against and own.worse in rows:
            low, high = (None if end is None else -end for end in (own.high, own.low))
            figures[own.worse] = replace(rows[own.worse], score=-own.difference, low=low, high=high)
    return figures


def scale_of(score: str, numbers: Iterable[float | None]) -> Scale:
    """The average is in the middle of the scale; win rates are drawn from 0 to 1."""
    scores = [number for number in numbers if number is not None]
    low, high = (0.0, 1.0) if score == WIN_RATE else boards.ends_of(score, scores)
    return Scale(low, high, MARGIN, 100 - MARGIN)


def average_at(score: str, scale: Scale) -> float | None:
    """Where the average is on the scale, for scores that have one."""
    average = {"importance": 0.0, WIN_RATE: 0.5}.get(score)
    return None if average is None else scale.at(average)


def _order(board: Board) -> str:
    return digest([row.system for row in board.rows])


def _matrix(board: Board, equal_within: float) -> list[dict[str, Any]]:
    """Every system against every other: the difference, and its p-value."""
    if board.why_untested or not board.differences or len(board.rows) > SHORT:
        return []
    differences = {(difference.better, difference.worse): difference for difference in board.differences}
    names = [row.system for row in board.rows]
    lines = []
    for row in board.rows:
        name = row.system
        cells = []
        for other in names:
            ahead = differences.get((name, other))
            p = "" if ahead is None or ahead.p is None else p_value(ahead.p)
            is_equal = ahead is not None and ahead.verdict(equal_within) == "equal"
            cells.append({"same": name == other, "better": ahead, "p": p, "is_equal": is_equal})
        lines.append({"row": row, "cells": cells})
    return lines


def _file(request: HttpRequest, board: Board, form: str, name: str) -> HttpResponse:
    picture, _dot, ending = form.rpartition(".")
    stem = f"{picture or 'leaderboard'}-{name}-{board.scored_by}"
    stem += f"-helped-by-{slugify(board.helped.judge)}" if board.helped else ""
    if ending in FIGURES:
        return figure_file(request, _PLOTS[picture](board), ending, board.rests_on_words, stem)
    content, kind = _TABLES[form](board)
    return as_file(content, kind, f"{stem}.{ending}")


def _csv(board: Board) -> Content:
    return csv_table(COLUMNS, [_cells(row, board) for row in board.everyone])


def _predicted_csv(board: Board) -> Content:
    columns = ("system", "score", "low", "high", "answers_to_measure")
    return csv_table(columns, [(own.system, own.score, own.low, own.high, own.answers) for own in board.predicted])


def _cells(row: LeaderboardRow, board: Board) -> Sequence[str | float | None]:
    figures = row.score, row.low, row.high, row.rank_low, row.rank_high, row.topics, row.lacking, row.coverage
    looks = "every look" if board.holds_at_every_look else "one look"
    return board.place(row), row.system, *figures, board.rests_on_words, str(row.person).lower(), looks


def _latex(board: Board) -> Content:
    """The caption has what a reader needs; comments have how it was computed."""
    score = render_to_string("research/boards/score_name.html", {"board": board}).strip()
    columns = [_("Rank"), _("System"), score]
    columns += [_("95% interval")] if board.has_intervals else []
    columns += [] if board.why_untested else [_("Ranks")]
    columns += [_("Coverage")] if has_coverage(board) else []
    rows = [_latex_cells(row, board, board.unit) for row in board.everyone]
    what = _("%(score)s of systems. %(basis)s") % {"score": score, "basis": board.basis}
    means = {"importance": what_a_point_is, WIN_RATE: what_a_win_rate_is}
    point = means[board.score]() if board.score in means else ""
    caption = sentences(what, *board.help_notes, board.why_untested or board.ground.words, board.over_all_topics, point)
    computed = [*settings_in_words(board.settings), f"Preferendum {board.program_version}"]
    by_length = [explained.words] if (explained := board.by_length()) else []
    outdated = [_("These are the scores of earlier settings.")] if board.is_outdated else []
    failed = [_("Could not be scored: %s") % f"{failure.topic}: {failure.problem}" for failure in board.failures]
    comments = ["; ".join(computed), *by_length, *outdated, *failed]
    alignment = "rl" + "r" * (len(columns) - 2)
    return f"{write_latex(columns, alignment, rows, caption, comments)}\n".encode(), LATEX


def _latex_cells(row: LeaderboardRow, board: Board, unit: Unit) -> list[str]:
    ranks = as_it_is(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"
    about = {"system": row.system, "n": row.topics, "of": board.topics}
    name = _("%(system)s (%(n)d of %(of)d topics)") % about if row.lacking else row.system
    cells = [as_it_is(board.place(row)), name, unit.show(row.score)]
    cells += [unit.interval(row.low, row.high)] if board.has_intervals else []
    cells += [] if board.why_untested else [ranks]
    return cells + (["–" if row.coverage is None else f"{row.coverage:.2f}"] if has_coverage(board) else [])


_TABLES: Mapping[str, Callable[[Board], Content]] = {"csv": _csv, "tex": _latex, "predicted.csv": _predicted_csv}
_PLOTS: Mapping[str, Callable[[Board], Plot | None]] = {
    "": lambda board: plots.board_scores(board, board.everyone),
    "ranks": lambda board: plots.board_ranks(board, SYSTEMS_A_PAGE),
}
_FORMS = ("csv", "tex", *FIGURES, *(f"ranks.{form}" for form in FIGURES))


def _files(address: str, view: Callable[..., HttpResponseBase], name: str, forms: Sequence[str] = _FORMS) -> list[Any]:
    """One address for each form of a leaderboard."""
    return [path(f"{address}.{form}", view, {"form": form}, name=f"{name}_{form.replace('.', '_')}") for form in forms]


_STUDY = "studies/<int:study_id>/"
_TOPIC = _STUDY + "topics/<int:topic_id>/"
urlpatterns = [
    path(_STUDY + "leaderboard/", leaderboard, name="leaderboard"),
    *_files(_STUDY + "leaderboard", leaderboard_file, "leaderboard", (*_FORMS, "predicted.csv")),
    path(_TOPIC + "leaderboard/", topic_leaderboard, name="topic_leaderboard"),
    *_files(_TOPIC + "leaderboard", topic_leaderboard_file, "topic_leaderboard"),
    path(_STUDY + "summaries/<int:summary_id>/", summary, name="summary"),
]
