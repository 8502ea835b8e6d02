"""What it all comes to: leaderboards on the page and for papers, and one summary's score followed by hand."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate import closer, leaderboards
from annotate.access import in_study
from annotate.leaderboards import Board, Row
from annotate.models import Score, Sentence, Study, Summary, Topic
from annotate.phrases import settings_in_words
from annotate.plots import IntervalPlot, RankPlot, Scale, decimals, interval_plot, rank_plot
from annotate.views.research.pages import UNCHANGED, is_seen, page

COLUMNS = ("rank", "system", "score", "low", "high", "rank_low", "rank_high", "topics")
MARGIN = 4.0
#: A table of all pairs of more systems than this is no longer read.
MATRIX = 20


@in_study("see")
@require_safe
def leaderboard(request: HttpRequest, study: Study) -> HttpResponse:
    """The systems over all topics; moves by itself while it is open."""
    if is_seen(request, leaderboards.version_of_study(study)):
        return HttpResponse(status=UNCHANGED)
    board = leaderboards.of_study(study)
    robust = None if "seen" in request.GET else closer.robustness(study)
    return _board_page(request, study, board, tab="leaderboard", robust=robust)


@in_study("see")
@require_safe
def topic_leaderboard(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """The systems in one topic; moves by itself while it is open."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    if is_seen(request, leaderboards.version_of_topic(topic)):
        return HttpResponse(status=UNCHANGED)
    return _board_page(request, study, leaderboards.of_topic(topic), topic=topic, show="leaderboard")


@in_study("see")
@require_safe
def leaderboard_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The leaderboard over all topics as a file."""
    return _file(request, leaderboards.of_study(study), form, slugify(study.title) or "study")


@in_study("see")
@require_safe
def topic_leaderboard_file(request: HttpRequest, study: Study, topic_id: int, form: str) -> HttpResponse:
    """The leaderboard of one topic as a file."""
    topic = get_object_or_404(Topic, study=study, pk=topic_id)
    return _file(request, leaderboards.of_topic(topic), form, slugify(topic.name) or "topic")


@in_study("see")
@require_safe
def summary(request: HttpRequest, study: Study, summary_id: int) -> HttpResponse:
    """How a summary came to its score: a sum whose every term can be followed by hand."""
    found = get_object_or_404(Summary.objects.select_related("topic", "system"), topic__study=study, pk=summary_id)
    score = Score.objects.filter(summary=found).select_related("fit").first()
    parts = _parts(score) if score else []
    return page(
        request,
        study,
        "research/summary.html",
        topic=found.topic,
        summary=found,
        score=score,
        parts=parts,
        total=math.fsum(part["product"] for part in parts),
        digits=decimals([score.score], 5) if score else 4,
        by_content=score is not None and score.fit.settings.get("match") == "content",
        settings=settings_in_words(score.fit.settings) if score else [],
        human_scores=found.human_scores.order_by("dimension"),
        text=found.sentences or [found.text],
    )


def _board_page(request: HttpRequest, study: Study, board: Board, **context: Any) -> HttpResponse:
    """The whole page; or, for a page that is open already, its figures alone."""
    is_news = "seen" in request.GET
    context |= {
        "board": board,
        "lines": _lines(board),
        "digits": _digits(board),
        "matrix": _matrix(board),
        "settings": settings_in_words(board.settings),
        "plot": _interval_plot(board),
        "rank_plot": _rank_plot(board),
        "reordered": is_news and request.GET.get("order") != _order(board),
        "order": _order(board),
    }
    if not is_news:
        template = "research/topic_leaderboard.html" if board.of_topic else "research/leaderboard.html"
        return page(request, study, template, **context)
    response = page(request, study, "research/board_news.html", **context)
    if "empty" in request.GET and board.rows:
        response["HX-Refresh"] = "true"  # nothing was there to keep one's place in
    return response


def _lines(board: Board) -> list[dict[str, Any]]:
    """The rows with where their intervals lie on the small plots beside them."""
    numbers = [number for row in board.rows for number in (row.score, row.low, row.high) if number is not None]
    scale = Scale(min(numbers, default=0.0), max(numbers, default=1.0), MARGIN, 100 - MARGIN)
    return [
        {
            "row": row,
            "x": scale.at(row.score),
            "low": None if row.low is None else scale.at(row.low),
            "high": None if row.high is None else scale.at(row.high),
        }
        for row in board.rows
    ]


def _digits(board: Board) -> int:
    return decimals([row.score for row in board.rows])


def _order(board: Board) -> str:
    return "-".join(str(row.system.pk) for row in board.rows)


def _matrix(board: Board) -> list[dict[str, Any]]:
    """Every system against every other: by how much it is ahead, and how likely that is by chance."""
    if not board.differences or len(board.rows) > MATRIX:
        return []
    known = {(one.better, one.worse): one for one in board.differences}
    names = [row.system.name for row in board.rows]
    lines = []
    for row in board.rows:
        name = row.system.name
        cells = []
        for other in names:
            ahead = known.get((name, other))
            p = "" if ahead is None or ahead.p is None else _p_value(ahead.p)
            cells.append({"same": name == other, "better": ahead, "p": p})
        lines.append({"row": row, "cells": cells})
    return lines


def _p_value(p: float) -> str:
    """As papers print it: three decimals, no zero before the point."""
    return "< .001" if p < 0.001 else "1" if p > 0.9995 else f"{p:.3f}".removeprefix("0")


def _interval_plot(board: Board) -> IntervalPlot | None:
    rows = [(row.system.name, row.score, row.low, row.high) for row in board.rows]
    return interval_plot(rows) if rows else None


def _rank_plot(board: Board) -> RankPlot | None:
    if len(board.curve) < 2 or len(board.rows) < 2:
        return None
    return rank_plot(
        [(judgments, sorted(scores, key=lambda name: (-scores[name], name))) for judgments, scores in board.curve]
    )


def _parts(score: Score) -> list[dict[str, Any]]:
    """The terms of the sum: weight x redundancy factor x value (x closeness, where the settings ask for it)."""
    keys = [part["nearest"] for part in score.parts if part["nearest"] is not None]
    sentences = Sentence.objects.select_related("document").in_bulk(keys)
    parts = []
    for part in score.parts:
        closeness = part.get("closeness", 1.0)
        product = part["weight"] * part["factor"] * closeness * part["value"]
        parts.append(
            part
            | {
                "nearest": sentences.get(part["nearest"]),
                # Only a factor where the settings ask for it.
                "closeness": closeness if score.fit.settings.get("match") == "similarity" else None,
                "product": 0.0 if part["nearest"] is None else product,
            }
        )
    return parts


def _file(request: HttpRequest, board: Board, form: str, name: str) -> HttpResponse:
    content, kind = _FORMS[form](request, board)
    response = HttpResponse(content, content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="leaderboard-{name}.{form.removeprefix("ranks.")}"'
    return response


def _csv(request: HttpRequest, board: Board) -> tuple[bytes, str]:
    file = io.BytesIO()
    formats.write_rows(file, COLUMNS, [_cells(row) for row in board.rows])
    return file.getvalue(), "text/csv; charset=utf-8"


def _cells(row: Row) -> Sequence[str | float | None]:
    return (row.rank, row.system.name, row.score, row.low, row.high, row.rank_low, row.rank_high, row.topics)


def _latex(request: HttpRequest, board: Board) -> tuple[bytes, str]:
    digits = _digits(board)
    lines = [
        r"% "
        + _("%(judgments)d judgments, %(simulated)d of them simulated; %(settings)s; Preferendum %(version)s")
        % {
            "judgments": board.judgments,
            "simulated": board.simulated,
            "settings": ", ".join(settings_in_words(board.settings)),
            "version": board.program_version,
        },
        r"\begin{tabular}{rlrcc}",
        r"\hline",
        " & ".join([_("Rank"), _("System"), _("Score"), _("95% interval").replace("%", r"\%"), _("Ranks")]) + r" \\",
        r"\hline",
        *(" & ".join(_latex_cells(row, digits)) + r" \\" for row in board.rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return ("\n".join(lines) + "\n").encode(), "application/x-tex; charset=utf-8"


def _latex_cells(row: Row, digits: int) -> list[str]:
    known = row.low is not None and row.high is not None
    interval = f"[{row.low:.{digits}f}, {row.high:.{digits}f}]" if known else "--"
    ranks = str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}--{row.rank_high}"
    return [str(row.rank), _latex_text(row.system.name), f"{row.score:.{digits}f}", interval, ranks]


def _latex_text(text: str) -> str:
    """Text in which no character means anything to LaTeX."""
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))


LATEX: Mapping[str, str] = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _svg(request: HttpRequest, board: Board) -> tuple[bytes, str]:
    return _drawn(request, "research/plots/intervals.svg", _interval_plot(board))


def _ranks_svg(request: HttpRequest, board: Board) -> tuple[bytes, str]:
    return _drawn(request, "research/plots/ranks.svg", _rank_plot(board))


def _drawn(request: HttpRequest, template: str, plot: IntervalPlot | RankPlot | None) -> tuple[bytes, str]:
    if plot is None:
        raise Http404
    return render(request, template, {"plot": plot, "alone": True}).content, "image/svg+xml"


_FORMS: Mapping[str, Callable[[HttpRequest, Board], tuple[bytes, str]]] = {
    "csv": _csv,
    "tex": _latex,
    "svg": _svg,
    "ranks.svg": _ranks_svg,
}


def _files(address: str, view: Callable[..., HttpResponseBase], name: str) -> list[Any]:
    """One address for each form that a leaderboard can be fetched in."""
    return [path(f"{address}.{form}", view, {"form": form}, name=f"{name}_{form.replace('.', '_')}") for form in _FORMS]


_STUDY = "studies/<int:study_id>/"
_TOPIC = _STUDY + "topics/<int:topic_id>/"
urlpatterns = [
    path(_STUDY + "leaderboard/", leaderboard, name="leaderboard"),
    *_files(_STUDY + "leaderboard", leaderboard_file, "leaderboard"),
    path(_TOPIC + "leaderboard/", topic_leaderboard, name="topic_leaderboard"),
    *_files(_TOPIC + "leaderboard", topic_leaderboard_file, "topic_leaderboard"),
    path(_STUDY + "summaries/<int:summary_id>/", summary, name="summary"),
]
