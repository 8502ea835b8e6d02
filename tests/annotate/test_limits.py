"""Guessing, coming in and calling, more often than anybody needs to: 429, and when to come back."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import time_machine
from django.contrib.auth.backends import ModelBackend
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotate import accounts, invitations
from annotate.models import Allowance, Annotator
from annotate.server import limits
from annotate.server.limits import GUESSES, Limit, TooOften, spend, visitor
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import ready_study
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db

THRICE = Limit("three", 3, 60)


def test_a_limit_is_used_up_by_one_and_not_by_another():
    for _ in range(3):
        spend(THRICE, "one")
    with pytest.raises(TooOften) as often:
        spend(THRICE, "one")
    assert 50 < often.value.seconds <= 60
    spend(THRICE, "another")


def test_a_limit_begins_anew_and_leaves_nothing_behind():
    spend(THRICE, "one", 3)
    Allowance.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    spend(THRICE, "another")
    assert Allowance.objects.count() == 1
    spend(THRICE, "one", 3)
    with pytest.raises(TooOften):
        spend(THRICE, "one")


def test_nobody_reads_from_the_table_who_came():
    spend(THRICE, "192.0.2.7")
    assert "192.0.2.7" not in Allowance.objects.get().key


def seen(settings: Settings, proxies: int, forwarded: str | None, remote: str = "10.0.0.1") -> str:
    settings.PROXIES = proxies
    headers = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    return visitor(RequestFactory().get("/", REMOTE_ADDR=remote, **headers))


def test_without_a_proxy_nothing_is_believed_that_a_visitor_says(settings: Settings) -> None:
    assert seen(settings, 0, None) == "10.0.0.1"
    assert seen(settings, 0, "192.0.2.7") == "10.0.0.1"


def test_behind_proxies_a_visitor_is_whom_the_outermost_one_saw(settings: Settings) -> None:
    assert seen(settings, 1, "192.0.2.7") == "192.0.2.7"
    assert seen(settings, 2, "192.0.2.7, 10.0.0.2") == "192.0.2.7"


def test_what_a_visitor_writes_into_the_header_is_not_believed(settings: Settings) -> None:
    assert seen(settings, 1, "198.51.100.1, 192.0.2.7") == "192.0.2.7"
    assert seen(settings, 2, "198.51.100.1,, ,192.0.2.7, 10.0.0.2") == "192.0.2.7"


@pytest.mark.parametrize("forwarded", [None, "", " ", ",", "unknown", "_hidden", "192.0.2", "192.0.2.7:80", "x" * 9999])
def test_a_header_that_names_nobody_leaves_the_one_who_asked(settings: Settings, forwarded: str | None) -> None:
    assert seen(settings, 1, forwarded) == "10.0.0.1"


def test_a_header_of_fewer_proxies_than_there_are_leaves_the_one_who_asked(settings: Settings) -> None:
    assert seen(settings, 2, "192.0.2.7") == "10.0.0.1"


def test_an_address_is_counted_once_however_it_is_written(settings: Settings) -> None:
    assert seen(settings, 1, " 2001:DB8:0::7 ") == seen(settings, 1, "2001:db8::7") == "2001:db8::"
    assert seen(settings, 0, None, "::ffff:192.0.2.7") == "192.0.2.7"
    assert seen(settings, 0, None, "fe80::1%eth0") == "fe80::"
    assert seen(settings, 0, None, "") == limits.NOWHERE


def test_of_a_network_of_ipv6_all_addresses_are_one(settings: Settings) -> None:
    assert (
        seen(settings, 0, None, "2001:db8:1:2:3:4:5:6")
        == seen(settings, 0, None, "2001:db8:1:2::1")
        == "2001:db8:1:2::"
    )
    assert seen(settings, 0, None, "2001:db8:1:3::1") == "2001:db8:1:3::"


def test_two_people_behind_one_proxy_do_not_lock_each_other_out(settings: Settings) -> None:
    settings.PROXIES = 1
    name = making.person().username
    for _ in range(limits.WRONG_PASSWORDS_OF_NAME.times + 1):
        wrong = Client(headers={"x-forwarded-for": "192.0.2.66"}).post("/sign-in/", {"username": name, "password": "?"})
    assert wrong.status_code == 429
    owner = Client(headers={"x-forwarded-for": "192.0.2.7"})
    assert owner.post("/sign-in/", {"username": name, "password": "a long enough password"}).status_code == 302


def test_whoever_comes_through_a_socket_without_addresses_is_locked_out_all_the_same(settings: Settings) -> None:
    name = making.person().username
    for _ in range(limits.WRONG_PASSWORDS_OF_NAME.times + 1):
        found = Client(REMOTE_ADDR="").post("/sign-in/", {"username": name, "password": "wrong"})
    assert found.status_code == 429


def sign_in(name: str, password: str = "wrong", **visitor: str) -> HttpResponse:
    return Client(**visitor).post(reverse("sign_in"), {"username": name, "password": password})


def test_nobody_tries_passwords_without_end_by_going_from_name_to_name(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "WRONG_PASSWORDS", Limit("password", 3, 900))
    found = [sign_in(f"name{number}") for number in range(4)]
    assert [one.status_code for one in found] == [200, 200, 200, 429]
    assert "Wait 15 minutes, then try again." in found[-1].content.decode()
    assert 890 < int(found[-1]["Retry-After"]) <= 900
    name = making.person().username
    right = sign_in(name, "a long enough password")
    assert (right.status_code, int(right["Retry-After"]) > 0) == (429, True)
    assert settings.SESSION_COOKIE_NAME not in right.cookies
    assert Client().get(reverse("sign_in")).status_code == 200
    assert sign_in(name, "a long enough password", REMOTE_ADDR="192.0.2.7").status_code == 302


@pytest.mark.parametrize("page", ["password", "account_reauthenticate", "account_email"])
def test_nobody_finds_out_the_password_of_a_browser_that_was_left_signed_in(settings: Settings, page: str) -> None:
    """Wherever a page requires it again; all of them count together."""
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    client, new = Client(), "seven unrelated words"
    client.force_login(making.person())

    def guess(page: str, word: str) -> int:
        field = "old_password" if page == "password" else "password"
        sent = {field: word, "new_password1": new, "new_password2": new, "email": ""}
        return client.post(reverse(page), sent).status_code

    assert [guess(page, "wrong") for _ in range(4)] == [200] * 4
    assert guess("account_reauthenticate", "a long enough password") == 302, "a right one lets them be counted anew"
    assert [guess(page, "wrong") for _ in range(5)] == [200] * 5
    for other in ("password", "account_reauthenticate", "account_email"):
        assert guess(other, "a long enough password") == 429


@pytest.mark.django_db(transaction=True)
def test_of_many_passwords_sent_at_once_no_more_are_tried_than_of_some_sent_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried, name = [], making.person().username
    authenticate = ModelBackend.authenticate

    def slowly(*args: Any, **more: Any) -> Any:
        tried.append(more["password"])
        time.sleep(0.2)
        return authenticate(*args, **more)

    monkeypatch.setattr(ModelBackend, "authenticate", slowly)
    found = at_once(*[partial(sign_in, name, f"wrong {number}") for number in range(12)])
    assert len(tried) == limits.WRONG_PASSWORDS_OF_NAME.times
    assert sorted(one.status_code for one in found) == [200] * 5 + [429] * 7


def test_right_passwords_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRONG_PASSWORDS", Limit("password", 3, 900))
    name = making.person().username
    assert [sign_in(name, "a long enough password").status_code for _ in range(5)] == [302] * 5


def test_a_right_password_lets_wrong_ones_be_counted_anew(settings: Settings) -> None:
    name = making.person().username
    few = limits.WRONG_PASSWORDS_OF_NAME.times - 1
    for _ in range(2):
        assert [sign_in(name).status_code for _ in range(few)] == [200] * few
        assert sign_in(name, "a long enough password").status_code == 302


def test_a_closed_door_opens_after_a_quarter_of_an_hour_even_to_whoever_goes_on_knocking() -> None:
    name = making.person().username
    with time_machine.travel("2026-11-21 12:00Z", tick=False) as clock:
        found = [sign_in(name) for _ in range(6)]
        assert [one.status_code for one in found] == [200] * 5 + [429]
        assert found[-1]["Retry-After"] == "900"
        clock.shift(600)
        assert sign_in(name)["Retry-After"] == sign_in(name, "a long enough password")["Retry-After"] == "300"
        clock.shift(301)
        assert sign_in(name, "a long enough password").status_code == 302


def test_the_fifth_password_still_opens_the_door() -> None:
    name = making.person().username
    assert [sign_in(name).status_code for _ in range(4)] == [200] * 4
    assert sign_in(name, "a long enough password").status_code == 302


def test_a_name_that_nobody_has_is_counted_and_answered_like_any_other() -> None:
    with time_machine.travel("2026-11-21 12:00Z", tick=False):
        known, unknown = ([sign_in(name) for _ in range(6)] for name in (making.person().username, "nobody"))
    answers = [[(answer.status_code, answer.get("Retry-After")) for answer in several] for several in (known, unknown)]
    assert answers[0] == answers[1]
    assert answers[0][-1][0] == 429


def test_a_name_is_counted_once_however_it_is_written() -> None:
    name = making.person().username
    spellings = [name, f" {name}\n", name.upper()] * 2
    assert [sign_in(spelling).status_code for spelling in spellings] == [200] * 5 + [429]


def test_nobody_can_read_afterwards_who_tried_to_sign_in_from_where() -> None:
    sign_in("zoe", REMOTE_ADDR="192.0.2.7")
    kept = str(list(Allowance.objects.values()))
    assert Allowance.objects.count() == 2
    assert "zoe" not in kept
    assert "192.0.2.7" not in kept


def test_a_closed_door_says_nothing_to_other_websites() -> None:
    for _ in range(limits.WRONG_PASSWORDS_OF_NAME.times + 1):
        found = sign_in("nobody", headers={"x-requested-with": "XMLHttpRequest"})
    assert found.status_code == 429
    assert "Access-Control-Allow-Origin" not in found


@pytest.mark.parametrize("page", ["join", "crowd", "sign_in_link"])
def test_after_ten_guesses_links_are_guessed_no_more_and_a_right_one_still_opens(client: Client, page: str) -> None:
    study = ready_study()
    right = invitations.invitation_path(invitations.invite(study, study.created_by))
    found = [client.get(reverse(page, args=[f"{number}:guess"])) for number in range(12)]
    assert [one.status_code for one in found] == [404] * GUESSES.times + [429] * 2
    assert 0 < int(found[-1]["Retry-After"]) <= GUESSES.seconds
    assert client.get(right).status_code == 200


def test_after_ten_wrong_tokens_no_more_are_tried_and_a_right_one_still_opens(client: Client) -> None:
    user = making.study().created_by
    found = [client.get(reverse("api_me"), headers={"authorization": f"Bearer prf_{number}"}) for number in range(12)]
    assert [one.status_code for one in found] == [401] * GUESSES.times + [429] * 2
    assert found[-1].json()["error"]["code"] == "throttled"
    assert int(found[-1]["Retry-After"]) > 0
    assert program(user).get(reverse("api_me")).status_code == 200


def test_a_program_that_never_rests_is_asked_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "calls", limits.Tally(Limit("call", 100, 60)))
    client = program(making.study().created_by)
    found = [client.get(reverse("api_me")) for _ in range(151)]
    assert {one.status_code for one in found[:149]} == {200}
    assert found[-1].status_code == 429
    assert 0 < int(found[-1]["Retry-After"]) <= 60


def test_nobody_brings_a_crowd_from_one_address_without_end(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARRIVALS", THRICE)
    study = ready_study()
    path = invitations.invitation_path(invitations.invite(study, study.created_by))
    found = [Client().post(path).status_code for _ in range(4)]
    assert found == [302, 302, 302, 429]
    assert Annotator.objects.filter(study=study).count() == 3


def test_nobody_makes_accounts_without_end(client: Client, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SIGN_UP_OPEN = True
    monkeypatch.setattr(limits, "SIGN_UPS", Limit("sign up", 3, 3600))
    for number in range(4):
        body = {"username": f"name{number}", "password": "seven unrelated words"}
        found = Client().post(reverse("sign_up"), body)
    assert found.status_code == 429
    assert "Wait 60 minutes, then try again." in found.content.decode()


@pytest.mark.parametrize(
    ("limit", "page", "call", "sent"),
    [
        (limits.COPIES, "study_copy", "api_study_copies", {"title": "Again"}),
        (limits.EXPORTS, "study_export", "api_exports", {}),
        (limits.WRITTEN, "make_baselines", "api_baselines", {"words": 100}),
        (limits.WRITTEN, "make_simulated", "api_simulated", {"source": "references", "per_topic": 9, "seed": 1}),
    ],
)
def test_nobody_keeps_the_worker_busy_without_end(limit: Limit, page: str, call: str, sent: dict[str, object]) -> None:
    study = ready_study()
    client = Client()
    client.force_login(study.created_by)
    spend(limit, str(study.created_by.pk), limit.times - 1)
    found = [client.post(reverse(page, args=[study.pk]), sent) for _ in range(2)]
    assert found[0].status_code != 429
    assert found[1].status_code == 429
    words = "You have done this as often as this site allows in an hour. Wait 60 minutes, then try again."
    assert words in found[1].content.decode()
    called = program(study.created_by).post(reverse(call, args=[study.pk]), sent, format="json")
    assert (called.status_code, called.json()["error"]["code"]) == (429, "throttled")
    assert called.json()["error"]["message"] == words
    assert 3590 < int(called["Retry-After"]) <= 3600
    other = program(making.member(study, making.Role.RESEARCHER))
    assert other.post(reverse(call, args=[study.pk]), sent, format="json").status_code != 429


def test_a_token_that_was_revoked_is_a_guess_like_any_other(client: Client) -> None:
    token, secret = accounts.create_token(making.study().created_by, "x")
    accounts.revoke_token(token, token.user)
    for _ in range(GUESSES.times + 1):
        found = client.get(reverse("api_me"), headers={"authorization": f"Bearer {secret}"})
    assert found.status_code == 429


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_use_more_than_there_is():
    passed: list[int] = []

    def rush() -> None:
        for _ in range(5):
            with suppress(TooOften):
                spend(Limit("rush", 7, 60), "one")
                passed.append(1)

    at_once(*[rush] * 4)
    assert len(passed) == 7
