"""Send what is due to webhooks, signed as Standard Webhooks asks (https://www.standardwebhooks.com).

The owner of a webhook must reach nothing through us that they do not reach themselves. So the name is resolved once, an
address inside a network is refused, and the connection is made to the very address that was checked. No redirect is
followed, no proxy is used, no body is read, and of a failure the log says only that there was no answer.
"""

from __future__ import annotations

import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import Thread
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from standardwebhooks import Webhook as Signer

from annotate import webhooks
from annotate.models import Delivery, Webhook
from preferendum.about import __version__

#: Seconds that an attempt takes at most, however its receiver behaves.
LONGEST = 10.0
#: The first line of an answer, and so many of its bytes.
STATUS, LONGEST_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})[ \r\n]"), 1_000
#: All addresses in use outside of networks. What leads to IPv4 addresses (mapped, NAT64) is none of them, but 6to4 is.
UNICAST = IPv6Network("2000::/3")
#: Kept for protocols, and used by clouds for what their machines may know; older Pythons take most of it for public.
PROTOCOLS = IPv4Network("192.0.0.0/24")


def send_due(webhook_id: int) -> Iterator[None]:
    """Send each message that is due, one at a time."""
    for delivery in Delivery.objects.due().filter(webhook=webhook_id).order_by("due_at"):
        webhook = Webhook.objects.filter(pk=webhook_id).first()  # its secret may have been replaced since the last one
        if webhook is not None and webhooks.begin_attempt(delivery):
            webhooks.end_attempt(delivery, post(webhook.address, _signed(delivery, webhook.secret), delivery.body))
        yield


def _signed(delivery: Delivery, secret: str) -> dict[str, str]:
    key, now = f"msg_{delivery.key.hex}", datetime.now(UTC)
    signature = Signer(secret).sign(key, now, delivery.body)
    headers = {"webhook-id": key, "webhook-timestamp": str(int(now.timestamp())), "webhook-signature": signature}
    return headers | {"Content-Type": "application/json", "User-Agent": f"Preferendum/{__version__}"}


def post(address: str, headers: Mapping[str, str], body: str, seconds: float = LONGEST) -> str:
    """Post the body; the status of the answer, or one of `Delivery.Outcome`.

    No timeout covers the look-up of a name, so all is done in a thread that is left alone once its time is over.
    """
    until, outcomes = time.monotonic() + seconds, list[str]()
    sender = Thread(target=lambda: outcomes.append(_post(urlsplit(address), headers, body, until)), daemon=True)
    sender.start()
    sender.join(seconds)
    return outcomes[0] if outcomes else Delivery.Outcome.NO_ANSWER


def _post(to: SplitResult, headers: Mapping[str, str], body: str, until: float) -> str:
    port = to.port or (443 if to.scheme == "https" else 80)
    try:
        resolved = socket.getaddrinfo(to.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return Delivery.Outcome.NO_ADDRESS
    allowed = [str(own[0]) for *_rest, own in resolved if may_reach(to.scheme, str(own[0]))]
    if not allowed:
        return Delivery.Outcome.NO_ADDRESS
    try:
        return _answer(_connect(allowed, port, until), to, headers, body, until)
    except (OSError, ValueError, HTTPException):
        return Delivery.Outcome.NO_ANSWER


def may_reach(scheme: str, address: str) -> bool:
    """Whether a message may go to an address: a public one over TLS, or one that the operator allows."""
    own = ip_address(address.partition("%")[0])
    return any(own in network for network in settings.WEBHOOK_NETWORKS) or (scheme == "https" and _is_public(own))


def _is_public(own: IPv4Address | IPv6Address) -> bool:
    if isinstance(own, IPv6Address) and (own not in UNICAST or own.sixtofour is not None):
        return False
    return own.is_global and not own.is_multicast and own not in PROTOCOLS


def _connect(addresses: list[str], port: int, until: float) -> socket.socket:
    """A connection to the first address that takes one. Raises `OSError`."""
    for address in addresses:
        with suppress(OSError):
            return socket.create_connection((address, port), _left(until))
    raise ConnectionError


def _answer(line: socket.socket, to: SplitResult, headers: Mapping[str, str], body: str, until: float) -> str:
    """The status that is answered over an open line. Raises `OSError`, `ValueError` and `HTTPException`."""
    with ExitStack() as open_lines:
        open_lines.enter_context(line)
        is_tls = to.scheme == "https"
        if is_tls:
            line = open_lines.enter_context(_tls().wrap_socket(line, server_hostname=to.hostname))
        own = to.hostname or "", to.port
        connection = HTTPSConnection(*own, context=_tls()) if is_tls else HTTPConnection(*own)
        connection.sock = line
        line.settimeout(_left(until))
        target = (to.path or "/") + (to.query and f"?{to.query}")
        connection.request("POST", target, body.encode(), {**headers, "Connection": "close"})
        status = STATUS.match(_first_line(line, until))
        return status[1].decode() if status else Delivery.Outcome.NO_ANSWER


def _first_line(line: socket.socket, until: float) -> bytes:
    """What is answered, at least its first line. The library would read all headers, however long they take to come."""
    read = b""
    while b"\n" not in read and len(read) < LONGEST_LINE:
        line.settimeout(_left(until))
        if not (more := line.recv(LONGEST_LINE)):
            break
        read += more
    return read


def _left(until: float) -> float:
    """The seconds that are left. Raises `TimeoutError` if there are none."""
    if (left := until - time.monotonic()) <= 0:
        raise TimeoutError
    return left


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
