"""Signing in with an OpenID provider: to it, back from it, and a name at the first time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from requests import Timeout

from annotate import accounts
from annotate.openid_connect import StrictAdapter, create_account, identities, join, leave, provider
from annotate.server import limits
from annotate.views.limited import limited
from annotate.views.refusals import refusals_shown
from annotate.views.second_factor import enter, is_ours, let_in

logger = logging.getLogger(__name__)
View = Callable[[HttpRequest], HttpResponseBase]
#: What a provider that is away, or that sends something else than the standard says, ends in.
FAILURES = (OAuth2Error, OSError, AttributeError, KeyError, TypeError, ValueError)
#: Seconds in which a process leaves alone a provider that did not answer in time: whoever waits for it holds one of the
#: few threads, and the others judge meanwhile.
REST = 30.0
_mute_since: dict[str, float] = {}


class NameForm(forms.Form):
    """The user name of an account without a password; `accounts.sign_up` checks it."""

    username = forms.CharField(
        label=gettext_lazy("User name"),
        max_length=150,
        help_text=gettext_lazy("Members of your studies see it."),
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )


class Arrivals(DefaultSocialAccountAdapter):
    """Takes over from allauth once the provider has answered: sessions begin in one place only."""

    def on_authentication_error(
        self, request: HttpRequest, provider: object, error: Any = None, exception: Any = None, **_more: object
    ) -> None:
        raise ImmediateHttpResponse(_failed(request, exception or error))

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        may, to = sociallogin.account.extra_data["may_create"], sociallogin.state.get("next") or reverse("home")
        raise ImmediateHttpResponse(
            _arrive(request, sociallogin.user, may, to)
            if sociallogin.is_existing
            else _ask_for_name(request, sociallogin, may, to)
        )


def _if_it_answers(view: View) -> View:
    """Fail at once while the provider rests."""

    @wraps(view)
    def page(request: HttpRequest) -> HttpResponseBase:
        if 0 <= time.time() - _mute_since.get(provider().issuer, 0.0) < REST:
            return _failed(request, "it did not answer in time a moment ago")
        return view(request)

    return page


@require_POST
@limited
@_if_it_answers
def to_provider(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, by a page: as the answer to a form, browsers follow a redirect to our own site only."""
    ours = provider()
    limits.spend(limits.PROVIDER, limits.visitor(request))
    to = request.POST.get("next", "")
    try:
        way = get_adapter().get_provider(request, ours.issuer)
        answer = way.redirect(request, AuthProcess.LOGIN, next_url=to if is_ours(request, to) else None)
    except FAILURES as error:
        return _failed(request, error)
    return render(request, "account/to_provider.html", {"address": answer.url, "provider": ours.name})


@require_safe
@limited
@_if_it_answers
def from_provider(request: HttpRequest) -> HttpResponseBase:
    """Take the provider's answer. `Arrivals` decides what follows."""
    adapter = StrictAdapter(request, provider().issuer)
    try:
        response: HttpResponseBase = OAuth2CallbackView.adapter_view(adapter)(request)
    except FAILURES as error:
        return _failed(request, error)
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def new_account(request: HttpRequest) -> HttpResponse:
    """Choose a user name, or join an account, when the provider vouches for an identity for the first time."""
    held = request.session.get("arriving")
    if settings.OIDC is None or held is None or not 0 <= time.time() - held["at"] <= settings.ACCOUNT_LOGIN_TIMEOUT:
        return redirect("sign_in")
    if request.user.is_authenticated:
        return _join(request, request.user, held)
    form = NameForm(request.POST or None, initial={"username": held["name"]})
    if form.is_valid():
        limits.spend(limits.SIGN_UPS, limits.visitor(request))
        with refusals_shown(form):
            user = create_account(form.cleaned_data["username"], held["subject"], held["may_create"])
            del request.session["arriving"]
            let_in(request, user)
            accounts.note_sign_in(user, "provider")
            return redirect(held["to"])
    return render(request, "account/new_account.html", {"form": form, "provider": provider().name})


def _join(request: HttpRequest, user: Any, held: dict[str, Any]) -> HttpResponse:
    """Join the identity to the account that was signed in to since: `_ask_for_name` ended any older session."""
    if identities(user).exists():
        return redirect("account")
    if request.method != "POST":
        return render(request, "account/join_provider.html", {"provider": provider().name})
    with refusals_shown(request):
        join(user, held["subject"], held["may_create"])
        messages.success(request, _("%(name)s opens this account now.") % {"name": provider().name})
    del request.session["arriving"]
    return redirect(held["to"])


@login_required
@require_POST
def leave_provider(request: HttpRequest) -> HttpResponse:
    """Let the provider open the account no longer."""
    user = cast(User, request.user)
    if not user.has_usable_password():
        raise Http404
    leave(user)
    messages.success(request, _("The provider no longer opens this account."))
    return redirect("account")


def _arrive(request: HttpRequest, user: Any, may: bool | None, to: str) -> HttpResponse:
    if may is not None:
        accounts.let_create_studies(user, may)
    if not user.is_active:
        return _failed(request, f"account {user.pk} is closed")
    return enter(request, user, "provider", to)


def _ask_for_name(request: HttpRequest, sociallogin: SocialLogin, may: bool | None, to: str) -> HttpResponse:
    name = sociallogin.user.get_username()
    if request.user.is_authenticated:
        logout(request)
    held = {"subject": sociallogin.account.uid, "name": name, "may_create": may, "to": to, "at": time.time()}
    request.session["arriving"] = held
    return redirect("new_account")


def _failed(request: HttpRequest, why: object) -> HttpResponse:
    """Back to the page for signing in; the reason is for the operator."""
    limits.spend(limits.PROVIDER, limits.visitor(request))
    if isinstance(why, Timeout):
        _mute_since[provider().issuer] = time.time()
    if why != AuthError.CANCELLED:
        is_odd = isinstance(why, Exception) and not isinstance(why, (OAuth2Error, OSError))
        logger.warning("Signing in with %s failed: %r", provider().issuer, why, exc_info=is_odd)
        text = _("Signing in with %(name)s did not work. Try again, or ask the operator of this site.")
        messages.error(request, text % {"name": provider().name})
    return redirect("sign_in")


urlpatterns = [
    path("sign-in/provider/", to_provider, name="openid_connect"),
    path("sign-in/provider/back/", from_provider, name="openid_connect_callback"),
    path("sign-in/provider/name/", new_account, name="new_account"),
    path("account/provider/leave/", leave_provider, name="leave_provider"),
]
