"""The address of the site, and where `serve` listens."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

USUAL_HOST, USUAL_PORT = "127.0.0.1", 8000
#: The segments of its path need no escaping and are no `.` or `..`.
ADDRESS = re.compile(
    r"(?P<origin>(?i:https?://(?:[a-z0-9.-]+|\[[a-f0-9:.]+\]))(?::0*(?P<port>[1-9][0-9]{0,4}))?)"
    r"(?P<path>(?:/[\w~-][\w.~-]*)*)",
    re.ASCII,
)


def read_origin() -> tuple[str, str]:
    """The origin in PREFERENDUM_ORIGIN, in lower case, and the path below which the site lives, both without a slash at
    their end.

    Raises `ImproperlyConfigured` for an address at which no browser would find the site.
    """
    written = os.environ.get("PREFERENDUM_ORIGIN") or f"http://{USUAL_HOST}:{USUAL_PORT}"
    read = ADDRESS.fullmatch(written.rstrip("/"))
    if not read or int(read["port"] or 1) > 65_535:
        raise ImproperlyConfigured(
            f"PREFERENDUM_ORIGIN is {written}; expected was http:// or https:// with a host and perhaps a port and a "
            "path, such as https://judge.example.org or https://example.org/judge, and no user name, ? or #."
        )
    return read["origin"].lower(), read["path"]


def place_to_listen(origin: str, host: str | None, port: int | None) -> tuple[str, int]:
    """Host and port: those given; else as PREFERENDUM_BIND says; else the port that an origin without TLS names.

    Raises `ImproperlyConfigured` for a PREFERENDUM_BIND without a host and a port.
    """
    bind = os.environ.get("PREFERENDUM_BIND", "")
    bound = re.fullmatch(r"\[?([^\s/,\[\]]*?)\]?:([1-9][0-9]{0,4})", bind)
    if bind and not bound:
        raise ImproperlyConfigured(f"PREFERENDUM_BIND is {bind}; `serve` expects a host and a port: 127.0.0.1:8000.")
    asked = urlsplit(origin)
    named = asked.port if asked.scheme == "http" else None
    if bound:
        return host or bound[1] or "0.0.0.0", port or int(bound[2])  # noqa: S104 - as gunicorn reads `:8000`
    return host or USUAL_HOST, port or named or USUAL_PORT
