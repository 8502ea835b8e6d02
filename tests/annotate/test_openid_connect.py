"""Signing in with a real OpenID provider: who is believed, which account opens, and what it may do."""

from __future__ import annotations

import base64
import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from time import perf_counter
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import time_machine
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from annotate import access, invitations, studies
from annotate.models import AuditEntry, Membership
from annotate.server import doctor, openid_connect
from annotate.server.limits import Limit
from tests.annotate.provider import Provider, running_provider
from tests.annotate.test_account_sessions import is_in

pytestmark = pytest.mark.django_db
BACK = "/sign-in/provider/back/"


@pytest.fixture(scope="module")
def process() -> Iterator[Provider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def provider(process: Provider, settings: Any) -> Provider:
    """The university's provider, by which members of `research` may create studies."""
    process.is_ours_again()
    creators = ("groups", frozenset({"research"}))
    settings.OIDC = openid_connect.Provider(process.url, "Uni", "preferendum", "secret", creators)
    settings.SOCIALACCOUNT_PROVIDERS = openid_connect.settings_of(settings.OIDC)
    process.knows("ada", preferred_username="ada@uni.example", groups=["research"])
    return process


def way_there(client: Client, to: str = "") -> str:
    """The address at the provider to which the button leads."""
    page = client.post("/sign-in/provider/", {"next": to})
    assert page.status_code == 200
    return str(page.context["address"])


def back(client: Client, provider: Provider, subject: str = "ada", to: str = "") -> Any:
    """Sign in there and come back."""
    return client.get(provider.sign_in(way_there(client, to), subject))


def first_time(provider: Provider, subject: str = "ada", name: str = "ada") -> Client:
    """A browser in which somebody has just made their account."""
    client = Client()
    assert back(client, provider, subject)["Location"] == "/sign-in/provider/name/"
    assert client.post("/sign-in/provider/name/", {"username": name}).status_code == 302
    return client


def is_refused(client: Client, response: Any) -> bool:
    """Whether the way back led to the page for signing in, with the reason, and nobody is in."""
    page = client.get("/sign-in/").content.decode()
    return response["Location"] == "/sign-in/" and "did not work" in page and not is_in(client)


def test_without_settings_nothing_is_shown_and_no_page_can_be_opened(client: Client) -> None:
    assert b"provider" not in client.get("/sign-in/").content
    assert client.post("/sign-in/provider/").status_code == client.get(BACK).status_code == 404
    assert client.get("/sign-in/provider/name/")["Location"] == "/sign-in/"


def test_somebody_new_chooses_a_name_and_is_known_the_next_time(provider: Provider) -> None:
    client = Client()
    assert b"Sign in with Uni" in client.get("/sign-in/?next=/judging/").content
    assert back(client, provider, to="/judging/")["Location"] == "/sign-in/provider/name/"
    page = client.get("/sign-in/provider/name/").content.decode()
    assert 'value="ada"' in page, "the name at the provider, without its domain"
    assert client.post("/sign-in/provider/name/", {"username": "Ada"})["Location"] == "/judging/"
    assert is_in(client)
    user = User.objects.get()
    assert (user.username, user.email, user.has_usable_password()) == ("Ada", "", False)
    again = Client()
    assert back(again, provider, to="/judging/")["Location"] == "/judging/"
    assert is_in(again)
    assert User.objects.count() == 1
    entries = AuditEntry.objects.filter(actor=user, action="sign in")
    assert [entry.detail for entry in entries] == [{"by": "provider"}] * 2


def test_only_what_is_needed_is_kept_of_what_the_provider_says(provider: Provider) -> None:
    provider.knows("ada", email="ada@uni.example", name="Ada L.", groups=["research", "illness"])
    (scope,) = parse_qs(urlsplit(way_there(Client())).query)["scope"]
    assert sorted(scope.split()) == ["openid", "profile"]
    first_time(provider)
    back(Client(), provider)
    kept = str(list(SocialAccount.objects.values())) + str([row.get_decoded() for row in Session.objects.all()])
    assert "ada" in kept
    assert not re.search("illness|uni.example|Ada L|access_token|'token'", kept)


def test_the_claim_is_asked_for_where_the_provider_has_a_scope_for_it(provider: Provider) -> None:
    offered = ["openid", "profile", "email", "groups", "phone"]
    provider.changes["/.well-known/openid-configuration"] = lambda said: said | {"scopes_supported": offered}
    (scope,) = parse_qs(urlsplit(way_there(Client())).query)["scope"]
    assert sorted(scope.split()) == ["groups", "openid", "profile"]


def test_the_request_is_as_the_standards_want_it(provider: Provider, settings: Any) -> None:
    settings.ORIGIN, settings.ALLOWED_HOSTS = "https://judge.example.org", ["*"]
    client = Client(headers={"host": "evil.test"})
    asked = {name: value for name, (value,) in parse_qs(urlsplit(way_there(client)).query).items()}
    assert asked["redirect_uri"] == f"https://judge.example.org{BACK}", "whatever host a request names"
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 16
    others = parse_qs(urlsplit(way_there(client)).query)
    assert all(others[name] != [asked[name]] for name in ("state", "nonce", "code_challenge"))


def test_an_account_is_opened_by_issuer_and_subject_and_by_nothing_else(provider: Provider, settings: Any) -> None:
    """Neither by a name, nor by an address, verified or not, nor by the same subject of another provider."""
    User.objects.create_user("eve", "ada@uni.example", "four unrelated words here")
    provider.knows("x", preferred_username="eve", email="ada@uni.example", email_verified=True)
    client = Client()
    assert back(client, provider, "x")["Location"] == "/sign-in/provider/name/"
    taken = client.post("/sign-in/provider/name/", {"username": "EVE"}).content.decode()
    assert "This name is taken." in taken
    assert "letters of one alphabet" in client.post("/sign-in/provider/name/", {"username": "еve"}).content.decode()
    assert not is_in(client)
    first_time(provider)
    SocialAccount.objects.update(provider="https://other.example")
    assert back(Client(), provider)["Location"] == "/sign-in/provider/name/"


def test_the_claim_gives_the_right_to_create_studies_and_takes_it_at_the_next_sign_in(provider: Provider) -> None:
    client = first_time(provider)
    user = User.objects.get()
    assert client.get("/studies/new/").status_code == 200
    for groups, may in (([], False), (["research"], True), ("research", True), (["Research", "researchers"], False)):
        provider.knows("ada", groups=groups)
        back(Client(), provider)
        assert access.may_create_studies(User.objects.get()) == may, groups
    assert client.get("/studies/new/").status_code == 403, "in other browsers, too"
    changes = AuditEntry.objects.filter(actor=user, action="change right to create studies")
    assert [entry.detail["may"] for entry in changes] == [True, False, True, False]


def test_whoever_lost_the_claim_keeps_their_studies(provider: Provider) -> None:
    first_time(provider)
    study = studies.create_study(User.objects.get(), title="News")
    provider.knows("ada", groups=[])
    client = Client()
    back(client, provider)
    assert client.get(f"/studies/{study.pk}/").status_code == 200


@pytest.mark.parametrize(
    ("creators", "claims", "may"),
    [
        (None, {"groups": ["research"]}, False),
        (("email", {"ada@uni.example"}), {"email": "ada@uni.example", "email_verified": True}, True),
        (("email", {"ada@uni.example"}), {"email": "ada@uni.example", "email_verified": False}, False),
        (("email", {"ada@uni.example"}), {"email": "ada@uni.example"}, False),
        (("staff", {"true"}), {"staff": True}, True),
        (("sub", {"ada", "bob"}), {}, True),
        (("sub", {"bob"}), {}, False),
        (("groups", {"research"}), {"groups": None}, False),
        (("groups", {"research"}), {"groups": {"research": 1}}, False),
    ],
)
def test_a_claim_or_a_list_says_who_may_create_studies(
    provider: Provider, settings: Any, creators: Any, claims: dict[str, Any], may: bool
) -> None:
    read = creators and (creators[0], frozenset(creators[1]))
    settings.OIDC = openid_connect.Provider(provider.url, "Uni", "preferendum", "secret", read)
    provider.knows("ada", **claims)
    first_time(provider)
    assert access.may_create_studies(User.objects.get()) == may


def test_a_right_given_by_hand_stays_where_no_claim_is_set(provider: Provider, settings: Any) -> None:
    first_time(provider)
    settings.OIDC = openid_connect.Provider(provider.url, "Uni", "preferendum", "secret", None)
    back(Client(), provider)
    assert access.may_create_studies(User.objects.get())


def forged(**changed: Any) -> Any:
    return lambda claims: {name: value for name, value in (claims | changed).items() if value is not None}


@pytest.mark.parametrize(
    "claims",
    [
        forged(iss="https://evil.example"),
        forged(aud="another-client"),
        forged(aud=["another-client"]),
        forged(azp="another-client", aud=["preferendum", "another-client"]),
        forged(nonce="of another sign-in"),
        forged(nonce=None),
        forged(exp=1_700_000_000),
        forged(exp=None),
        forged(iat=None),
        forged(sub=None),
        forged(sub=""),
        forged(sub="a\0da"),
        forged(sub="x" * 256),
        forged(sub=["ada"]),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_lets_nobody_in(provider: Provider, claims: Any) -> None:
    first_time(provider)
    provider.claims = claims
    if "sub" in claims({"sub": "ada"}) and claims({"sub": "ada"})["sub"] != "ada":
        provider.changes["/userinfo"] = claims
    client = Client()
    assert is_refused(client, back(client, provider))


def test_a_token_changed_on_the_way_with_the_right_claims_is_taken(provider: Provider) -> None:
    """What the test above changes is refused for what it says, and not for how it was signed."""
    first_time(provider)
    provider.claims = dict
    client = Client()
    back(client, provider)
    assert is_in(client)


def test_a_token_that_does_not_name_its_key_is_taken_if_the_provider_has_a_single_one(provider: Provider) -> None:
    """As the provider behind sends them; with two keys, none is guessed."""
    first_time(provider)
    provider.changes["/jwks"] = lambda said: {"keys": [one | {"kid": kid} for one in said["keys"] for kid in "ab"]}
    client = Client()
    assert is_refused(client, back(client, provider))


def signatures(provider: Provider) -> dict[str, Any]:
    import jwt
    from cryptography.hazmat.primitives.asymmetric import rsa

    other = rsa.generate_private_key(65537, 2048)
    good = provider.signed
    return {
        "of another key": lambda claims: jwt.encode(claims, other, "RS256", {"kid": "between"}),
        "by an unknown key": lambda claims: jwt.encode(claims, other, "RS256", {"kid": "other"}),
        "none": lambda claims: jwt.encode(claims, None, "none", {"kid": "between"}),
        "with our secret": lambda claims: jwt.encode(claims, "secret" * 8, "HS256", {"kid": "between"}),
        "cut": lambda claims: good(claims)[:-20],
        "no token": lambda claims: "abc",
        "empty": lambda claims: "",
        "a list": lambda claims: base64.b64encode(b"[]").decode(),
    }


@pytest.mark.parametrize("kind", list(signatures(Provider(""))))
def test_an_id_token_without_the_providers_signature_lets_nobody_in(provider: Provider, kind: str) -> None:
    first_time(provider)
    provider.sign = signatures(provider)[kind]
    client = Client()
    assert is_refused(client, back(client, provider))


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("/.well-known/openid-configuration", lambda said: said | {"issuer": "https://evil.example"}),
        ("/.well-known/openid-configuration", lambda said: {"issuer": said["issuer"]}),
        ("/.well-known/openid-configuration", lambda said: []),
        ("/userinfo", lambda said: said | {"sub": "eve"}),
        ("/userinfo", lambda said: {}),
        ("/userinfo", lambda said: []),
        ("/oauth2/token", lambda said: {name: said[name] for name in said if name != "id_token"}),
        ("/oauth2/token", lambda said: {"error": "invalid_grant"}),
        ("/oauth2/token", lambda said: []),
        ("/jwks", lambda said: {}),
        ("/jwks", lambda said: {"keys": [{"kty": "RSA"}]}),
    ],
)
def test_a_provider_that_says_something_else_than_the_standard_lets_nobody_in(
    provider: Provider, path: str, change: Any
) -> None:
    first_time(provider)
    client = Client()
    there = way_there(client)
    provider.changes[path] = change
    assert is_refused(client, client.get(provider.sign_in(there, "ada")))


@pytest.mark.parametrize("which", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 200\nContent-Length: 9\n\n{", b"HTTP/1.1 200\n\n<p>"])
def test_a_provider_that_breaks_off_on_the_way_back_lets_nobody_in(
    provider: Provider, which: str, answer: bytes | None
) -> None:
    """With a reset, with nothing, in the middle, and with a page in place of an answer."""
    first_time(provider)
    client = Client()
    there = way_there(client)
    with closing(socket.create_server(("127.0.0.1", 0))) as broken:
        threading.Thread(target=break_off, args=(broken, answer), daemon=True).start()
        address = f"http://127.0.0.1:{broken.getsockname()[1]}/"
        provider.changes["/.well-known/openid-configuration"] = lambda said: said | {which: address}
        assert is_refused(client, client.get(provider.sign_in(there, "ada")))


def break_off(server: socket.socket, answer: bytes | None) -> None:
    line, _address = server.accept()
    with line:
        line.recv(10_000)
        if answer is None:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            line.sendall(answer)


def test_a_name_at_the_provider_that_cannot_be_shown_is_no_obstacle(provider: Provider) -> None:
    provider.claims = lambda claims: claims | {"preferred_username": "a\ud800d\0a"}
    client = Client()
    assert back(client, provider)["Location"] == "/sign-in/provider/name/"
    assert 'value="ada"' in client.get("/sign-in/provider/name/").content.decode()


def test_somebody_else_who_is_signed_in_here_is_signed_out(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    client.force_login(User.objects.create_user("bob"))
    before = client.session.session_key
    back(client, provider)
    assert ">ada</a>" in client.get("/account/").content.decode()
    assert not Session.objects.filter(pk=before).exists()


PASSWORD = "four unrelated words here"


def with_password(provider: Provider, **claims: Any) -> tuple[User, Client]:
    """Somebody who has an account with a password, and a browser in which the provider has just vouched for them."""
    provider.knows("ada", **claims)
    client = Client()
    back(client, provider, to="/judging/")
    return User.objects.create_user("ada", password=PASSWORD), client


def sign_in(client: Client) -> Any:
    """Follow the offer beneath the form for a new name."""
    assert b"/sign-in/?next=/sign-in/provider/name/" in client.get("/sign-in/provider/name/").content
    return client.post("/sign-in/", {"username": "ada", "password": PASSWORD, "next": "/sign-in/provider/name/"})


def test_an_account_with_a_password_is_joined_by_its_owner(provider: Provider) -> None:
    ada, client = with_password(provider, groups=["research"])
    assert sign_in(client)["Location"] == "/sign-in/provider/name/"
    assert b"<strong>ada</strong>" in client.get("/sign-in/provider/name/").content
    assert not SocialAccount.objects.exists(), "looking at the page joins nothing"
    assert client.post("/sign-in/provider/name/")["Location"] == "/judging/"
    again = Client()
    assert back(again, provider)["Location"] == "/"
    assert ">ada</a>" in again.get("/account/").content.decode()
    assert User.objects.get() == ada
    assert access.may_create_studies(ada), "by the claim"
    assert AuditEntry.objects.filter(actor=ada, action="add provider").count() == 1
    assert Client().login(username="ada", password=PASSWORD)


def test_a_joined_account_still_asks_for_its_second_factor(provider: Provider) -> None:
    ada, client = with_password(provider)
    sign_in(client)
    client.post("/sign-in/provider/name/")
    TOTP.activate(ada, generate_totp_secret())
    again = Client()
    assert back(again, provider)["Location"].startswith("/sign-in/code/")
    assert not is_in(again)


def test_a_joined_account_can_be_opened_by_the_password_alone_again(provider: Provider) -> None:
    _ada, client = with_password(provider)
    sign_in(client)
    client.post("/sign-in/provider/name/")
    assert "You can sign in with Uni, too." in client.get("/account/").content.decode()
    for _twice in range(2):
        assert client.post("/account/provider/leave/")["Location"] == "/account/"
    assert AuditEntry.objects.filter(action="remove provider").count() == 1
    assert back(Client(), provider)["Location"] == "/sign-in/provider/name/"


def test_an_account_without_a_password_is_not_left_without_a_way_in(provider: Provider) -> None:
    client = first_time(provider)
    assert client.post("/account/provider/leave/").status_code == 404
    assert SocialAccount.objects.exists()


def test_a_session_from_before_joins_nothing(provider: Provider) -> None:
    """Whoever finds an open browser would have a way into its account for good."""
    User.objects.create_user("ada", password=PASSWORD)
    client = Client()
    client.login(username="ada", password=PASSWORD)
    back(client, provider, "eve")
    assert not is_in(client)
    client.post("/sign-in/provider/name/")
    assert not SocialAccount.objects.exists()


def test_an_identity_is_joined_to_a_single_account_in_two_windows(provider: Provider) -> None:
    _ada, client = with_password(provider)
    sign_in(client)
    first_time(provider, name="ada2")
    client.post("/sign-in/provider/name/")
    assert "You have an account here already" in client.get("/account/").content.decode()
    assert SocialAccount.objects.get().user.username == "ada2"


def test_an_account_has_a_single_identity(provider: Provider) -> None:
    provider.knows("eve")
    first_time(provider)
    other = Client()
    back(other, provider, "eve")
    other.force_login(User.objects.get())
    assert other.post("/sign-in/provider/name/")["Location"] == "/account/"
    assert SocialAccount.objects.get().uid == "ada"


def test_a_provider_that_is_away_is_said_to_be(provider: Provider, settings: Any, caplog: Any) -> None:
    settings.OIDC = openid_connect.Provider("http://127.0.0.1:9", "Uni", "preferendum", "secret", None)
    settings.SOCIALACCOUNT_PROVIDERS = openid_connect.settings_of(settings.OIDC)
    client = Client()
    assert is_refused(client, client.post("/sign-in/provider/"))
    assert "127.0.0.1" in caplog.text, "for the operator"


def test_a_provider_that_does_not_answer_keeps_one_visitor_waiting_and_not_those_who_come_next(settings: Any) -> None:
    """Else they would hold every thread, and nobody could judge."""
    settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 1
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        issuer = f"http://127.0.0.1:{mute.getsockname()[1]}"
        settings.OIDC = openid_connect.Provider(issuer, "Uni", "preferendum", "secret", None)
        settings.SOCIALACCOUNT_PROVIDERS = openid_connect.settings_of(settings.OIDC)

        def seconds() -> float:
            began, client = perf_counter(), Client()
            assert is_refused(client, client.post("/sign-in/provider/"))
            return perf_counter() - began

        assert seconds() >= 1
        assert [seconds() < 1 for _ in range(5)] == [True] * 5
        client = Client()
        assert is_refused(client, client.get(f"{BACK}?state=x&code=x"))
        with time_machine.travel(timezone.now() + timedelta(seconds=31)):
            assert seconds() >= 1, "it is tried again"


def test_an_answer_is_taken_once(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    answer = provider.sign_in(way_there(client), "ada")
    assert client.get(answer)["Location"] == "/"
    client.post("/sign-out/")
    assert is_refused(client, client.get(answer)), "its state was used"


def test_a_code_is_taken_once_whatever_the_state(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    first = parse_qs(urlsplit(provider.sign_in(way_there(client), "ada")).query)
    client.get(f"{BACK}?{urlencode({'code': first['code'][0], 'state': first['state'][0]})}")
    client.post("/sign-out/")
    state = parse_qs(urlsplit(way_there(client)).query)["state"][0]
    assert is_refused(client, client.get(f"{BACK}?{urlencode({'code': first['code'][0], 'state': state})}"))


def test_a_code_of_another_browser_signs_nobody_in(provider: Provider) -> None:
    """Neither with the state of that browser nor with one's own: the ID token has the other one's nonce."""
    first_time(provider)
    victim, eve = Client(), Client()
    sent = provider.sign_in(way_there(eve), "ada")
    assert is_refused(victim, victim.get(sent))
    code = parse_qs(urlsplit(sent).query)["code"][0]
    state = parse_qs(urlsplit(way_there(victim)).query)["state"][0]
    assert is_refused(victim, victim.get(f"{BACK}?{urlencode({'code': code, 'state': state})}"))


def test_a_state_waits_for_ten_minutes(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    answer = provider.sign_in(way_there(client), "ada")
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert is_refused(client, client.get(answer))


@pytest.mark.parametrize("query", ["", "?state=x", "?code=x", "?state=x&code=x", "?error=server_error&state=x"])
def test_an_answer_that_nobody_asked_for_is_refused(provider: Provider, client: Client, query: str) -> None:
    assert is_refused(client, client.get(BACK + query))


def test_whoever_changes_their_mind_at_the_provider_is_back_without_a_reproach(
    provider: Provider, client: Client
) -> None:
    state = parse_qs(urlsplit(way_there(client)).query)["state"][0]
    assert client.get(f"{BACK}?error=access_denied&state={state}")["Location"] == "/sign-in/"
    assert b"did not work" not in client.get("/sign-in/").content


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_nobody_is_led_to_another_site_afterwards(provider: Provider, to: str) -> None:
    first_time(provider)
    assert back(Client(), provider, to=to)["Location"] == "/"
    provider.knows("bob")
    client = Client()
    back(client, provider, "bob", to)
    assert client.post("/sign-in/provider/name/", {"username": "bob"})["Location"] == "/"


def test_a_session_from_before_does_not_become_the_one_after(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    way_there(client)
    before = client.session.session_key
    back(client, provider)
    assert is_in(client)
    assert client.session.session_key != before
    assert not Session.objects.filter(pk=before).exists()


def test_an_account_that_was_closed_meanwhile_stays_closed(provider: Provider) -> None:
    first_time(provider)
    client = Client()
    answer = provider.sign_in(way_there(client), "ada")
    User.objects.update(is_active=False)
    assert is_refused(client, client.get(answer))
    assert not AuditEntry.objects.filter(action="sign in", detail={"by": "provider"})[1:]


def test_only_one_account_is_made_in_two_windows(provider: Provider) -> None:
    clients = [Client(), Client()]
    for client in clients:
        back(client, provider)
    first, second = (
        client.post("/sign-in/provider/name/", {"username": name}) for client, name in zip(clients, "ab", strict=True)
    )
    assert first.status_code == 302
    assert b"You have an account here already" in second.content
    assert User.objects.get().username == "a"


def test_the_choice_of_a_name_waits_for_ten_minutes(provider: Provider, client: Client) -> None:
    back(client, provider)
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        assert client.post("/sign-in/provider/name/", {"username": "ada"})["Location"] == "/sign-in/"
    assert not User.objects.exists()


def test_somebody_invited_comes_back_to_the_invitation(provider: Provider) -> None:
    owner = User.objects.create_superuser("owner")
    study = studies.create_study(owner, title="News")
    link = invitations.invitation_path(invitations.invite(study, owner, role=Membership.Role.RESEARCHER))
    client = Client()
    back(client, provider, to=link)
    assert client.post("/sign-in/provider/name/", {"username": "ada"})["Location"] == link
    client.post(link)
    assert Membership.objects.get(user__username="ada").role == Membership.Role.RESEARCHER


def test_an_account_without_a_password_has_the_pages_that_make_sense(provider: Provider, settings: Any) -> None:
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    client = first_time(provider)
    page = client.get("/account/").content.decode()
    assert "Uni" in page
    assert "assword" not in page
    for address in ("/account/password/", "/account/email/", "/account/second-factor/"):
        assert client.get(address).status_code == client.post(address).status_code == 404
    assert "this browser" in page, "its sessions are listed"
    assert client.post("/sign-out/").status_code == 302
    assert not is_in(client)
    assert client.post("/sign-in/", {"username": "ada", "password": ""}).status_code == 200
    assert not is_in(client)


def test_asking_the_provider_has_a_limit(provider: Provider, client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("annotate.server.limits.PROVIDER", Limit("sign in with a provider", 2, 900))
    statuses = [client.post("/sign-in/provider/").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert client.get(f"{BACK}?state=x&code=x").status_code == 429


def test_a_page_of_another_site_cannot_start_it(provider: Provider) -> None:
    assert Client(enforce_csrf_checks=True).post("/sign-in/provider/").status_code == 403
    assert Client().get("/sign-in/provider/").status_code == 405


@pytest.mark.parametrize(
    "wrong",
    [
        {"ISSUER": "http://idp.example.org"},
        {"ISSUER": "idp.example.org"},
        {"ISSUER": "https://"},
        {"ISSUER": "https://idp.example.org?x=1"},
        {"ISSUER": "https://idp.example.org/" + "x" * 200},
        {"CLIENT": ""},
        {"SECRET": ""},
        {"CREATORS": "groups"},
        {"CREATORS": "groups="},
        {"CREATORS": "=x"},
    ],
)
def test_settings_that_lack_something_are_refused_at_the_start(monkeypatch: Any, wrong: dict[str, str]) -> None:
    whole = {"ISSUER": "https://idp.example.org", "CLIENT": "preferendum", "SECRET": "s", "CREATORS": "groups=a"}
    for name, value in (whole | wrong).items():
        monkeypatch.setenv(f"PREFERENDUM_OIDC_{name}", value)
    with pytest.raises(ImproperlyConfigured, match=f"PREFERENDUM_OIDC_{next(iter(wrong))}"):
        openid_connect.read_provider()


def test_the_settings_are_read_with_the_secret_from_a_file(monkeypatch: Any, tmp_path: Any) -> None:
    (tmp_path / "secret").write_text("s3cret\n")
    written = {"ISSUER": "https://idp.example.org/", "CLIENT": "us", "SECRET_FILE": str(tmp_path / "secret")}
    for name, value in (written | {"CREATORS": "groups = a , b c"}).items():
        monkeypatch.setenv(f"PREFERENDUM_OIDC_{name}", value)
    read = openid_connect.read_provider()
    assert read == openid_connect.Provider(
        "https://idp.example.org/", "idp.example.org", "us", "s3cret", ("groups", frozenset({"a", "b c"}))
    )
    (app,) = openid_connect.settings_of(read)["openid_connect"]["APPS"]
    assert app["settings"]["server_url"] == "https://idp.example.org/.well-known/openid-configuration"


def test_doctor_finds_a_provider_that_is_away_or_names_itself_otherwise(provider: Provider, settings: Any) -> None:
    (finding,) = doctor._provider()
    assert (finding.wrong, provider.url in finding.detail) == ("", True)
    provider.changes["/.well-known/openid-configuration"] = lambda said: said | {"issuer": said["issuer"] + "/"}
    (finding,) = doctor._provider()
    assert f"PREFERENDUM_OIDC_ISSUER={provider.url}/," in finding.mend
    settings.OIDC = openid_connect.Provider("http://127.0.0.1:9", "Uni", "preferendum", "secret", None)
    (finding,) = doctor._provider()
    assert "127.0.0.1:9" in finding.wrong
    settings.OIDC = None
    assert not list(doctor._provider())
