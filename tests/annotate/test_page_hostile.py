"""Every form and every question of the pages, with what nobody should send: refused or stored, and never a fall.

After whatever was stored, every page that could show it still answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotate.models import Participation, Token
from tests.annotate.everything import undone
from tests.annotate.visitors import BODIES, Website, website

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
    "' OR 1=1 --",
    "../../etc/passwd",
    "-1",
    "0",
    "9" * 400,
    "1e308",
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
FORMS = [
    "study_new",
    "study_settings",
    "study_recruitment",
    "study_people",
    "study_state",
    "study_delete",
    "member_role",
    "document_mend",
    "account",
    "password",
]
OF_ANNOTATORS = ["join", "crowd", "pair", "skip", "undo", "shortcuts", "withdraw"]
#: Fields that take any text, each with the others that take what it takes; and the pages that show what was stored.
FREE = {
    ("title", "question", "guidelines"): [
        "study",
        "studies",
        "study_settings",
        "study_people",
        "leaderboard_tex",
        "join",
    ],
    ("consent",): ["study_recruitment", "join"],
    ("code_done", "code_no_work", "code_screened_out"): ["study_recruitment", "participants_csv"],
    ("person_parameter", "session_parameter"): ["study_recruitment"],
    ("return_url",): ["study_recruitment"],
    ("label",): ["study_people"],
    ("sentences",): ["topic_documents", "judgments_csv", "topic"],
    ("name",): ["account", "study_people"],
}
#: What a number, a date or a choice might be taken in by; markup is all one to them.
NUMBERS = [one for one in HOSTILE if not re.search("[<>{]", one) and len(one) < 1_000]
IN_QUESTIONS = ["%00", "%ED%A0%80", "-1", "9" * 400, "%0d%0aX:1", "//evil.test"]


@pytest.fixture
def site() -> Website:
    return website()


def send(site: Website, visitor: str, name: str, body: dict[str, object], shown: Sequence[str] = ()) -> list[str]:
    """What fell, if anything did."""
    path = site.path(name)
    with undone():
        client = Client()
        client.cookies = site.clients[visitor].cookies
        # As a browser would never send it: what is no text is still sent.
        tokens = Token.objects.count()
        said = b"&".join(quoted(key) + b"=" + quoted(str(value)) for key, value in body.items())
        response = client.generic("POST", path, said, "application/x-www-form-urlencoded")
        fallen = [f"{name}: {response.status_code}"] if response.status_code >= 500 else []
        # A new token is shown at once, and never again.
        if response.status_code == 302 or Token.objects.count() > tokens:
            STORED[name] += 1
            assert not response.get("Location", "").startswith(("//", "http", "javascript:"))
            for page in shown if name not in ("study_delete", "password") else ():
                seen = site.visit("owner", "GET", page)
                if seen.status_code not in (200, 403, 404):
                    fallen.append(f"{name} poisons {page}: {seen.status_code}")
                assert b"<script>alert" not in seen.said or b"application/x-tex" in seen["Content-Type"].encode()
                assert b"<img src=x" not in seen.said
    return fallen


#: How many forms of each name were taken.
STORED: Counter[str] = Counter()


def quoted(text: str) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("name", FORMS)
def test_no_value_of_a_form_makes_us_fall(site: Website, name: str) -> None:
    """Each value in all fields at once; in all that take any text, so that it is stored; in each other one alone."""
    fallen, tried = [], 0
    whole = site.body(name)
    groups = [(keys, pages) for keys, pages in FREE.items() if set(keys) & whole.keys()]
    free = {key for keys, _pages in groups for key in keys}
    for hostile in HOSTILE:
        fallen += send(site, "owner", name, dict.fromkeys(whole, hostile))
        for keys, pages in groups:
            # The pages of a study that is new are the pages of another one.
            texts = {key: hostile for key in keys if key in whole}
            fallen += send(site, "owner", name, {**whole, **texts}, shown=["studies"] if name == "study_new" else pages)
        tried += 1 + len(groups)
    # A new study has the same fields as the settings of an old one.
    for key in whole.keys() - free if name != "study_new" else ():
        for hostile in NUMBERS:
            fallen += send(site, "owner", name, {**whole, key: hostile}, shown=["study", "studies"])
            tried += 1
    print(f"{tried} forms, {STORED[name]} stored")
    assert fallen == []
    assert tried >= len(HOSTILE)
    if name in ("study_new", "study_settings", "study_recruitment", "study_people", "account"):
        assert STORED[name] >= 15  # what is always refused poisons nothing, and proves nothing


@pytest.mark.parametrize("name", OF_ANNOTATORS)
def test_no_answer_of_an_annotator_makes_us_fall(site: Website, name: str) -> None:
    fallen, tried = [], 0
    whole = {"revision": "1", **BODIES.get(name, {})}
    for hostile in HOSTILE:
        for key in (*whole, "ticket", "unknown"):
            fallen += send(site, "participant", name, {**whole, key: hostile})
            tried += 1
    print(f"{tried} forms")
    assert fallen == []


def test_no_name_that_a_platform_sends_makes_us_fall(site: Website) -> None:
    """Nor does it poison the list of who came."""
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
    asked = ["studies", "study", "study_topics", "topic", "sentence", "leaderboard", "judges", "study_export", "health"]
    for name in [*asked, "desk", "sign_in", "sign_up", "account"]:
        for hostile in IN_QUESTIONS:
            path = site.path(name) + "".join(
                f"{'&' if number else '?'}{key}={hostile}"
                for number, key in enumerate(["page", "seen", "said", "next", "nothing", "invitation", "topic"])
            )
            response = site.visit("participant" if name == "desk" else "owner", "GET", name, path)
            assert response.status_code < 500, (path[:100], response.status_code)


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
