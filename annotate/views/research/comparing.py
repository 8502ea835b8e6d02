"""Two systems compared in a topic, down to the answers that made the difference."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import ScoredBy, Study, Summary, System, Topic
from annotate.reports import comparison, rests_on
from annotate.reports import leaderboard as boards
from annotate.reports.answers_between import Against, against
from annotate.views.research.pages import keys, page
from annotate.views.research.results import asked_scored_by
from preferendum.show.analyses.two_systems import unit_of_lines


@in_study("see")
@require_safe
@snapshot()
def compare_in_topic(request: HttpRequest, study: Study, topic_id: int) -> HttpResponse:
    """Two summaries of a topic: the words, sentences and answers that make the difference of their scores."""
    topic = get_object_or_404(Topic.objects.select_related("study"), study=study, pk=topic_id)
    first, second = (_system(study, request.GET.get(name, "")) for name in ("first", "second"))
    scored_by = asked_scored_by(request) or boards.headline(study)
    asked = boards.asked_about(study, scored_by, topic)
    fit = boards.newest_fit(asked.first(), scored_by)
    score = fit.settings.get("score", "") if fit else ""
    rows = Summary.objects.filter(topic=topic, system__in=(first, second)).select_related("system")
    summaries = {row.system_id: row for row in rows}
    both = ((first.pk, first.name), (second.pk, second.name))
    (line,) = comparison.lines(Topic.objects.filter(pk=topic.pk), *both, scored_by)
    return page(
        request,
        study,
        "research/results/compare_in_topic.html",
        topic=topic,
        board={"scored_by": scored_by, "score": score, "rests_on": rests_on.of_sets(study, asked)},
        first=first,
        second=second,
        line=line,
        summaries=[summaries.get(system.pk) for system in (first, second)],
        unit=unit_of_lines(score, (line,)),
        apart=comparison.of_topic(fit, first, second) if fit else None,
        between=_between(summaries.get(first.pk), second) if scored_by == ScoredBy.WIN_RATE else None,
    )


def _between(summary: Summary | None, other: System) -> Against | None:
    """The answers about two summaries, from the first one's side."""
    return next((own for own in against(summary) if own.summary.system_id == other.pk), None) if summary else None


def _system(study: Study, asked: str) -> System:
    return get_object_or_404(System, study=study, pk=next(iter(keys([asked])), None))


urlpatterns = [path("studies/<int:study_id>/topics/<int:topic_id>/compare/", compare_in_topic, name="compare_in_topic")]
