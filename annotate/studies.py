"""What is done to a study as a whole: made, set up, paused; people let in, given roles, sent away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate import access, accounts, imports, judging, only_added
from annotate.acts import note
from annotate.models import Export, Invitation, Membership, Study, Topic, Upload
from annotate.refusal import Refusal, check, invalid
from annotate.words import cleaned

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

__all__ = [
    "FIT_SETTINGS",
    "SETTINGS",
    "Refusal",
    "accept",
    "change_settings",
    "create_study",
    "delete_study",
    "invite",
    "is_good",
    "make_study",
    "remove_member",
    "revoke",
    "set_role",
    "set_state",
    "use_invitation",
]

Role = Membership.Role

#: What a researcher may set, in the order in which a page asks for it.
SETTINGS = (
    "title",
    "question",
    "guidelines",
    "language",
    "ties_allowed",
    "show_progress",
    "judgments_per_topic",
    "judgments_per_pair",
    "pairs_per_annotator",
    "random_share",
    "person_cap",
    "judgments_per_hour",
    "pilot",
    "training",
    "training_threshold",
    "gold_share",
    "repeat_share",
    "reading_speed",
    "skips_in_a_row",
    "seed",
    "smooth",
    "prior",
    "redundancy",
    "value",
    "normalize",
    "match",
    "similarity",
    "weigh_annotators",
)
#: Those that change what the same judgments come to.
FIT_SETTINGS = frozenset(
    {"seed", "smooth", "prior", "redundancy", "value", "normalize", "match", "similarity", "weigh_annotators"}
)

#: An invitation may raise a member's role and never lowers it.
RANK = {Role.ANNOTATOR: 0, Role.ADMIN: 1, Role.RESEARCHER: 2, Role.OWNER: 3}


def create_study(user: User, **fields: Any) -> Study:
    """A new study, owned by `user`. Raises `Refusal` for a value that will not do, `PermissionDenied` for a person."""
    if not access.may_create_studies(user):
        raise PermissionDenied
    return make_study(user, **fields)


@transaction.atomic
def make_study(user: User, *, extra: Mapping[str, Any] | None = None, **fields: Any) -> Study:
    """Like `create_study`, for an operator at the machine, who may give a study to anybody."""
    study = Study(created_by=user, extra=dict(extra or {}), **_only_settings(fields))
    check(study)
    study.save(force_insert=True)
    Membership.objects.create(study=study, user=user, role=Role.OWNER)
    note(study, user, "create study", title=study.title)
    return study


@transaction.atomic
def change_settings(study: Study, user: User, **fields: Any) -> Study:
    """Set what is given, leave the rest. Scores follow by themselves where they depend on what was changed."""
    found = _locked(study)
    changes = {
        name: [getattr(found, name), value]
        for name, value in _only_settings(fields).items()
        if getattr(found, name) != value
    }
    if not changes:
        return found
    for name, (_before, after) in changes.items():
        setattr(found, name, after)
    check(found)
    if "language" in changes:
        imports.cut_again(found)
    found.save(update_fields=list(changes))
    if FIT_SETTINGS & changes.keys():
        judging.raise_version(Topic.objects.filter(study=found).values_list("pk", flat=True))
    if "judgments_per_pair" in changes:
        judging.keep_needs(found)
    note(found, user, "change settings", changes=changes)
    return found


@transaction.atomic
def set_state(study: Study, user: User, state: str) -> Study:
    """Open, pause or close a study; while it is not open nobody draws a pair. Answers on their way are still taken."""
    if state not in Study.State.values:
        raise invalid("state", _("There is no such state."))
    found = _locked(study)
    if found.state != state:
        before, found.state = found.state, state
        found.save(update_fields=["state"])
        note(found, user, "set state", before=before, after=state)
    return found


@transaction.atomic
def delete_study(study: Study, user: User) -> None:
    """Delete a study with everything in it, its files too. The log keeps who did it."""
    if not access.may(user, study, "members"):
        raise PermissionDenied
    uploads, exports = Upload.objects.filter(study=study), Export.objects.filter(study=study)
    files = [*(upload.file for upload in uploads), *(export.file for export in exports if export.file)]
    gone = {"study": study.pk, "title": study.title}
    with only_added.erasing():
        study.delete()
    note(None, user, "delete study", **gone)
    for file in files:
        transaction.on_commit(partial(file.delete, save=False))


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
    """A link that lets people in (`links.invitation_path`). Whoever manages annotators invites annotators only."""
    _may_give(user, study, role)
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expires_at", _("This moment has passed already."))
    if max_uses is not None and max_uses < 1:
        raise invalid("max_uses", _("At least one person must be able to use it."))
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
    """Let nobody else in by this link; whoever came in by it stays. Revoking twice changes nothing."""
    _may_give(user, invitation.study, invitation.role)
    if Invitation.objects.filter(pk=invitation.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
        note(invitation.study, user, "revoke invitation", invitation=invitation.pk)
    invitation.refresh_from_db()


def use_invitation(invitation: Invitation) -> None:
    """Count one more person in, in the caller's transaction. Raises `Refusal` where the link is good no longer.

    The database counts, so that two people cannot take the last place.
    """
    if not _if_good(invitation).update(uses=F("uses") + 1):
        invitation.refresh_from_db()
        raise Refusal(_why_not(invitation, timezone.now()), "invitation")


def is_good(invitation: Invitation) -> bool:
    """Whether the link would let one more person in now."""
    return _if_good(invitation).exists()


@transaction.atomic
def accept(invitation: Invitation, user: User) -> Membership:
    """Make a person with an account a member in the invitation's role; a higher role that they have already stays."""
    membership = Membership.objects.select_for_update().filter(study=invitation.study, user=user).first()
    if membership is not None and RANK[Role(membership.role)] >= RANK[Role(invitation.role)]:
        return membership
    use_invitation(invitation)
    membership, _new = Membership.objects.update_or_create(
        study=invitation.study, user=user, defaults={"role": invitation.role}
    )
    note(invitation.study, user, "accept invitation", invitation=invitation.pk, role=invitation.role)
    return membership


@transaction.atomic
def set_role(study: Study, user: User, member: User, role: str) -> Membership:
    """Give somebody another role, or a first one. A study keeps at least one owner."""
    if role not in Role.values:
        raise invalid("role", _("There is no such role."))
    if not access.may(user, study, "members"):
        raise PermissionDenied
    _locked(study)
    if role != Role.OWNER:
        _keep_an_owner(study, member)
    before = Membership.objects.filter(study=study, user=member).first()
    membership, _new = Membership.objects.update_or_create(study=study, user=member, defaults={"role": role})
    if before is None or before.role != role:
        note(study, user, "set role", member=member.pk, before=before.role if before else None, after=role)
    return membership


@transaction.atomic
def remove_member(study: Study, user: User, member: User) -> None:
    """Send somebody away, with the tokens they had for this study; anybody may go by themselves but the last owner."""
    if user != member and not access.may(user, study, "members"):
        raise PermissionDenied
    _locked(study)
    _keep_an_owner(study, member)
    gone, _by_table = Membership.objects.filter(study=study, user=member).delete()
    if not gone:
        raise Refusal(_("This person does not belong to the study."), "not_a_member")
    accounts.revoke_tokens(member, study)
    note(study, user, "remove member", member=member.pk)


def _only_settings(fields: dict[str, Any]) -> dict[str, Any]:
    if unknown := sorted(fields.keys() - set(SETTINGS)):
        raise TypeError(f"not settings of a study: {', '.join(unknown)}")
    return {name: cleaned(name, value) if isinstance(value, str) else value for name, value in fields.items()}


def _locked(study: Study) -> Study:
    return Study.objects.select_for_update().get(pk=study.pk)


def _may_give(user: User, study: Study, role: str) -> None:
    """Whoever manages annotators lets annotators in; only owners let in those who see or change more."""
    if not access.may(user, study, "people" if role == Role.ANNOTATOR else "members"):
        raise PermissionDenied


def _keep_an_owner(study: Study, leaving: User) -> None:
    owners = Membership.objects.filter(study=study, role=Role.OWNER)
    if owners.filter(user=leaving).exists() and not owners.exclude(user=leaving).exists():
        raise Refusal(_("A study needs an owner: make somebody else one first."), "last_owner")


def _if_good(invitation: Invitation) -> QuerySet[Invitation]:
    return Invitation.objects.filter(
        Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()),
        Q(max_uses__isnull=True) | Q(uses__lt=F("max_uses")),
        pk=invitation.pk,
        revoked_at__isnull=True,
    )


def _why_not(invitation: Invitation, now: datetime) -> str:
    if invitation.revoked_at is not None:
        return _("This invitation was taken back. Ask the person who sent it for another one.")
    if invitation.expires_at is not None and invitation.expires_at <= now:
        return _("This invitation has run out. Ask the person who sent it for another one.")
    return _("This invitation was used as often as it may be. Ask the person who sent it for another one.")
