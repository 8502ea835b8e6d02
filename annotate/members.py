"""Members of a study, and their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from annotate import access, accounts, invitations
from annotate.audit_log import note
from annotate.models import Invitation, Membership, Study
from annotate.refusal import Refusal, invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Role = Membership.Role
#: An invitation may raise a member's role and never lowers it.
RANK = {Role.ANNOTATOR: 0, Role.ADMIN: 1, Role.RESEARCHER: 2, Role.OWNER: 3}


@transaction.atomic
def accept(invitation: Invitation, user: User) -> Membership:
    """Make a user a member in the invitation's role; a higher role that they have already stays.

    The invitation is locked, so that a user who accepts several times at once uses it up once; the study, so that its
    maker's right, which `use` checks, does not end meanwhile.
    """
    study, role = invitation.study, invitation.role
    _lock(study)
    Invitation.objects.select_for_update(no_key=True).get(pk=invitation.pk)
    membership = Membership.objects.filter(study=study, user=user).first()
    if membership is not None and RANK[Role(membership.role)] >= RANK[Role(role)]:
        return membership
    invitations.use(invitation)
    note(study, user, "accept invitation", invitation=invitation.pk, role=role)
    return give_role(study, user, role, invitation)


@transaction.atomic
def set_role(study: Study, user: User, member: User, role: str) -> Membership:
    """Give a user another role, or a first one. A study keeps at least one owner."""
    if role not in Role.values:
        raise invalid("role", _("This role does not exist."))
    _lock(study)
    if not access.may(user, study, "members"):
        raise PermissionDenied
    _keep_an_owner(study, member, role)
    before = Membership.objects.filter(study=study, user=member).first()
    if before is not None and before.role == role:
        return before
    note(study, user, "set role", member=member.pk, before=before.role if before else None, after=role)
    membership = give_role(study, member, role)
    if before is not None and RANK[Role(role)] < RANK[Role(before.role)]:
        invitations.end_links(study, before.invitation)
    return membership


@transaction.atomic
def remove_member(study: Study, user: User, member: User) -> None:
    """End a membership, with its tokens for this study, the link that the member joined by, and the links to roles
    above annotator that they made.

    All members may leave, except the last owner.
    """
    _lock(study)
    if user != member and not access.may(user, study, "members"):
        raise PermissionDenied
    _keep_an_owner(study, member)
    membership = Membership.objects.filter(study=study, user=member).first()
    if membership is None:
        raise Refusal(_("This person is not a member of the study."), "not_a_member")
    membership.delete()
    if membership.role != Role.ANNOTATOR:
        invitations.end_links(study, membership.invitation)
    accounts.revoke_tokens(member, study)
    note(study, user, "remove member", member=member.pk)


def give_role(study: Study, user: User, role: str, invitation: Invitation | None = None) -> Membership:
    """Make a user a member in this role, whatever they were before; the caller checks permissions."""
    membership, _new = Membership.objects.update_or_create(
        study=study, user=user, defaults={"role": role, "invitation": invitation}
    )
    return membership


def _lock(study: Study) -> None:
    """Lock out other changes of the study's members until the transaction ends: rights are checked after this."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def _keep_an_owner(study: Study, member: User, role: str = "") -> None:
    """Raises `Refusal` if the change would leave no owner."""
    owners = Membership.objects.filter(study=study, role=Role.OWNER)
    if role != Role.OWNER and list(owners.values_list("user_id", flat=True)) == [member.pk]:
        raise Refusal(_("A study needs an owner. Make somebody else an owner first."), "last_owner")
