"""Accounts: signing in, being invited, passwords, tokens."""

import io
import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotate import invitations, studies
from annotate.management.commands import demo
from annotate.models import AuditEntry, Invitation, Membership, Study, Token

pytestmark = pytest.mark.django_db
PASSWORD = "four unrelated words here"


@pytest.fixture
def owner() -> User:
    return User.objects.create_superuser("ada", password=PASSWORD)


@pytest.fixture
def study(owner: User) -> Study:
    return studies.create_study(owner, title="News")


@pytest.fixture
def invitation(study: Study, owner: User) -> Invitation:
    return invitations.invite(study, owner, role=Membership.Role.RESEARCHER)


def test_an_invited_researcher_makes_an_account_and_finds_the_study(client: Client, invitation: Invitation) -> None:
    door = invitations.invitation_path(invitation)
    page = client.get(door)
    assert "Create an account" in page.content.decode()
    sign_up = re.search(r'href="(/sign-up/[^"]+)"', page.content.decode())
    assert sign_up
    answer = client.post(sign_up[1], {"username": "grace", "password": PASSWORD})
    assert answer["Location"] == door
    answer = client.post(door)
    assert answer["Location"] == f"/studies/{invitation.study_id}/"
    assert Membership.objects.get(user__username="grace").role == Membership.Role.RESEARCHER


def test_nobody_signs_up_where_the_installation_is_closed(client: Client) -> None:
    assert client.get("/sign-up/").status_code == 404
    assert client.post("/sign-up/", {"username": "eve", "password": PASSWORD}).status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_a_forged_invitation_makes_no_account(client: Client, invitation: Invitation) -> None:
    forged = f"{invitation.pk}:forged"
    assert client.post(f"/sign-up/?invitation={forged}", {"username": "eve", "password": PASSWORD}).status_code == 404


@pytest.mark.parametrize("change", ["revoked", "spent"])
def test_an_invitation_that_is_good_no_longer_makes_no_account(
    client: Client, invitation: Invitation, owner: User, change: str
) -> None:
    token = invitations.invitation_path(invitation).split("/")[2]
    if change == "revoked":
        invitations.revoke(invitation, owner)
    else:
        Invitation.objects.filter(pk=invitation.pk).update(max_uses=1, uses=1)
    answer = client.post(f"/sign-up/?invitation={token}", {"username": "eve", "password": PASSWORD})
    assert answer.status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_whoever_signs_up_at_an_open_installation_may_begin_studies(client: Client, settings: Settings) -> None:
    settings.SIGN_UP_OPEN = True
    client.post("/sign-up/", {"username": "grace", "password": PASSWORD})
    assert User.objects.get(username="grace").has_perm("annotate.add_study")


def test_a_weak_password_is_refused_with_its_reason(client: Client, settings: Settings) -> None:
    settings.SIGN_UP_OPEN = True
    page = client.post("/sign-up/", {"username": "grace", "password": "password"}).content.decode()
    assert "too short" in page
    assert not User.objects.filter(username="grace").exists()


def test_five_wrong_passwords_close_the_door_for_that_name(client: Client, owner: User) -> None:
    for _ in range(5):
        client.post("/sign-in/", {"username": "ada", "password": "wrong"})
    answer = client.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 429
    assert "try again" in answer.content.decode().lower()


def test_whoever_forgot_their_password_reads_whom_to_ask(client: Client, settings: Settings) -> None:
    assert "Forgotten your password? Ask the operator" in client.get("/sign-in/").content.decode()
    settings.SECURITY_CONTACT = "mailto:ada@example.org"
    assert '<a href="mailto:ada@example.org">ada@example.org</a>' in client.get("/sign-in/").content.decode()


def test_the_log_says_who_signed_in_and_not_from_where(client: Client, owner: User) -> None:
    client.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    entry = AuditEntry.objects.get(actor=owner, action="sign in")
    assert entry.detail == {"by": "password"}


def test_a_sign_in_link_never_opens_the_account_that_has_its_number_since(client: Client) -> None:
    first = User.objects.create_user("first", password="a long enough one")
    link = invitations.sign_in_path(first, "/account/")
    key = first.pk
    first.delete()
    User.objects.create_user("second", pk=key, password="a long enough one")
    assert client.post(link).status_code == 404


def test_a_sign_in_link_leads_to_its_page_and_a_forged_one_nowhere(client: Client, owner: User) -> None:
    link = invitations.sign_in_path(owner, "/account/")
    assert client.head(link).status_code == 200
    assert "Sign in as ada" in client.get(link).content.decode()
    assert client.get("/account/").status_code == 302
    assert client.post(link)["Location"] == "/account/"
    assert "ada" in client.get("/account/").content.decode()
    assert Client().get("/sign-in/forged:link/").status_code == 404


def test_the_demos_links_say_for_how_long_they_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SIMULATED", 1)
    out = io.StringIO()
    demo.make_demo_study(lambda _line: None)
    demo.Command(stdout=out).welcome("")
    (hours,) = re.findall(r"sign in as that person for (\d+) hours", out.getvalue())
    links = re.findall(r"\S*/sign-in/\S+", out.getvalue())
    assert len(links) == len(demo.ROLES)
    for minutes, status in ((-1, 200), (1, 404)):
        with time_machine.travel(timezone.now() + timedelta(hours=int(hours), minutes=minutes)):
            assert [Client().get(link).status_code for link in links] == [status] * len(links)


def test_a_token_is_shown_once_and_can_be_revoked(client: Client, owner: User) -> None:
    client.force_login(owner)
    page = client.post("/account/", {"name": "cluster"}).content.decode()
    secret = re.search(r"prf_[\w-]+", page)
    assert secret
    assert secret[0] not in client.get("/account/").content.decode()
    token = Token.objects.get()
    assert secret[0] not in token.digest
    client.post(f"/account/tokens/{token.pk}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_nobody_revokes_the_token_of_somebody_else(client: Client, owner: User) -> None:
    client.force_login(owner)
    client.post("/account/", {"name": "cluster"})
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    assert stranger.post(f"/account/tokens/{Token.objects.get().pk}/revoke/").status_code == 404
    assert Token.objects.get().revoked_at is None


def test_a_new_password_ends_the_other_sessions(client: Client, owner: User) -> None:
    other = Client()
    for browser in (client, other):
        browser.force_login(owner)
    new = "another set of four words"
    client.post("/account/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert client.get("/account/").status_code == 200
    assert other.get("/account/").status_code == 302
