"""The page of a pair: show, answer, skip, undo, and draw the next pair.

The page's script names the pair that it shows in the header `Judge-Showing` when it sends an answer. The reply is JSON:
what became of the answer, the pair to judge now (unless it is shown already), and the one after it.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.crypto import constant_time_compare
from django.utils.html import escape
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, crowd, judging
from annotate.database import statements
from annotate.judging import NoPair, Outcome
from annotate.models import Annotator, Assignment, Item, ReportedPair
from annotate.refusal import Refusal
from annotate.server import limits
from annotate.server.languages import speak
from annotate.views.judging import progress
from annotate.views.limited import limited
from preferendum.formats.answers import ANSWERS, PREFERENCES, SIDES, SUMMARY_ANSWERS, UNDONE, other_side
from preferendum.formats.readers.turns import apart

logger = logging.getLogger(__name__)
State = Assignment.State
P = ParamSpec("P")
#: Proves, in a form, that we showed this pair to the sender, in case their cookie is gone when they answer.
SHOWN = signing.Signer(salt="shown")
#: Seconds within which an annotator is told about their pace once.
SITTING = 3600.0
#: The key in the address of a pair.
KEY = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


class Several(forms.SelectMultiple):
    """The values of all fields of this name, with commas between them."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        return ",".join(data.getlist(name))


class JudgmentForm(forms.Form):
    """What a click or key sends; `revision` says which showing of the pair it answers."""

    answer = forms.ChoiceField(choices=[(key, key) for key in ANSWERS])
    revision = forms.IntegerField(min_value=1, max_value=32_000)
    seconds = forms.FloatField(required=False, min_value=0, max_value=86_400)
    why = forms.CharField(required=False, widget=Several)
    note = forms.CharField(required=False)


class UndoForm(forms.Form):
    revision = forms.IntegerField(required=False, min_value=1, max_value=32_000)


class SkipForm(forms.Form):
    """Why a pair is skipped; `report` and `note` are for the researchers."""

    reason = forms.ChoiceField(choices=Assignment.SkipReason.choices)
    report = forms.ChoiceField(choices=ReportedPair.Reason.choices, required=False)
    note = forms.CharField(max_length=500, required=False)


def about_a_pair(view: Callable[Concatenate[HttpRequest, UUID, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Lead annotators back to their progress if the pair was removed because its texts were split again."""

    @wraps(view)
    def guarded(request: HttpRequest, key: UUID, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, key, *args, **kwargs)
        except Assignment.DoesNotExist:
            annotators = list(access.known_annotators(request).values())
        if request.method == "POST":
            logger.warning("What was sent to pair %s is not stored: it is not there, or not theirs", key)
        if not annotators:
            raise Http404
        messages.warning(
            request, _("This pair no longer exists, for example because its text changed. Continue with another one.")
        )
        return redirect("progress", key=annotators[-1])

    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@about_a_pair
def pair(request: HttpRequest, key: UUID) -> HttpResponse:
    """Show two sentences, or two summaries; store the answer and lead to the next pair."""
    if request.method == "POST":
        return _take_answer(request, *_find_answered(request, key))
    return _show(request, _find(request, key))


@require_POST
@about_a_pair
def ahead(request: HttpRequest, key: UUID) -> HttpResponse:
    """The pair after this one, under its own lease, so that the page can show it at once."""
    part = _draw_ahead(request, _find(request, key))
    return HttpResponse(status=204) if part is None else HttpResponse(part)


@require_POST
@about_a_pair
def skip(request: HttpRequest, key: UUID) -> HttpResponse:
    """Skip a pair with a reason, and continue with the next."""
    assignment, form = _find(request, key), SkipForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Please choose why you skip this pair."))
        return redirect("pair", key=key)
    if assignment.is_practice:
        return _lead_to(request, assignment, _("In practice, please choose one of the two."))
    try:
        is_skipped = judging.skip(assignment, **form.cleaned_data)
    except Refusal as refusal:
        return _lead_to(request, assignment, refusal.message)
    if is_skipped:
        return _go_on(request, assignment.annotator, _about_skipping(assignment.annotator))
    return _go_on(request, assignment.annotator, _("You have already answered this pair. Your answer stands."))


@require_POST
@limited
@about_a_pair
def undo(request: HttpRequest, key: UUID) -> HttpResponse:
    """Undo an answer or a skip, and show its pair again."""
    assignment, form = _find(request, key), UndoForm(request.POST)
    if assignment.annotator.kind == Annotator.TRIAL:  # else anybody could fill the tables, one pair over and over
        limits.spend(limits.TRIALS, limits.visitor(request))
    if crowd.has_left(assignment.annotator):
        messages.success(request, _("You have finished. Your answers stay as they are."))
        return redirect("progress", key=assignment.annotator.key)
    if assignment.is_practice:
        return _lead_to(request, assignment)
    revision = form.cleaned_data["revision"] if form.is_valid() else None
    was_skipped = assignment.state == Assignment.State.SKIPPED
    judging.undo(assignment, revision or assignment.revision + 1)
    undone = _("Your last answer was undone. Judge this pair again.")
    return _lead_to(request, assignment, _("You skipped this pair. Here it is again.") if was_skipped else undone)


@require_safe
@about_a_pair
def context(request: HttpRequest, key: UUID, side: str) -> HttpResponse:
    """One of the two sentences in its document."""
    assignment = _find(request, key)
    sentence: Item | None = getattr(assignment, side) if side in SIDES else None
    if sentence is None or sentence.document is None:
        raise Http404
    shown = {
        "side": side,
        "sentence": sentence,
        "sentences": sentence.document.spaced(),
        "other": other_side(side),
    }
    return progress.page(request, "context", _what_to_show(assignment)[1] | shown)


@require_safe
@about_a_pair
def sources(request: HttpRequest, key: UUID) -> HttpResponse:
    """The source documents of what is compared."""
    assignment = _find(request, key)
    if not (documents := assignment.item_set.topic.documents.all()):
        raise Http404
    return progress.page(request, "sources", _what_to_show(assignment)[1] | {"documents": documents})


# Finding


def _find(request: HttpRequest, key: UUID) -> Assignment:
    """The pair with this key, if it was drawn for this browser's annotator."""
    return _theirs(request, statements.find_to_show(key))


def _find_answered(request: HttpRequest, key: UUID) -> tuple[Assignment, Assignment | None]:
    """The pair that is answered, and the one that their page's script shows meanwhile, if they hold that."""
    keys = [key, *KEY.findall(request.headers.get("Judge-Showing", ""))]
    rows = statements.find_to_answer([UUID(str(given)) for given in keys])
    if key not in rows:
        raise Assignment.DoesNotExist
    assignment = _theirs(request, rows.pop(key), request.POST.get("ticket", ""))
    for showing in rows.values():
        now = showing.now  # type: ignore[attr-defined]  # annotated by the query
        is_held = showing.state == State.OPEN and not judging.is_half_over(showing.expires_at, now)
        if is_held and showing.annotator_id == assignment.annotator_id and not showing.is_practice:
            return assignment, showing
    return assignment, None


def _theirs(request: HttpRequest, assignment: Assignment, ticket: str = "") -> Assignment:
    """The pair, if it was drawn for this browser's annotator, or a ticket proves that it was."""
    annotator = assignment.annotator
    speak(request, annotator.study.language)
    if access.is_annotator(request, annotator):
        return assignment
    if not ticket or not constant_time_compare(ticket, SHOWN.signature(str(assignment.key))):
        raise Http404
    if annotator.user_id is None and str(annotator.study_id) not in access.known_annotators(request):
        access.remember_annotator(request, annotator)  # their cookie was lost since it was shown
    return assignment


# Answering


def _take_answer(request: HttpRequest, assignment: Assignment, showing: Assignment | None) -> HttpResponse:
    """Store an answer; `showing` is the pair that the page's script shows meanwhile."""
    form = JudgmentForm(request.POST)
    answer = form.cleaned_data["answer"] if form.is_valid() else ""
    if not answer or (answer not in PREFERENCES and answer not in assignment.annotator.study.answers):
        logger.warning("Answer to pair %s is not stored: %s", assignment.key, ", ".join(sorted(form.errors)))
        return _show(request, statements.find_to_show(assignment.key), _("Choose one of the two."), status=400)
    of_member = request.user.is_authenticated and assignment.annotator.kind != Annotator.TRIAL
    draws = not assignment.is_practice
    if of_member and access.is_partial(request.user, assignment.annotator.study):
        draws, showing = False, None  # they have seen results, and judge no more
    try:
        recorded = judging.record_judgment(assignment, **form.cleaned_data, draws=draws, showing=showing)
    except Refusal as refusal:
        return _show(request, statements.find_to_show(assignment.key), refusal.message, status=400)
    except judging.TooSoon:
        return _wait_a_moment(request, statements.find_to_show(assignment.key))
    except judging.OutOfTurn:
        messages.warning(request, _("This page was out of date. Please judge the pair as it is shown now."))
        return redirect("pair", key=assignment.key)
    if assignment.is_practice:
        return _show_feedback(request, statements.find_to_show(assignment.key))
    notice, remark = _what_became_of_it(request, assignment, recorded)
    if "Judge-Showing" in request.headers:
        notices = {"said": notice, "remark": remark}
        return _answer_script(request, assignment.annotator, showing, recorded.following, notices)
    notice = f"{notice} {remark}".rstrip()
    if isinstance(recorded.following, Assignment):
        assignment.annotator.undo_revision = assignment.revision + 1
        if recorded.following.item_set_id == assignment.item_set_id:
            recorded.following.item_set = assignment.item_set
        return _lead_to(request, recorded.following, notice)
    return _go_on(request, assignment.annotator, notice)


def _answer_script(
    request: HttpRequest,
    annotator: Annotator,
    showing: Assignment | None,
    following: Assignment | NoPair | None,
    notices: dict[str, str],
) -> HttpResponse:
    """For the page's own script; `following` may have been drawn with the answer, after what it is `showing`."""
    shown_at = request.headers["Judge-Showing"]
    if showing is not None:  # nearly always: only the pair after it has to be drawn
        following = following or judging.draw(annotator, besides=showing)
        if isinstance(following, Assignment):
            part = _part(request, following, after=showing)
            return JsonResponse(notices | {"here": shown_at, "part": "", "ahead": part})
    drawn = following if isinstance(following, Assignment) else progress.draw_for(request, annotator)
    if isinstance(drawn, NoPair):
        part = progress.show_progress(request, annotator, drawn).content.decode()
        here = progress.address_of(annotator, drawn)
        return JsonResponse(notices | {"here": here, "part": part, "ahead": None})
    here = reverse("pair", args=[drawn.key])
    part = "" if shown_at == here else _part(request, drawn)
    return JsonResponse(notices | {"here": here, "part": part, "ahead": _draw_ahead(request, drawn)})


def _wait_a_moment(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """An answer too soon after the last one is not stored yet; our script sends it again by itself."""
    notice = _("This answer came within a second of your last one. Please read both and choose again.")
    response = _show(request, assignment, notice, status=429)
    response["Retry-After"] = "1"
    return response


def _show_feedback(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """After a practice pair: the right answer and why, before the next pair."""
    if "Judge-Showing" not in request.headers:
        return _lead_to(request, assignment)
    here = reverse("pair", args=[assignment.key])
    return JsonResponse({"said": "", "here": here, "part": _part(request, assignment), "ahead": None})


# What is said


def _what_became_of_it(request: HttpRequest, assignment: Assignment, recorded: judging.Recorded) -> tuple[str, str]:
    """Say what became of an answer, without left and right: on a phone the cards stand one above the other.

    Second, a kind remark to annotators who answer faster than people read: once a sitting, as nobody reads it thirty
    times.
    """
    judgment, speed = recorded.judgment, assignment.annotator.study.reading_speed
    if recorded.outcome == Outcome.DIFFERS and judgment.answer == UNDONE:
        return _("You had already undone that answer. Nothing was changed."), ""
    answers = SUMMARY_ANSWERS if assignment.item_set.of == "summaries" else ANSWERS
    answer = {"answer": _(answers[judgment.answer].name)}
    if recorded.outcome == Outcome.DIFFERS:
        return _("You had already answered this pair (%(answer)s). That answer stands.") % answer, ""
    notice = _("Saved: %(answer)s.") % answer
    characters = len(assignment.pair.first.text) + len(assignment.pair.second.text)
    was_read = judgment.seconds is None or not speed or judgment.seconds * speed >= characters
    is_told = was_read or time.time() - request.session.get("told_of_pace", 0.0) < SITTING
    if is_told or recorded.outcome != Outcome.STORED:
        return notice, ""
    request.session["told_of_pace"] = time.time()
    return notice, _("That was faster than people can read. Please read both. You can undo an answer with Undo.")


def _about_skipping(annotator: Annotator) -> str:
    """Thanks, and a kind question once an annotator has skipped half as many pairs in a row as end their work."""
    notice = _("Skipped. Thank you for the reason.")
    limit, skips = annotator.study.skips_in_a_row, annotator.skips_in_a_row
    if not limit or skips < (limit + 1) // 2:
        return notice
    asked = ngettext(
        "You have skipped %(skips)d pair in a row. Is something wrong with these texts, or are they hard to read?",
        "You have skipped %(skips)d pairs in a row. Is something wrong with these texts, or are they hard to read?",
        skips,
    )
    left = ngettext(
        "If you skip %(left)d more, your part ends here. An answer starts the count again.",
        "If you skip %(left)d more, your part ends here. An answer starts the count again.",
        limit - skips,
    )
    return " ".join([notice, asked % {"skips": skips}, left % {"left": limit - skips}])


# Leading on


def _go_on(request: HttpRequest, annotator: Annotator, notice: str) -> HttpResponse:
    """Lead to the pair that they judge now, or to the page that says why there is none."""
    drawn = progress.draw_for(request, annotator)
    if isinstance(drawn, Assignment):
        return _lead_to(request, drawn, notice)
    target = progress.address_of(annotator, drawn)
    if progress.wants_part(request):
        response = progress.show_progress(request, annotator, drawn, notice)
        response["HX-Push-Url"] = target
        return response
    messages.success(request, notice)
    return redirect(target)


def _lead_to(request: HttpRequest, assignment: Assignment, notice: str = "") -> HttpResponse:
    """The pair at once for htmx, which changes its address; a redirect for every other client."""
    if progress.wants_part(request):
        response = _show(request, assignment, notice)
        response["HX-Push-Url"] = reverse("pair", args=[assignment.key])
        return response
    if notice:
        messages.success(request, notice)
    return redirect("pair", key=assignment.key)


# Showing


def _show(request: HttpRequest, assignment: Assignment, notice: str = "", status: int = 200) -> HttpResponse:
    """The pair to be judged, or what became of it."""
    name, shown = _what_to_show(assignment)
    return progress.page(request, name, shown | {"notice": notice}, status)


def _part(request: HttpRequest, assignment: Assignment, after: Assignment | None = None) -> str:
    """Render the pair as a part of a page, for the page's script, as it will look once the pair `after` is judged."""
    if after is not None:
        annotator = assignment.annotator
        annotator.judged += 1
        annotator.previous, annotator.undo_revision = after.key, after.revision + 2
        if assignment.item_set_id == after.item_set_id:
            assignment.item_set = after.item_set
    name, shown = _what_to_show(assignment)
    shown |= {"part": True, "csrf_token": escape(get_token(request))}
    return render_to_string(f"judge/parts/{name}.html", shown)


def _draw_ahead(request: HttpRequest, shown: Assignment) -> str | None:
    """The part with the pair after this one; None if there is none."""
    if shown.is_practice:  # feedback on it follows first
        return None
    following = judging.draw(shown.annotator, besides=shown)
    return None if isinstance(following, NoPair) else _part(request, following, after=shown)


def _what_to_show(assignment: Assignment) -> tuple[str, dict[str, Any]]:
    """The name of this pair's template in its present state, and its context."""
    annotator, study, item_set = assignment.annotator, assignment.annotator.study, assignment.item_set
    topic, of_summaries = item_set.topic, item_set.of == "summaries"
    home = reverse("progress", args=[annotator.key])
    answers = SUMMARY_ANSWERS if of_summaries else ANSWERS
    shown: dict[str, Any] = {
        "assignment": assignment,
        "annotator": annotator,
        "progress": annotator.progress,
        "next_revision": assignment.revision + 1,
        "study": study,
        "topic": topic,
        "answers": {key: own for key, own in answers.items() if not own.setting or getattr(study, own.setting)},
        "language": escape(topic.language or study.language),  # once, and not wherever it is written
        "here": escape(reverse("pair", args=[assignment.key])),
        "guidelines": f"{home}guidelines/",
        "pause": f"{home}pause/",
        "undo": reverse("undo", args=[annotator.previous]) if annotator.previous else "",
    }
    if of_summaries:
        shown |= _about_summaries(assignment)
    if assignment.is_practice:
        shown |= _practice(assignment)
    if assignment.is_practice and assignment.state == State.JUDGED:
        return "feedback", shown
    if assignment.state in (State.JUDGED, State.SKIPPED, State.VOID):
        return "judged", shown | {"answer": answers.get(assignment.last_answer or "")}
    ticket = SHOWN.signature(str(assignment.key))
    return "pair", shown | {"ticket": ticket}


def _about_summaries(assignment: Assignment) -> dict[str, Any]:
    """What the page shows or names differently for two summaries."""
    topic = assignment.item_set.topic
    prompt = topic.prompt
    shared, left, right = apart(assignment.left.turns or (), assignment.right.turns or ())
    contents = [turn["content"] for turn in shared]
    # Where both begin with the same turns, these are what they answer, and no name is needed.
    heading = "" if topic.question in contents else topic.question
    return {
        "of_summaries": True,
        "prompt": heading if shared and prompt else prompt,
        "sources": "" if prompt else reverse("sources", args=[assignment.key]),
        "shared_turns": shared,
        "left_turns": left,
        "right_turns": right,
    }


def _practice(assignment: Assignment) -> dict[str, Any]:
    """Which practice pair this is and, once answered, the right answer and why."""
    pairs = list(judging.practice_pairs(assignment.annotator.study).values_list("better", "worse", "explanation"))
    before = judging.practised(assignment.annotator).exclude(pk=assignment.pk).count()
    shown: dict[str, Any] = {"practice": {"number": before + 1, "of": max(len(pairs), before + 1)}}
    shown["draw"] = reverse("draw", args=[assignment.annotator.key])
    if assignment.state == State.JUDGED:
        sentences = {assignment.pair.first_id, assignment.pair.second_id}
        answer = assignment.last_answer
        why = next((explanation for better, worse, explanation in pairs if {better, worse} == sentences), "")
        shown |= {"answer": answer, "is_right": answer == assignment.expected, "explanation": why}
    return shown


# Annotators' browsers hold these addresses.
urlpatterns = [
    path("judge/<uuid:key>/", pair, name="pair"),
    path("judge/<uuid:key>/ahead/", ahead, name="ahead"),
    path("judge/<uuid:key>/skip/", skip, name="skip"),
    path("judge/<uuid:key>/undo/", undo, name="undo"),
    path("judge/<uuid:key>/context/<str:side>/", context, name="context"),
    path("judge/<uuid:key>/sources/", sources, name="sources"),
]
