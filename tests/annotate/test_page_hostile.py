"""Every form and every question of the pages, with what nobody should send: refused or stored, and never a fall.

After whatever was stored, every page that could show it still answers; after a refusal every table has as many rows as
before.
"""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from annotate.models import Participation, Recruitment, Study, Token, Webhook
from annotate.server.sessions import SessionStore
from tests.annotate.everything import Keys, undone
from tests.annotate.test_page_access import CELLS, lines
from tests.annotate.visitors import Website, pages

pytestmark = pytest.mark.django_db

HOSTILE = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "\ufffe",
    "\u202e\u202a" * 100,
    "\u200b",
    "\u00ad",
    "\u2028",
    "a" + "\u0300" * 40,
    "a" + "\u0300\u0316" * 5_000,
    "x" * 30_000,
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<div hx-get=/studies/ hx-trigger=load>",
    "{{ settings.SECRET_KEY }}{% debug %}",
    "%s%n%(title)s{0}{x}",
    "=cmd|' /C calc'!A0",
    "＝1+1",
    "\t=1+1",
    "x\r\nSet-Cookie: a=b",
    "//evil.test",
    "javascript:alert(1)",
    "[x](javascript:alert(1)) ![x](https://evil.test/x.png) <javascript:alert(1)>",
    "[x]: data:text/html,1\n\n[x] [[[[(((( > > > > ****____",
    "' OR 1=1 --",
    "../../etc/passwd",
    "-1",
    "0",
    "2147483648",
    "9223372036854775808",
    "9" * 400,
    "9" * 5_000,
    "1e308",
    "1e400",
    "nan",
    "-inf",
    "0x10",
    "٣",
    "2026-02-30T25:61",
    "9999-12-31T23:59",
    "0001-01-01",
    "on",
    "null",
]
#: Which of them each form or page is sent: the next one is sent the others, and all take them by the same code.
EVERY = 2
#: Who fills in which forms. What no form of ours has is sent to them, too.
FORMS = {
    "owner": [
        "study_new",
        "study_settings",
        "study_recruitment",
        "study_questionnaire",
        "study_members",
        "study_webhooks",
        "study_copy",
        "study_state",
        "study_delete",
        "member_role",
        "document_mend",
        "workbench",
        "upload_document",
        "gold_pairs",
        "make_baselines",
        "make_simulated",
        "data_remove",
        "forecast_ask",
        "what_if_ask",
        "what_if_do",
        "annotator_rest",
        "annotator_find",
        "annotator_withdraw",
        "account",
        "account_reauthenticate",
        "mfa_activate_totp",
        "mfa_reauthenticate",
        "password",
        "markdown_preview",
        "account_email",
        "sign_out",
        "account_logout",
    ],
    "participant": ["join", "crowd", "pair", "skip", "undo", "shortcuts", "withdraw", "questionnaire"],
    "nobody": [
        "sign_in",
        "account_login",
        "mfa_authenticate",
        "sign_up",
        "forgotten",
        "demo",
        "set_language",
        "openid_connect",
        "new_account",
    ],
}
#: Whose answer says which fields are wrong.
COMPLAINING = {
    *("study_settings", "study_recruitment", "study_members", "study_webhooks", "gold_pairs", "account", "password"),
    *("sign_in", "sign_up"),
}
FILES = ["upload_new", "gold_pairs", "study_demographics"]
#: What is done by these is in their address.
NO_FIELDS = """
    upload_columns
    study_export upload_confirm upload_discard gold_pair_delete invitation_revoke token_revoke member_remove
    sessions_end session_end leave_provider mfa_deactivate_totp mfa_generate_recovery_codes
    mfa_login_webauthn mfa_list_webauthn mfa_add_webauthn mfa_remove_webauthn mfa_reauthenticate_webauthn
    webhook_secret webhook_test webhook_delete
    data_restore document_unmend kind_leaderboard draw pause ahead leave
    try
    new_password email_confirm sign_in_link
"""
#: Fields that take any text, each with the others that take what it takes; and the pages that show what was stored.
FREE = {
    ("title", "question", "guidelines"): [
        "study",
        "studies",
        "study_settings",
        "study_members",
        "leaderboard_tex",
        "join",
    ],
    ("consent",): ["study_recruitment", "join"],
    ("code_done", "code_no_work", "code_screened_out"): ["study_recruitment", "participants_csv"],
    ("form-0-text", "form-0-options"): ["study_questionnaire", "join"],
    ("label",): ["study_members"],
    ("reason",): ["log", "study_annotator"],
    ("explanation",): ["gold_pairs"],
    ("sentences",): ["topic_documents", "judgments_csv", "topic"],
    ("name",): ["account", "study_members"],
}
#: What a number, a date or a choice might be taken in by; markup is all one to them.
#: An address that a link or a picture may not have.
UNSAFE = re.compile(rb"""(href|src)=["'](javascript|data):""")
NUMBERS = [one for one in HOSTILE if not re.search("[<>{]", one) and len(one) < 10_000]
#: Forms of which something must have been stored: what is always refused poisons nothing, and proves nothing.
TAKING = {"study_new", "study_settings", "study_recruitment", "study_members", "account", "what_if_do", "gold_pairs"}
IN_QUESTIONS = ["%00", "%ED%A0%80", "-1", "9" * 400, "9" * 5_000, "%0d%0aX:1", "//evil.test"]
#: Every name that a page looks for in its address.
ASKED = [
    *("dimension", "peers", "by", "scores", "page", "seen", "said", "next", "nothing", "invitation"),
    *("topic", "system", "act", "sort", "a", "b", "order", "empty", "split", "show", "key"),
]
#: What may be written though a form was refused: who is who, and how often somebody tried.
KEPT_APART = {"django_session", "annotate_allowance"}


@cache
def all_counts() -> str:
    """One question for the number of rows of every table."""
    tables = sorted({model._meta.db_table for model in apps.get_models()} - KEPT_APART)
    return "SELECT " + ", ".join(f'(SELECT count(*) FROM "{table}")' for table in tables)


def stored_now() -> list[object]:
    with connection.cursor() as cursor:
        cursor.execute(all_counts())
        return [cursor.fetchone(), *Study.objects.order_by("pk").values_list(), *Recruitment.objects.values_list()]


def send(
    site: Website, visitor: str, name: str, before: object, body: Mapping[str, object], shown: Sequence[str] = ()
) -> tuple[list[str], set[str]]:
    """What fell, if anything did, and the fields at fault; `before`: what was stored before."""
    path = site.path(name)
    with undone():
        client = Client()
        client.cookies = copy.deepcopy(site.clients[visitor].cookies)
        # As a browser would never send it: what is no text is still sent.
        secrets = Token.objects.count() + Webhook.objects.count()
        said = b"&".join(quoted(key) + b"=" + quoted(str(value)) for key, value in body.items())
        response = client.generic("POST", path, said, "application/x-www-form-urlencoded")
        TRIED[name] += 1
        fallen = [f"{name}: {response.status_code}"] if response.status_code >= 500 else []
        form = (response.context or {}).get("form")
        # A new secret is shown at once, and never again.
        if response.status_code == 302 or Token.objects.count() + Webhook.objects.count() > secrets:
            STORED[name] += 1
            assert not response.get("Location", "").startswith(("//", "http", "javascript:"))
            for page in shown if name not in ("study_delete", "password") else ():
                seen = site.visit("owner", "GET", page)
                if seen.status_code not in (200, 403, 404):
                    fallen.append(f"{name} poisons {page}: {seen.status_code}")
                assert b"<script>alert" not in seen.said or b"application/x-tex" in seen["Content-Type"].encode()
                assert b"<img src=x" not in seen.said
                assert not UNSAFE.search(seen.said)
        elif stored_now() != before:
            fallen.append(f"{name}: refused with {response.status_code}, and stored")
    return fallen, set(form.errors) if form is not None else set()


#: How many forms of each name were sent, and how many were taken.
TRIED: Counter[str] = Counter()
STORED: Counter[str] = Counter()


def quoted(text: str) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in text.encode("utf-8", "surrogatepass"))


Trial = partial[tuple[list[str], set[str]]]


def whole(site: Website, name: str) -> dict[str, object]:
    """What is taken, in every field that the form has."""
    account = {"username": site.study.created_by.username, "password": "a long enough password"}
    others: dict[str, dict[str, object]] = {
        "what_if_ask": {"annotator": site.keys["annotator_id"], "back": ""},
        "markdown_preview": {"guidelines": "*x*", "consent": ""},
        "gold_pairs": {"explanation": "It is the news."},
        "pair": {"ticket": "x"},
        "undo": {"revision": "1"},
        "shortcuts": {"shortcuts": "on"},
        "sign_in": account | {"next": "/studies/"},
        "forgotten": {"email": "x@example.org"},
        "account_email": {"email": "x@example.org", "password": "a long enough password"},
        "sign_out": {"next": "/about/"},
        "set_language": {"language": "de", "next": "/about/"},
        "sign_up": {"username": "somebody", "password": "seven unrelated words"},
    }
    return site.body(name) | others.get(name, {})


def all_at_once(
    trial: Trial, fields: Mapping[str, object], keys: Sequence[str], values: Sequence[str], shown: Sequence[str]
) -> list[str]:
    """Every value in every field, another one in each of them; then again those that the form did not complain of."""
    fallen = []
    for turn in range(len(values)):
        sent = {key: values[(turn + 7 * place) % len(values)] for place, key in enumerate(keys)}
        wrong = set(keys)
        while sent and wrong:
            fell, complained = trial({**fields, **sent}, shown=shown)
            fallen += fell
            wrong = complained & sent.keys()
            sent = {key: value for key, value in sent.items() if key not in wrong}
    return fallen


@pytest.mark.parametrize("visitor", FORMS)
def test_no_value_of_a_form_makes_us_fall(site: Website, visitor: str, settings: Any) -> None:
    """Values in all fields at once; in all that take any text, so that they are stored; some in each of the others."""
    settings.SIGN_UP_OPEN = True
    settings.EMAIL_SERVER = "smtp://localhost"
    fallen = []
    TRIED.clear()
    STORED.clear()
    before = stored_now()
    for number, name in enumerate(FORMS[visitor]):
        own = HOSTILE[number % EVERY :: EVERY]
        trial = partial(send, site, visitor, name, before)
        fields = whole(site, name)
        groups = [(keys, where) for keys, where in FREE.items() if set(keys) & fields.keys() and visitor == "owner"]
        for turn, hostile in enumerate(own):
            fallen += trial(dict.fromkeys([*fields, "unknown"], hostile))[0]
            for keys, where in groups:
                # The pages of a study that is new are the pages of another one.
                texts = {key: hostile for key in keys if key in fields}
                opened = (
                    ["studies"] if name == "study_new" else [where[turn % len(where)], where[turn // 7 % len(where)]]
                )
                fallen += trial({**fields, **texts}, shown=opened)[0]
        free = {key for keys, _where in groups for key in keys}
        rest = [key for key in fields if key not in free]
        if name in COMPLAINING:
            is_settings = name == "study_settings"
            values, where = (NUMBERS, ["study", "studies"]) if is_settings else (own, ["study_recruitment"])
            fallen += all_at_once(trial, fields, rest, values, where if visitor == "owner" else [])
        elif len(fields) > 1 and name != "study_new":  # which has the same fields as the settings of an old one
            for place, key in enumerate(rest):
                fallen += [fell for hostile in own[place % 3 :: 3] for fell in trial({**fields, key: hostile})[0]]
    print(f"\n{sum(TRIED.values())} forms of {len(TRIED)} kinds, {sum(STORED.values())} stored")
    assert fallen == []
    assert {name for name in TAKING & set(FORMS[visitor]) if STORED[name] < 15} == set()


def test_every_form_is_tried() -> None:
    posts = {name for method, name in lines() if method == "POST"}
    tried = {name for names in FORMS.values() for name in names}
    assert tried | set(FILES) | set(NO_FIELDS.split()) == posts
    assert tried.isdisjoint(NO_FIELDS.split())


@pytest.mark.parametrize("name", FILES)
def test_no_file_in_a_form_makes_us_fall(site: Website, name: str) -> None:
    """Its content is hostile elsewhere (test_hostile_uploads); here it stands where a table and its cells should."""
    before = stored_now()
    cells = "topic,better,worse,use,explanation\n{0},{0},{0},gold,x\nrain,d1:0,d1:2,{0},{0}\nrain,d1:0,d1:2,gold,{0}\n"
    stored = 0
    for hostile in HOSTILE:
        for content in (hostile, cells.format(hostile)):
            with undone():
                file = SimpleUploadedFile("x.csv", content.encode("utf-8", "surrogatepass"))
                response = site.clients["owner"].post(site.path(name), {"file": file})
                assert response.status_code < 500, hostile[:20]
                if (name == "upload_new" and response.status_code == 302) or stored_now() != before:
                    assert response.status_code == 302, hostile[:20]
                    stored += 1
                    assert site.visit("owner", "GET", name, response["Location"]).status_code == 200
    print(f"\n{2 * len(HOSTILE)} files, {stored} stored")


def test_no_name_that_a_platform_sends_makes_us_fall(site: Website) -> None:
    """Nor does it poison the list of who came."""
    Recruitment.objects.update(platform="generic")
    path = site.path("crowd").partition("?")[0]
    stored = 0
    for hostile in HOSTILE:
        query = "?PROLIFIC_PID=" + quoted(hostile).decode() + "&SESSION_ID=" + quoted(hostile).decode()
        for method in ("get", "post"):
            response = getattr(Client(), method)(path + query, {"consent": "1"} if method == "post" else None)
            assert response.status_code in (200, 302, 400, 403), hostile[:20]
        stored = Participation.objects.count()
    assert stored > 10
    table = site.visit("owner", "GET", "participants_csv").said.decode("utf-8-sig")
    assert not re.search(r'(^|,)"?[=＝+@]', table, flags=re.MULTILINE)
    assert site.visit("owner", "GET", "study_recruitment").status_code == 200


def test_no_question_makes_us_fall(site: Website) -> None:
    tried = 0
    for number, name in enumerate(sorted(name for method, name in lines() if method == "GET")):
        path = site.path(name)
        visitor = "participant" if CELLS["GET", name, "participant"] == "200" else "owner"
        for hostile in IN_QUESTIONS[number % EVERY :: EVERY]:
            asked = path + ("&" if "?" in path else "?") + "&".join(f"{key}={hostile}" for key in ASKED)
            response = site.visit(visitor, "GET", name, asked)
            tried += 1
            assert response.status_code < 500, (path[:100], response.status_code)
    print(f"\n{tried} questions")


def test_no_number_in_an_address_makes_us_fall(site: Website) -> None:
    """Beyond what a row's key can be there is nothing, wherever in an address it stands."""
    keys, tried = site.keys, 0
    for method, name in sorted(lines()):
        for hole in next(holes for one, _address, holes in pages() if one == name):
            if not isinstance(keys[hole, name], int):
                continue
            nowhere = 10**6 if hole == "number" else 0  # places count from 0, keys from 1
            for number in (nowhere, 2**31, 2**63, 10**30, 10**400):
                site.keys = Keys({**keys, (hole, name): number})
                assert site.visit("owner", method, name).status_code == 404, (method, name, hole, number)
                tried += 1
            site.keys = keys
    print(f"\n{tried} addresses")


@pytest.mark.parametrize(
    "value", ['"\\000\\000abcdefgh"', '"abcdefgh\\000"', "\xff" * 10, "x" * 4_000, '"\\355\\240\\200abcdefg"']
)
def test_no_cookie_makes_us_fall(value: str) -> None:
    for name in ("session", "csrf", "messages", "django_language"):
        cookie = {"HTTP_COOKIE": f"{name}={value}"}
        assert Client().get("/studies/", **cookie).status_code == 302
        assert Client().post("/sign-in/", {"username": "x", "password": "x"}, **cookie).status_code == 200


def test_what_no_database_could_be_asked_for_is_not_looked_up() -> None:
    """SQLite takes a NUL character and a name of any length, PostgreSQL neither."""
    assert SessionStore("a\x00" * 16).session_key is None
    wrong = {"username": "x" * 256, "password": "x"}
    assert b"at most 150 characters" in Client().post("/sign-in/", wrong).content


@pytest.mark.parametrize("to", ["//evil.test", "https://evil.test", "javascript:alert(1)", "/\\evil.test", "\tx://y"])
def test_nobody_is_led_elsewhere_after_signing_in(site: Website, to: str) -> None:
    owner = site.study.created_by.username
    found = Client().post(f"/sign-in/?next={to}", {"username": owner, "password": "a long enough password", "next": to})
    assert found.status_code == 302
    assert found["Location"] == "/"


@pytest.mark.parametrize("filename", ["../../x", "C:\\x", "a\x00b", "x" * 400, "<script>", "\u202e", "．．／x"])
def test_no_name_of_a_file_makes_us_fall(site: Website, filename: str) -> None:
    path = site.path("upload_new")
    client = site.clients["owner"]
    file = SimpleUploadedFile("x", json.dumps({"topic_id": "X"}).encode())
    file.name = filename
    assert client.post(path, {"file": file}).status_code < 500
    assert site.visit("owner", "GET", "study").status_code == 200
