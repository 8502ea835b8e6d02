"""Guessing, coming in and calling, more often than anybody needs to: 429, and when to come back."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import accounts, limits, links, studies
from annotate.limits import GUESSES, Limit, TooOften, spend
from annotate.models import Allowance, Annotator
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.judging_study import ready_study

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
    assert "192" not in Allowance.objects.get().key


@pytest.mark.parametrize("page", ["join", "crowd", "sign_in_link"])
def test_after_ten_guesses_links_are_guessed_no_more_and_a_right_one_still_opens(client: Client, page: str) -> None:
    study = ready_study()
    right = links.invitation_path(studies.invite(study, study.created_by))
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
    path = links.invitation_path(studies.invite(study, study.created_by))
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


def test_a_token_that_was_revoked_is_a_guess_like_any_other(client: Client) -> None:
    token, secret = accounts.create_token(making.study().created_by, "x")
    accounts.revoke_token(token, token.user)
    for _ in range(GUESSES.times + 1):
        found = client.get(reverse("api_me"), headers={"authorization": f"Bearer {secret}"})
    assert found.status_code == 429


@pytest.mark.django_db(transaction=True)
def test_many_at_once_never_use_more_than_there_is():
    passed: list[int] = []
    start = threading.Barrier(4)

    def rush() -> None:
        start.wait()
        try:
            for _ in range(5):
                try:
                    spend(Limit("rush", 7, 60), "one")
                    passed.append(1)
                except TooOften:
                    pass
        finally:
            connection.close()

    threads = [threading.Thread(target=rush) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 7
