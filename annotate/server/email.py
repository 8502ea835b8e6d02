"""E-mail: its server, named by one address; it is sent beside the answer, which takes as long where none is sent."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)
#: How the server is talked to: Django's settings, and the usual port.
WAYS = {
    "smtp": ({"EMAIL_USE_TLS": True}, 587),
    "smtps": ({"EMAIL_USE_SSL": True}, 465),
    "smtp+plain": ({}, 25),
}
TIMEOUT = 10  # seconds that the server may take
sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="email")


def read_server(address: str) -> dict[str, Any]:
    """Django's settings of `smtp://USER:PASSWORD@HOST:PORT`; none where there is no address.

    Raises `ImproperlyConfigured` for what is no such address.
    """
    if not address:
        return {}
    try:
        parts = urlsplit(address)
        way, port = WAYS[parts.scheme]
        given_port = parts.port
    except (KeyError, ValueError):
        parts = None
    if parts is None or not parts.hostname:
        raise ImproperlyConfigured(
            "PREFERENDUM_EMAIL is smtp://USER:PASSWORD@HOST:PORT (with STARTTLS), smtps://… (TLS) or smtp+plain://… "
            "(not encrypted); in USER and PASSWORD, /, : and @ are percent-encoded."
        )
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": given_port or port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_TIMEOUT": TIMEOUT,
        **way,
    }


def is_set_up() -> bool:
    """Whether we can send anything."""
    return bool(settings.EMAIL_SERVER)


def send(subject: str, text: str, to: str) -> None:
    """Send it soon. Whoever asked for it does not wait: how long it takes would say whether an account is there."""
    message = EmailMessage(" ".join(subject.split()), text, settings.DEFAULT_FROM_EMAIL, [to])
    sender.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:  # smtplib's errors are OSErrors, too
        logger.error("An e-mail could not be sent: %s", error)


def wait() -> None:
    """Until all is sent that was asked for so far."""
    sender.submit(int).result()
