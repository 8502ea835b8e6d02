"""Forgotten passwords: an account's confirmed e-mail address, and a link to set a new password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template import loader
from django.urls import path, reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from annotate import accounts
from annotate.forms import OwnPasswordForm
from annotate.server import email, limits
from annotate.views.limited import limited

if TYPE_CHECKING:  # the class takes no parameter at run time
    NewPasswordBase = SetPasswordForm[User]
else:
    NewPasswordBase = SetPasswordForm

METHODS = require_http_methods(["GET", "HEAD", "POST"])


class ForgottenForm(PasswordResetForm):
    """Django's form, which writes to every account with this address; sent our way."""

    def send_mail(
        self,
        subject_template_name: str,
        email_template_name: str,
        context: dict[str, Any],
        from_email: str | None,
        to_email: str,
        html_email_template_name: str | None = None,
    ) -> None:
        subject = loader.render_to_string(subject_template_name, context)
        email.send(subject, loader.render_to_string(email_template_name, context), to_email)


class NewPasswordForm(NewPasswordBase):
    """Django's form, with an entry in the log."""

    def save(self, commit: bool = True) -> User:
        accounts.change_password(self.user, self.cleaned_data["new_password1"], by="email")
        # Whoever sent wrong codes knew the old password; few links are sent an hour, each for five guesses.
        limits.reset(limits.WRONG_CODES, str(self.user.pk))
        return self.user


class AddressForm(OwnPasswordForm):
    """The address of an account."""

    field_order = ("email", "password")
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"),
        required=False,
        max_length=254,
        help_text=gettext_lazy("Only for a forgotten password. If you leave it empty, the address is removed."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


@method_decorator(METHODS, name="dispatch")
class Forgotten(PasswordResetView):
    """Request a link. The answer, and its time, are the same whether or not an account has the address."""

    template_name = "account/forgotten.html"
    subject_template_name = "account/forgotten_subject.txt"
    email_template_name = "account/forgotten.txt"
    form_class = ForgottenForm
    success_url = reverse_lazy("forgotten_sent")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not email.is_set_up():
            raise Http404
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        limits.spend(limits.EMAILS_ASKED, limits.visitor(self.request))
        self.extra_email_context = {"origin": settings.ORIGIN}
        if not _has_had_enough(form.cleaned_data["email"]):
            return super().form_valid(form)
        return redirect(self.get_success_url())


@method_decorator(METHODS, name="dispatch")
class NewPassword(PasswordResetConfirmView):
    """Choose a new password, with the link that was sent. Every session of the account ends."""

    template_name = "account/new_password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("sign_in")

    def get_user(self, uidb64: str) -> User | None:
        """The account of the link; None once it was closed."""
        user = super().get_user(uidb64)
        return user if user and user.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, _("Your password was changed. Sign in with the new one."))
        return super().form_valid(form)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> Any:
        if not self.validlink:
            limits.spend(limits.GUESSES, limits.visitor(self.request))
            kwargs["status"] = 404
        return super().render_to_response(context, **kwargs)


@require_safe
def forgotten_sent(request: HttpRequest) -> HttpResponse:
    """A link is on its way, if there is an account with the address."""
    if not email.is_set_up():
        raise Http404
    return render(request, "account/forgotten_sent.html", {"contact": settings.SECURITY_CONTACT})


@login_required
@sensitive_post_parameters("password")
@METHODS
@limited
def account_email(request: HttpRequest) -> HttpResponse:
    """Set the address of the visitor's account: it counts once they open the link that is sent there."""
    user = cast(User, request.user)
    if not email.is_set_up() or not user.has_usable_password():
        raise Http404
    form = AddressForm(user, request.POST or None, initial={"email": user.email})
    if form.is_valid():
        _change_address(request, user, form.cleaned_data["email"])
        return redirect("account")
    return render(request, "account/email.html", {"form": form})


def _change_address(request: HttpRequest, user: User, address: str) -> None:
    if not address:
        accounts.set_email(user, "")
        messages.success(request, _("Your account has no e-mail address."))
        return
    limits.spend(limits.EMAILS_ASKED, limits.visitor(request))
    if not _has_had_enough(address):
        link = settings.ORIGIN + reverse("email_confirm", args=[accounts.email_token(user, address)])
        text = loader.render_to_string("account/email.txt", {"user": user, "link": link})
        email.send(_("Confirm your e-mail address for Preferendum"), text, address)
    messages.success(
        request, _("We sent a link to %(address)s. Open it to confirm the address.") % {"address": address}
    )


@login_required
@METHODS
@limited
def email_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm the address of the visitor's account by a button, since programs open links, too."""
    user = cast(User, request.user)
    address = accounts.read_email_token(user, token)
    if address is None:
        limits.spend(limits.GUESSES, limits.visitor(request))
        raise Http404
    if request.method != "POST":
        return render(request, "account/email_confirm.html", {"person": user, "address": address})
    accounts.set_email(user, address)
    messages.success(request, _("The address is confirmed. If you forget your password, a link is sent there."))
    return redirect("account")


def _has_had_enough(address: str) -> bool:
    """Whether this address has received too many e-mails for now. Counts this one."""
    try:
        limits.spend(limits.EMAILS_TO, address.casefold())
    except limits.TooOften:
        return True
    return False


urlpatterns = [
    path("password/forgotten/", limited(Forgotten.as_view()), name="forgotten"),
    path("password/forgotten/sent/", forgotten_sent, name="forgotten_sent"),
    path("password/new/<str:uidb64>/<str:token>/", limited(NewPassword.as_view()), name="new_password"),
    path("account/email/", account_email, name="account_email"),
    path("account/email/<str:token>/", email_confirm, name="email_confirm"),
]
