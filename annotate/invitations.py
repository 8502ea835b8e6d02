"""Letting annotators and members into a study, and signed links.

A link signs a random value of the row, not its number: numbers are reused after a backup is restored, and a link must
not open another row.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from django.contrib.auth import get_user_model
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from annotate import access
from annotate.audit_log import note
from annotate.models import Invitation, Membership, Recruitment, Study
from annotate.refusal import Refusal, check, cleaned, invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Role = Membership.Role
#: How long a link to a role above annotator is valid by default.
DEFAULT_TERM = timedelta(days=7)
#: As long as a demo can be tried before it must be started again.
SIGN_IN_LINK_HOURS = 24
Row = TypeVar("Row", bound=Model)


@transaction.atomic
def invite(
    study: Study,
    user: User,
    *,
    role: str = Role.ANNOTATOR,
    label: str = "",
    expires_at: datetime | None = None,
    max_uses: int | None = None,
) -> Invitation:
    """Create an invitation link (`invitation_path`). Managers of annotators may invite annotators only.

    By default, a link to a role above annotator is for one person and expires after a week.
    """
    check_may_give(user, study, role)
    if role != Role.ANNOTATOR:
        max_uses = 1 if max_uses is None else max_uses
        expires_at = expires_at or timezone.now() + DEFAULT_TERM
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expires_at", _("This time is in the past."))
    if max_uses is not None and max_uses < 1:
        raise invalid("max_uses", _("Enter at least 1."))
    label = cleaned("label", label)
    invitation = Invitation(
        study=study, role=role, label=label, expires_at=expires_at, max_uses=max_uses, created_by=user
    )
    check(invitation)
    invitation.save(force_insert=True)
    note(study, user, "invite", invitation=invitation.pk, role=role, label=label, max_uses=max_uses)
    return invitation


@transaction.atomic
def revoke(invitation: Invitation, user: User) -> None:
    """Revoke the link. People who have already joined stay. Revoking twice changes nothing."""
    check_may_give(user, invitation.study, invitation.role)
    if Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
        note(invitation.study, user, "revoke invitation", invitation=invitation.pk)
    invitation.refresh_from_db()


def use(invitation: Invitation) -> None:
    """Count one more use, in the caller's transaction. Raises `Refusal` if the link is no longer usable.

    The database counts, so that two visitors cannot take the last place.
    """
    if not usable().filter(pk=invitation.pk).update(uses=F("uses") + 1):
        invitation.refresh_from_db()
        raise Refusal(_why_not(invitation), "invitation")


def is_usable(invitation: Invitation) -> bool:
    """Whether the link would let one more person in now."""
    return usable().filter(pk=invitation.pk).exists()


def usable() -> QuerySet[Invitation]:
    """Invitations that are valid now: a link to a role above annotator, while its maker may give that role."""
    return Invitation.objects.usable().filter(_has_right())


def end_links(study: Study, invitation: Invitation | None) -> None:
    """Revoke the links of a member who was just removed, or given a lesser role: that by which they joined, and those
    that they made and may not make any more.

    If the first is unknown (`invitation` is None): revoke every used link to a role above annotator.
    """
    above = Invitation.objects.filter(study=study, revoked_at__isnull=True).exclude(role=Role.ANNOTATOR)
    joined_by = Q(pk=invitation.pk) if invitation else Q(uses__gt=0)
    above.filter(joined_by | ~_has_right()).update(revoked_at=timezone.now())


def invitation_path(invitation: Invitation) -> str:
    """The path of the invitation, for users who may see it."""
    return reverse("join", args=[_signed("invitation", invitation.link_key)])


def find_invitation(token: str) -> Invitation | None:
    """The invitation of a link, or None if the link is not ours."""
    return _find("invitation", token, Invitation.objects.select_related("study"))


def crowd_path(recruitment: Recruitment) -> str:
    """The path for a crowd platform, which adds its participant's id."""
    return reverse("crowd", args=[_signed("crowd", recruitment.link_key)])


def crowd_link(recruitment: Recruitment, origin: str) -> str:
    """The address to give to the platform, with its placeholders; "" where none is set."""
    if recruitment.platform == Recruitment.Platform.NONE:
        return ""
    names = [recruitment.person_parameter, *filter(None, [recruitment.session_parameter])]
    prolific = recruitment.platform == Recruitment.Platform.PROLIFIC
    filled = {name: f"{{{{%{name}%}}}}" if prolific else f"[{name}]" for name in names}
    return f"{origin}{crowd_path(recruitment)}?{urlencode(filled, safe='{}%[]')}"


def find_crowd(token: str) -> Study | None:
    """The study of a crowd's link, or None if the link is not ours."""
    recruitment = _find("crowd", token, Recruitment.objects.select_related("study"))
    return recruitment.study if recruitment else None


def sign_in_path(user: User, page: str = "/") -> str:
    """A path that signs a user of the demo in and leads to `page`, any number of times; only for the demo.

    It contains a hash of the password, so that it never opens another account with the same number.
    """
    return reverse("sign_in_link", args=[signing.dumps([user.pk, page, user.get_session_auth_hash()], salt="sign-in")])


def read_sign_in(token: str) -> tuple[User, str] | None:
    """The user whom a link signs in, and its page; None if it is not ours, its user is gone, or it has expired."""
    try:
        user_id, page, password = signing.loads(token, salt="sign-in", max_age=60 * 60 * SIGN_IN_LINK_HOURS)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    return (user, page) if user and constant_time_compare(user.get_session_auth_hash(), password) else None


def _signed(purpose: str, value: str) -> str:
    return signing.Signer(salt=purpose).sign(value)


def _find(purpose: str, token: str, rows: QuerySet[Row]) -> Row | None:
    """The row of this link, if it was signed for this purpose."""
    try:
        value = signing.Signer(salt=purpose).unsign(token)
    except signing.BadSignature:
        return None
    return rows.filter(link_key=value).first()


def check_may_give(user: User, study: Study, role: str) -> None:
    """Managers of annotators may invite annotators; only owners may give other roles. Raises `PermissionDenied`."""
    if not access.may(user, study, "annotators" if role == Role.ANNOTATOR else "members"):
        raise PermissionDenied


def _has_right() -> Q:
    """The condition of invitations whose maker may give their role now. Links to annotate outlive their maker's role.

    A subquery rather than a join: the count of uses is checked and raised in one statement, on the row itself.
    """
    givers = Q(is_superuser=True) | Q(
        memberships__study=OuterRef("study"), memberships__role__in=access.ABILITIES["members"]
    )
    makers = get_user_model().objects.filter(givers, pk=OuterRef("created_by"), is_active=True)
    return Q(role=Role.ANNOTATOR) | Q(Exists(makers))


def _why_not(invitation: Invitation) -> str:
    if invitation.is_expired:
        return _("This invitation has expired. Ask the person who sent it for a new one.")
    if invitation.is_used_up:
        return _("This invitation has been used as often as allowed. Ask the person who sent it for a new one.")
    return _("This invitation was revoked. Ask the person who sent it for a new one.")
