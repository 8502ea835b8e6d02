"""The start page, accounts, tokens, and invitations to work on a study."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import access, accounts, five_pairs, invitations, members, openid_connect, second_factor
from annotate.models import Annotator, Invitation, Membership, Token
from annotate.reports import plots
from annotate.server import email, limits
from annotate.server.languages import speak
from annotate.views.limited import limited
from annotate.views.openid_connect import NameForm
from annotate.views.refusals import refusals_shown
from annotate.views.second_factor import enter, has_passkeys, let_in
from preferendum.show.points import unit_of


class SignUpForm(NameForm):
    """A name and a password; `accounts.sign_up` checks both."""

    password = forms.CharField(
        label=gettext_lazy("Password"),
        help_text=gettext_lazy("At least 12 characters. A few unrelated words are easy to remember and hard to guess."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class SignInForm(AuthenticationForm):
    """Django's form, with names no longer than ours may be."""

    username = UsernameField(
        label=gettext_lazy("User name"), max_length=150, widget=forms.TextInput(attrs={"autofocus": True})
    )
    error_messages = AuthenticationForm.error_messages | {
        "invalid_login": gettext_lazy("User name or password is wrong. Capitals count in the password."),
    }

    def clean_username(self) -> str:
        return accounts.username_of(self.cleaned_data["username"])


class PasswordForm(PasswordChangeForm):
    """Django's form, with a limit on wrong old passwords."""

    def clean_old_password(self) -> str:
        old = str(self.cleaned_data["old_password"])
        if not accounts.is_own_password(self.user, old):
            raise ValidationError(self.error_messages["password_incorrect"], code="password_incorrect")
        return old


class TokenForm(forms.Form):
    """A key for a program."""

    name = forms.CharField(
        label=gettext_lazy("Purpose"),
        max_length=100,
        help_text=gettext_lazy(
            "For example “upload script on the cluster”, so that you know later which one to revoke."
        ),
    )
    read_only = forms.BooleanField(label=gettext_lazy("Read-only"), required=False)
    expires_at = forms.DateTimeField(
        label=gettext_lazy("Expires at"),
        required=False,
        help_text=gettext_lazy("In UTC. Empty: until you revoke it."),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )


@method_decorator(require_http_methods(["GET", "HEAD", "POST"]), name="dispatch")
class SignIn(LoginView):
    """Sign in with a password. After too many wrong ones for the name, or for all names, the visitor is locked out
    for a while, even with a right one. Counts, answer and time are the same whether or not the account exists."""

    template_name = "account/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            contact=settings.SECURITY_CONTACT,
            has_email=email.is_set_up(),
            provider=settings.OIDC,
            has_passkeys=has_passkeys(),
            redirect_field=format_html('<input type="hidden" name="next" value="{}">', self.get_redirect_url()),
            **context,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        limits.check(limits.WRONG_PASSWORDS, limits.visitor(request))
        limits.spend(limits.WRONG_PASSWORDS_OF_NAME, self._visitor_and_name())
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        limits.spend(limits.WRONG_PASSWORDS, limits.visitor(self.request))
        return super().form_invalid(form)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        limits.reset(limits.WRONG_PASSWORDS_OF_NAME, self._visitor_and_name())
        return enter(self.request, form.get_user(), "password", self.get_success_url())

    def _visitor_and_name(self) -> str:
        """Visitor and name, folded as names are compared."""
        return f"{limits.visitor(self.request)} {accounts.folded(self.request.POST.get('username', '').strip())}"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead members and annotators to their studies; tell everyone else what Preferendum is."""
    if not request.user.is_authenticated:
        first = five_pairs.first_pair()
        figures = five_pairs.leaderboard()
        unit = unit_of("importance", [own[1:] for own in figures])
        plot = plots.scores([unit.row(*row, str(rank)) for rank, row in enumerate(figures, 1)], unit)
        shown = {"assignment": first, "study": first.annotator.study, "language": five_pairs.LANGUAGE}
        return render(request, "home.html", shown | {"sign_up_open": settings.SIGN_UP_OPEN, "plot": plot})
    if access.visible_studies(request.user).exists() or access.may_create_studies(request.user):
        return redirect("studies")
    return my_judging(request)


@require_safe
def my_judging(request: HttpRequest) -> HttpResponse:
    """The studies in which the visitor judges: by their account, or in this browser."""
    mine = Q(key__in=access.known_annotators(request).values())
    if request.user.is_authenticated:
        mine |= Q(user=request.user)
    annotators = Annotator.objects.lasting().filter(mine).select_related("study").order_by("-pk")
    speak(request, annotators[0].study.language if annotators else "")
    return render(request, "account/my_judging.html", {"annotators": annotators})


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """What Preferendum is and how scores come about."""
    return render(request, "about.html")


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in with a link of the demo, on POST only: programs that preview links must not be signed in."""
    read = invitations.read_sign_in(token)
    if read is None:
        limits.spend(limits.GUESSES, limits.visitor(request))
        raise Http404
    user, page = read
    if request.method != "POST":
        return render(request, "account/sign_in_link.html", {"person": user})
    return enter(request, user, "link", page)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@limited
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account, where the installation is open or an invitation was sent."""
    token = request.GET.get("invitation", "")
    invitation = invitations.find_invitation(token) if token else None
    if invitation and not invitations.is_usable(invitation):
        invitation = None
    if invitation is None and not settings.SIGN_UP_OPEN:
        raise Http404
    form = SignUpForm(request.POST or None)
    if form.is_valid():
        limits.spend(limits.SIGN_UPS, limits.visitor(request))
        with refusals_shown(form):
            user = accounts.sign_up(**form.cleaned_data, invited=invitation is not None)
            let_in(request, user)
            return redirect("join", token=token) if invitation else redirect("home")
    return render(request, "account/sign_up.html", {"form": form, "invitation": invitation, "token": token})


def accept_invitation(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
    """Make a user a member of a study, as more than an annotator; `join` leads here for such invitations."""
    if request.method == "POST" and request.user.is_authenticated:
        with refusals_shown(request):
            members.accept(invitation, request.user)
            messages.success(request, _("You are now a member of this study."))
            return redirect("study", study_id=invitation.study_id)
        return redirect("home")
    context = {"invitation": invitation, "token": token, "role": Membership.Role(invitation.role).label}
    return render(request, "account/invitation.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """The visitor's own account: password, sessions and tokens."""
    form = TokenForm(request.POST or None)
    secret = None
    if form.is_valid():
        with refusals_shown(form):
            _token, secret = accounts.create_token(cast(User, request.user), **form.cleaned_data)
            form = TokenForm()
    user = cast(User, request.user)
    shown = {
        "form": form,
        "tokens": user.tokens.filter(revoked_at__isnull=True).order_by("-pk"),
        "secret": secret,
        "has_email": email.is_set_up(),
        "provider": settings.OIDC,
        "has_identity": openid_connect.identities(user).exists(),
        "has_second_factor": second_factor.is_on(user),
        "sessions": user.sessions.filter(session__expire_date__gt=timezone.now()).order_by("-pk"),
        "this_session": request.session.session_key,
    }
    # The only page that answers a POST without a redirect: the secret is shown once and stored nowhere.
    return render(request, "account/account.html", shown)


@login_required
@require_POST
def session_end(request: HttpRequest, session_id: int | None = None) -> HttpResponse:
    """End one session of the visitor's, or all but this one."""
    user = cast(User, request.user)
    sessions = user.sessions.exclude(session=request.session.session_key)
    if session_id is not None:
        sessions = sessions.filter(pk=get_object_or_404(sessions, pk=session_id).pk)
    accounts.end_sessions(user, sessions)
    messages.success(request, _("The session was ended.") if session_id else _("All other sessions were ended."))
    return redirect("account")


@login_required
@require_POST
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Revoke a token."""
    user = cast(User, request.user)
    token = get_object_or_404(Token, pk=token_id, user=user)
    accounts.revoke_token(token, user)
    messages.success(request, _("The token was revoked. Programs can no longer use it."))
    return redirect("account")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@limited
def password(request: HttpRequest) -> HttpResponse:
    """Change the password; every other session of the person ends."""
    user = cast(User, request.user)
    if not user.has_usable_password():
        raise Http404
    form = PasswordForm(user, request.POST or None)
    if form.is_valid():
        accounts.change_password(user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        messages.success(request, _("Your password was changed. Other browsers were signed out."))
        return redirect("account")
    return render(request, "account/password.html", {"form": form})


urlpatterns = [
    path("", home, name="home"),
    path("about/", about, name="about"),
    path("judging/", my_judging, name="my_judging"),
    path("sign-in/", limited(SignIn.as_view()), name="sign_in"),
    path("sign-in/", limited(SignIn.as_view()), name="account_login"),  # as allauth calls it
    path("sign-in/<str:token>/", sign_in_link, name="sign_in_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("sign-out/", LogoutView.as_view(), name="account_logout"),
    path("sign-up/", sign_up, name="sign_up"),
    path("account/", account, name="account"),
    path("account/password/", password, name="password"),
    path("account/sessions/end/", session_end, name="sessions_end"),
    path("account/sessions/<int:session_id>/end/", session_end, name="session_end"),
    path("account/tokens/<int:token_id>/revoke/", token_revoke, name="token_revoke"),
]
