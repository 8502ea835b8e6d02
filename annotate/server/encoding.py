"""Requests are in UTF-8: others are refused before Django decodes them.

Django decodes addresses and forms by any of Python's codecs that a request names. UTF-7 yields half surrogates, which
no database stores; `hex` and `idna` raise, some of them before anything could answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

#: A type whose parameters have one reading only: no name in pieces or in an encoding of its own (RFC 2231).
PLAIN = re.compile(r'[^;]*(?:;\s*(?:charset="?utf-?8"?\s*|(?!charset)[\w-]+=[^;*]*))*;?\s*', re.IGNORECASE | re.ASCII)
CHARSET = re.compile(r";\s*charset=[^;]*", re.IGNORECASE)
MESSAGE = "Send UTF-8, and declare it as UTF-8 or not at all."
ERROR = {"error": {"code": "unsupported_media_type", "message": MESSAGE, "fields": {}}}


def only_utf8(application: WSGIApplication) -> WSGIApplication:
    """Answer 415 if another encoding is named; UTF-8 is the default after that."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        content_type = environ.get("CONTENT_TYPE", "")
        if PLAIN.fullmatch(content_type):
            environ["CONTENT_TYPE"] = CHARSET.sub("", content_type)
            return application(environ, start_response)
        of_programs = environ.get("PATH_INFO", "").startswith("/api/")
        kind, body = ("application/json", json.dumps(ERROR)) if of_programs else ("text/plain; charset=utf-8", MESSAGE)
        headers = [("Content-Type", kind), ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
        start_response("415 Unsupported Media Type", headers)
        return [body.encode()]

    return answer
