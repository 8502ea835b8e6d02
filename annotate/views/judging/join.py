"""An invitation: what the study is about, and the way in."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotate import access, crowd, invitations, judging
from annotate.forms import OnceForm
from annotate.models import Annotator, Invitation, Membership, Study
from annotate.refusal import Refusal
from annotate.server import limits
from annotate.server.languages import speak, translated
from annotate.views import account
from annotate.views.judging.progress import go_on, trial_of
from annotate.views.limited import limited
from preferendum.formats.settings import QUESTION


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Welcome an invited visitor; let them in when they begin."""
    invitation = invitations.find_invitation(token)
    if invitation is None:
        limits.spend(limits.GUESSES, limits.visitor(request))
        raise Http404
    if invitation.role != Membership.Role.ANNOTATOR:
        return account.accept_invitation(request, invitation, token)
    study = invitation.study
    speak(request, study.language)
    if access.is_partial(request.user, study):
        return their_own(request, study)
    form_token = OnceForm(request.POST).token
    is_usable = invitations.is_usable(
        invitation
    )  # checked first: if this form uses up the link meanwhile, the annotator is found below
    annotator = _annotator_here(request, invitation) or judging.joined_by(study, access.account(request), form_token)
    if annotator is None and not is_usable:
        return render(request, "judge/not_good.html", {"study": study}, status=404)
    if annotator is not None and judging.why_no_pair(annotator) is not None:
        access.remember_annotator(request, annotator)
        return redirect("progress", key=annotator.key)
    if request.method == "POST" and agrees(request, study):
        return _begin(request, invitation, annotator, form_token)
    return welcome(request, study, annotator)


def _begin(
    request: HttpRequest, invitation: Invitation, annotator: Annotator | None, form_token: UUID | None
) -> HttpResponse:
    if annotator is None:
        limits.spend(limits.ARRIVALS, limits.visitor(request))
    user = access.account(request)
    try:
        with transaction.atomic():
            annotator = annotator or judging.join(
                invitation.study, invitation=invitation, user=user, form_token=form_token
            )
            crowd.agree(annotator)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect(invitations.invitation_path(invitation))
    access.remember_annotator(request, annotator)
    return go_on(request, annotator)


def _annotator_here(request: HttpRequest, invitation: Invitation) -> Annotator | None:
    """This browser's annotator in the invitation's study."""
    annotators = Annotator.objects.filter(study=invitation.study_id).select_related("study")
    if (key := access.known_annotators(request).get(str(invitation.study_id))) is not None:
        return annotators.filter(key=key).first()
    if request.user.is_authenticated:
        return annotators.filter(user=request.user, kind=Annotator.Kind.HUMAN).first()
    return None


def their_own(request: HttpRequest, study: Study) -> HttpResponse:
    """Tell a member of the study why they do not judge in it, and what they can do."""
    return render(request, "judge/their_own.html", {"study": study}, status=403)


def agrees(request: HttpRequest, study: Study) -> bool:
    """Whether the form agrees to the present text of consent, and the guidelines are read, where the study asks so."""
    recruitment, sent = crowd.recruitment_of(study), request.POST.get("consent")
    if recruitment.consent and sent != str(recruitment.consent_version):
        if sent:
            messages.warning(request, _("The text has just changed. Please read it again, and then decide."))
        return False
    return not study.guidelines_first or "read" in request.POST


def welcome(
    request: HttpRequest,
    study: Study,
    annotator: Annotator | None,
    *,
    from_platform: bool = False,
    is_trial: bool = False,
) -> HttpResponse:
    """What the study is about, with a button to begin or continue; then what must be read first or agreed to, if so."""
    # Participants sent by a platform continue to the code that says so.
    reader = annotator or (judging.next_trial(study) if is_trial else judging.newcomer(study))
    no_pair = None if annotator or from_platform else judging.why_nobody_begins(reader)
    practice = judging.practice_pairs(study).count() if study.training else 0
    recruitment = crowd.recruitment_of(study)
    context = {
        "study": study,
        "annotator": annotator,
        "reads": request.method == "POST",
        "has_example": annotator is None
        and study.questions.get("sentences") in (QUESTION, translated(QUESTION, study.language)),
        "asks_consent": recruitment.consent and not crowd.has_agreed(annotator, recruitment),
        "no_pair": no_pair,
        "text": no_pair.text(study) if no_pair else "",
        "progress": reader.progress,
        "recruitment": recruitment,
        "questions": 0 if is_trial else len(crowd.questionnaire_of(study).questions),
        "practice": practice,
        "must_match": judging.practice_to_match(study, practice),
        "from_platform": from_platform,
        "form": OnceForm(),
        "trial": trial_of(study) if is_trial else None,
    }
    return render(request, "judge/join.html", context)


urlpatterns = [path("join/<str:token>/", join, name="join")]
