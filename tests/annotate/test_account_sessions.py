"""Where one is signed in: seen, and ended."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from annotate import judging
from annotate.models import AccountSession, AuditEntry
from tests.annotate import making
from tests.annotate.judging_study import ready_study

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough password"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Safari/604.1"


def signed_in(user: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    assert client.post("/sign-in/", {"username": user.username, "password": PASSWORD}).status_code == 302
    return client


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def page_of(client: Client) -> str:
    return str(client.get("/account/").content.decode())


def test_the_account_page_lists_the_browsers_in_which_one_is_signed_in():
    user = making.person()
    signed_in(user, EDGE), signed_in(user, "curl"), signed_in(making.person(), IPHONE)
    page = page_of(signed_in(user))
    listed = set(re.findall(r"Firefox, Linux|Edge, Windows|Unknown browser|Safari, iPhone", page))
    assert listed == {"Firefox, Linux", "Edge, Windows", "Unknown browser"}
    assert page.count("this browser") == 1
    assert not any(key in page for key in Session.objects.values_list("pk", flat=True)), "they are secrets"


def test_a_session_is_ended_by_its_own_account_only():
    user, eve = making.person(), signed_in(making.person())
    here, there = signed_in(user), signed_in(user)
    number = AccountSession.objects.get(session=there.session.session_key).pk
    assert eve.post(f"/account/sessions/{number}/end/").status_code == 404
    assert is_in(there)
    assert here.post(f"/account/sessions/{number}/end/")["Location"] == "/account/"
    assert (is_in(here), is_in(there)) == (True, False)
    assert here.post(f"/account/sessions/{number}/end/").status_code == 404
    assert AuditEntry.objects.get(actor=user, action="end sessions").detail == {"number": 1}


def test_all_other_sessions_are_ended_at_once():
    user, other = making.person(), signed_in(making.person())
    here, *there = (signed_in(user) for _ in range(3))
    here.post("/account/sessions/end/")
    assert [is_in(client) for client in (here, *there, other)] == [True, False, False, True]
    assert "End all other sessions" not in page_of(here)


def test_a_session_that_ended_by_itself_is_listed_no_more():
    user = making.person()
    here, out, changed = signed_in(user), signed_in(user), signed_in(user)
    out.post("/sign-out/")
    assert AccountSession.objects.filter(user=user).count() == 2
    new = "seven unrelated words"
    changed.post("/account/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert (is_in(changed), is_in(here)) == (True, False)
    (left,) = AccountSession.objects.filter(user=user)
    assert left.session_id == changed.session.session_key
    assert left.browser == "Firefox, Linux"


def test_an_annotator_without_an_account_has_a_session_that_is_nobodys(client):
    study = ready_study()
    client.force_login(making.person())
    session = client.session
    User.objects.filter(pk=session["_auth_user_id"]).delete()
    session["annotators"] = {str(study.pk): str(judging.join(study).key)}
    session.save()
    assert AccountSession.objects.count() == 0
