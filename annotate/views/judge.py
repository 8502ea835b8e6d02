"""The annotator's pages: an invitation, one pair after another, and the way out.

Every address is a page that works without JavaScript. Where htmx asks, it gets the part `#task` of that page.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeGuard, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core import signing
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.urls import Resolver404, path, resolve, reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, crowd, judging, limits, links, studies
from annotate.judging import Nothing, Outcome, Reason
from annotate.models import Annotator, Assignment, Invitation, Judgment, Membership, Sentence, Study
from annotate.refusal import Refusal
from annotate.views import account
from annotate.views.limited import limited

logger = logging.getLogger(__name__)
State = Assignment.State
#: After these there is nothing more for anybody, whatever others do: whom a platform sent gets their code at once.
FINAL = (Reason.DONE, Reason.SCREENED_OUT, Reason.SKIPPED)
P = ParamSpec("P")


class JudgmentForm(forms.Form):
    """What a click or a key sends; the revision says which showing of the pair it answers."""

    answer = forms.ChoiceField(choices=[("left", "left"), ("right", "right"), ("tie", "tie")])
    revision = forms.IntegerField(min_value=1, max_value=32_000)
    seconds = forms.FloatField(required=False, min_value=0, max_value=86_400)

    def __init__(self, *args: Any, ties_allowed: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not ties_allowed:
            cast(forms.ChoiceField, self.fields["answer"]).choices = [("left", "left"), ("right", "right")]


class UndoForm(forms.Form):
    revision = forms.IntegerField(required=False, min_value=1, max_value=32_000)


class SkipForm(forms.Form):
    reason = forms.ChoiceField(choices=Assignment.SkipReason.choices)


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Tell somebody who was invited what this is; let them in when they begin."""
    invitation = links.find_invitation(token)
    if invitation is None:
        limits.spend(limits.GUESSES, limits.visitor(request))
        raise Http404
    if invitation.role != Membership.Role.ANNOTATOR:
        return account.accept_invitation(request, invitation, token)
    if access.is_partial(request.user, invitation.study):
        return their_own(request, invitation.study)
    annotator = _annotator_here(request, invitation)
    if annotator is None and not studies.is_good(invitation):
        return render(request, "judge/not_good.html", {"study": invitation.study}, status=404)
    study = invitation.study
    if request.method == "POST" and agrees(request, study):
        if annotator is None:
            limits.spend(limits.ARRIVALS, limits.visitor(request))
        try:
            with transaction.atomic():
                if annotator is None:
                    user = request.user if request.user.is_authenticated else None
                    annotator = judging.join(study, invitation=invitation, user=user)
                crowd.agree(annotator)
        except Refusal as refusal:
            messages.error(request, refusal.message)
            return redirect("join", token=token)
        access.remember_annotator(request, annotator)
        return go_on(request, annotator)
    return welcome(request, study, annotator)


def their_own(request: HttpRequest, study: Study) -> HttpResponse:
    """Tell somebody who belongs to the study why they do not judge in it, and what they can do."""
    return render(request, "judge/their_own.html", {"study": study}, status=403)


def agrees(request: HttpRequest, study: Study) -> bool:
    """Whether the form agrees to the text of consent as it is now, if there is one."""
    recruitment = crowd.recruitment_of(study)
    if not recruitment.consent or request.POST.get("consent") == str(recruitment.consent_version):
        return True
    messages.warning(request, _("The text was changed just now. Please read it as it is, and then decide."))
    return False


def welcome(
    request: HttpRequest, study: Study, annotator: Annotator | None, *, from_platform: bool = False
) -> HttpResponse:
    """What the study is about and what it asks people to agree to, with a button to begin or to go on."""
    context = {
        "study": study,
        "annotator": annotator,
        "desk": desk_of(annotator),
        "progress": judging.progress(annotator or Annotator(study=study)),
        "recruitment": crowd.recruitment_of(study),
        "practice": judging.practice_pairs(study).count() if study.training else 0,
        "from_platform": from_platform,
    }
    return render(request, "judge/join.html", context)


@require_safe
def desk(request: HttpRequest, key: UUID) -> HttpResponse:
    """Where an annotator comes back to: go on, or why there is nothing to do."""
    return _show_desk(request, find_annotator(request, key), request.GET.get("nothing", ""))


@require_POST
def draw(request: HttpRequest, key: UUID) -> HttpResponse:
    """Lead an annotator to the pair that they judge now."""
    return go_on(request, find_annotator(request, key))


@require_POST
def pause(request: HttpRequest, key: UUID) -> HttpResponse:
    """Let somebody rest; nobody waits for the pair that they held."""
    annotator = find_annotator(request, key)
    judging.pause(annotator)
    messages.success(request, _("You have paused. Everything you judged is saved; go on whenever you like."))
    return redirect("desk", key=key)


@require_POST
def shortcuts(request: HttpRequest, key: UUID) -> HttpResponse:
    """Switch the single-key shortcuts on or off."""
    annotator = find_annotator(request, key)
    judging.set_shortcuts(annotator, request.POST.get("shortcuts") == "on")
    return _go_on(request, annotator)


@require_safe
def guidelines(request: HttpRequest, key: UUID) -> HttpResponse:
    """What the researchers ask their annotators to keep in mind, and the keys."""
    annotator = find_annotator(request, key)
    found = {"annotator": annotator, "study": annotator.study, "desk": desk_of(annotator)}
    return _page(request, "guidelines", found)


def about_a_pair(view: Callable[Concatenate[HttpRequest, UUID, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Where the pair is gone because its texts were cut anew, lead whoever judges here back to their desk."""

    @wraps(view)
    def guarded(request: HttpRequest, key: UUID, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, key, *args, **kwargs)
        except Assignment.DoesNotExist:
            known = list(access.known_annotators(request).values())
        if request.method == "POST":
            logger.warning("What was sent to pair %s is not stored: it is not there, or not theirs", key)
        if not known:
            raise Http404
        messages.warning(
            request, _("That pair is not there any more, as after a change of its text. Go on with another.")
        )
        return redirect("desk", key=known[-1])

    return guarded


@require_http_methods(["GET", "HEAD", "POST"])
@about_a_pair
def pair(request: HttpRequest, key: UUID) -> HttpResponse:
    """Show two sentences; take the answer and lead to the next two."""
    if request.method == "POST":
        return _take_answer(request, *_find_answered(request, key))
    return _show_pair(request, _find_shown(request, key))


@require_POST
@about_a_pair
def ahead(request: HttpRequest, key: UUID) -> HttpResponse:
    """The pair to come after this one, under its own lease, so that the page can show it at once."""
    assignment = _find_shown(request, key)
    return _part_ahead(request, assignment) or HttpResponse(status=204)


@require_POST
@about_a_pair
def skip(request: HttpRequest, key: UUID) -> HttpResponse:
    """Leave a pair out, with a reason, and go on with the next."""
    assignment = _find_shown(request, key)
    form = SkipForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Say in one tap why you skip this pair."))
        return redirect("pair", key=key)
    if is_practice(assignment):
        return _lead_to_pair(request, key, _("Practice is short: please choose one of the two."))
    if judging.skip(assignment, form.cleaned_data["reason"]):
        said = _("Skipped. Thank you for saying why.") + _about_skipping(assignment.annotator)
    else:
        said = _("You have answered this pair already: your answer stands.")
    return _go_on(request, assignment.annotator, said)


def _about_skipping(annotator: Annotator) -> str:
    """A kind question, once somebody has skipped half as many pairs in a row as end their work."""
    limit, skips = annotator.study.skips_in_a_row, annotator.skips_in_a_row
    if not limit or skips < (limit + 1) // 2:
        return ""
    asked = ngettext(
        "You have skipped %(skips)d pair in a row. Is something wrong with these texts, or are they hard to read?",
        "You have skipped %(skips)d pairs in a row. Is something wrong with these texts, or are they hard to read?",
        skips,
    )
    left = ngettext(
        "After %(left)d more your part ends here; an answer begins the count anew.",
        "After %(left)d more your part ends here; an answer begins the count anew.",
        limit - skips,
    )
    return " " + asked % {"skips": skips} + " " + left % {"left": limit - skips}


@require_POST
@about_a_pair
def undo(request: HttpRequest, key: UUID) -> HttpResponse:
    """Take an answer back and show its pair again."""
    assignment = _find_shown(request, key)
    if crowd.has_left(assignment.annotator):
        return _lead_to_desk(request, assignment.annotator, "", _("You have finished: your answers stay as they are."))
    if is_practice(assignment):
        return _lead_to_pair(request, key, "")
    form = UndoForm(request.POST)
    revision = form.cleaned_data["revision"] if form.is_valid() else None
    judging.undo(assignment, revision or assignment.revision + 1)
    said = _("Your last answer is taken back. Judge this pair again.")
    return _lead_to_pair(request, key, said)


@require_safe
@about_a_pair
def context(request: HttpRequest, key: UUID, side: str) -> HttpResponse:
    """One of the two sentences where it stands in its document."""
    assignment = _find_shown(request, key)
    if side not in ("left", "right"):
        raise Http404
    sentence: Sentence = getattr(assignment, side)
    sentences = Sentence.objects.filter(document=sentence.document_id).order_by("index")
    found = {
        **_common(assignment),
        "side": side,
        "sentence": sentence,
        "sentences": sentences,
        "other": "right" if side == "left" else "left",
    }
    return _page(request, "context", found)


def _take_answer(request: HttpRequest, assignment: Assignment, showing: Assignment | None) -> HttpResponse:
    """Store an answer; `showing` is the pair that the page's script shows meanwhile."""
    form = JudgmentForm(request.POST, ties_allowed=assignment.annotator.study.ties_allowed)
    if not form.is_valid():
        logger.warning("Answer to pair %s is not stored: %s", assignment.key, ", ".join(sorted(form.errors)))
        return _show_pair(request, assignment, _("Choose one of the two sentences."), status=400)
    next_but_one = None
    try:
        if _may_go_on(showing, request) and showing != assignment and not is_practice(showing):
            recorded, next_but_one = judging.record_and_draw(assignment, showing, **_given(form))
        else:
            recorded = judging.record_judgment(assignment, **_given(form))
    except judging.TooSoon:
        return _wait_a_moment(request, assignment)
    except judging.OutOfTurn:
        messages.warning(request, _("This page was out of date. Please judge the pair as it is shown now."))
        return redirect("pair", key=assignment.key)
    _remember_again(request, assignment.annotator)
    if is_practice(assignment):
        return _show_feedback(request, assignment)
    said = _what_became_of_it(recorded.outcome, recorded.judgment) + _about_reading(assignment, recorded)
    if "Judge-Showing" in request.headers:
        return _answer_script(request, assignment, showing, next_but_one, said)
    return _go_on(request, assignment.annotator, said)


def _wait_a_moment(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """An answer a moment after the last one is not taken yet; our script sends the same one again by itself."""
    said = _("That was within a second of your last answer. Please read both sentences and choose once more.")
    response = _show_pair(request, _shown_again(assignment.key), said, status=429)
    response["Retry-After"] = "1"
    return response


def _show_feedback(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    """After a practice pair: what is right, and why, before the next one."""
    if "Judge-Showing" not in request.headers:
        return _lead_to_pair(request, assignment.key, "")
    part = _show_pair(request, _shown_again(assignment.key)).content.decode()
    here = reverse("pair", args=[assignment.key])
    return JsonResponse({"said": "", "here": here, "part": part, "ahead": None})


def is_practice(assignment: Assignment) -> bool:
    return assignment.reason == Assignment.Reason.TRAINING


def _about_reading(assignment: Assignment, recorded: judging.Recorded) -> str:
    """A kind word to somebody who answered faster than anybody reads; their answer is stored all the same."""
    speed, seconds = assignment.annotator.study.reading_speed, recorded.judgment.seconds
    if not speed or seconds is None or recorded.outcome != Outcome.STORED:
        return ""
    if seconds * speed >= len(assignment.left.text) + len(assignment.right.text):
        return ""
    return " " + _("That was quicker than people read. Please read both sentences; Undo takes an answer back.")


def _given(form: JudgmentForm) -> dict[str, Any]:
    return {name: form.cleaned_data[name] for name in ("revision", "answer", "seconds")}


def _what_became_of_it(outcome: Outcome, judgment: Judgment) -> str:
    """Without left and right: on a phone the cards stand one above the other."""
    if outcome == Outcome.DIFFERS and judgment.answer == Judgment.Answer.UNDONE:
        return _("You had taken that answer back; nothing was changed.")
    names = {"left": _("the first sentence"), "right": _("the second sentence"), "tie": _("equally important")}
    answer = {"answer": names[judgment.answer]}
    if outcome == Outcome.DIFFERS:
        return _("You had answered this pair already (%(answer)s): that answer stands.") % answer
    return _("Saved: %(answer)s.") % answer


def _remember_again(request: HttpRequest, annotator: Annotator) -> None:
    """Where the cookie was lost between showing and answering, the form's own ticket has said who they are."""
    known = str(annotator.study_id) in access.known_annotators(request)
    if not known and annotator.user_id is None:
        access.remember_annotator(request, annotator)


def go_on(request: HttpRequest, annotator: Annotator) -> HttpResponse:
    """Lead somebody who comes (back) to their pair, or to their desk where they have left for good."""
    if crowd.has_left(annotator):
        return redirect("desk", key=annotator.key)
    return _go_on(request, annotator)


def _go_on(request: HttpRequest, annotator: Annotator, said: str = "") -> HttpResponse:
    """Lead to the pair that they judge now, or to where it says why there is none."""
    drawn = _draw(request, annotator)
    if isinstance(drawn, Nothing):
        return _lead_to_desk(request, annotator, drawn.reason.name.lower(), said)
    return _lead_to_pair(request, drawn.key, said)


def _answer_script(
    request: HttpRequest, judged: Assignment, showing: Assignment | None, next_but_one: Assignment | None, said: str
) -> HttpResponse:
    """For the page's own script, all at once: what became of an answer, the pair to judge now, and the one after it.

    The script says which pair it shows meanwhile; the pair to judge now is sent only where that is another one. The one
    after it may have been drawn with the answer.
    """
    annotator, shown_at = judged.annotator, request.headers["Judge-Showing"]
    # Nearly always it shows the pair that is theirs already: nothing has to be drawn but the one after it.
    if _may_go_on(showing, request) and (following := _part_ahead(request, showing, next_but_one)):
        return JsonResponse({"said": said, "here": shown_at, "part": "", "ahead": following.content.decode()})
    drawn = _draw(request, annotator)
    if isinstance(drawn, Nothing):
        nothing = drawn.reason.name.lower()
        part = _show_desk(request, annotator, nothing).content.decode()
        return JsonResponse({"said": said, "here": _desk_with(annotator, nothing), "part": part, "ahead": None})
    shown, here = _shown_again(drawn.key), reverse("pair", args=[drawn.key])
    part = "" if shown_at == here else _show_pair(request, shown).content.decode()
    ahead = following.content.decode() if (following := _part_ahead(request, shown)) else None
    return JsonResponse({"said": said, "here": here, "part": part, "ahead": ahead})


def _may_go_on(shown: Assignment | None, request: HttpRequest) -> TypeGuard[Assignment]:
    """Whether somebody who is shown this pair may judge it, and will for a while."""
    return shown is not None and judging.is_held(shown) and not access.is_partial(request.user, shown.annotator.study)


def _part_ahead(request: HttpRequest, shown: Assignment, known: Assignment | None = None) -> HttpResponse | None:
    """The pair to come after the one that is shown, as it will be when that is judged; None where there is none.

    It is drawn now unless it is `known`.
    """
    if is_practice(shown):  # what comes after it is what was right
        return None
    drawn = known or judging.draw(shown.annotator, besides=shown)
    if isinstance(drawn, Nothing):
        return None
    following = judging.show_next(drawn, shown)
    if following is None:  # their topic was cut anew in this very moment
        return None
    following.annotator = copy(following.annotator)
    following.annotator.judged += 1
    following.annotator.previous = shown.key
    following.annotator.previous_revision = shown.revision + 1
    return _show_pair(request, following)


def _draw(request: HttpRequest, annotator: Annotator) -> Assignment | Nothing:
    """The pair that they judge now; whoever is done, or cannot go on, has left."""
    if access.is_partial(request.user, annotator.study):
        return Nothing(Reason.OWN)
    drawn = judging.draw(annotator)
    if isinstance(drawn, Nothing) and drawn.reason in FINAL and crowd.participation_of(annotator) is not None:
        crowd.leave(annotator)
    return drawn


def _lead_to_pair(request: HttpRequest, key: UUID, said: str) -> HttpResponse:
    """The next pair at once for htmx, which moves its address along; a redirect for everyone else."""
    if _wants_part(request):
        response = _show_pair(request, _shown_again(key), said)
        response["HX-Push-Url"] = reverse("pair", args=[key])
        return response
    if said:
        messages.success(request, said)
    return redirect("pair", key=key)


def _lead_to_desk(request: HttpRequest, annotator: Annotator, nothing: str, said: str) -> HttpResponse:
    target = _desk_with(annotator, nothing)
    if _wants_part(request):
        response = _show_desk(request, annotator, nothing, said)
        response["HX-Push-Url"] = target
        return response
    if said:
        messages.success(request, said)
    return redirect(target)


def _desk_with(annotator: Annotator, nothing: str) -> str:
    return f"{desk_of(annotator)}?nothing={nothing}"


def _show_pair(request: HttpRequest, assignment: Assignment, said: str = "", status: int = 200) -> HttpResponse:
    """The pair to be judged, or what became of it."""
    found = _common(assignment) | {"said": said}
    if is_practice(assignment):
        found |= _practice(assignment)
        if assignment.state == State.JUDGED:
            return _page(request, "feedback", found, status)
    if assignment.state in (State.JUDGED, State.SKIPPED, State.VOID):
        return _page(request, "judged", found | {"answer": judging.standing_answer(assignment)}, status)
    here = reverse("pair", args=[assignment.key])
    return _page(request, "pair", found | {"here": here, "ticket": _ticket(assignment)}, status)


def _practice(assignment: Assignment) -> dict[str, Any]:
    """Which practice pair this is, and, once it is answered, what is right and why."""
    known = list(judging.practice_pairs(assignment.annotator.study).values_list("better", "worse", "explanation"))
    done = Assignment.objects.filter(
        annotator=assignment.annotator, reason=Assignment.Reason.TRAINING, state=State.JUDGED
    )
    before = done.exclude(pk=assignment.pk).count()
    found: dict[str, Any] = {"practice": {"number": before + 1, "of": max(len(known), before + 1)}}
    if assignment.state == State.JUDGED:
        two = {assignment.pair.first_id, assignment.pair.second_id}
        answer = judging.standing_answer(assignment)
        why = next((explanation for better, worse, explanation in known if {better, worse} == two), "")
        found |= {"answer": answer, "is_right": answer == assignment.expected, "explanation": why}
    return found


def _common(assignment: Assignment) -> dict[str, Any]:
    study, topic = assignment.annotator.study, assignment.topic
    return {
        "assignment": assignment,
        "annotator": assignment.annotator,
        "desk": desk_of(assignment.annotator),
        "next_revision": assignment.revision + 1,
        "undo_revision": (assignment.annotator.previous_revision or 0) + 1,
        "study": study,
        "topic": topic,
        "question": topic.question or study.question,
        "language": topic.language or study.language,
        "progress": judging.progress(assignment.annotator),
    }


def _show_desk(request: HttpRequest, annotator: Annotator, nothing: str, said: str = "") -> HttpResponse:
    settled = judging.standing(annotator)
    participation = crowd.participation_of(annotator)
    found = {
        "participation": participation,
        "return_link": crowd.return_link(participation) if participation else "",
        "undo_revision": (judging.previous_revision(annotator) or 0) + 1,
        "annotator": annotator,
        "study": annotator.study,
        "desk": desk_of(annotator),
        "progress": judging.progress(annotator),
        "nothing": settled.reason.name.lower() if settled else nothing,
        "said": said,
    }
    return _page(request, "desk", found)


def _wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks, and not for a whole page that the browser went back to."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def _page(request: HttpRequest, name: str, found: dict[str, Any], status: int = 200) -> HttpResponse:
    """The page, or for htmx only the part of it that changes."""
    part = _wants_part(request)
    return render(
        request,
        f"judge/parts/{name}.html" if part else f"judge/{name}.html",
        found | {"part": part, "csrf_token": get_token(request)},
        status=status,
    )


def desk_of(annotator: Annotator | None) -> str:
    """Where this annotator's own pages begin."""
    return reverse("desk", args=[annotator.key]) if annotator else ""


def _ticket(assignment: Assignment) -> str:
    """Says that we showed this pair to whoever holds it, should their cookie be gone when they answer."""
    return signing.Signer(salt="shown").signature(str(assignment.key))


def _annotator_here(request: HttpRequest, invitation: Invitation) -> Annotator | None:
    """The annotator of the invitation's study that this browser is already."""
    mine = Annotator.objects.filter(study=invitation.study_id).select_related("study")
    if (key := access.known_annotators(request).get(str(invitation.study_id))) is not None:
        return mine.filter(key=key).first()
    if request.user.is_authenticated:
        return mine.filter(user=request.user, kind=Annotator.Kind.HUMAN).first()
    return None


def find_annotator(request: HttpRequest, key: UUID) -> Annotator:
    """The annotator with this key, if this browser is them."""
    annotator = Annotator.objects.select_related("study").filter(key=key).first()
    if annotator is None or not access.is_annotator(request, annotator):
        raise Http404
    return annotator


def _find_shown(request: HttpRequest, key: UUID) -> Assignment:
    """The pair with this key, if it was drawn for this browser's annotator."""
    return _if_theirs(request, judging.find_shown(key))


def _if_theirs(request: HttpRequest, assignment: Assignment | None, ticket: str = "") -> Assignment:
    """The pair, if it was drawn for this browser's annotator, or its ticket says that it was."""
    if assignment is None:
        raise Assignment.DoesNotExist
    if access.is_annotator(request, assignment.annotator):
        return assignment
    if ticket and constant_time_compare(ticket, _ticket(assignment)):
        return assignment
    raise Http404


def _find_answered(request: HttpRequest, key: UUID) -> tuple[Assignment, Assignment | None]:
    """The pair that is being answered, if it is theirs, and the one that the page's script shows meanwhile."""
    assignment, showing = judging.find_answered(key, _key_of(request.headers.get("Judge-Showing", "")))
    return _if_theirs(request, assignment, request.POST.get("ticket", "")), showing


def _key_of(address: str) -> UUID | None:
    """The key of the pair with this address."""
    try:
        found = resolve(address)
    except Resolver404:
        return None
    return found.kwargs["key"] if found.url_name == "pair" else None


def _shown_again(key: UUID) -> Assignment:
    assignment = judging.find_shown(key)
    assert assignment is not None
    return assignment


urlpatterns = [
    path("join/<str:token>/", join, name="join"),
    path("desk/<uuid:key>/", desk, name="desk"),
    path("desk/<uuid:key>/draw/", draw, name="draw"),
    path("desk/<uuid:key>/pause/", pause, name="pause"),
    path("desk/<uuid:key>/guidelines/", guidelines, name="guidelines"),
    path("desk/<uuid:key>/shortcuts/", shortcuts, name="shortcuts"),
    path("judge/<uuid:key>/", pair, name="pair"),
    path("judge/<uuid:key>/ahead/", ahead, name="ahead"),
    path("judge/<uuid:key>/skip/", skip, name="skip"),
    path("judge/<uuid:key>/undo/", undo, name="undo"),
    path("judge/<uuid:key>/context/<str:side>/", context, name="context"),
]
