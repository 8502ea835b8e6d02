"""An annotator's home: their progress, why there is no pair for them, pause, guidelines."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotate import access, crowd, five_pairs, judging
from annotate.judging import NoPair
from annotate.models import Annotator, Assignment, Participation, Questionnaire, Study
from annotate.server.languages import speak


@require_safe
def progress(request: HttpRequest, key: UUID) -> HttpResponse:
    """Their progress, with a button to continue, or why there is nothing to do."""
    code = request.GET.get("nothing", "")
    return show_progress(request, find_annotator(request, key), NoPair(code) if code in list(NoPair) else None)


@require_POST
def draw(request: HttpRequest, key: UUID) -> HttpResponse:
    """Lead an annotator to the pair that they judge now."""
    return go_on(request, find_annotator(request, key))


@require_POST
def pause(request: HttpRequest, key: UUID) -> HttpResponse:
    """Pause, and release the pair that they held."""
    annotator = find_annotator(request, key)
    judging.pause(annotator)
    if annotator.kind == Annotator.TRIAL:
        return redirect(trial_of(annotator.study)["leave"])
    return redirect(f"{reverse('progress', args=[key])}?paused")


@require_POST
def shortcuts(request: HttpRequest, key: UUID) -> HttpResponse:
    """Switch the single-key shortcuts on or off."""
    annotator = find_annotator(request, key)
    judging.set_shortcuts(annotator, request.POST.get("shortcuts") == "on")
    return go_on(request, annotator)


@require_safe
def guidelines(request: HttpRequest, key: UUID) -> HttpResponse:
    """What the researchers ask their annotators to keep in mind, and the keys."""
    annotator = find_annotator(request, key)
    draw = reverse("draw", args=[key])
    return page(request, "guidelines", {"annotator": annotator, "study": annotator.study, "draw": draw})


def go_on(request: HttpRequest, annotator: Annotator) -> HttpResponse:
    """Lead an annotator to their pair, or to the page that says why there is none."""
    if crowd.has_left(annotator):
        return redirect("progress", key=annotator.key)
    if crowd.due(annotator, Questionnaire.Place.BEFORE) and judging.why_no_pair(annotator) is None:
        return redirect("questionnaire", key=annotator.key)
    judging.look_again(annotator)
    drawn = draw_for(request, annotator)
    return redirect(address_of(annotator, drawn) if isinstance(drawn, NoPair) else reverse("pair", args=[drawn.key]))


def draw_for(request: HttpRequest, annotator: Annotator) -> Assignment | NoPair:
    """The pair that they judge now; annotators who are done, or cannot continue, leave with their code."""
    if annotator.kind != Annotator.TRIAL and access.is_partial(request.user, annotator.study):
        return NoPair.OWN
    drawn = judging.draw(annotator)
    if isinstance(drawn, NoPair) and drawn.told.is_final and crowd.participation_of(annotator) is not None:
        crowd.leave(annotator)
    return drawn


def address_of(annotator: Annotator, no_pair: NoPair) -> str:
    """The page that says why there is no pair for them."""
    return f"{reverse('progress', args=[annotator.key])}?nothing={no_pair}"


def show_progress(
    request: HttpRequest, annotator: Annotator, no_pair: NoPair | None = None, notice: str = ""
) -> HttpResponse:
    """Their progress; why they cannot judge at present, if so, or why there was `no_pair` a moment ago."""
    annotator.refresh_from_db(from_queryset=Annotator.objects.select_related("study"))
    no_pair = judging.why_no_pair(annotator) or no_pair
    participation = crowd.participation_of(annotator)
    outcome = participation.outcome if participation and participation.left_at else no_pair and no_pair.told.outcome
    is_over = outcome in (Participation.Outcome.DONE, Participation.Outcome.NO_WORK) and annotator.judged
    context = {
        "annotator": annotator,
        "study": annotator.study,
        "progress": annotator.progress,
        "participation": participation,
        "return_link": crowd.return_link(participation) if participation else "",
        "no_pair": no_pair,
        "text": no_pair.text(annotator.study) if no_pair else "",
        "notice": notice,
        "has_paused": "paused" in request.GET,
        "questionnaire": crowd.due(annotator, Questionnaire.Place.AFTER) if is_over else None,
    }
    if annotator.kind != Annotator.TRIAL:
        return page(request, "my_progress", context)
    if annotator.study.form_token == five_pairs.TOKEN and no_pair:
        return page(request, "demo_over", context | {"result": five_pairs.result_of(annotator)})
    return page(request, "trial_over", context | {"draw": reverse("draw", args=[annotator.key])})


def trial_of(study: Study) -> dict[str, str]:
    """Where an annotator is led who has tried enough, and the name of that place."""
    if study.form_token == five_pairs.TOKEN:
        return {"leave": reverse("home"), "place": _("Back to the start page")}
    return {"leave": reverse("study", args=[study.pk]), "place": _("Back to the study")}


def page(request: HttpRequest, name: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """The page, or for htmx only the part of it that changes."""
    part = wants_part(request)
    template = f"judge/parts/{name}.html" if part else f"judge/{name}.html"
    speak(request, context.get("language", context["study"].language))
    if context["annotator"].kind == Annotator.TRIAL:
        context = context | {"trial": trial_of(context["study"])}
    return render(request, template, context | {"part": part, "csrf_token": escape(get_token(request))}, status=status)


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx requests a part, and not the whole page after the browser's back button."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def find_annotator(request: HttpRequest, key: UUID) -> Annotator:
    """The annotator with this key, if it is this browser's."""
    annotator = Annotator.objects.select_related("study").filter(key=key).first()
    if annotator is None or not access.is_annotator(request, annotator):
        raise Http404
    speak(request, annotator.study.language)
    return annotator


# Annotators' browsers hold these addresses.
urlpatterns = [
    path("progress/<uuid:key>/", progress, name="progress"),
    path("progress/<uuid:key>/draw/", draw, name="draw"),
    path("progress/<uuid:key>/pause/", pause, name="pause"),
    path("progress/<uuid:key>/guidelines/", guidelines, name="guidelines"),
    path("progress/<uuid:key>/shortcuts/", shortcuts, name="shortcuts"),
]
