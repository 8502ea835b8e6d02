"""The address of the worker's queue, as people write it and as Celery reads it."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from django.core.exceptions import ImproperlyConfigured

SCHEMES = ("memory", "redis", "rediss", "redis+socket", "unix")
#: Names of options: of all, and of TLS. The number of a database has two names.
OPTIONS = ("db", "virtual_host", "password")
TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")


def read_broker(url: str) -> str:
    """The address of a queue as Celery reads it, whichever way it is written.

    Celery would take no `unix://`, ignore or refuse `?db=`, and over TLS trust every certificate. Raises
    `ImproperlyConfigured` for what is no address of a queue.
    """
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query))
    if parts.scheme not in SCHEMES:
        schemes = ", ".join(f"{scheme}://" for scheme in SCHEMES)
        raise ImproperlyConfigured(f"BROKER_URL begins with one of {schemes}; found {parts.scheme!r}.")
    if parts.scheme == "memory":
        return url
    if unknown := given.keys() - {*OPTIONS, *(TLS if parts.scheme == "rediss" else ())}:
        raise ImproperlyConfigured(f"BROKER_URL has an option that {parts.scheme}:// does not take: {min(unknown)}.")
    is_socket = parts.scheme in ("redis+socket", "unix")
    number = given.pop("db", "") or given.pop("virtual_host", "") or ("" if is_socket else parts.path.strip("/")) or "0"
    if not number.isdecimal():
        raise ImproperlyConfigured(f"BROKER_URL names a Redis database by its number; found {number!r}.")
    given.pop("virtual_host", None)
    people, _at, host = parts.netloc.rpartition("@")
    if password := given.pop("password", ""):
        people = f"{people.partition(':')[0]}:{quote(password, safe='')}"
    who = f"{people}@" if people else ""
    if is_socket:
        if host or not unquote(parts.path).strip("/"):
            raise ImproperlyConfigured("BROKER_URL names a socket by its whole path: unix:///run/redis/redis.sock.")
        return f"redis+socket://{who}{parts.path}?virtual_host={number}"
    if parts.scheme == "rediss":
        given = {"ssl_cert_reqs": "required"} | given
    return f"{parts.scheme}://{who}{host}/{number}" + (f"?{urlencode(given)}" if given else "")
