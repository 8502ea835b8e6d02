"""The address of the site, and where `serve` listens."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

USUAL_HOST, USUAL_PORT = "127.0.0.1", 8000


def read_origin() -> str:
    """The address in PREFERENDUM_ORIGIN, in lower case and without a slash at its end.

    Raises `ImproperlyConfigured` for one at which no browser would find the site.
    """
    written = os.environ.get("PREFERENDUM_ORIGIN") or f"http://{USUAL_HOST}:{USUAL_PORT}"
    origin = written.lower().rstrip("/")
    host = re.fullmatch(r"https?://(?:[a-z0-9.-]+|\[[a-f0-9:.]+\])(?::0*([1-9][0-9]{0,4}))?", origin)
    if not host or int(host[1] or 1) > 65_535:
        raise ImproperlyConfigured(
            f"PREFERENDUM_ORIGIN is {written}; expected was http:// or https:// with a host and perhaps a port, "
            "such as https://judge.example.org, and no path, user name, ? or #."
        )
    return origin


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
