"""The OpenID provider whose accounts may sign in, set by its issuer, our client and who may create studies."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from annotate.server.keys import read_secret

#: Where no network can change what the provider says, it may do without TLS.
THIS_MACHINE = {"127.0.0.1", "localhost", "::1"}
WELL_KNOWN = "/.well-known/openid-configuration"


@dataclass(frozen=True)
class Provider:
    """`creators`: the claim, and the values of it, with which users may create studies; None leaves that alone."""

    issuer: str
    name: str
    client: str
    secret: str
    creators: tuple[str, frozenset[str]] | None

    @property
    def metadata(self) -> str:
        """Where the provider describes itself."""
        return self.issuer.rstrip("/") + WELL_KNOWN

    @property
    def app(self) -> dict[str, Any]:
        """The provider as allauth's settings describe it."""
        about = {"provider_id": self.issuer, "name": self.name, "client_id": self.client, "secret": self.secret}
        return about | {"settings": {"server_url": self.metadata}}


def settings_of(provider: Provider | None) -> dict[str, Any]:
    """Settings of allauth's for this provider, or for none."""
    apps = [provider.app] if provider else []
    return {"openid_connect": {"provider_class": "annotate.openid_connect.StrictProvider", "APPS": apps}}


def read_provider() -> Provider | None:
    """The provider of the environment; None without PREFERENDUM_OIDC_ISSUER.

    Raises `ImproperlyConfigured` for an address without TLS on another machine, and for settings that lack something.
    """
    issuer = os.environ.get("PREFERENDUM_OIDC_ISSUER", "")
    if not issuer:
        return None
    parts = urlsplit(issuer)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in THIS_MACHINE)
    if not (is_safe and parts.hostname) or parts.query or parts.fragment or len(issuer) > 200:
        raise ImproperlyConfigured(
            f"PREFERENDUM_OIDC_ISSUER is {issuer}; expected was https://… as the provider names itself, with at most "
            f"200 characters and without {WELL_KNOWN}."
        )
    client = os.environ.get("PREFERENDUM_OIDC_CLIENT", "")
    if not client:
        raise ImproperlyConfigured("PREFERENDUM_OIDC_CLIENT is empty; it is the client ID that the provider gave you.")
    secret = read_secret("PREFERENDUM_OIDC_SECRET")
    if not secret:
        raise ImproperlyConfigured("PREFERENDUM_OIDC_SECRET is empty, or the file of PREFERENDUM_OIDC_SECRET_FILE.")
    name = os.environ.get("PREFERENDUM_OIDC_NAME") or parts.hostname or issuer
    return Provider(issuer, name, client, secret, _creators())


def _creators() -> tuple[str, frozenset[str]] | None:
    written = os.environ.get("PREFERENDUM_OIDC_CREATORS", "")
    if not written:
        return None
    read = re.fullmatch(r"\s*([^=\s]+)\s*=(.*\S.*)", written)
    if not read:
        raise ImproperlyConfigured(
            f"PREFERENDUM_OIDC_CREATORS is {written}; expected was a claim and its values: groups=preferendum,staff."
        )
    return read[1], frozenset(value.strip() for value in read[2].split(",") if value.strip())
