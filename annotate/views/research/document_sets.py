"""Do scores depend on the document set? A page, and its tables and pictures as files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import document_sets, plots, rests_on
from annotate.reports.document_sets import DocumentSetsTable, ScorerLine
from annotate.reports.plots import Plot
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import LATEX, as_file, csv_table, page
from annotate.views.research.paper import FIGURES, Content, PaperPart, figure_file, paper_part
from annotate.views.research.results import p_value
from formats.results import DocumentSets, RankTest, Scatter


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
        topics=plots.topic_ranks(shown) if shown else None,
        scores=plots.all_scores(shown) if shown else None,
        scatter=plots.systems_by_two(shown) if shown else None,
        paper=_paper(study, shown) if shown and shown.scorer else None,
        has_worker=worker_is_there(),
    )


@in_study("see")
@require_safe
def metrics_sets_file(request: HttpRequest, study: Study, part: str, form: str) -> HttpResponse:
    """A part of it as a file; 404 before anything was worked out."""
    shown = _shown(request, study)
    if shown is None or shown.scorer is None:
        raise Http404
    names = [_NAMES[part], slugify(study.title) or "study", slugify(shown.table.dimension), slugify(shown.by)]
    name = "-".join(filter(None, names))
    if form in FIGURES:
        return figure_file(_PLOTS[part](shown), form, f"{shown.name} · {_rests_on(study)}", name)
    content, kind = _TABLES[part, form](study, shown)
    return as_file(content, kind, f"{name}.{form}")


def _shown(request: HttpRequest, study: Study) -> DocumentSetsTable | None:
    asked = (request.GET.get(name, "") for name in ("dimension", "peers", "by", "topic"))
    return document_sets.of_study(study, *asked)


def _paper(study: Study, shown: DocumentSetsTable) -> list[PaperPart]:
    asked = {"dimension": shown.table.dimension, "peers": shown.table.peers, "by": shown.by}
    if shown.topic:
        asked["topic"] = shown.topic.topic
    titles = {
        "tests": _("Differences between topics and between systems"),
        "topics": _("Topics by mean rank"),
        "scores": _("All scores"),
        "scatter": _("Systems by metric and people"),
    }
    return [
        paper_part(title, f"metrics_sets_{part}", [form for of, form in _FILES if of == part], [study.pk], **asked)
        for part, title in titles.items()
        if part not in _PLOTS or _PLOTS[part](shown) is not None
    ]


def _cells_of(line: ScorerLine) -> dict[str, Any]:
    """A line of the table of tests, with p-values as papers print them."""
    kruskal, friedman = line.sets.kruskal, line.sets.friedman
    return {"line": line, "p": _p(kruskal), "friedman_p": _p(friedman)}


def _p(test: RankTest | None) -> str:
    return "–" if test is None else p_value(test.p)


# Files


def _tests_csv(study: Study, shown: DocumentSetsTable) -> Content:
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
    return csv_table(("scorer", "by", "topics", *columns, "pairs", "different", "gap"), rows)


def _figures(test: RankTest | None) -> tuple[float | int | None, ...]:
    return (test.statistic, test.df, test.p) if test else (None, None, None)


def _tests_latex(study: Study, shown: DocumentSetsTable) -> Content:
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


def _topics_csv(study: Study, shown: DocumentSetsTable) -> Content:
    rows = [
        (topic.topic, topic.n, topic.mean_rank, topic.low, topic.high, len(topic.differs), "; ".join(topic.differs))
        for topic in _scorer(shown).sets
    ]
    return csv_table(("topic", "scores", "mean_rank", "low", "high", "differ", "differs_from"), rows)


def _topics_latex(study: Study, shown: DocumentSetsTable) -> Content:
    columns = [_("Topic"), _("Scores"), _("Mean rank"), _("Tukey’s interval"), _("Differ")]
    rows = [
        [topic.topic, str(topic.n), f"{topic.mean_rank:.1f}", f"[{topic.low:.1f}, {topic.high:.1f}]", str(differing)]
        for topic, differing in ((topic, len(topic.differs)) for topic in _scorer(shown).sets)
    ]
    return _latex(columns, "lrrcr", rows, study)


def _matrix_csv(study: Study, shown: DocumentSetsTable) -> Content:
    scorer = _scorer(shown)
    matrix = scorer.matrix
    rows = [
        (scorer.by, topic, system, int(k < matrix.machines), score)
        for topic, row in zip(matrix.topics, matrix.scores, strict=True)
        for k, (system, score) in enumerate(zip(matrix.systems, row, strict=True))
    ]
    return csv_table(("by", "topic", "system", "machine", "score"), rows)


def _scatter_csv(study: Study, shown: DocumentSetsTable) -> Content:
    scatter = shown.scatter or Scatter(shown.table.dimension, "", ())
    rows = [(point.system, int(point.machine), point.x, point.y) for point in scatter.points]
    return csv_table(("system", "machine", scatter.metric, f"human {scatter.dimension}"), rows)


def _rests_on(study: Study) -> str:
    return f"{_('Preferences rest on:')} {rests_on.of_study(study).counted.words}"


def _scorer(shown: DocumentSetsTable) -> DocumentSets:
    if shown.scorer is None:
        raise Http404
    return shown.scorer


_PLOTS: Mapping[str, Callable[[DocumentSetsTable], Plot | None]] = {
    "topics": plots.topic_ranks,
    "scores": plots.all_scores,
    "scatter": plots.systems_by_two,
}
_TABLES: Mapping[tuple[str, str], Callable[[Study, DocumentSetsTable], Content]] = {
    ("tests", "tex"): _tests_latex,
    ("tests", "csv"): _tests_csv,
    ("topics", "tex"): _topics_latex,
    ("topics", "csv"): _topics_csv,
    ("scores", "csv"): _matrix_csv,
    ("scatter", "csv"): _scatter_csv,
}
_FILES = [*((part, form) for part in _PLOTS for form in FIGURES), *_TABLES]
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
