"""Who belongs to a study, who was invited, and who judges."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate import access, links
from annotate import studies as verbs
from annotate.access import Role, in_study
from annotate.forms import InvitationForm, complain
from annotate.models import Annotator, Invitation, Study
from annotate.overview import counted_assignments
from annotate.refusal import Refusal
from annotate.views.research.pages import page, person


@in_study("people")
@require_http_methods(["GET", "HEAD", "POST"])
def study_people(request: HttpRequest, study: Study) -> HttpResponse:
    """Members, invitations, annotators; the form makes a new invitation."""
    may_manage = access.may(request.user, study, "members")
    roles = list(Role.values) if may_manage else [Role.ANNOTATOR.value]
    roles.sort(key=lambda role: role != Role.ANNOTATOR)
    form = InvitationForm(request.POST or None, roles=roles, initial={"role": Role.ANNOTATOR})
    if form.is_valid():
        try:
            verbs.invite(study, person(request), **form.cleaned_data)
        except Refusal as refusal:
            complain(form, refusal)
        else:
            messages.success(request, _("The invitation is there. Copy its link and send it."))
            return redirect("study_people", study_id=study.pk)
    return page(
        request,
        study,
        "research/people.html",
        form=form,
        members=study.memberships.exclude(role=Role.ANNOTATOR).select_related("user").order_by("pk"),
        roles=Role.choices,
        invitations=[_line(request, one, may_manage) for one in study.invitations.order_by("revoked_at", "-pk")],
        annotators=_annotators(study),
        tab="people",
    )


@in_study("people")
@require_POST
def invitation_revoke(request: HttpRequest, study: Study, invitation_id: int) -> HttpResponse:
    """Let nobody else in by this link."""
    verbs.revoke(get_object_or_404(Invitation, study=study, pk=invitation_id), person(request))
    messages.success(request, _("The link lets nobody in any more. Whoever came in by it stays."))
    return redirect("study_people", study_id=study.pk)


@in_study("members")
@require_POST
def member_role(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Give a member another role."""
    member = get_object_or_404(User, memberships__study=study, pk=user_id)
    try:
        verbs.set_role(study, person(request), member, request.POST.get("role", ""))
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("The role was changed."))
    return _back(request, study)


@in_study("see")
@require_POST
def member_remove(request: HttpRequest, study: Study, user_id: int) -> HttpResponse:
    """Send a member away, or leave."""
    member = get_object_or_404(User, memberships__study=study, pk=user_id)
    try:
        verbs.remove_member(study, person(request), member)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("%(name)s no longer belongs to the study.") % {"name": member.get_username()})
    return _back(request, study)


def _back(request: HttpRequest, study: Study) -> HttpResponse:
    """To the page of people, or wherever whoever just gave up that right may still go."""
    if access.may(request.user, study, "people"):
        return redirect("study_people", study_id=study.pk)
    return redirect("studies")


def _line(request: HttpRequest, invitation: Invitation, may_manage: bool) -> dict[str, Any]:
    """An invitation with its link; a link that makes somebody more than an annotator is shown to owners only."""
    is_full = invitation.max_uses is not None and invitation.uses >= invitation.max_uses
    is_over = invitation.expires_at is not None and invitation.expires_at <= timezone.now()
    may_give = may_manage or invitation.role == Role.ANNOTATOR
    is_good = not (invitation.revoked_at or is_full or is_over)
    return {
        "invitation": invitation,
        "is_full": is_full,
        "is_over": is_over,
        "is_good": is_good,
        "may_give": may_give,
        "link": request.build_absolute_uri(links.invitation_path(invitation)) if is_good and may_give else "",
    }


def _annotators(study: Study) -> list[dict[str, Any]]:
    """Who judges, with how much of it counts."""
    judged = counted_assignments().filter(annotator__study=study).order_by()
    counted = dict(judged.values_list("annotator_id").annotate(Count("pk")))
    rows = Annotator.objects.filter(study=study).annotate(seen_at=Max("assignments__closed_at")).order_by("kind", "pk")
    return [{"annotator": row, "counted": counted.get(row.pk, 0)} for row in rows]


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "people/", study_people, name="study_people"),
    path(_STUDY + "people/<int:user_id>/role/", member_role, name="member_role"),
    path(_STUDY + "people/<int:user_id>/remove/", member_remove, name="member_remove"),
    path(_STUDY + "invitations/<int:invitation_id>/revoke/", invitation_revoke, name="invitation_revoke"),
]
