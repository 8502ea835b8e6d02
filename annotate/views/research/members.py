"""Members of a study and invitations."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, invitations, judging, members
from annotate.access import Role, in_study
from annotate.forms import InvitationForm
from annotate.models import Invitation, Study
from annotate.qr_codes import qr_code
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import page, user_of


@in_study("annotators")
@require_http_methods(["GET", "HEAD", "POST"])
def study_members(request: HttpRequest, study: Study) -> HttpResponse:
    """Invitations and members; the form makes a new invitation."""
    may_manage = access.may(request.user, study, "members")
    roles = list(Role.values) if may_manage else [Role.ANNOTATOR.value]
    roles.sort(key=lambda role: role != Role.ANNOTATOR)
    usable = set(invitations.usable().filter(study=study).values_list("pk", flat=True))
    form = InvitationForm(request.POST or None, roles=roles, initial={"role": Role.ANNOTATOR})
    if form.is_valid():
        with refusals_shown(form):
            invitations.invite(study, user_of(request), **form.cleaned_data)
            messages.success(request, _("The invitation was created. Copy its link and send it."))
            return redirect("study_members", study_id=study.pk)
    to_annotators = _to_annotators(study)
    return page(
        request,
        study,
        "research/people/members.html",
        form=form,
        members=study.memberships.exclude(role=Role.ANNOTATOR).select_related("user").order_by("pk"),
        roles=Role.choices,
        invitations=[
            _line(request, invitation, invitation.pk in usable, may_manage, to_annotators)
            for invitation in study.invitations.select_related("study").order_by("revoked_at", "-pk")
        ],
        here="members",
    )


@in_study("annotators")
@require_safe
def invitation_qr(request: HttpRequest, study: Study, invitation_id: int) -> HttpResponse:
    """An invitation as a QR code, to be shown to a class or printed."""
    invitation = get_object_or_404(Invitation, study=study, pk=invitation_id)
    is_usable, may_manage = invitations.is_usable(invitation), access.may(request.user, study, "members")
    to_annotators = _to_annotators(study)
    link = _line(request, invitation, is_usable, may_manage, to_annotators)["link"]
    if not link:
        raise Http404
    shown = {"invitation": invitation, "link": link, "words": _words(invitation, to_annotators), "code": qr_code(link)}
    return page(request, study, "research/people/invitation_qr.html", **shown)


@in_study("annotators")
@require_POST
def invitation_revoke(request: HttpRequest, study: Study, invitation_id: int) -> HttpResponse:
    """Revoke an invitation's link."""
    invitations.revoke(get_object_or_404(Invitation, study=study, pk=invitation_id), user_of(request))
    messages.success(request, _("The link was revoked. People who have already joined stay."))
    return redirect("study_members", study_id=study.pk)


@in_study("members")
@require_POST
def member_role(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Give a member another role."""
    member = get_object_or_404(User, memberships__study=study, pk=user_id)
    with refusals_shown(request):
        members.set_role(study, user_of(request), member, request.POST.get("role", ""))
        messages.success(request, _("The role was changed."))
    return _back(request, study)


@in_study("see")
@require_POST
def member_remove(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Remove a member, or leave."""
    member = get_object_or_404(User, memberships__study=study, pk=user_id)
    with refusals_shown(request):
        members.remove_member(study, user_of(request), member)
        messages.success(request, _("%(name)s is no longer a member of the study.") % {"name": member.get_username()})
    return _back(request, study)


def _back(request: HttpRequest, study: Study) -> HttpResponse:
    """To the page of people, or to the studies for members who just gave up the right to see it."""
    if access.may(request.user, study, "annotators"):
        return redirect("study_members", study_id=study.pk)
    return redirect("studies")


def _line(
    request: HttpRequest, invitation: Invitation, is_usable: bool, may_manage: bool, to_annotators: str
) -> dict[str, Any]:
    """An invitation with its link; only owners see links that grant more than annotating."""
    may_give = may_manage or invitation.role == Role.ANNOTATOR
    link = request.build_absolute_uri(invitations.invitation_path(invitation)) if is_usable and may_give else ""
    text = f"{_words(invitation, to_annotators)}\n\n{link}\n" if link else ""
    return {"invitation": invitation, "is_usable": is_usable, "may_give": may_give, "link": link, "text": text}


def _words(invitation: Invitation, to_annotators: str) -> str:
    """The text to send before the link."""
    if invitation.role == Role.ANNOTATOR:
        return to_annotators
    words = _("You are invited to the study “%(title)s” as %(role)s. Open this link to join:")
    return words % {"title": invitation.study.title, "role": invitation.get_role_display()}


def _to_annotators(study: Study) -> str:
    """The text before a link for annotators, the same for all invitations: it takes the lengths of all texts."""
    progress = judging.newcomer(study).progress
    asked = _(
        "Would you help with the study “%(title)s”? You see two texts at a time and answer a question: %(question)s"
    )
    pairs = ngettext("There is %(n)d pair.", "There are %(n)d pairs.", progress.wanted)
    takes = ngettext("It takes about %(n)d minute.", "It takes about %(n)d minutes.", progress.minutes_left)
    parts = [asked % {"title": study.title, "question": " / ".join(study.questions.values())}]
    if progress.wanted:
        parts += [pairs % {"n": progress.wanted}, takes % {"n": progress.minutes_left}]
    parts.append(_("You can stop at any time and continue later. You do not need an account. Open this link to begin:"))
    return " ".join(parts)


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "members/", study_members, name="study_members"),
    path(_STUDY + "members/<int:user_id>/role/", member_role, name="member_role"),
    path(_STUDY + "members/<int:user_id>/remove/", member_remove, name="member_remove"),
    path(_STUDY + "invitations/<int:invitation_id>/qr/", invitation_qr, name="invitation_qr"),
    path(_STUDY + "invitations/<int:invitation_id>/revoke/", invitation_revoke, name="invitation_revoke"),
]
