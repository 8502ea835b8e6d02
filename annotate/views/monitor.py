"""What admins and operators see: how people judge and agree, what it rests on, what was done, how the worker does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotate import access, acts, closer, concord, judges, judging, previews
from annotate import health as condition
from annotate.access import in_study
from annotate.models import Act, Annotator, Preview, Study
from annotate.overview import worker_is_there
from annotate.plots import line_plot, sparkline
from annotate.refusal import Refusal
from annotate.views.research.pages import UNCHANGED, digest, is_seen, keys, page, person

ACTS_A_PAGE = 50
#: Bars of the distribution of judgments over sentences, at most.
BARS = 12


@login_required
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Whether a worker is running, how far behind it is, what failed and why; moves by itself while it is open."""
    found = condition.look(access.visible_studies(request.user))
    alive = [worker.name for worker in found.workers if worker.is_alive]
    # Not every second counts: a page that is drawn anew all the time cannot be read.
    lag = None if found.lag is None else found.lag // 10
    version = digest(alive, found.busy, found.waiting, found.rankings, found.uploads, found.exports, lag)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    template = "monitor/condition.html" if "seen" in request.GET else "monitor/health.html"
    # Said aloud again only if it is something else.
    is_news = request.GET.get("said", found.state) != found.state
    return render(request, template, {"health": found, "version": version, "is_news": is_news})


@in_study("people")
@require_safe
def study_judges(request: HttpRequest, study: Study) -> HttpResponse:
    """Everybody who judges, one line each, so many a page, sorted by any column."""
    sort = request.GET.get("sort", "joined")
    chosen, lines = judges.page_of(study, sort, request.GET.get("page"))
    return _page(
        request,
        study,
        "monitor/judges.html",
        show="judges",
        chosen=chosen,
        lines=[(one, sparkline(one.pace)) for one in lines],
        sort=sort,
        keep=urlencode({"sort": sort}) + "&",
        columns=[_column(name, title, sort) for name, title in _columns()],
    )


def _columns() -> list[tuple[str, str]]:
    """The columns of the table of judges by what sorts them."""
    return [
        ("name", _("Annotator")),
        ("flags", _("Questions")),
        ("judged", _("Judged")),
        ("seconds", _("Median seconds")),
        ("left", _("Left preferred")),
        ("ties", _("Equal")),
        ("skips", _("Skipped")),
        ("gold", _("Hidden checks")),
        ("repeats", _("Same again")),
        ("circles", _("In circles")),
        ("fit", _("Fit to the others")),
        ("e", _("E-value")),
        ("seen", _("Last seen")),
    ]


def _column(name: str, title: str, sort: str) -> dict[str, str]:
    """A column's heading: how it is sorted now, and what a click sorts it by."""
    if sort.lstrip("-") != name:
        # What one looks for first: names from A, all else from the largest.
        return {"name": name, "title": title, "sorted": "", "next": name if name == "name" else f"-{name}"}
    down = sort.startswith("-")
    return {
        "name": name,
        "title": title,
        "sorted": "descending" if down else "ascending",
        "next": name if down else f"-{name}",
    }


@in_study("people")
@require_safe
def judge_page(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Everything about one annotator, and what can be done about them."""
    found = get_object_or_404(Annotator, study=study, pk=annotator_id)
    (one,) = judges.look_at(study, [found.pk])
    done = Act.objects.filter(study=study, detail__key=str(found.key)).order_by("-pk")
    return _page(
        request,
        study,
        "monitor/judge.html",
        show="judges",
        one=one,
        line=sparkline(one.pace),
        done=_told(study, done),
    )


@in_study("people")
@require_POST
def judge_rest(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Give them no pairs for a while, or again."""
    found = get_object_or_404(Annotator, study=study, pk=annotator_id)
    on = request.POST.get("rest") == "on"
    if judging.rest(found, person(request), on):
        said = _("They are given no pairs until you let them go on.") if on else _("They are given pairs again.")
        messages.success(request, said)
    return redirect("judge_of_study", study_id=study.pk, annotator_id=found.pk)


@in_study("people")
@require_POST
def preview_ask(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask what would change without these annotators, or with them again."""
    found = Annotator.objects.filter(study=study, pk__in=keys(request.POST.getlist("annotator")))
    leave_out = request.POST.get("back") != "1"
    concerned = [one for one in found if (one.excluded_at is None) == leave_out]
    if not concerned:
        messages.error(request, _("Choose at least one annotator."))
        return redirect("judges", study_id=study.pk)
    asked = previews.request_preview(study, person(request), concerned, leave_out=leave_out)
    return redirect("preview", study_id=study.pk, key=asked.key)


@in_study("people")
@require_safe
def preview(request: HttpRequest, study: Study, key: Any) -> HttpResponse:
    """What would change: worked out by the worker, shown beside what is now."""
    found = get_object_or_404(Preview, study=study, key=key)
    has_worker = worker_is_there()
    version = digest(found.state, found.done, found.topics, has_worker)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    people = previews.people_of(found)
    return _page(
        request,
        study,
        "monitor/preview_state.html" if "seen" in request.GET else "monitor/preview.html",
        show="judges",
        preview=found,
        people=people,
        is_done=all((one.excluded_at is not None) == found.leave_out for one in people),
        rows=_beside(found.figures),
        version=version,
        has_worker=has_worker,
        is_old=found.state == Preview.State.READY and found.version != previews.version_of(study),
        most=judging.excluding.LONGEST_REASON,
    )


def _beside(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """The systems as they would stand, each with where it stands now."""
    if not figures:
        return []
    before = {one["system"]: one for one in figures["before"]["systems"]}
    after = {one["system"]: one for one in figures["after"]["systems"]}
    rows = []
    for name in [*after, *(name for name in before if name not in after)]:
        old, new = before.get(name), after.get(name)
        risen = old["rank"] - new["rank"] if old and new else 0
        rows.append({"system": name, "before": old, "after": new, "risen": max(0, risen), "fallen": max(0, -risen)})
    return rows


@in_study("people")
@require_POST
def preview_do(request: HttpRequest, study: Study, key: Any) -> HttpResponse:
    """Exclude whom the preview is about, or take them back in, with a reason."""
    found = get_object_or_404(Preview, study=study, key=key)
    people = previews.people_of(found)
    do = judging.exclude if found.leave_out else judging.readmit
    try:
        with transaction.atomic():
            done = sum([do(one, person(request), request.POST.get("reason", "")) for one in people])
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("preview", study_id=study.pk, key=key)
    messages.success(request, _said_of(done, found.leave_out))
    if len(people) == 1:
        return redirect("judge_of_study", study_id=study.pk, annotator_id=people[0].pk)
    return redirect("judges", study_id=study.pk)


def _said_of(done: int, leave_out: bool) -> str:
    if leave_out:
        said = ngettext("%(n)d annotator is excluded.", "%(n)d annotators are excluded.", done) % {"n": done}
        return said + " " + _("Their judgments are kept and do not count; scores follow by themselves.")
    said = ngettext("%(n)d annotator is back in.", "%(n)d annotators are back in.", done) % {"n": done}
    return said + " " + _("Their judgments count again; scores follow by themselves.")


@in_study("people")
@require_safe
def study_agreement(request: HttpRequest, study: Study) -> HttpResponse:
    """How far people agree: in all, by topic, over time, and who with whom."""
    found = concord.agreement(study)
    return _page(
        request,
        study,
        "monitor/agreement.html",
        show="agreement",
        agreement=found,
        plot=line_plot(found.course) if found else None,
        heat=concord.heat_map(found.report) if found else None,
        thin=concord.THIN,
    )


@in_study("people")
@require_safe
def study_disputed(request: HttpRequest, study: Study) -> HttpResponse:
    """The pairs that divide people most; or those on which two people, `a` and `b`, differ."""
    asked = keys(request.GET.get(name, "") for name in ("a", "b"))
    both = [get_object_or_404(Annotator, study=study, pk=key) for key in asked] if len(asked) == 2 else []
    disputes = concord.between(study, *both) if both else concord.most_disputed(study)
    return _page(request, study, "monitor/disputed.html", show="disputed", disputes=disputes, both=both)


@in_study("people")
@require_safe
def study_misfits(request: HttpRequest, study: Study) -> HttpResponse:
    """Sentences that won more or less often than their utilities let one expect."""
    return _page(request, study, "monitor/misfits.html", show="misfits", misfits=closer.misfits(study))


@in_study("people")
@require_safe
def study_coverage(request: HttpRequest, study: Study) -> HttpResponse:
    """How much of each topic was judged, and whether it hangs together."""
    found = closer.coverage(study)
    lines = [{"topic": one, "bars": _bars(one.bars)} for one in found]
    return _page(request, study, "monitor/coverage.html", show="coverage", lines=lines)


def _bars(counts: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Bars of a small histogram 24 units high: where each stands, and from how many judgments to how many it is."""
    step = -(-len(counts) // BARS) or 1
    heaps = [counts[start : start + step] for start in range(0, len(counts), step)]
    heights = [sum(sentences for _judgments, sentences in heap) for heap in heaps]
    return [
        {"x": 8 * k, "height": round(22 * height / (max(heights) or 1), 2), "from": heap[0][0], "to": heap[-1][0]}
        | {"sentences": height}
        for k, (heap, height) in enumerate(zip(heaps, heights, strict=True))
    ]


@in_study("people")
@require_safe
def study_consistency(request: HttpRequest, study: Study) -> HttpResponse:
    """Who is least consistent, and the way to what the ranking would be without them."""
    return _page(request, study, "monitor/consistency.html", show="consistency", least=closer.least_consistent(study))


@in_study("people")
@require_safe
def study_log(request: HttpRequest, study: Study) -> HttpResponse:
    """Every administrative act: who did what and when, and whether the log is what was written."""
    rows = Act.objects.filter(study=study)
    kinds = sorted(set(rows.order_by().values_list("act", flat=True)))
    asked = request.GET.get("act", "")
    kind = asked if asked in kinds else ""
    wanted = rows.filter(act=kind) if kind else rows
    chosen = Paginator(wanted.order_by("-number"), ACTS_A_PAGE).get_page(request.GET.get("page"))
    return _page(
        request,
        study,
        "monitor/log.html",
        show="log",
        chosen=chosen,
        lines=_told(study, chosen),
        kinds=kinds,
        kind=kind,
        keep=urlencode({"act": kind}) + "&" if kind else "",
        broken=acts.check(study),
    )


def _told(study: Study, rows: Iterable[Act]) -> list[dict[str, Any]]:
    """Acts with who did them, and what they say of themselves as (name, value)."""
    found = list(rows)
    names = dict(User.objects.filter(pk__in={row.actor_id for row in found}).values_list("pk", "username"))
    return [
        {
            "act": row,
            "actor": names.get(row.actor_id or 0, ""),
            "reason": row.detail.get("reason", ""),
            "detail": list(_details(row.detail)),
        }
        for row in found
    ]


def _details(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What an act says of itself, in words: names and values, and of each setting what it was and became."""
    for name, value in detail.items():
        if name == "changes":
            yield from ((_words(one), f"{_words(before)} → {_words(after)}") for one, (before, after) in value.items())
        elif name not in {"reason", "key"}:
            yield _words(name), _words(value)


def _words(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value).replace("_", " ") if isinstance(value, str) and value.isidentifier() else str(value)


def _page(request: HttpRequest, study: Study, template: str, **context: Any) -> HttpResponse:
    return page(request, study, template, tab="people", **context)


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path("health/", health, name="health"),
    path(_STUDY + "judges/", study_judges, name="judges"),
    path(_STUDY + "judges/<int:annotator_id>/", judge_page, name="judge_of_study"),
    path(_STUDY + "judges/<int:annotator_id>/rest/", judge_rest, name="judge_rest"),
    path(_STUDY + "judges/consistency/", study_consistency, name="consistency"),
    path(_STUDY + "previews/", preview_ask, name="preview_ask"),
    path(_STUDY + "previews/<uuid:key>/", preview, name="preview"),
    path(_STUDY + "previews/<uuid:key>/do/", preview_do, name="preview_do"),
    path(_STUDY + "agreement/", study_agreement, name="agreement"),
    path(_STUDY + "disputed/", study_disputed, name="disputed"),
    path(_STUDY + "misfits/", study_misfits, name="misfits"),
    path(_STUDY + "coverage/", study_coverage, name="coverage"),
    path(_STUDY + "log/", study_log, name="log"),
]
