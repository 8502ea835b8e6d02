"""The second factor of an account: no way to a session goes round it, and no code works twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import sha256
from time import sleep
from typing import Any

import pyotp
import pytest
import time_machine
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from annotate import invitations, second_factor
from annotate.models import AuditEntry
from annotate.server import email, limits
from tests.annotate.test_account_sessions import is_in
from tests.annotate.test_judging_together import at_once
from tests.annotate.test_page_hostile import HOSTILE
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db
PASSWORD = "four unrelated words here"
SECRET = pyotp.random_base32()
APP = pyotp.TOTP(SECRET)


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel("2026-11-21 12:00:10Z", tick=False) as clock:
        yield clock


@pytest.fixture
def ada(clock: Any) -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.fixture
def recovery(ada: User, clock: Any) -> list[str]:
    """Her recovery codes; her app has the secret."""
    TOTP.activate(ada, SECRET)
    codes: list[str] = RecoveryCodes.activate(ada).generate_codes()
    return codes


def asked(password: str = PASSWORD) -> Client:
    """A browser whose password was right, so that it is asked for the code."""
    client = Client()
    found = client.post("/sign-in/", {"username": "ada", "password": password, "next": "/judging/"})
    assert (found.status_code, found["Location"]) == (302, "/sign-in/code/")
    assert not is_in(client)
    return client


def give(client: Client, code: str) -> Any:
    return client.post("/sign-in/code/", {"code": code})


def page_of(client: Client, address: str = "") -> str:
    return str(client.get(f"/account/second-factor/{address}").content.decode())


def confirmed(client: Client, code: str = "", password: str = PASSWORD) -> bool:
    """Whether the code, or the password without a second factor, opens the pages that change it."""
    there = "/account/confirm/code/" if code else "/account/confirm/"
    given = {"code": code} if code else {"password": password}
    return client.post(there, given).status_code == 302


def test_it_is_set_up_with_an_app_and_its_recovery_codes_are_shown_once(ada: User, client: Client) -> None:
    client.force_login(ada)
    assert client.get("/account/second-factor/app/")["Location"].startswith("/account/confirm/")
    assert not confirmed(client, password="wrong")
    assert confirmed(client)
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page_of(client, "app/"))
    assert secret
    assert b"wrong" in client.post("/account/second-factor/app/", {"code": "000000"}).content
    assert not second_factor.is_on(ada)
    sent = client.post("/account/second-factor/app/", {"code": f" {pyotp.TOTP(secret[1]).now()} "})
    shown = client.get(sent["Location"]).content.decode()
    codes = re.findall(r"<code>((?:[0-9]{4}-){3}[0-9]{4})</code>", shown)
    assert len(set(codes)) == 10
    assert "10 recovery codes are left" in page_of(client, "codes/")
    everywhere = page_of(client) + page_of(client, "codes/") + str(list(Authenticator.objects.values()))
    assert not any(hidden in everywhere for code in codes for hidden in (code, code.replace("-", ""), secret[1]))
    entries = AuditEntry.objects.filter(actor=ada, action="add second factor").order_by("pk")
    assert [entry.detail["type"] for entry in entries] == ["totp", "recovery_codes"]


def test_a_password_alone_signs_nobody_in(recovery: list[str], ada: User) -> None:
    client = asked()
    assert give(client, APP.now())["Location"] == "/judging/"
    assert is_in(client)
    assert AuditEntry.objects.get(actor=ada, action="sign in").detail == {"by": "password and code"}


def test_a_code_is_taken_once_and_of_the_neighbouring_half_minutes_only(recovery: list[str], clock: Any) -> None:
    code, client = APP.now(), asked()
    give(client, code)
    assert "used already" in give(asked(), code).content.decode()
    clock.shift(121)
    for steps, right in ((-60, False), (60, False), (-30, True), (30, True)):
        client = asked()
        give(client, APP.at(timezone.now() + timedelta(seconds=steps)))
        assert is_in(client) == right, steps


def test_a_recovery_code_is_good_once_however_it_is_typed(recovery: list[str], ada: User) -> None:
    for typed, right in (
        (recovery[0], True),
        (recovery[0], False),
        (f" {recovery[1].upper().replace('-', ' ')}", True),
    ):
        client = asked()
        give(client, typed)
        assert is_in(client) == right
    assert [entry.detail for entry in AuditEntry.objects.filter(action="use recovery code")] == [
        {"left": 9},
        {"left": 8},
    ]


def test_a_sign_in_link_asks_for_the_code_too(recovery: list[str], ada: User, client: Client) -> None:
    assert client.post(invitations.sign_in_path(ada, "/about/"))["Location"] == "/sign-in/code/"
    assert not is_in(client)
    assert give(client, APP.now())["Location"] == "/about/"
    assert AuditEntry.objects.get(actor=ada, action="sign in").detail == {"by": "link and code"}


def test_a_new_password_by_e_mail_does_not_go_round_it(recovery: list[str], client: Client, settings: Any) -> None:
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    client.post("/password/forgotten/", {"email": "ada@example.org"})
    email.wait()
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link
    form, new = client.get(link[1])["Location"], "quite other words than before"
    assert client.post(form, {"new_password1": new, "new_password2": new})["Location"] == "/sign-in/"
    assert not is_in(client)
    give(client := asked(new), APP.now())
    assert is_in(client)


def test_only_one_place_begins_sessions() -> None:
    """Whatever else did would go round the code."""
    calls = [
        path.name for path in (ROOT / "annotate").rglob("*.py") if re.search(r"\blogin\(request", path.read_text())
    ]
    assert calls == ["second_factor.py"]


def test_whoever_gave_no_password_is_led_to_it(recovery: list[str], client: Client) -> None:
    assert client.get("/sign-in/code/")["Location"] == give(client, APP.now())["Location"] == "/sign-in/"
    assert not is_in(client)


@pytest.mark.parametrize("change", ["time", "password", "locked", "deleted"])
def test_a_password_that_is_right_no_longer_waits_for_no_code(
    recovery: list[str], ada: User, clock: Any, change: str
) -> None:
    client = asked()
    if change == "time":
        clock.shift(601)
    elif change == "password":
        ada.set_password("quite other words than before")
        ada.save()
    elif change == "deleted":
        ada.delete()
    else:
        User.objects.update(is_active=False)
    assert give(client, APP.now())["Location"] == client.get("/sign-in/code/")["Location"] == "/sign-in/"
    assert not is_in(client)


def test_five_wrong_codes_close_the_account_wherever_they_come_from(recovery: list[str], clock: Any) -> None:
    for number in range(5):
        client = asked()
        assert client.post("/sign-in/code/", {"code": "1"}, REMOTE_ADDR=f"192.0.2.{number}").status_code == 200
    closed = give(client, APP.now())
    assert (closed.status_code, closed["Retry-After"]) == (429, "900")
    assert not is_in(client)
    clock.shift(901)
    give(client := asked(), APP.now())
    assert is_in(client)


def closed_by_somebody(password: str = PASSWORD) -> None:
    """Somebody who knows the password sends wrong codes, until no code of the app is taken."""
    for _time in range(5):
        assert give(asked(password), "123456").status_code == 200
    assert give(asked(password), APP.now()).status_code == 429


def test_a_recovery_code_lets_the_owner_in_while_wrong_codes_close_the_account(recovery: list[str], ada: User) -> None:
    closed_by_somebody()
    client = asked()
    refused = give(client, APP.now())
    assert "recovery code" in refused.content.decode()
    assert give(client, recovery[0].replace("a", "b")[::-1]).status_code == 429, "a wrong one is like any other"
    assert not is_in(client)
    assert give(client, recovery[0].upper())["Location"] == "/judging/"
    assert is_in(client)
    give(again := asked(), recovery[0])
    assert not is_in(again), "it is used up"


def test_a_recovery_code_switches_it_off_while_wrong_codes_close_the_account(
    recovery: list[str], ada: User, client: Client
) -> None:
    client.force_login(ada)
    closed_by_somebody()
    assert client.post("/account/confirm/code/", {"code": APP.now()}).status_code == 429
    assert client.post("/account/second-factor/app/remove/")["Location"].startswith("/account/confirm/code/")
    assert second_factor.is_on(ada)
    assert confirmed(client, recovery[0])
    client.post("/account/second-factor/app/remove/")
    assert not second_factor.is_on(ada)


def test_a_new_password_by_e_mail_opens_an_account_that_wrong_codes_closed(
    recovery: list[str], client: Client, settings: Any, clock: Any
) -> None:
    """To its owner, who still needs a code; whoever sent the wrong ones knows no password any more."""
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    waiting = asked()
    closed_by_somebody()
    client.post("/password/forgotten/", {"email": "ada@example.org"})
    email.wait()
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link
    form, new = client.get(link[1])["Location"], "quite other words than before"
    assert client.post(form, {"new_password1": new, "new_password2": new})["Location"] == "/sign-in/"
    assert give(waiting, APP.now())["Location"] == "/sign-in/"
    assert not is_in(waiting)
    clock.shift(30)
    give(client := asked(new), APP.now())
    assert is_in(client)


def test_no_code_makes_us_fall(recovery: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRONG_CODES", limits.Limit("code", 1_000, 900))
    client = asked()
    for hostile in HOSTILE:
        assert give(client, hostile.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).status_code == 200
    assert not is_in(client)


def test_wrong_codes_and_passwords_are_counted_where_it_is_changed(
    recovery: list[str], ada: User, client: Client
) -> None:
    client.force_login(ada)
    for _time in range(5):
        assert client.post("/account/confirm/code/", {"code": "1"}).status_code == 200
    assert client.post("/account/confirm/code/", {"code": APP.now()}).status_code == 429
    second_factor.remove(ada)
    for _time in range(5):
        assert client.post("/account/confirm/", {"password": "x"}).status_code == 200
    assert client.post("/account/confirm/", {"password": PASSWORD}).status_code == 429


def test_it_is_switched_off_with_a_code_and_not_with_the_password(
    recovery: list[str], ada: User, client: Client
) -> None:
    client.force_login(ada)
    assert not confirmed_by_password(client)
    assert client.post("/account/second-factor/app/remove/")["Location"].startswith("/account/confirm/code/")
    assert second_factor.is_on(ada)
    assert confirmed(client, APP.now())
    client.post("/account/second-factor/app/remove/")
    assert not second_factor.is_on(ada)
    assert AuditEntry.objects.filter(actor=ada, action="remove second factor", detail={"type": "totp"}).exists()
    assert Client().post("/sign-in/", {"username": "ada", "password": PASSWORD})["Location"] == "/"


def confirmed_by_password(client: Client) -> bool:
    client.post("/account/confirm/", {"password": PASSWORD})
    return client.get("/account/second-factor/app/remove/").status_code == 200


def test_a_code_confirms_for_five_minutes(recovery: list[str], ada: User, client: Client, clock: Any) -> None:
    client.force_login(ada)
    assert confirmed(client, APP.now())
    clock.shift(301)
    assert client.post("/account/second-factor/app/remove/")["Location"].startswith("/account/confirm/code/")
    assert second_factor.is_on(ada)


def test_new_recovery_codes_end_the_old_ones(recovery: list[str], ada: User, client: Client) -> None:
    client.force_login(ada)
    assert confirmed(client, APP.now())
    sent = client.post("/account/second-factor/codes/new/")
    codes = re.findall(r"<code>([0-9-]{19})</code>", client.get(sent["Location"]).content.decode())
    for code, right in ((recovery[0], False), (codes[0], True)):
        give(elsewhere := asked(), code)
        assert is_in(elsewhere) == right


def test_secrets_are_unreadable_in_the_database_and_survive_a_new_key(
    recovery: list[str], ada: User, settings: Any
) -> None:
    kept = str(list(Authenticator.objects.values()))
    assert SECRET not in kept
    assert not any(code in kept for code in recovery)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, as long as keys have to be, and a little longer"
    give(client := asked(), APP.now())
    assert is_in(client)
    settings.SECRET_KEY_FALLBACKS = []
    assert give(asked(), recovery[0]).status_code == 200, "whoever lost the key lost the codes, and sees no error"


def test_an_account_without_a_password_has_none(client: Client) -> None:
    client.force_login(User.objects.create_user("demo"))
    assert client.get("/account/second-factor/").status_code == 404
    assert b"Second factor" not in client.get("/account/").content


def test_an_operator_removes_it_as_the_documentation_says(recovery: list[str], ada: User) -> None:
    command = re.search(r'manage\.py shell -c "([^"]+)"', (ROOT / "docs/operators.md").read_text())
    assert command
    call_command(
        "shell",
        "--no-imports",
        command="from django.contrib.auth.models import User; " + command[1].replace("NAME", "ada"),
    )
    assert not second_factor.is_on(ada)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_two_requests_at_once_do_not_both_use_a_code(recovery: list[str], ada: User, kind: str) -> None:
    """However they come: from browsers whose passwords were right, at the same moment."""
    code = APP.now() if kind == "app" else recovery[0]
    clients = [asked() for _ in range(4)]
    at_once(*[partial(give, client, code) for client in clients])
    assert sorted(is_in(client) for client in clients) == [False] * 3 + [True]


@pytest.mark.django_db(transaction=True)
def test_of_many_codes_sent_at_once_no_more_are_tried_than_of_some_sent_in_turn(
    recovery: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def slowly(_app: TOTP, code: str) -> bool:
        tried.append(code)
        sleep(0.2)
        return False

    monkeypatch.setattr(TOTP, "validate_code", slowly)
    clients = [asked() for _ in range(12)]
    found = at_once(*[partial(give, client, f"{number:06}") for number, client in enumerate(clients)])
    assert len(tried) == limits.WRONG_CODES.times
    assert sorted(one.status_code for one in found) == [200] * 5 + [429] * 7


def test_the_pages_of_passkeys_are_not_there_where_browsers_know_none(ada: User, client: Client) -> None:
    """At an address of numbers, as here; tests/browser/test_passkeys.py uses them."""
    client.force_login(ada)
    confirmed(client)
    for address in ("account/second-factor/passkeys/", "account/second-factor/passkeys/new/", "sign-in/passkey/"):
        assert client.get(f"/{address}").status_code == client.post(f"/{address}").status_code == 404
    assert "asskey" not in page_of(client)
    assert "asskey" not in Client().get("/sign-in/").content.decode()


def test_where_browsers_know_no_passkeys_any_more_recovery_codes_replace_them(
    passkey: Authenticator, ada: User, client: Client, settings: Any
) -> None:
    """As after a move to an address of numbers."""
    code, _other = RecoveryCodes.activate(ada).generate_codes()[:2]
    settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
    client.force_login(ada)
    confirm = client.get("/account/second-factor/app/")["Location"]
    assert client.get(confirm).status_code == 200
    assert "asskey" not in client.get(confirm).content.decode()
    assert client.post(confirm, {"code": code})["Location"] == "/account/second-factor/app/"


def test_a_passkey_that_cannot_be_used_any_more_is_not_replaced_by_the_password(
    passkey: Authenticator, ada: User, client: Client, settings: Any
) -> None:
    """Only the operator helps somebody without recovery codes."""
    settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
    client.force_login(ada)
    assert not confirmed_by_password(client)
    assert not is_in(asked())


@pytest.fixture
def passkey(ada: User, settings: Any) -> Authenticator:
    settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
    return Laptop(ada).authenticator()


HOST = "judge.example.org"


@dataclass
class Laptop:
    """A machine with a passkey of a user's, whom it recognises (`0x04`) if they touch it (`0x01`)."""

    user: User
    name: bytes = b"laptop"
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def authenticator(self) -> Authenticator:
        public = ES256.from_cryptography_key(self.key.public_key())
        credential = AttestedCredentialData.create(Aaguid.NONE, self.name, public)
        made = AuthenticatorData.create(sha256(HOST.encode()).digest(), 0x45, 0, credential)
        attested = websafe_encode(AttestationObject.create("none", made, {}))
        data = self._sent("webauthn.create", b"challenge", {"attestationObject": attested})
        named = {"name": f"{self.user}'s laptop", "credential": data}
        return Authenticator.objects.create(user=self.user, type="webauthn", data=named)

    def answer(self, challenge: str, flags: int = 0x05, whose: User | None = None) -> str:
        """The answer to a challenge, in which the user says to be `whose`."""
        made = AuthenticatorData.create(sha256(HOST.encode()).digest(), flags, 1)
        handle = websafe_encode(user_pk_to_url_str(whose or self.user).encode())
        data = self._sent("webauthn.get", websafe_decode(challenge), {"userHandle": handle})
        signed = bytes(made) + sha256(websafe_decode(data["response"]["clientDataJSON"])).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        data["response"] |= {"authenticatorData": websafe_encode(made), "signature": websafe_encode(signature)}
        return json.dumps(data)

    def _sent(self, kind: str, challenge: bytes, more: dict[str, str]) -> dict[str, Any]:
        number, client = websafe_encode(self.name), CollectedClientData.create(kind, challenge, f"https://{HOST}")
        response = {"clientDataJSON": websafe_encode(client), **more}
        return {"id": number, "rawId": number, "type": "public-key", "response": response}


def challenge(client: Client) -> str:
    """What a browser gets to be signed when a passkey shall sign it in."""
    asked_for = client.get("/sign-in/passkey/", headers={"x-requested-with": "XMLHttpRequest"}).json()
    return str(asked_for["request_options"]["publicKey"]["challenge"])


def signed_in_by(answer: str, client: Client) -> bool:
    client.post("/sign-in/passkey/", {"credential": answer})
    return is_in(client)


@pytest.fixture
def laptop(ada: User, settings: Any) -> Laptop:
    settings.ORIGIN = f"https://{HOST}"
    settings.MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
    laptop = Laptop(ada)
    laptop.authenticator()
    return laptop


def test_the_answer_of_a_passkey_is_taken_once_and_from_the_browser_that_it_is_for(laptop: Laptop) -> None:
    client, other = Client(), Client()
    answer = laptop.answer(challenge(client))
    challenge(other)
    assert not signed_in_by(answer, other)
    assert not signed_in_by(answer, Client())
    before = client.session.session_key
    assert signed_in_by(answer, client)
    assert client.session.session_key != before
    client.post("/sign-out/")
    assert not signed_in_by(answer, client)


def test_a_passkey_signs_in_its_own_account_and_no_other(laptop: Laptop) -> None:
    ada, eve = laptop.user, User.objects.create_user("eve", password=PASSWORD)
    eves = Laptop(eve, b"eves")
    eves.authenticator()
    for machine, whose in ((eves, ada), (laptop, eve)):
        assert not signed_in_by(machine.answer(challenge(client := Client()), whose=whose), client)
    waiting = asked()
    for machine, is_right in ((eves, False), (laptop, True)):
        shown = re.search(r'"challenge": "([^"]+)"', waiting.get("/sign-in/code/").content.decode())
        assert shown
        waiting.post("/sign-in/code/", {"credential": machine.answer(shown[1], whose=ada)})
        assert is_in(waiting) == is_right, "after the password"


def test_a_passkey_that_recognised_nobody_signs_nobody_in_without_a_password(laptop: Laptop) -> None:
    assert not signed_in_by(laptop.answer(challenge(client := Client()), flags=0x01), client)


def test_a_passkey_that_was_removed_meanwhile_signs_nobody_in(laptop: Laptop) -> None:
    answer = laptop.answer(challenge(client := Client()))
    second_factor.remove(laptop.user)
    assert not signed_in_by(answer, client)


def test_a_passkey_is_seen_and_removed_by_its_own_account_only(passkey: Authenticator, ada: User) -> None:
    eve, remove = Client(), f"/account/second-factor/passkeys/{passkey.pk}/remove/"
    eve.force_login(User.objects.create_user("eve", password=PASSWORD))
    assert eve.post("/account/confirm/", {"password": PASSWORD}).status_code == 302
    assert eve.get(remove).status_code == eve.post(remove).status_code == 404
    assert "laptop" not in page_of(eve, "passkeys/")
    nobody = Client().post(remove)
    assert nobody["Location"].startswith("/sign-in/?next=")
    assert Authenticator.objects.filter(pk=passkey.pk).exists()


@pytest.mark.parametrize(
    "credential",
    ["", "x", "[]", "{}", "null", "1", '"x"', '{"id": 1}', '{"response": {"userHandle": "eA"}}', "[[[[", "[" * 9_999],
)
def test_no_answer_in_place_of_a_passkeys_makes_us_fall(
    passkey: Authenticator, recovery: list[str], ada: User, credential: str
) -> None:
    waiting, sent = asked(), {"credential": credential}
    assert waiting.get("/sign-in/code/").status_code == 200
    assert waiting.post("/sign-in/code/", sent).status_code in (200, 400)
    assert Client().post("/sign-in/passkey/", sent).status_code in (302, 400)
    assert not is_in(waiting)
    client = Client()
    client.force_login(ada)
    assert client.post("/account/confirm/passkey/", sent).status_code in (302, 400)
    assert client.post("/account/second-factor/app/remove/").status_code == 302
    assert confirmed(client, recovery[0])
    assert client.post("/account/second-factor/passkeys/new/", sent).status_code in (200, 400)
    assert Authenticator.objects.count() == 3


def test_after_a_passkey_nobody_is_led_to_another_site(client: Client, passkey: Authenticator) -> None:
    page = client.get("/sign-in/?next=https://evil.example/").content.decode()
    assert "evil.example" not in page


def test_the_session_of_the_password_is_not_the_one_after_the_code(recovery: list[str]) -> None:
    client = asked()
    before = client.session.session_key
    give(client, APP.now())
    assert is_in(client)
    assert client.session.session_key != before
    stolen = Client()
    stolen.cookies["session"] = str(before)
    assert not is_in(stolen)


@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/\\evil.example", "http://localhost/", "//127.0.0.1:9000/"]
)
def test_a_confirmation_leads_to_no_other_site(recovery: list[str], ada: User, client: Client, to: str) -> None:
    client.force_login(ada)
    assert client.post("/account/confirm/code/", {"code": recovery[0], "next": to})["Location"] == "/"
    second_factor.remove(ada)
    assert client.post("/account/confirm/", {"password": PASSWORD, "next": to})["Location"] == "/"


def test_the_log_does_not_take_the_end_of_an_account_for_a_change(recovery: list[str], ada: User) -> None:
    ada.delete()
    assert not Authenticator.objects.exists()
    assert not AuditEntry.objects.filter(action="remove second factor").exists()
