"""Two systems beside each other: over all topics, and in one of them down to the answers that made the difference."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study, Summary, System, Topic
from annotate.reports import comparison
from annotate.reports import leaderboard as boards
from annotate.reports.comparison import Comparison, TopicLine
from annotate.views.research.pages import as_file, csv_table, keys, page
from annotate.views.research.results import asked_scored_by, scale_of
from formats.plots import Scale, decimals
from formats.shown import p_value

COLUMNS = ("topic", "first", "second", "difference", "low", "high", "p")


@in_study("see")
@require_safe
@snapshot()
def compare(request: HttpRequest, study: Study) -> HttpResponse:
    """Two systems that are chosen: by how much one is ahead of the other, and in which topics."""
    systems = list(System.objects.filter(study=study, summaries__isnull=False).distinct())
    first, second = _asked(request, systems)
    shown = comparison.of_study(study, first, second, asked_scored_by(request)) if first and second else None
    context: dict[str, Any] = {"tab": "leaderboard", "systems": systems, "first": first, "second": second}
    if shown:
        context |= {"shown": shown, "board": shown.board, **_drawn(shown)}
    return page(request, study, "research/compare.html", **context)


@in_study("see")
@require_safe
@snapshot()
def compare_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The same topic by topic, as a file."""
    first, second = (_system(study, request.GET.get(name, "")) for name in ("first", "second"))
    shown = comparison.of_study(study, first, second, asked_scored_by(request))
    return as_file(
        *csv_table(COLUMNS, map(_cells, shown.lines)),
        f"{slugify(first.name)}-{slugify(second.name)}-{shown.board.scored_by}.csv",
    )


@in_study("see")
@require_safe
@snapshot()
def compare_in_topic(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """Two summaries of a topic: the words, sentences and answers that make the difference of their scores."""
    topic = get_object_or_404(Topic.objects.select_related("study"), study=study, pk=topic_id)
    first, second = (_system(study, request.GET.get(name, "")) for name in ("first", "second"))
    scored_by = asked_scored_by(request) or boards.headline(study)
    fit = boards.newest_fit(topic, scored_by)
    summaries = {row.system_id: row for row in Summary.objects.filter(topic=topic, system__in=(first, second))}
    (line,) = comparison.lines(Topic.objects.filter(pk=topic.pk), first, second, scored_by)
    return page(
        request,
        study,
        "research/compare_in_topic.html",
        topic=topic,
        board={"scored_by": scored_by, "score": fit.settings.get("score", "") if fit else ""},
        first=first,
        second=second,
        line=line,
        summaries=[summaries.get(system.pk) for system in (first, second)],
        digits=_digits([line]),
        apart=comparison.of_topic(fit, first, second) if fit else None,
    )


def _asked(request: HttpRequest, systems: list[System]) -> tuple[System | None, System | None]:
    """The two that are asked for; none where they are no two systems of the study."""
    by_key = {system.pk: system for system in systems}
    asked = [by_key.get(key) for key in keys([request.GET.get("first", ""), request.GET.get("second", "")])]
    return (asked[0], asked[1]) if len(asked) == 2 and asked[0] != asked[1] else (None, None)


def _system(study: Study, asked: str) -> System:
    return get_object_or_404(System, study=study, pk=next(iter(keys([asked])), None))


def _drawn(shown: Comparison) -> dict[str, Any]:
    """The lines with where their intervals lie on the small plots, on one scale with 0 in the middle."""
    leads = [line.lead for line in shown.lines if line.lead]
    scale = scale_of("importance", [number for lead in leads for number in (lead.difference, lead.low, lead.high)])
    return {
        "lines": [{"line": line, **_places(line, scale)} for line in shown.lines],
        "zero": scale.at(0.0),
        "digits": _digits(shown.lines),
        "p": p_value(shown.lead.p) if shown.lead and shown.lead.p is not None else "",
    }


def _places(line: TopicLine, scale: Scale) -> dict[str, float | None]:
    lead = line.lead
    places = (lead.difference, lead.low, lead.high) if lead else (None, None, None)
    x, low, high = (None if number is None else scale.at(number) for number in places)
    return {"x": x, "low": low, "high": high}


def _digits(lines: tuple[TopicLine, ...] | list[TopicLine]) -> int:
    scores = [score.score or 0.0 for line in lines for score in (line.first, line.second) if score]
    return decimals(scores)


def _cells(line: TopicLine) -> tuple[str | float | None, ...]:
    lead = line.lead
    scores = [score.score if score else None for score in (line.first, line.second)]
    return line.topic.name, *scores, *((lead.difference, lead.low, lead.high, lead.p) if lead else (None,) * 4)


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "compare/", compare, name="compare_systems"),
    path(_STUDY + "compare.csv", compare_csv, name="compare_systems_csv"),
    path(_STUDY + "topics/<int:topic_id>/compare/", compare_in_topic, name="compare_in_topic"),
]
