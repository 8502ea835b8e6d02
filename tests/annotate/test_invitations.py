import contextlib
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from annotate import invitations, members
from annotate.models import AuditEntry, Invitation, Membership
from annotate.refusal import Refusal
from tests.annotate import making
from tests.annotate.making import Role
from tests.annotate.test_judging_together import PATIENCE, at_once, one_held_up

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


def end_of_right(study, maker: User, end: str) -> None:
    """End this owner's right to invite above annotator, in one of the ways that there are."""
    if end == "closed account":
        User.objects.filter(pk=maker.pk).update(is_active=False)
    elif end == "left":
        members.remove_member(study, maker, maker)
    elif end == "removed":
        members.remove_member(study, study.created_by, maker)
    else:
        members.set_role(study, study.created_by, maker, end)


ENDS = ["removed", "left", Role.RESEARCHER, Role.ADMIN, Role.ANNOTATOR, "closed account"]


@pytest.mark.parametrize("comes", ["maker", "second account"])
@pytest.mark.parametrize("end", ENDS)
def test_a_link_above_annotator_dies_with_its_makers_right_to_make_it(end, comes):
    study = making.study()
    maker = making.person()
    members.give_role(study, maker, Role.OWNER)
    links = [invitations.invite(study, maker, role=role, max_uses=5) for role in Role.values]
    end_of_right(study, maker, end)
    before = list(Membership.objects.order_by("pk").values_list("user", "role"))
    comer = maker if comes == "maker" else making.person()
    for link in links:
        if link.role == Role.ANNOTATOR:
            assert invitations.is_usable(link), "annotators who have this link go on"
            continue
        assert not invitations.is_usable(link)
        with contextlib.suppress(Refusal):  # nobody loses what they have by an old link
            members.accept(link, comer)
    assert list(Membership.objects.order_by("pk").values_list("user", "role")) == before


def test_links_of_whoever_may_invite_without_being_a_member_die_with_that():
    study, site = making.study(), making.person(is_superuser=True)
    link = invitations.invite(study, site, role=Role.RESEARCHER)
    User.objects.filter(pk=site.pk).update(is_superuser=False)
    with pytest.raises(Refusal, match="revoked"):
        members.accept(Invitation.objects.get(pk=link.pk), making.person())


def test_a_link_that_died_with_its_makers_right_stays_dead_when_they_have_it_again():
    study, maker = making.study(), making.person()
    members.give_role(study, maker, Role.OWNER)
    link = invitations.invite(study, maker, role=Role.OWNER)
    members.set_role(study, study.created_by, maker, Role.ADMIN)
    members.set_role(study, study.created_by, maker, Role.OWNER)
    with pytest.raises(Refusal, match="revoked"):
        members.accept(link, making.person())


def test_links_of_other_makers_live_on_when_an_owner_goes():
    study, maker = making.study(), making.person()
    members.give_role(study, maker, Role.OWNER)
    others = invitations.invite(study, study.created_by, role=Role.RESEARCHER)
    elsewhere = invitations.invite(making.study(maker), maker, role=Role.RESEARCHER)
    members.remove_member(study, study.created_by, maker)
    for link in (others, elsewhere):
        assert members.accept(link, making.person()).role == Role.RESEARCHER


def test_a_dead_link_has_no_address_on_the_page_of_invitations(client):
    study, maker = making.study(), making.person()
    members.give_role(study, maker, Role.OWNER)
    link = invitations.invite(study, maker, role=Role.OWNER)
    address, code = f"/studies/{study.pk}/members/", f"/studies/{study.pk}/invitations/{link.pk}/qr/"
    client.force_login(study.created_by)
    assert invitations.invitation_path(link) in client.get(address).content.decode()
    User.objects.filter(pk=maker.pk).update(is_active=False)
    page = client.get(address).content.decode()
    assert invitations.invitation_path(link) not in page
    assert "revoked" in page
    assert client.get(code).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["accept", "end"])
def test_whoever_accepts_while_the_maker_is_removed_is_let_in_before_it_or_not_at_all(first, monkeypatch):
    """The one who comes first is held up in the middle, until the other has come to its locks."""
    study, maker, comer = making.study(), making.person(), making.person()
    owner = study.created_by
    members.give_role(study, maker, Role.OWNER)
    link = invitations.invite(study, maker, role=Role.OWNER)
    begun = one_held_up(monkeypatch, invitations, "end_links" if first == "end" else "use")

    def accept() -> None:
        assert first == "accept" or begun.wait(PATIENCE)
        try:
            members.accept(Invitation.objects.get(pk=link.pk), comer)
        except Refusal:
            assert not Membership.objects.filter(study=study, user=maker).exists(), "refused only after the end"

    def end() -> None:
        assert first == "end" or begun.wait(PATIENCE)
        members.remove_member(study, owner, maker)

    at_once(accept, end)
    assert Membership.objects.filter(study=study, user=comer).exists() == (first == "accept")


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
