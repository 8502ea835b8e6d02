"""Analyses of a study or topic: a page that updates itself, and its tables and figures as files."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotate import access
from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study, Topic
from annotate.reports import analyses
from annotate.reports.analyses import Opened
from annotate.reports.figure_files import FIGURES
from annotate.reports.plots import Plot
from annotate.reports.study import worker_is_there
from annotate.views.research import forecast
from annotate.views.research.download import FIGURE, TABLE, Download, Form, download, figure_file
from annotate.views.research.pages import CSV, LATEX, UNCHANGED, as_file, is_seen, page
from preferendum.show.analyses import Analysis
from preferendum.show.shown import Figure, Table

#: So many rows of a table are on the page; files have all.
MOST_ROWS = 200
#: For analyses that a form of their own requests: what it shows.
ASKED_BY = {"forecast": forecast.forms}


@in_study("see")
@require_safe
@snapshot()
def one_analysis(request: HttpRequest, study: Study, analysis: str, topic_id: int | None = None) -> HttpResponse:
    """One analysis of a study or topic that has a page; asks for news while it is open."""
    of, asked = _asked(request, study, analysis, topic_id)
    if not asked.page or (asked.page == "metrics" and not analyses.has_human_scores(study)):
        raise Http404
    if "seen" in request.GET and is_seen(request, analyses.stored_for(of, asked).version):
        return HttpResponse(status=UNCHANGED)
    opened = analyses.opened(of, asked, request.GET.dict(), access.abilities(request.user, study))
    place = {"here": analysis} if topic_id is None else {"topic": of, "show": analysis}
    return page(
        request,
        study,
        f"research/results/{asked.of}_analysis.html",
        **place,
        opened=opened,
        shown=opened.shown,
        parts=_parts(opened),
        downloads=list(_downloads(opened)),
        query=urlencode({**_chosen(request), **opened.asked, "seen": opened.stored.version}),
        kept=urlencode({name: value for name, value in opened.asked.items() if name in ("dimension", "peers")}),
        has_worker=worker_is_there(),
        **(ASKED_BY[analysis](request, study) if analysis in ASKED_BY else {}),
    )


@in_study("see")
@require_safe
@snapshot()
def analysis_file(
    request: HttpRequest, study: Study, analysis: str, part: str, form: str, topic_id: int | None = None
) -> HttpResponse:
    """A table or figure of it as a file; 404 before anything was worked out."""
    can = access.abilities(request.user, study)
    opened = analyses.opened(*_asked(request, study, analysis, topic_id), request.GET.dict(), can)
    if opened.shown is None:
        raise Http404
    kind: type = Figure if form in FIGURES else Table
    shown = next((own for own in opened.shown.parts if own.name == part and isinstance(own, kind)), None)
    if shown is None:
        raise Http404
    names = [analysis, part, slugify(str(opened.of)) or opened.analysis.of, *map(slugify, opened.asked.values())]
    stem = "-".join(dict.fromkeys(filter(None, names)))
    if isinstance(shown, Figure):
        return figure_file(request, Plot(shown.draw), form, f"{shown.title} · {opened.rests_on}", stem)
    if form == "csv":
        return as_file(shown.csv(), CSV, f"{stem}.csv")
    return as_file(f"{shown.latex(opened.rests_on)}\n".encode(), LATEX, f"{stem}.tex")


def _asked(request: HttpRequest, study: Study, name: str, topic_id: int | None) -> tuple[Study | Topic, Analysis]:
    """Raises `Http404` if there is no such analysis, `PermissionDenied` if its reader may not see it."""
    of = study if topic_id is None else get_object_or_404(study.topics, pk=topic_id)
    asked = analyses.analyses_of(of).get(name)
    if asked is None:
        raise Http404
    if not access.may(request.user, study, asked.ability):
        raise PermissionDenied
    return of, asked


def _chosen(request: HttpRequest) -> Mapping[str, str]:
    """Every choice in the address, whether or not the analysis knows it."""
    return {name: request.GET[name] for name in analyses.CHOICES if request.GET.get(name)}


def _parts(opened: Opened) -> list[Mapping[str, object]]:
    """Tables and figures as the template shows them."""
    parts = opened.shown.parts if opened.shown else ()
    return [
        {"figure": part, "plot": Plot(part.draw)}
        if isinstance(part, Figure)
        else table_part(part, opened.study_id, opened.asked)
        for part in parts
        if isinstance(part, Figure) or not part.folded
    ]


def table_part(table: Table, study_id: int, asked: Mapping[str, str]) -> Mapping[str, object]:
    """Rows with their link and cells: what heads it, text, whether a number, whether a repeated name."""
    some = replace(table, rows=table.rows[:MOST_ROWS])
    chosen = table.links or [None] * len(some.rows)
    links = [_link(table, study_id, asked, link) if link else "" for link in chosen[:MOST_ROWS]]
    numbers = [not column.is_text for column in table.read]
    labels = [column.label for column in table.read]
    heads = [
        f"{column.group}: {column.label}" if column.group and labels.count(column.label) > 1 else column.label
        for column in table.read
    ]
    texts = some.texts()
    rows = [
        {
            "link": link,
            "marked": k in table.marked,
            "thin": k in table.thin,
            "cells": list(zip(heads, row, numbers, _repeated(row, above, numbers), strict=True)),
        }
        for k, (link, row, above) in enumerate(zip(links, texts, [[], *texts], strict=False))
    ]
    blocks = [rows[: table.first], rows[table.first :]] if table.first else [rows]
    return {"table": table, "blocks": blocks, "groups": _groups(table), "hidden": len(table.rows) - len(rows)}


def _link(table: Table, study_id: int, asked: Mapping[str, str], link: Mapping[str, str | int]) -> str:
    if table.leads_to:
        query = f"?{urlencode(asked)}" if asked else ""
        return reverse(table.leads_to, kwargs={"study_id": study_id, **link}) + query
    return f"?{urlencode({**asked, **link})}"


def _repeated(row: Sequence[str], above: Sequence[str], numbers: Sequence[bool]) -> list[bool]:
    """Which of the first names repeat those of the row above."""
    same = (bool(above) and row[k] == above[k] and not numbers[k] for k in range(len(row)))
    return list(accumulate(same, operator.and_))


def _groups(table: Table) -> list[tuple[str, int]]:
    """Headings above columns with how many columns each spans; empty if no column has one."""
    groups: list[tuple[str, int]] = []
    for column in table.read:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    return groups if any(name for name, _span in groups) else []


def _downloads(opened: Opened) -> Iterator[Download]:
    """Each name once, with the forms of its figure and its table."""
    parts = opened.shown.parts if opened.shown else ()
    view, topic = ("topic_analysis", [opened.of.pk]) if isinstance(opened.of, Topic) else ("analysis", [])
    titles = Counter({part.name: part.title for part in reversed(parts)}.values())
    for name in dict.fromkeys(part.name for part in parts):
        own = [part for part in parts if part.name == name]
        forms = [form for part in own for form in _forms(part)]
        title = own[0].title
        if titles[title] > 1:
            title += f" ({_('figure') if isinstance(own[0], Figure) else _('table')})"
        yield download(title, view, forms, [opened.study_id, *topic, opened.analysis.name, name], opened.asked)


def _forms(part: Table | Figure) -> Sequence[Form]:
    """Some tables have no LaTeX, since people read none of their columns."""
    return FIGURE if isinstance(part, Figure) else TABLE if part.read else TABLE[1:]


_STUDY, _TOPIC = "studies/<int:study_id>/results/", "studies/<int:study_id>/topics/<int:topic_id>/results/"
urlpatterns = [
    path(f"{_STUDY}<slug:analysis>/", one_analysis, name="analysis"),
    path(f"{_TOPIC}<slug:analysis>/", one_analysis, name="topic_analysis"),
    *[
        path(f"{place}<slug:analysis>/<slug:part>.{form}", analysis_file, {"form": form}, name=f"{name}_{form}")
        for place, name, forms in [
            (_STUDY, "analysis", (*FIGURES, "csv", "tex")),
            (_TOPIC, "topic_analysis", ("csv", "tex")),  # no topic analysis has a figure yet
        ]
        for form in forms
    ],
]
