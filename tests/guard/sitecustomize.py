"""Nothing that a test does or starts may speak to another machine: it is refused, and written down.

The tests load this themselves; every Python that they start finds it on its path and loads it when it begins. What is
written in C (libpq, a browser) is not seen here: `tests.test_network` says how to run the tests without any network.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
from typing import Any

#: Names the file in which attempts are written down.
LOG = "PREFERENDUM_TESTS_REACHED_OUT"
#: Where in the arguments of an audited call it says with whom.
EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}


class ReachedOut(ConnectionRefusedError):
    """Somebody wanted to speak to another machine."""


def is_here(host: Any) -> bool:
    """Whether it is this machine that is meant; addresses that are no names and numbers of machines are."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in ("", "localhost", os.uname().nodename):
        return True
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.partition("%")[0])
        return address.is_loopback or address.is_unspecified
    return False


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what is not meant for this machine."""
    place = EVENTS.get(event)
    if place is None:
        return
    found = arguments[place]
    if event in ("socket.connect", "socket.sendto"):
        found = found[0] if isinstance(found, tuple) else None
    if is_here(found):
        return
    if log := os.environ.get(LOG):
        with open(log, "a") as file:
            file.write(f"{event} {found} by {' '.join(sys.argv)[:200]}\n")
    raise ReachedOut(f"tests speak to nobody else: {event} {found}")


sys.addaudithook(watch)
