"""E-mail: its server, set by one address. It is sent in the background, so that no answer takes longer."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage

logger = logging.getLogger(__name__)
#: The schemes of the address: Django's settings, and the usual port.
WAYS = {
    "smtp": ({"EMAIL_USE_TLS": True}, 587),
    "smtps": ({"EMAIL_USE_SSL": True}, 465),
    "smtp+plain": ({}, 25),
}
TIMEOUT = 10  # seconds that the server may take
sender = ThreadPoolExecutor(max_workers=1, thread_name_prefix="email")


def read_server(address: str) -> dict[str, Any]:
    """Django's settings from `smtp://USER:PASSWORD@HOST:PORT`; empty without an address.

    Raises `ImproperlyConfigured` for anything else.
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
    """Whether e-mail can be sent."""
    return bool(settings.EMAIL_SERVER)


def send(subject: str, text: str, to: str) -> None:
    """Send it soon, without waiting: the time would reveal whether an account exists."""
    message = EmailMessage(" ".join(subject.split()), text, settings.DEFAULT_FROM_EMAIL, [to])
    sender.submit(_send, message)


def _send(message: EmailMessage) -> None:
    try:
        message.send()
    except OSError as error:  # smtplib's errors are OSErrors, too
        logger.error("An e-mail could not be sent: %s", error)


def wait() -> None:
    """Wait until all requested e-mails are sent."""
    sender.submit(int).result()
