"""Signing in, and the pages of the second factor. Every sign-in runs through allauth's steps into `Entrance`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import get_login_redirect_url, perform_login
from allauth.account.views import reauthenticate
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.base import views as base
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate import accounts
from annotate.views.limited import limited

#: Marks in user agents; the first match counts, since each browser names those before it.
BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {name: name for name in ("Android", "iPhone", "iPad", "Windows", "Mac", "Linux")}


def enter(request: HttpRequest, user: User, by: str, to: str) -> HttpResponse:
    """Sign in a user `by` password, link or provider, and lead them on; first ask for the second factor, if any."""
    answer: HttpResponse = perform_login(request, user, redirect_url=to, signal_kwargs={"by": by})
    return answer


def let_in(request: HttpRequest, user: User) -> None:
    """Begin a session, named after its browser."""
    login(request, user)
    agent = request.headers.get("User-Agent", "")
    names = (next((name for mark, name in marks.items() if mark in agent), "") for marks in (BROWSERS, SYSTEMS))
    request.session["browser"] = ", ".join(name for name in names if name)


def is_ours(request: HttpRequest, address: str) -> bool:
    """Whether an address that a request names as the next page is of this site."""
    return url_has_allowed_host_and_scheme(address, {request.get_host()}, request.is_secure())


def has_passkeys() -> bool:
    """Whether this installation offers passkeys: browsers keep them from plain HTTP."""
    return "webauthn" in settings.MFA_SUPPORTED_TYPES


class Entrance(DefaultAccountAdapter):
    """The end of allauth's way in. It begins again for accounts that were closed, or got a new password, meanwhile."""

    def is_safe_url(self, url: str) -> bool:
        return is_ours(self.request, url)

    def pre_login(self, request: HttpRequest, user: User, **_more: object) -> HttpResponse | None:
        if not user.is_active:
            return redirect("sign_in")
        request.session["entering"] = user.get_session_auth_hash()
        return None

    def login(self, request: HttpRequest, user: User) -> None:
        before = request.session.pop("entering", "")
        if not user.is_active or not constant_time_compare(before, user.get_session_auth_hash()):
            raise ImmediateHttpResponse(redirect("sign_in"))
        let_in(request, user)

    def post_login(
        self, request: HttpRequest, user: User, *, signal_kwargs: Any, redirect_url: str | None, **_more: object
    ) -> HttpResponse:
        proofs = [(signal_kwargs or {}).get("by"), PROOFS.get(getattr(request, "second_factor", ""))]
        accounts.note_sign_in(user, " and ".join(filter(None, proofs)))
        return redirect(get_login_redirect_url(request, redirect_url))

    def reauthenticate(self, user: User, password: str) -> bool:
        return accounts.is_own_password(user, password)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """The second factor, where there is one, a passkey first: the password alone does not switch it off."""
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        factors = [method for method in reversed(methods) if method["id"].startswith("mfa")]
        usable = [method for method in factors if "webauthn" not in method["id"] or has_passkeys()]
        return usable or factors or methods


#: What the log calls a proof of an identity.
PROOFS = {
    Authenticator.Type.TOTP: "code",
    Authenticator.Type.RECOVERY_CODES: "code",
    Authenticator.Type.WEBAUTHN: "passkey",
}


def _page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page of allauth's, with our limits; for accounts with a password, since others have the provider's factors."""

    @sensitive_post_parameters()
    @require_http_methods(["GET", "HEAD", "POST"])
    @limited
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        of_passkeys = view.__module__ == passkeys.__name__
        is_without = isinstance(request.user, User) and not request.user.has_usable_password()
        if is_without or (of_passkeys and not has_passkeys()):
            raise Http404
        try:
            return view(request, *args, **kwargs)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            if "credential" not in request.POST:
                raise
            raise BadRequest("This is no answer of a passkey.") from error  # allauth expects its form

    return page


urlpatterns = [
    path("sign-in/code/", _page(base.authenticate), name="mfa_authenticate"),
    path("sign-in/passkey/", _page(passkeys.login_webauthn), name="mfa_login_webauthn"),
    path("account/confirm/", _page(reauthenticate), name="account_reauthenticate"),
    path("account/confirm/code/", _page(base.reauthenticate), name="mfa_reauthenticate"),
    path("account/confirm/passkey/", _page(passkeys.reauthenticate_webauthn), name="mfa_reauthenticate_webauthn"),
    path("account/second-factor/", _page(base.index), name="mfa_index"),
    path("account/second-factor/app/", _page(totp.activate_totp), name="mfa_activate_totp"),
    path("account/second-factor/app/remove/", _page(totp.deactivate_totp), name="mfa_deactivate_totp"),
    path("account/second-factor/codes/", _page(recovery_codes.view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "account/second-factor/codes/new/",
        _page(recovery_codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path("account/second-factor/passkeys/", _page(passkeys.list_webauthn), name="mfa_list_webauthn"),
    path(
        "account/second-factor/passkeys/new/", _page(transaction.atomic(passkeys.add_webauthn)), name="mfa_add_webauthn"
    ),
    path(
        "account/second-factor/passkeys/<int:pk>/remove/", _page(passkeys.remove_webauthn), name="mfa_remove_webauthn"
    ),
]
