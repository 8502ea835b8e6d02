"""Participants of a crowd platform: arriving, leaving with a code, and their own data."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, crowd, invitations
from annotate.forms import WithdrawForm
from annotate.models import Annotator, Consent, Recruitment, Study
from annotate.refusal import Refusal
from annotate.server import limits
from annotate.server.languages import speak
from annotate.views.judging.join import agrees, their_own, welcome
from annotate.views.judging.progress import find_annotator, go_on
from annotate.views.limited import limited


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def arrive(request: HttpRequest, token: str) -> HttpResponse:
    """Welcome a participant sent by a platform; let them in once they agree, or continue where they stopped."""
    study = invitations.find_crowd(token)
    if study is None:
        limits.spend(limits.GUESSES, limits.visitor(request))
        raise Http404
    speak(request, study.language)
    recruitment = crowd.recruitment_of(study)
    if recruitment.platform == Recruitment.Platform.NONE:
        raise Http404
    if access.is_partial(request.user, study):
        return their_own(request, study)
    person = request.GET.get(recruitment.person_parameter, "")
    session = request.GET.get(recruitment.session_parameter, "") if recruitment.session_parameter else ""
    try:
        earlier = crowd.find(study, person)
        if request.method == "POST" and agrees(request, study):
            if earlier is None:
                limits.spend(limits.ARRIVALS, limits.visitor(request))
            with transaction.atomic():
                is_recognized = earlier is not None and access.is_annotator(request, earlier)
                user = access.account(request)
                annotator = crowd.enter(study, person, session, user, is_recognized=is_recognized)
                crowd.agree(annotator)
            access.remember_annotator(request, annotator)
            return go_on(request, annotator)
    except Refusal as refusal:
        if refusal.code in ("not_expected", "other_session"):
            limits.spend(limits.GUESSES, limits.visitor(request))
        return _not_in(request, study, refusal)
    # anybody can write a name into an address: the page does not reveal whether it is known
    here = earlier if earlier is not None and access.is_annotator(request, earlier) else None
    return welcome(request, study, here, from_platform=True)


@require_POST
def leave(request: HttpRequest, key: UUID) -> HttpResponse:
    """Finish, with the code of the outcome; annotators who still have work are led back to it."""
    annotator = _find_lasting(request, key)
    try:
        crowd.leave(annotator)
    except Refusal as refusal:
        raise Http404 from refusal
    return go_on(request, annotator)


@require_safe
def my_data(request: HttpRequest, key: UUID) -> HttpResponse:
    """What is stored about an annotator, and how to download or erase it."""
    annotator = _find_lasting(request, key)
    context = {
        "annotator": annotator,
        "study": annotator.study,
        "participation": crowd.participation_of(annotator),
        "consents": Consent.objects.filter(annotator=annotator),
    }
    return render(request, "judge/my_data.html", context)


@require_safe
def my_data_file(request: HttpRequest, key: UUID) -> HttpResponse:
    """Everything that is stored about an annotator, as one file."""
    annotator = _find_lasting(request, key)
    shown = {"indent": 2, "ensure_ascii": False}
    response = JsonResponse(crowd.personal_data(annotator), json_dumps_params=shown)
    response["Content-Disposition"] = f'attachment; filename="my-data-{annotator.key}.json"'
    return response


@require_POST
def withdraw(request: HttpRequest, key: UUID) -> HttpResponse:
    """Withdraw an annotator for good, with or without their judgments."""
    annotator = _find_lasting(request, key)
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        return redirect("my_data", key=key)
    erase = form.cleaned_data["answers"] == "erase"
    crowd.withdraw(annotator, erase=erase)
    if erase:
        access.forget_annotator(request, annotator)
        return redirect("withdrawn")
    access.remember_annotator(request, annotator)  # the account is no longer linked to them: this browser is
    return redirect("progress", key=key)


@require_safe
def withdrawn(request: HttpRequest) -> HttpResponse:
    """The last page of an annotator whose data was erased."""
    return render(request, "judge/withdrawn.html")


def _find_lasting(request: HttpRequest, key: UUID) -> Annotator:
    """This browser's annotator; 404 for trials, which are erased anyway."""
    annotator = find_annotator(request, key)
    if annotator.kind == Annotator.TRIAL:
        raise Http404
    return annotator


def _not_in(request: HttpRequest, study: Study, refusal: Refusal) -> HttpResponse:
    status = 400 if refusal.code in ("nobody", "invalid") else 403
    return render(request, "judge/not_in.html", {"study": study, "message": refusal.message}, status=status)


urlpatterns = [
    path("crowd/<str:token>/", arrive, name="crowd"),
    path("progress/<uuid:key>/leave/", leave, name="leave"),
    path("progress/<uuid:key>/data/", my_data, name="my_data"),
    path("progress/<uuid:key>/data.json", my_data_file, name="my_data_file"),
    path("progress/<uuid:key>/withdraw/", withdraw, name="withdraw"),
    path("withdrawn/", withdrawn, name="withdrawn"),
]
