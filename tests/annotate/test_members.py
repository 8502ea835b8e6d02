from functools import partial

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from annotate import accounts, invitations, judging, members
from annotate.models import Annotator, Membership, Token
from annotate.refusal import Refusal
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import ready_study
from tests.annotate.making import Role
from tests.annotate.test_judging_together import PATIENCE, at_once, one_held_up

pytestmark = pytest.mark.django_db


def test_a_study_keeps_an_owner():
    study = making.study()
    owner = making.owner(study)
    with pytest.raises(Refusal, match="owner"):
        members.set_role(study, owner, owner, Role.RESEARCHER)
    with pytest.raises(Refusal, match="owner"):
        members.remove_member(study, owner, owner)
    other = making.member(study, Role.RESEARCHER)
    members.set_role(study, owner, other, Role.OWNER)
    members.set_role(study, other, owner, Role.ADMIN)
    assert Membership.objects.get(study=study, user=owner).role == Role.ADMIN


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADMIN, Role.ANNOTATOR])
def test_nobody_but_an_owner_gives_roles(role):
    study = making.study()
    user = making.member(study, role)
    with pytest.raises(PermissionDenied):
        members.set_role(study, user, user, Role.OWNER)
    with pytest.raises(PermissionDenied):
        members.remove_member(study, user, making.owner(study))


def test_who_is_sent_away_loses_the_tokens_for_this_study_only():
    study = making.study()
    user = making.member(study, Role.RESEARCHER)
    accounts.create_token(user, "here", study=study)
    accounts.create_token(user, "everywhere")
    members.remove_member(study, making.owner(study), user)
    assert set(Token.objects.filter(revoked_at=None).values_list("name", flat=True)) == {"everywhere"}


def test_a_machine_stops_with_its_owners_membership(client):
    """Neither their token nor their browser draws pairs for it, or answers one that it has; until they are back."""
    study = ready_study()
    user = making.member(study, Role.RESEARCHER)
    machine = judging.join(study, user=user, kind=Annotator.Kind.MACHINE, pseudonym="machine")
    runner, draw = program(user), f"/api/v1/studies/{study.pk}/annotators/{machine.key}/draw/"
    client.force_login(user)
    pair = runner.post(draw).json()
    answer = partial(runner.post, f"/api/v1/assignments/{pair['key']}/judgment/", {"revision": 1, "answer": "left"})
    members.remove_member(study, making.owner(study), user)
    assert [runner.post(draw).status_code, answer(format="json").status_code] == [404, 404]
    assert client.get(f"/progress/{machine.key}/").status_code == 404
    members.set_role(study, making.owner(study), user, Role.ANNOTATOR)
    assert [runner.post(draw).status_code, answer(format="json").status_code] == [200, 201]


def test_anybody_may_leave():
    study = making.study()
    user = making.member(study, Role.ANNOTATOR)
    members.remove_member(study, user, user)
    assert not Membership.objects.filter(user=user).exists()


@pytest.mark.django_db(transaction=True)
def test_an_owner_who_is_sent_away_meanwhile_sends_nobody_away(monkeypatch):
    """Also where a third owner would be left."""
    study = making.study()
    first, second = making.owner(study), making.member(study, Role.OWNER)
    making.member(study, Role.OWNER)
    begun = one_held_up(monkeypatch, invitations, "end_links")

    def second_tries() -> bool:
        assert begun.wait(PATIENCE)
        try:
            members.set_role(study, second, first, Role.ADMIN)
        except PermissionDenied:
            return False
        return True

    _gone, came = at_once(partial(members.remove_member, study, first, second), second_tries)
    assert not came
    assert Membership.objects.get(study=study, user=first).role == Role.OWNER


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_send_each_other_away_leave_one():
    study = making.study()
    owners = [making.owner(study), making.member(study, Role.OWNER)]

    def remove(pair) -> bool:
        try:
            members.remove_member(study, *pair)
        except (Refusal, PermissionDenied):
            return False
        return True

    done = at_once(partial(remove, owners), partial(remove, owners[::-1]))
    assert sum(done) == 1
    assert Membership.objects.filter(study=study, role=Role.OWNER).count() == 1


@pytest.mark.parametrize(("role", "may"), [("owner", True), ("admin", False)])
def test_only_who_gives_roles_reads_how_to_add_a_colleague(client, role, may):
    study = making.study()
    client.force_login(making.member(study, role))
    page = client.get(reverse("study_members", args=[study.pk])).content.decode()
    assert ("To add a colleague" in page) == may
