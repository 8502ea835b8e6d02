"""The annotator's pages to try, by a member of a study or by anybody with the demo: nothing of it is stored.

They are the same templates and scripts; what differs is that an address says how far somebody is, where an annotator's
says which pair was drawn for them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import SystemRandom
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, crowd
from annotate.judging import demo, practice_to_match
from annotate.judging.trying import ANSWERS, Source, StudyPairs, Trial, find_trial
from annotate.models import Assignment, Study
from annotate.server import limits
from annotate.views.judging import progress
from annotate.views.judging.pair import JudgmentForm, SkipForm
from annotate.views.limited import limited
from formats.answers import SIDES, other_side

View = Callable[..., HttpResponseBase]
#: Seeds are short: they stand in addresses.
SEEDS = 10_000
chance = SystemRandom()


def address(trial: Trial, page: str, *more: str) -> str:
    """The address of a page of this trial, where it is now."""
    study = trial.source.study.pk
    name, source = ("demo", []) if study is None else ("try", [study])
    return reverse(f"{name}_{page}", args=[*source, trial.progress, *more])


def new_trial(source: Source) -> Trial:
    """A trial at its beginning, with pairs by lot."""
    return Trial(source, chance.randrange(SEEDS))


@require_http_methods(["GET", "HEAD", "POST"])
def welcome(request: HttpRequest, source: Source) -> HttpResponse:
    """What an annotator is told first; whoever begins is led to the first pair."""
    trial = new_trial(source)
    if request.method == "POST":
        return redirect(address(trial, "pair"))
    context = {
        "study": source.study,
        "progress": trial.annotator.progress,
        "recruitment": crowd.recruitment_of(source.study),
        "practice": len(source.practice),
        "must_match": practice_to_match(source.study, len(source.practice)),
        "trial": _leave(source),
        "form": "",
    }
    return render(request, "judge/join.html", context)


@require_safe
def begin(_request: HttpRequest, source: Source) -> HttpResponse:
    """Lead to the first pair at once: the start page has said what this is."""
    return redirect(address(new_trial(source), "pair"))


@require_http_methods(["GET", "HEAD", "POST"])
def trial_pair(request: HttpRequest, trial: Trial) -> HttpResponse:
    """Show two sentences; take the answer and lead to the next two."""
    if request.method != "POST":
        return _show(request, trial)
    form = JudgmentForm(request.POST)
    if not form.is_valid() or trial.is_over or trial.is_explained:
        return redirect(address(trial, "pair"))
    return _lead_to(request, trial.after(form.cleaned_data["answer"]))


@require_POST
def ahead(_request: HttpRequest, trial: Trial) -> HttpResponse:
    """Nothing is drawn ahead: which page comes next is decided by the answer."""
    return HttpResponse(status=204)


@require_POST
def skip(request: HttpRequest, trial: Trial) -> HttpResponse:
    """Leave the pair out."""
    is_asked = trial.number >= len(trial.source.practice) and not trial.is_over
    is_skipped = is_asked and SkipForm(request.POST).is_valid()
    return _lead_to(request, trial.after("skip") if is_skipped else trial)


@require_POST
def undo(request: HttpRequest, trial: Trial) -> HttpResponse:
    """Show the pair before this one again."""
    return _lead_to(request, trial.before())


@require_POST
def draw(request: HttpRequest, trial: Trial) -> HttpResponse:
    """Go on after an explanation."""
    return redirect(address(trial.explained(), "pair"))


@require_POST
def pause(request: HttpRequest, trial: Trial) -> HttpResponse:
    """An annotator who pauses can come back; a trial ends."""
    return redirect(_leave(trial.source)["leave"])


@require_safe
def guidelines(request: HttpRequest, trial: Trial) -> HttpResponse:
    """What the researchers ask their annotators to keep in mind, and the keys."""
    return progress.page(request, "guidelines", _frame(trial))


@require_safe
def context(request: HttpRequest, trial: Trial, side: str) -> HttpResponse:
    """One of the two sentences where it stands in its document."""
    if side not in SIDES or trial.is_over or trial.assignment is None:
        raise Http404
    sentence = getattr(trial.assignment, side)
    shown = {
        "side": side,
        "sentence": sentence,
        "sentences": trial.source.sentences_around(sentence),
        "other": other_side(side),
    }
    return progress.page(request, "context", _frame(trial) | _pair(trial, trial.assignment) | shown)


# Showing


def _lead_to(request: HttpRequest, trial: Trial) -> HttpResponse:
    """The page to come: in JSON for the page's own script, at once for htmx, by a redirect for everyone else."""
    here = address(trial, "pair")
    if "Judge-Showing" in request.headers:
        name, shown = _what_to_show(trial)
        shown |= {"part": True, "csrf_token": get_token(request)}
        part = render_to_string(f"judge/parts/{name}.html", shown)
        return JsonResponse({"said": "", "here": here, "part": part, "ahead": None})
    if not progress.wants_part(request):
        return redirect(here)
    response = _show(request, trial)
    response["HX-Push-Url"] = here
    return response


def _show(request: HttpRequest, trial: Trial) -> HttpResponse:
    name, shown = _what_to_show(trial)
    return progress.page(request, name, shown)


def first_pair(trial: Trial) -> dict[str, Any]:
    """What a page needs to ask for the first answer of a trial."""
    assert trial.assignment is not None
    return _frame(trial) | _pair(trial, trial.assignment)


def _what_to_show(trial: Trial) -> tuple[str, dict[str, Any]]:
    """The name of a template for where the trial is, and what it shows."""
    frame = _frame(trial)
    if trial.is_over or trial.assignment is None:
        if trial.source.study.pk is None:
            return "demo_over", frame | {"result": demo.result_of(trial)}
        return "trial_over", frame | {"judged": len(trial.answers)}
    shown = frame | _pair(trial, trial.assignment)
    if trial.is_explained:
        return "feedback", shown | _feedback(trial, trial.assignment)
    return "pair", shown


def _frame(trial: Trial) -> dict[str, Any]:
    """What every page of a trial has."""
    study = trial.source.study
    return {
        "study": study,
        "language": study.language,
        "annotator": trial.annotator,
        "here": address(trial, "pair"),
        "draw": address(trial, "draw"),
        "guidelines": address(trial, "guidelines"),
        "pause": address(trial, "pause"),
        "undo": address(trial, "undo") if trial.before() != trial else "",
        "trial": _leave(trial.source),
    }


def _pair(trial: Trial, assignment: Assignment) -> dict[str, Any]:
    """The pair and all that stands around it, as the pages of annotators name it."""
    study, topic = trial.source.study, assignment.topic
    number = trial.number + 1
    return {
        "assignment": assignment,
        "progress": trial.annotator.progress,
        "practice": {"number": number, "of": len(trial.source.practice)} if assignment.is_practice else None,
        "next_revision": 1,
        "ticket": "",
        "topic": topic,
        "question": topic.question or study.question,
        "answers": study.answers,
        "language": topic.language or study.language,
    }


def _feedback(trial: Trial, assignment: Assignment) -> dict[str, Any]:
    """What is right in a practice pair, and why."""
    answer = ANSWERS[trial.letters[-1].lower()]
    gold_pair = trial.source.practice[trial.number]
    return {"answer": answer, "is_right": answer == assignment.expected, "explanation": gold_pair.explanation}


def _leave(source: Source) -> dict[str, str]:
    """Where somebody goes who has tried enough, and what that place is called."""
    if source.study.pk is None:
        return {"leave": reverse("home"), "place": _("Back to the start page")}
    return {"leave": reverse("study", args=[source.study.pk]), "place": _("Back to the study")}


# Who may try what


def _of_study(view: View) -> View:
    """By whoever sees the study."""

    @access.in_study("see")
    def guarded(request: HttpRequest, study: Study, /, **more: str) -> HttpResponseBase:
        return _at(view, request, StudyPairs(study), **more)

    return guarded


def _of_demo(view: View) -> View:
    """By anybody, so many times an hour."""

    @limited
    def guarded(request: HttpRequest, /, **more: str) -> HttpResponseBase:
        if request.method == "POST":
            limits.spend(limits.TRIALS, limits.visitor(request))
        return _at(view, request, demo.DemoPairs(), **more)

    return guarded


def _at(view: View, request: HttpRequest, source: Source, trial: str = "", **more: str) -> HttpResponseBase:
    """Where the address says that the trial is; without that, before its beginning."""
    if not trial:
        return view(request, source)
    place = find_trial(source, trial)
    if place is None:
        raise Http404
    return view(request, place, **more)


def _addresses(prefix: str, name: str, guard: Callable[[View], View], first: View) -> list[URLPattern]:
    here = f"{prefix}<str:trial>/"
    return [
        path(prefix, guard(first), name=name),
        path(here, guard(trial_pair), name=f"{name}_pair"),
        path(f"{here}ahead/", guard(ahead), name=f"{name}_ahead"),
        path(f"{here}skip/", guard(skip), name=f"{name}_skip"),
        path(f"{here}undo/", guard(undo), name=f"{name}_undo"),
        path(f"{here}draw/", guard(draw), name=f"{name}_draw"),
        path(f"{here}pause/", guard(pause), name=f"{name}_pause"),
        path(f"{here}guidelines/", guard(guidelines), name=f"{name}_guidelines"),
        path(f"{here}context/<str:side>/", guard(context), name=f"{name}_context"),
    ]


urlpatterns = [
    *_addresses("studies/<int:study_id>/try/", "try", _of_study, welcome),
    *_addresses("try/", "demo", _of_demo, begin),
]
