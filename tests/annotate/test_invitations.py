from datetime import timedelta
from functools import partial

import pytest
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from annotate import invitations, members
from annotate.models import AuditEntry, Invitation, Membership
from annotate.refusal import Refusal
from tests.annotate import making
from tests.annotate.making import Role
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db


def token_of(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[1]


def test_an_invitation_lets_in_as_many_as_it_says():
    study = making.study()
    invitation = invitations.invite(study, making.owner(study), role=Role.RESEARCHER, max_uses=2)
    assert (
        invitations.find_invitation(invitations.invitation_path(invitation).rstrip("/").rsplit("/", 1)[1]) == invitation
    )
    for _ in range(2):
        assert members.accept(invitation, making.person()).role == Role.RESEARCHER
    with pytest.raises(Refusal, match="as often as allowed"):
        members.accept(invitation, making.person())
    assert Invitation.objects.get().uses == 2


def test_a_link_never_opens_what_has_its_number_since_a_backup_was_restored():
    study = making.study()
    lost = invitations.invite(study, making.owner(study))
    link, number = token_of(invitations.invitation_path(lost)), lost.pk
    Invitation.objects.filter(pk=number).delete()  # as a restore of an earlier backup does
    other = Invitation.objects.create(pk=number, study=making.study(), role=Role.OWNER, created_by=making.person())
    assert invitations.find_invitation(link) is None
    assert invitations.find_invitation(signing.Signer(salt="invitation").sign(str(number))) is None
    assert invitations.find_invitation(token_of(invitations.invitation_path(other))) == other


def test_links_to_higher_roles_are_for_one_person_and_expire_where_nothing_else_is_said():
    study = making.study()
    link = invitations.invite(study, making.owner(study), role=Role.RESEARCHER)
    assert link.max_uses == 1
    assert link.expires_at is not None
    for_annotators = invitations.invite(study, making.owner(study))
    assert (for_annotators.max_uses, for_annotators.expires_at) == (None, None)


@pytest.mark.parametrize("end", ["removed", "demoted", "removed long after"])
def test_whoever_was_removed_or_demoted_does_not_come_back_by_their_old_link(end):
    study = making.study()
    owner, member = making.owner(study), making.person()
    link = invitations.invite(study, owner, role=Role.OWNER, max_uses=10)
    members.accept(link, member)
    if end == "removed long after":  # they came before memberships knew their links
        Membership.objects.filter(user=member).update(invitation=None)
    if end == "demoted":
        members.set_role(study, owner, member, Role.ADMIN)
    else:
        members.remove_member(study, owner, member)
    with pytest.raises(Refusal, match="revoked"):
        members.accept(link, member)


@pytest.mark.django_db(transaction=True)
def test_one_person_who_accepts_eight_times_at_once_takes_one_place():
    study, person = making.study(), making.person()
    link = invitations.invite(study, making.owner(study), role=Role.RESEARCHER, max_uses=9)
    at_once(*[partial(members.accept, Invitation.objects.get(pk=link.pk), person)] * 8)
    link.refresh_from_db()
    assert link.uses == 1


def test_an_invitation_that_ran_out_or_was_taken_back_lets_nobody_in():
    study = making.study()
    owner = making.owner(study)
    late = invitations.invite(study, owner, role=Role.RESEARCHER, expires_at=timezone.now() + timedelta(hours=1))
    Invitation.objects.filter(pk=late.pk).update(expires_at=timezone.now() - timedelta(hours=1))
    with pytest.raises(Refusal, match="expired"):
        members.accept(late, making.person())
    gone = invitations.invite(study, owner)
    invitations.revoke(gone, owner)
    invitations.revoke(gone, owner)
    with pytest.raises(Refusal, match="revoked"):
        invitations.use(gone)
    assert AuditEntry.objects.filter(study=study, action="revoke invitation").count() == 1


def test_an_invitation_never_lowers_a_role_and_is_not_used_up_by_members():
    study = making.study()
    owner = making.owner(study)
    invitation = invitations.invite(study, owner, role=Role.ADMIN, max_uses=1)
    assert members.accept(invitation, owner).role == Role.OWNER
    assert members.accept(invitation, making.member(study, Role.ANNOTATOR)).role == Role.ADMIN
    assert Invitation.objects.get().uses == 1


def test_an_admin_invites_annotators_and_nobody_above_themselves():
    study = making.study()
    admin = making.member(study, Role.ADMIN)
    invitations.invite(study, admin)
    for role in (Role.ADMIN, Role.RESEARCHER, Role.OWNER):
        with pytest.raises(PermissionDenied):
            invitations.invite(study, admin, role=role)
    theirs = invitations.invite(study, making.owner(study), role=Role.OWNER)
    with pytest.raises(PermissionDenied):
        invitations.revoke(theirs, admin)


@pytest.mark.parametrize("fields", [{"max_uses": 0}, {"role": "king"}, {"label": "x" * 101}])
def test_an_invitation_that_cannot_work_is_refused(fields):
    study = making.study()
    with pytest.raises(Refusal) as refused:
        invitations.invite(study, making.owner(study), **fields)
    assert list(refused.value.fields) == list(fields)


@pytest.mark.django_db(transaction=True)
def test_the_last_places_of_an_invitation_are_taken_once_however_many_come_at_once():
    study = making.study()
    invitation = invitations.invite(study, making.owner(study), role=Role.RESEARCHER, max_uses=3)
    people = [making.person() for _ in range(8)]

    def accept(user) -> bool:
        try:
            members.accept(Invitation.objects.get(pk=invitation.pk), user)
        except Refusal:
            return False
        return True

    taken = at_once(*[partial(accept, user) for user in people])
    assert sum(taken) == 3
    assert Membership.objects.filter(role=Role.RESEARCHER).count() == Invitation.objects.get().uses == 3
