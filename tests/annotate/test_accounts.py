import re
from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from annotate import access, accounts
from annotate.models import AccountName, AuditEntry, Token
from annotate.refusal import Refusal
from tests.annotate import making

pytestmark = pytest.mark.django_db

PASSWORD = "four unrelated words"


def test_a_token_opens_once_made_and_is_kept_as_a_hash_only():
    user = making.person()
    token, secret = accounts.create_token(user, "script")
    assert accounts.find_token(secret) == token
    assert len(secret) >= 43
    assert secret not in str(Token.objects.values().get())
    assert AuditEntry.objects.get(action="create token").detail["name"] == "script"


def test_a_secret_that_is_wrong_opens_nothing():
    _token, secret = accounts.create_token(making.person(), "script")
    for wrong in ("", secret[:-1], secret + "x", secret.upper(), "\ud800", Token.objects.get().digest):
        assert accounts.find_token(wrong) is None


def test_a_revoked_token_opens_nothing():
    user = making.person()
    token, secret = accounts.create_token(user, "script")
    accounts.revoke_token(token, user)
    accounts.revoke_token(token, user)
    assert accounts.find_token(secret) is None
    assert AuditEntry.objects.filter(action="revoke token").count() == 1


def test_a_token_that_has_expired_is_refused_with_that_reason_and_shown_as_expired(client):
    user = making.person()
    with time_machine.travel("2026-11-21 12:00Z", tick=False) as clock:
        with pytest.raises(Refusal) as refused:
            accounts.create_token(user, "script", expires_at=timezone.now())
        assert "expires_at" in refused.value.fields
        client.force_login(user)
        page = client.post("/account/", {"name": "script", "expires_at": "2026-11-21T13:00"}).content.decode()
        said = {"authorization": f"Bearer {re.search(r'prf_[-_a-zA-Z0-9]+', page)[0]}"}
        assert Client().get("/api/v1/me/", headers=said).json()["token"]["expires_at"] == "2026-11-21T13:00:00Z"
        assert "expired" not in client.get("/account/").content.decode()
        clock.shift(3600)
        found = Client().get("/api/v1/me/", headers=said)
        assert (found.status_code, found.json()["error"]["message"]) == (
            401,
            "This token has expired. Create another one.",
        )
        assert found["WWW-Authenticate"] == "Bearer"
        assert "expired" in client.get("/account/").content.decode()
    assert Token.objects.get().last_used_at.minute == 0


def test_the_token_of_somebody_locked_out_opens_nothing():
    user = making.person()
    _token, secret = accounts.create_token(user, "script")
    User.objects.update(is_active=False)
    assert accounts.find_token(secret) is None


def test_use_is_noted_once_a_minute():
    token, secret = accounts.create_token(making.person(), "script")
    accounts.find_token(secret)
    first = Token.objects.get().last_used_at
    accounts.find_token(secret)
    assert Token.objects.get().last_used_at == first
    Token.objects.update(last_used_at=timezone.now() - timedelta(hours=1))
    accounts.find_token(secret)
    assert Token.objects.get().last_used_at >= first
    assert token.last_used_at is None


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_token_has_a_name(name):
    with pytest.raises(Refusal) as refused:
        accounts.create_token(making.person(), name)
    assert "name" in refused.value.fields


def test_nobody_hoards_tokens():
    user = making.person()
    for number in range(accounts.TOKENS_EACH):
        accounts.create_token(user, str(number))
    with pytest.raises(Refusal, match="Revoke"):
        accounts.create_token(user, "one more")
    accounts.revoke_token(Token.objects.all()[0], user)
    accounts.create_token(user, "one more")


def test_a_closed_installation_lets_in_the_invited_only(settings):
    settings.SIGN_UP_OPEN = False
    with pytest.raises(Refusal, match="invitation"):
        accounts.sign_up("ann", PASSWORD)
    user = accounts.sign_up("ann", PASSWORD, invited=True)
    assert user.check_password(PASSWORD)
    assert not access.may_create_studies(user)


def test_an_open_one_lets_everybody_begin_studies(settings):
    settings.SIGN_UP_OPEN = True
    assert access.may_create_studies(accounts.sign_up("ann", PASSWORD))


@pytest.mark.parametrize(
    ("username", "password", "field"),
    [
        ("ann", "short", "password"),
        ("ann", "password1234", "password"),
        ("annabella.smith", "annabella.smith", "password"),
        ("", PASSWORD, "username"),
        ("a b", PASSWORD, "username"),
        ("x" * 151, PASSWORD, "username"),
        ("taken", PASSWORD, "username"),
        ("TAKEN", PASSWORD, "username"),
        ("ｔaken", PASSWORD, "username"),
        ("tаken", PASSWORD, "username"),  # with a Cyrillic letter
        ("таκеn", PASSWORD, "username"),
        ("Щadm", PASSWORD, "username"),
    ],
)
def test_a_name_or_password_that_will_not_do_is_refused_by_field(settings, username, password, field):
    settings.SIGN_UP_OPEN = True
    making.person("taken")
    with pytest.raises(Refusal) as refused:
        accounts.sign_up(username, password)
    assert list(refused.value.fields) == [field]
    assert User.objects.count() == 1


@pytest.mark.parametrize("name", ["Ада", "Ελένη", "山田たろう", "김철수", "Straße", "adm_1@example.org", "٣-x"])
def test_a_name_in_one_alphabet_is_taken_as_it_is(settings, name):
    settings.SIGN_UP_OPEN = True
    assert accounts.sign_up(name, PASSWORD).username == name


def test_a_name_made_at_the_machine_cannot_be_taken_for_another_either():
    making.person("adm1")
    for name in ("ADM1", "аdm1"):
        with pytest.raises(CommandError, match=r"This name is taken|letters of one alphabet"):
            call_command("createsuperuser", username=name, email="", interactive=False)
    assert User.objects.count() == 1


def test_the_database_lets_no_two_accounts_have_a_name_that_is_the_same_when_folded():
    first, second = making.person("ada"), making.person("bob")
    with pytest.raises(IntegrityError), transaction.atomic():
        AccountName.objects.filter(user=second).update(folded="ada")
    second.username = "ADA"
    with pytest.raises(IntegrityError), transaction.atomic():
        second.save()
    assert first.account_name.folded == "ada"


@pytest.mark.parametrize("blind", ["at first", "always"])
def test_two_who_sign_up_at_once_do_not_both_get_a_name(settings, monkeypatch, blind):
    """The other one is there after the first look, or after both."""
    settings.SIGN_UP_OPEN = True
    making.person("ada")
    if blind == "always":
        monkeypatch.setattr(QuerySet, "exists", lambda _rows: False)
    monkeypatch.setattr(accounts, "check_name", lambda _user: None)
    with pytest.raises(Refusal) as refused:
        accounts.sign_up("ADA", PASSWORD)
    assert refused.value.fields == {"username": ["This name is taken."]}
    assert User.objects.count() == 1


def test_people_sign_in_by_their_name_in_any_case(client):
    making.person("Ada")
    for typed in ("ada", "ADA", "Ａｄａ"):
        client.logout()
        assert client.post("/sign-in/", {"username": typed, "password": "a long enough password"}).status_code == 302


def test_accounts_whose_names_are_the_same_since_before_still_sign_in_by_their_own(client):
    older = making.person("ada")
    (newer,) = User.objects.bulk_create([User(username="ADA")])
    newer.set_password(PASSWORD)
    newer.save()
    assert client.post("/sign-in/", {"username": "ADA", "password": PASSWORD}).wsgi_request.user == newer
    client.logout()
    right = {"username": "Ada", "password": "a long enough password"}
    assert client.post("/sign-in/", right).wsgi_request.user == older


PATTERNS = (
    "aaaaaaaaaaaa",
    "aaaaaaaaaaaA",
    "aaaaaaaaaaa1",
    "abababababab",
    "AbAbAbAbAbab",
    "123412341234",
    "123412341234123",
    "abcdeabcdeabcde",
    "qwertqwertqw",
    "correct correct ",
    "summary1summary1",
    "aaabbbcccddd",
    "112233445566",
    "abcdefghijkl",
    "lkjihgfedcba",
    "acegikmoqsuw",
    "\u0430\u0431\u0432\u0433\u0434\u0435\u0436\u0437\u0438\u0439\u043a\u043b",
    "\u96e8\u96ea\u96e8\u96ea\u96e8\u96ea\u96e8\u96ea\u96e8\u96ea\u96e8\u96ea",
    "\U0001f600" * 12,
)


@pytest.mark.parametrize("password", PATTERNS)
def test_a_password_that_is_a_pattern_is_refused_with_the_reason(password):
    with pytest.raises(Refusal) as refused:
        accounts.sign_up("ada", password, invited=True)
    assert "pattern" in " ".join(refused.value.fields["password"])
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "password",
    [
        PASSWORD,
        "correct horse battery",
        "kx7-Vq2m-9Lp4",
        "deadbeefcafe1",
        "947316028571",
        "\u4eca\u65e5\u306f\u826f\u3044\u5929\u6c17\u3067\u3059\u306d\u3001\u96e8",
        "rain in ohio rain in ohio",
        "abcdefghija tree",
    ],
)
def test_a_password_of_words_or_at_random_is_no_pattern(password):
    assert accounts.sign_up("ada", password, invited=True).check_password(password)


def test_patterns_are_refused_wherever_a_password_is_set(client, monkeypatch, settings):
    """On the pages, and on the command line; the API sets none."""
    ada, pattern = User.objects.create_user("ada", password=PASSWORD), "abababababab"
    settings.SIGN_UP_OPEN = True
    assert "follows a pattern" in client.post("/sign-up/", {"username": "eve", "password": pattern}).content.decode()
    client.force_login(ada)
    sent = {"old_password": PASSWORD, "new_password1": pattern, "new_password2": pattern}
    assert "follows a pattern" in client.post("/account/password/", sent).content.decode()
    monkeypatch.setattr("getpass.getpass", lambda **_asked: pattern)
    told = StringIO()
    with pytest.raises(CommandError):
        call_command("changepassword", "ada", stdout=told, stderr=told)
    assert "follows a pattern" in told.getvalue()
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)
