"""Signing in with a second factor, and setting it up. Every sign-in runs through `enter`."""

from __future__ import annotations

import time
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from annotate import accounts, second_factor
from annotate.forms import OwnPasswordForm, complain
from annotate.models import SecondFactor
from annotate.qr_codes import qr_code
from annotate.refusal import Refusal
from annotate.server import limits
from annotate.views.limited import limited

METHODS = require_http_methods(["GET", "HEAD", "POST"])
#: How long a correct password waits for its code.
WAIT_SECONDS = 600
#: Marks in user agents; the first match counts, since each browser names those before it.
BROWSERS = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac": "Mac",
    "Linux": "Linux",
}


class CodeForm(forms.Form):
    """A code of the app, or a recovery code."""

    code = forms.CharField(
        label=gettext_lazy("Code"),
        max_length=50,
        help_text=gettext_lazy("The six digits that your app shows."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autocapitalize": "none"}),
    )


class SecondFactorForm(OwnPasswordForm, CodeForm):
    """Password and code."""

    field_order = ("password", "code")


def enter(request: HttpRequest, user: User, by: str, to: str) -> HttpResponse:
    """Sign in a user `by` password or link, and lead them on; first ask for the code if they use one."""
    if not second_factor.is_on(user):
        let_in(request, user)
        accounts.note_sign_in(user, by)
        return redirect(to)
    held = {"user": user.pk, "hash": user.get_session_auth_hash(), "by": by, "to": to, "at": time.time()}
    request.session["waiting"] = held
    return redirect("sign_in_code")


def let_in(request: HttpRequest, user: User) -> None:
    """Begin a session, named after its browser."""
    login(request, user)
    agent = request.headers.get("User-Agent", "")
    names = (next((name for mark, name in marks.items() if mark in agent), "") for marks in (BROWSERS, SYSTEMS))
    request.session["browser"] = ", ".join(name for name in names if name)


def _waiting(request: HttpRequest) -> User | None:
    """The user whose password was right in this browser a moment ago and has not changed since."""
    held = request.session.get("waiting")
    if held is None or not 0 <= time.time() - held["at"] <= WAIT_SECONDS:
        return None
    user = User.objects.filter(pk=held["user"], is_active=True).first()
    return user if user and constant_time_compare(user.get_session_auth_hash(), held["hash"]) else None


def _check_codes(request: HttpRequest, user: User) -> None:
    """Raises `TooOften` after five wrong codes of an account, from any visitor: codes of an app can be guessed.

    Recovery codes cannot: they let the owner in meanwhile.
    """
    if not second_factor.is_recovery_code(request.POST.get("code", "")):
        limits.check(limits.WRONG_CODES, str(user.pk))


@sensitive_post_parameters("code")
@METHODS
@limited
def sign_in_code(request: HttpRequest) -> HttpResponse:
    """The second step of signing in. Five wrong codes for an account close it to the app's for a quarter of an hour."""
    user = _waiting(request)
    if user is None:
        return redirect("sign_in")
    form = CodeForm(request.POST or None)
    if form.is_bound:
        _check_codes(request, user)
        if form.is_valid() and second_factor.take(user, form.cleaned_data["code"]):
            limits.reset(limits.WRONG_CODES, str(user.pk))
            held = request.session.pop("waiting")
            let_in(request, user)
            accounts.note_sign_in(user, f"{held['by']} and code")
            return redirect(held["to"])
        limits.spend(limits.WRONG_CODES, str(user.pk))
        complain(form, second_factor.wrong_code())
    return render(request, "account/sign_in_code.html", {"form": form})


@login_required
@sensitive_post_parameters()
@METHODS
@limited
def second_factor_page(request: HttpRequest) -> HttpResponse:
    """Switch the visitor's second factor off, or on and show the recovery codes once."""
    user = cast(User, request.user)
    if not user.has_usable_password():
        raise Http404
    is_on = second_factor.is_on(user)
    secret = "" if is_on else request.session.setdefault("second_factor", second_factor.new_secret())
    form = SecondFactorForm(user, request.POST or None)
    shown: dict[str, Any] = {"form": form, "factor": SecondFactor.objects.filter(user=user).first(), "secret": secret}
    if form.is_bound:
        _check_codes(request, user)
    if form.is_valid():
        try:
            if is_on:
                second_factor.switch_off(user, form.cleaned_data["code"])
                messages.success(request, _("Your account asks for no codes any more."))
                return redirect("account")
            shown["codes"] = second_factor.switch_on(user, secret, form.cleaned_data["code"])
            del request.session["second_factor"]
        except Refusal as refusal:
            complain(form, refusal)
    if form.errors:
        limits.spend(limits.WRONG_CODES, str(user.pk))
    if secret:
        shown["qr_code"] = qr_code(second_factor.link(user, secret))
    return render(request, "account/second_factor.html", shown)


urlpatterns = [
    path("sign-in/code/", sign_in_code, name="sign_in_code"),
    path("account/second-factor/", second_factor_page, name="second_factor"),
]
