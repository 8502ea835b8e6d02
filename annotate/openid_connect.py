"""Signing in with an OpenID provider: the identity that it vouches for, and the account of that identity here.

allauth leads to the provider and back: state, PKCE, exchange of the code. What an identity rests on is checked here, so
that it hangs on no default of a library: nonce, issuer, signature, and whom userinfo is about (OpenID Connect Core
3.1.3.7 and 5.3.2, Discovery 4.3). An account is tied to issuer and subject, never to an address.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from allauth.socialaccount.models import SocialAccount, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client, OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from annotate import accounts
from annotate.audit_log import note
from annotate.refusal import Refusal
from annotate.server.openid_connect import Provider

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

#: Signatures with a key that only the provider has.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
REQUIRED = ["iss", "sub", "aud", "exp", "iat", "nonce"]
#: Seconds that clocks may differ, and that the provider may take.
LEEWAY, TIMEOUT = 60, 5
LONGEST_SUBJECT = 191


def provider() -> Provider:
    """The provider of the settings. Raises `Http404` without one: its pages do not exist then."""
    if settings.OIDC is None:
        raise Http404
    return settings.OIDC


def _nonce(state: str) -> str:
    """The nonce of a sign-in. Its state is random, good once, and in the visitor's session only."""
    return salted_hmac("OpenID Connect nonce", state, algorithm="sha256").hexdigest()


class StrictClient(OAuth2Client):
    """Asks for a nonce in the ID token."""

    def get_redirect_url(self, authorization_url: str, scope: list[str], extra_params: dict[str, str]) -> str:
        return str(super().get_redirect_url(authorization_url, scope, extra_params | {"nonce": _nonce(self.state)}))


class StrictAdapter(OpenIDConnectOAuth2Adapter):
    """Believes what the issuer signed for this sign-in, and nothing else."""

    client_class = StrictClient

    @property
    def openid_config(self) -> dict[str, Any]:
        config: dict[str, Any] = super().openid_config
        if config["issuer"] != provider().issuer:
            raise OAuth2Error(f"the metadata are those of {config['issuer']}")
        return config

    def get_callback_url(self, request: HttpRequest, app: object) -> str:
        return settings.ORIGIN + reverse("openid_connect_callback")

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **kwargs: Any) -> Any:
        claims = self._signed(kwargs["response"]["id_token"], request.GET["state"])
        if "userinfo_endpoint" in self.openid_config:
            more = self._fetch_user_info(token.token)
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("userinfo is about somebody else than the ID token")
            claims = more | claims
        return self.get_provider().sociallogin_from_response(request, claims)

    def _signed(self, id_token: str, state: str) -> dict[str, Any]:
        """The claims of an ID token, if it is the issuer's, for us, valid now, and for this sign-in."""
        import jwt  # only now: it takes 9 MB, and the worker, which loads this module with all apps, needs none of it

        client = provider().client
        try:
            keys = jwt.PyJWKClient(self.openid_config["jwks_uri"], timeout=TIMEOUT).get_signing_keys()
            named = jwt.get_unverified_header(id_token).get("kid")
            fitting = [key for key in keys if named in (None, key.key_id)]
            if len(fitting) != 1:
                raise OAuth2Error(f"the provider has {len(fitting)} keys named {named}")
            claims: dict[str, Any] = jwt.decode(
                id_token,
                fitting[0],
                algorithms=ALGORITHMS,
                audience=client,
                issuer=provider().issuer,
                leeway=LEEWAY,
                options={"require": REQUIRED},
            )
        except jwt.PyJWTError as error:
            raise OAuth2Error(f"the ID token is not valid: {error}") from error
        if claims.get("azp", client) != client:
            raise OAuth2Error("the ID token was issued to another client")
        if not constant_time_compare(str(claims["nonce"]), _nonce(state)):
            raise OAuth2Error("the ID token belongs to another sign-in")
        return claims


class StrictProvider(OpenIDConnectProvider):
    """The provider of the settings. Of its claims, only the answer who may create studies is kept."""

    oauth2_adapter_class = StrictAdapter
    pkce_enabled_default = True

    def get_oauth2_adapter(self, request: HttpRequest) -> StrictAdapter:
        """Return one adapter for the whole request, so that the metadata are fetched once."""
        if not hasattr(self, "adapter"):
            self.adapter = StrictAdapter(request, provider().issuer)
        return self.adapter

    def get_default_scope(self) -> list[str]:
        """No more than a suggestion for the name and, if the provider has a scope for it, the claim that counts."""
        offered = self.get_oauth2_adapter(self.request).openid_config.get("scopes_supported", [])
        claims = [creators[0]] if (creators := provider().creators) else []
        return ["openid", "profile", *(claim for claim in claims if claim in offered)]

    def extract_uid(self, data: dict[str, Any]) -> str:
        subject = data["sub"]
        if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) <= LONGEST_SUBJECT:
            raise OAuth2Error("the subject is no text that could be kept")
        return subject

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        return {"may_create": may_create(data)}

    def extract_common_fields(self, data: dict[str, Any]) -> dict[str, Any]:
        """A suggestion for the user name: without a domain, which says nothing among colleagues."""
        name = filter(str.isprintable, str(data.get("preferred_username") or "").partition("@")[0])
        return {"username": "".join(name)[:150]}

    def extract_email_addresses(self, data: dict[str, Any]) -> list[Any]:
        return []


def may_create(claims: Mapping[str, Any]) -> bool | None:
    """Whether the claims let their bearer create studies; None if the operator asks for no claim.

    An address counts only if the provider vouches for it.
    """
    creators = provider().creators
    if creators is None:
        return None
    claim, values = creators
    if claim == "email" and claims.get("email_verified") is not True:
        return False
    stated = claims.get(claim)
    each = stated if isinstance(stated, list) else [stated]
    return any((value if isinstance(value, str) else json.dumps(value)) in values for value in each)


@transaction.atomic
def create_account(username: str, subject: str, may: bool | None) -> User:
    """The new account of the provider's `subject`, without a password. Raises `Refusal` for a name that will not do."""
    user = accounts.sign_up(username, None, invited=True)
    join(user, subject, may)
    return user


@transaction.atomic
def join(user: User, subject: str, may: bool | None) -> None:
    """Let the provider's `subject` open this account. Raises `Refusal` if it opens one already."""
    try:
        with transaction.atomic():
            SocialAccount.objects.create(user=user, provider=provider().issuer, uid=subject)
    except IntegrityError as error:  # another window was quicker
        raise Refusal(_("You have an account here already. Sign in again."), "exists") from error
    note(None, user, "add provider")
    if may is not None:
        accounts.let_create_studies(user, may)


def identities(user: User) -> QuerySet[SocialAccount]:
    """What opens this account at the provider of the settings: at most a single row."""
    own: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user)
    return own.filter(provider=settings.OIDC.issuer) if settings.OIDC else own.none()


@transaction.atomic
def leave(user: User) -> None:
    """Let the provider open this account no longer. Twice changes nothing."""
    if identities(user).delete()[0]:
        note(None, user, "remove provider")
