"""Requests that name an encoding: UTF-8 is read, all else is refused, and no codec of Python's is let loose."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from annotate.server.encoding import only_utf8

pytestmark = pytest.mark.django_db

FORM = b'--X\r\nContent-Disposition: form-data; name="username"\r\n\r\na+2AA-b\r\n--X--\r\n'
MULTIPART = "multipart/form-data; boundary=X"
REFUSED = [
    *(f"{MULTIPART}; charset={codec}" for codec in ("utf-7", "idna", "hex", "rot13", "punycode", "unicode_escape")),
    f'{MULTIPART}; charset="latin-1"',
    f"{MULTIPART};charset =hex",
    f"{MULTIPART}; CharSet=undefined",
    f"{MULTIPART}; charset*=utf-8''hex",
    f"{MULTIPART}; charset*0=he; charset*1=x",
    f'{MULTIPART}; x="; charset=utf-7"',
    "multipart/form-data; boundary*=nobody''%41",
    "application/x-www-form-urlencoded; charset=utf-16",
    "text/plain; charset=idna",
    "text/plain; charset=\x00",
]
TAKEN = [
    "",
    MULTIPART,
    f"{MULTIPART}; charset=utf-8",
    f'{MULTIPART}; Charset="UTF-8"',
    "application/x-www-form-urlencoded;charset=utf8",
    "application/x-www-form-urlencoded;",
    'multipart/form-data; boundary="X"',
]


def answered(kind: str, path: str = "/sign-in/", question: str = "") -> tuple[str, bytes]:
    """Status and body, as the web server gets them."""
    environ: dict[str, Any] = RequestFactory().generic("POST", path, FORM, "text/plain").environ
    environ |= {"CONTENT_TYPE": kind, "QUERY_STRING": question}
    told: list[str] = []
    body = only_utf8(WSGIHandler())(environ, lambda status, *_: told.append(status))  # type: ignore[arg-type]
    return told[0], b"".join(body)


@pytest.mark.parametrize("kind", REFUSED)
def test_another_encoding_is_refused_in_words(kind: str) -> None:
    assert answered(kind) == ("415 Unsupported Media Type", b"Send UTF-8, and declare it as UTF-8 or not at all.")
    status, body = answered(kind, "/api/v1/studies/")
    assert status.startswith("415 ")
    assert json.loads(body)["error"]["code"] == "unsupported_media_type"


@pytest.mark.parametrize("kind", TAKEN)
def test_utf_8_is_taken_said_or_not(kind: str) -> None:
    assert answered(kind)[0].startswith("403 ")  # a form without the token against forged ones


@pytest.mark.parametrize("question", ["x=%ff%00", "x=1&" * 2_000])
def test_an_address_is_read_alike_whatever_comes_with_it(question: str) -> None:
    without, said = (answered(kind, question=question)[0] for kind in (MULTIPART, f"{MULTIPART}; charset=utf-8"))
    assert without == said
    assert said.startswith("4")
