"""How annotators judge, and what can be done about each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from annotate import judging
from annotate.access import in_study
from annotate.crowd import personal
from annotate.judging import what_if
from annotate.models import Annotator, AuditEntry, Judgment, Study
from annotate.reports import annotator_answers, annotators, audit_log
from annotate.reports.annotators import AnnotatorRow
from annotate.reports.what_if import in_words as what_would_change
from annotate.views.research.download import TABLE, download
from annotate.views.research.pages import STUDY, as_file, csv_table, page, user_of
from preferendum.formats.answers import ANSWERS
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.results import Figure
from preferendum.show.plots import sparkline

#: The kinds of annotators in the plural.
NAMES = {"human": gettext_lazy("People"), "machine": gettext_lazy("Machines"), "simulated": gettext_lazy("Simulated")}
FLAGGED_FIRST = "-flags"
ANSWERS_A_PAGE = 20
FIGURES = ("longer", "gold", "repeats", "circles", "fit", "e")
#: Names of columns with how often an answer was given, by its key.
COUNTS = {key: answer.count for key, answer in ANSWERS.items() if answer.count}
COLUMNS = (
    *("annotator", "kind", "state", "flags", "judged", "not_needed", "seconds", *COUNTS.values(), "skipped", "undone"),
    *(f"{name}{part}" for name in ("left", *FIGURES) for part in ("", "_n")),
    *("weight", "first_at", "last_at"),
)
ANSWER_COLUMNS = ("at", "topic", "left", "right", "answer", "seconds", "reason", "holds_place", "of", "why", "note")


@in_study("annotators")
@require_safe
def study_annotators(request: HttpRequest, study: Study) -> HttpResponse:
    """The annotators of a kind, one row each, in pages: flagged ones first, or sorted by any column."""
    sort = request.GET.get("sort", FLAGGED_FIRST)
    kinds = annotators.kinds_of(study)
    asked = request.GET.get("kind", "")
    kind = asked if asked in kinds else next(iter(kinds), Annotator.Kind.HUMAN)
    chosen, lines = annotators.page_of(study, sort, request.GET.get("page"), kind)
    careless = annotators.careless(study, kind)
    question = what_if.asked(study, careless.flagged) if careless.flagged else None
    return page(
        request,
        study,
        "monitor/annotators.html",
        here="annotators",
        chosen=chosen,
        lines=[(row, sparkline(row.pace)) for row in lines],
        sort=sort,
        kind=kind,
        chosen_kind=Annotator.Kind(kind).label,
        kinds=[(own, NAMES[own], number) for own, number in kinds.items()],
        careless=careless,
        without=question,
        without_words=what_would_change(study, question.record) if question and question.record else "",
        reachable=_reachable(study, kind, careless.flagged),
        counts=kind in KINDS_COUNTED[study.counted_kinds],
        keep=urlencode({"kind": kind, "sort": sort}) + "&",
        columns=[_column(several, sort) for several in _columns()],
        downloads=[download(_("All annotators"), "study_annotators", TABLE[1:], [study.pk])],
    )


def _reachable(study: Study, kind: str, flagged: Collection[int]) -> list[tuple[str, str, int]]:
    """The lists of addresses to copy: name, which, and how many; none but of people."""
    keys = personal.addresses(study).keys() if kind == Annotator.Kind.HUMAN else ()
    lists = [(_("all"), "all", len(keys)), (_("those who look careless"), "careless", len({*keys} & {*flagged}))]
    return [own for own in lists if own[2]]


def _columns() -> list[dict[str, str]]:
    """The columns of the table: the titles of each, by the name that sorts by it."""
    return [
        {"name": _("Annotator")},
        {"flags": _("Flags")},
        {"judged": _("Judged")},
        {"first": _("First answer"), "last": _("last answer")},
        {"seconds": _("Median seconds")},
        {"left": _("Chose the left")},
        {"longer": _("Chose the longer")},
        {"ties": _("No preference"), "skips": _("skipped")},
        {"gold": _("Gold pairs")},
        {"repeats": _("Repeats")},
        {"e": _("Evidence of clicking")},
    ]


def _column(titles: Mapping[str, str], sort: str) -> dict[str, Any]:
    """A column's heading: how it is sorted now, and what a click on each of its titles sorts by."""
    sorts, down = sort.lstrip("-"), sort.startswith("-")
    links = [
        {"title": title, "next": _next(name, sorts == name, down), "is_now": sorts == name}
        for name, title in titles.items()
    ]
    return {
        "links": links,
        "is_number": not titles.keys() & {"name", "flags"},
        "sorted": ("descending" if down else "ascending") if sorts in titles else "",
    }


def _next(name: str, is_sorted: bool, down: bool) -> str:
    """The reverse order if it is sorted by this; else the usual one: names from A, numbers from the largest."""
    first_is_down = name != "name"
    return f"-{name}" if (not down if is_sorted else first_is_down) else name


@in_study("annotators")
@require_safe
def study_annotators_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The table of all annotators as a file."""
    return as_file(
        *csv_table(COLUMNS, map(_cells, annotators.rows_of(study))), f"annotators-{slugify(study.title) or 'study'}.csv"
    )


def _cells(row: AnnotatorRow) -> tuple[str | float | int | None, ...]:
    annotator = row.annotator
    state = "excluded" if annotator.excluded_at else "paused" if annotator.paused_at else "active"
    times = (at.isoformat() if at else None for at in (row.first_at, row.last_at))
    own = (annotator.pseudonym, annotator.kind, state, "; ".join(map(str, row.flags)), row.judged, row.surplus)
    figures = (row.left, *(row.figures.get(name, Figure(None, 0)) for name in FIGURES))
    shares = [number for figure in figures for number in (figure.value, figure.n)]
    counts = (row.given[key] for key in COUNTS)
    return *own, row.seconds, *counts, row.skips, row.undone, *shares, row.weight, *times


@in_study("annotators")
@require_safe
def annotator_page(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Everything about one annotator, with all their answers, and what can be done about them."""
    annotator = get_object_or_404(Annotator.objects.arrived(), study=study, pk=annotator_id)
    chosen = Paginator(annotator_answers.of(annotator), ANSWERS_A_PAGE).get_page(request.GET.get("page"))
    (row,) = annotators.rows_of(study, [annotator.pk])
    entries = AuditEntry.objects.filter(study=study, detail__key=str(annotator.key)).order_by("-pk")
    return page(
        request,
        study,
        "monitor/annotator.html",
        here="annotators",
        row=row,
        line=sparkline(row.pace),
        sittings=annotator_answers.sittings(annotator),
        chosen=chosen,
        answers=chosen.object_list,
        entries=audit_log.in_words(entries),
        downloads=[download(_("All answers"), "study_annotator", TABLE[1:], [study.pk, annotator.pk])],
    )


@in_study("annotators")
@require_safe
def annotator_csv(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """All answers of one annotator as a file."""
    annotator = get_object_or_404(Annotator.objects.arrived(), study=study, pk=annotator_id)
    return as_file(
        *csv_table(ANSWER_COLUMNS, map(_answer_cells, annotator_answers.of(annotator).iterator(2000))),
        f"answers-{slugify(annotator.pseudonym) or annotator.pk}.csv",
    )


def _answer_cells(judgment: Judgment) -> tuple[str | float | int | None, ...]:
    shown = judgment.assignment
    sides = (shown.left.name, shown.right.name)
    how = (judgment.answer, judgment.seconds, shown.reason, int(shown.holds_place), shown.item_set.of)
    at = judgment.at.isoformat() if judgment.at else None
    return at, shown.item_set.topic.name, *sides, *how, judgment.why, judgment.note


@in_study("annotators")
@require_POST
def annotator_rest(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Pause or resume giving them pairs."""
    annotator = get_object_or_404(Annotator.objects.arrived(), study=study, pk=annotator_id)
    is_resting = request.POST.get("rest") == "on"
    if judging.rest(annotator, user_of(request), is_resting):
        message = (
            _("The annotator is paused and gets no pairs until you resume.")
            if is_resting
            else _("The annotator gets pairs again.")
        )
        messages.success(request, message)
    return redirect("study_annotator", study_id=study.pk, annotator_id=annotator.pk)


urlpatterns = [
    path(STUDY + "annotators/", study_annotators, name="study_annotators"),
    path(STUDY + "annotators/<int:annotator_id>/", annotator_page, name="study_annotator"),
    path(STUDY + "annotators.csv", study_annotators_csv, name="study_annotators_csv"),
    path(STUDY + "annotators/<int:annotator_id>.csv", annotator_csv, name="study_annotator_csv"),
    path(STUDY + "annotators/<int:annotator_id>/rest/", annotator_rest, name="annotator_rest"),
]
