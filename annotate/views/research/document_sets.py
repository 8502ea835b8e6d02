"""Do scores depend on the document set? A page, and its tables and pictures as files."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import document_sets, rests_on
from annotate.reports.document_sets import DocumentSetsTable, ScorerLine
from annotate.reports.set_plots import MISSING, rank_intervals, scatter_plot, score_grid
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import CSV, LATEX, as_file, page
from annotate.views.research.results import p_value
from formats.results import DocumentSets, RankTest, Scatter

Content = tuple[bytes, str]


@in_study("see")
@require_safe
def metrics_sets(request: HttpRequest, study: Study) -> HttpResponse:
    """Whether scores depend on the topic, which topics differ, all scores, and how far people are from machines."""
    shown = _shown(request, study)
    return page(
        request,
        study,
        "research/document_sets.html",
        tab="metrics",
        shown=shown,
        table=shown.table if shown else None,
        lines=[_cells_of(line) for line in shown.lines] if shown else (),
        **(_pictures(shown) if shown else {}),
        has_worker=worker_is_there(),
    )


@in_study("see")
@require_safe
def metrics_sets_file(request: HttpRequest, study: Study, part: str, form: str) -> HttpResponse:
    """A part of it as a file; 404 before anything was worked out."""
    shown = _shown(request, study)
    if shown is None or shown.scorer is None:
        raise Http404
    content, kind = _FILES[part, form](request, study, shown)
    names = [_NAMES[part], slugify(study.title) or "study", slugify(shown.table.dimension), slugify(shown.by)]
    return as_file(content, kind, f"{'-'.join(filter(None, names))}.{form}")


def _shown(request: HttpRequest, study: Study) -> DocumentSetsTable | None:
    asked = (request.GET.get(name, "") for name in ("dimension", "peers", "by", "topic"))
    return document_sets.of_study(study, *asked)


def _pictures(shown: DocumentSetsTable) -> dict[str, Any]:
    scorer, scatter = shown.scorer, shown.scatter
    return {
        "ranks_of_topics": rank_intervals(scorer.sets, shown.topic) if scorer else None,
        "grid": score_grid(scorer.matrix) if scorer else None,
        "missing": MISSING,
        "scatter": scatter_plot(scatter) if scatter else None,
    }


def _cells_of(line: ScorerLine) -> dict[str, Any]:
    """A line of the table of tests, with p-values as papers print them."""
    kruskal, friedman = line.sets.kruskal, line.sets.friedman
    return {"line": line, "p": _p(kruskal), "friedman_p": _p(friedman)}


def _p(test: RankTest | None) -> str:
    return "–" if test is None else p_value(test.p)


# Files


def _written(columns: Sequence[str], rows: Iterable[Sequence[str | float | int | None]]) -> Content:
    file = io.BytesIO()
    formats.write_rows(file, columns, rows)
    return file.getvalue(), CSV


def _tests_csv(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    of_test = ("statistic", "df", "p")
    columns = [f"{test}_{name}" for test in ("kruskal", "friedman") for name in of_test]
    rows = [
        (
            *("people" if line.sets.by_human else "metric", line.sets.by, len(line.sets.sets)),
            *(cell for test in (line.sets.kruskal, line.sets.friedman) for cell in _figures(test)),
            *(line.sets.pairs, line.sets.different, line.gap),
        )
        for line in shown.lines
    ]
    return _written(("scorer", "by", "topics", *columns, "pairs", "different", "gap"), rows)


def _figures(test: RankTest | None) -> tuple[float | int | None, ...]:
    return (test.statistic, test.df, test.p) if test else (None, None, None)


def _tests_latex(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    columns = [_("Scored by"), "H", "df", "p", _("differing pairs"), "χ²", "df", "p", _("gap")]
    rows = [
        [
            line.name,
            *_printed(line.sets.kruskal),
            f"{line.sets.different}/{line.sets.pairs}",
            *_printed(line.sets.friedman),
            "–" if line.gap is None else f"{line.gap:.2f}",
        ]
        for line in shown.lines
    ]
    return _latex(columns, "lrrrrrrrr", rows, study)


def _printed(test: RankTest | None) -> list[str]:
    return [f"{test.statistic:.1f}", str(test.df), p_value(test.p)] if test else ["–"] * 3


def _latex(columns: Sequence[str], alignment: str, rows: Iterable[Sequence[str]], study: Study) -> Content:
    content = formats.write_latex(columns, alignment, rows, [_rests_on(study)])
    return f"{content}\n".encode(), LATEX


def _topics_csv(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    rows = [
        (topic.topic, topic.n, topic.mean_rank, topic.low, topic.high, len(topic.differs), "; ".join(topic.differs))
        for topic in _scorer(shown).sets
    ]
    return _written(("topic", "scores", "mean_rank", "low", "high", "differ", "differs_from"), rows)


def _topics_latex(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    columns = [_("Topic"), _("Scores"), _("Mean rank"), _("Tukey’s interval"), _("Differ")]
    rows = [
        [topic.topic, str(topic.n), f"{topic.mean_rank:.1f}", f"[{topic.low:.1f}, {topic.high:.1f}]", str(differing)]
        for topic, differing in ((topic, len(topic.differs)) for topic in _scorer(shown).sets)
    ]
    return _latex(columns, "lrrcr", rows, study)


def _matrix_csv(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    scorer = _scorer(shown)
    matrix = scorer.matrix
    rows = [
        (scorer.by, topic, system, int(k < matrix.machines), score)
        for topic, row in zip(matrix.topics, matrix.scores, strict=True)
        for k, (system, score) in enumerate(zip(matrix.systems, row, strict=True))
    ]
    return _written(("by", "topic", "system", "machine", "score"), rows)


def _scatter_csv(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
    scatter = shown.scatter or Scatter(shown.table.dimension, "", ())
    rows = [(point.system, int(point.machine), point.x, point.y) for point in scatter.points]
    return _written(("system", "machine", scatter.metric, f"human {scatter.dimension}"), rows)


def _svg(picture: str) -> Callable[[HttpRequest, Study, DocumentSetsTable], Content]:
    def draw(request: HttpRequest, study: Study, shown: DocumentSetsTable) -> Content:
        context = {"shown": shown, "alone": True, "rests_on": _rests_on(study)}
        context |= _pictures(shown)
        if context[picture] is None:
            raise Http404
        return render(request, f"research/plots/{picture}.svg", context).content, "image/svg+xml"

    return draw


def _rests_on(study: Study) -> str:
    return f"{_('Preferences rest on:')} {rests_on.of_study(study).counted.words}"


def _scorer(shown: DocumentSetsTable) -> DocumentSets:
    if shown.scorer is None:
        raise Http404
    return shown.scorer


_FILES: Mapping[tuple[str, str], Callable[[HttpRequest, Study, DocumentSetsTable], Content]] = {
    ("tests", "csv"): _tests_csv,
    ("tests", "tex"): _tests_latex,
    ("topics", "csv"): _topics_csv,
    ("topics", "tex"): _topics_latex,
    ("topics", "svg"): _svg("ranks_of_topics"),
    ("scores", "csv"): _matrix_csv,
    ("scores", "svg"): _svg("grid"),
    ("scatter", "csv"): _scatter_csv,
    ("scatter", "svg"): _svg("scatter"),
}
#: What files of each part are called.
_NAMES = {"tests": "document-sets", "topics": "topics", "scores": "score-matrix", "scatter": "scatter"}

_SETS = "studies/<int:study_id>/metrics/sets"
urlpatterns = [
    path(f"{_SETS}/", metrics_sets, name="metrics_sets"),
    *[
        path(
            f"{_SETS}/{part}.{form}",
            metrics_sets_file,
            {"part": part, "form": form},
            name=f"metrics_sets_{part}_{form}",
        )
        for part, form in _FILES
    ],
]
