"""Coming and going: the start page, signing in and out."""

from __future__ import annotations

from django.contrib.auth import get_user_model, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_safe

from annotate import links

SIGN_IN_LINK_SECONDS = 24 * 3600


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead whoever is signed in to their studies; tell everyone else what this is."""
    return redirect("studies") if request.user.is_authenticated else render(request, "home.html")


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """What Preferendum is and how scores come about."""
    return render(request, "about.html")


@require_safe
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in whoever holds a link that somebody at the machine made for them."""
    user_id = links.user_of_sign_in(token, SIGN_IN_LINK_SECONDS)
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first() if user_id else None
    if user is None:
        raise Http404
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """The visitor's own account."""
    return render(request, "account/account.html")


urlpatterns = [
    path("", home, name="home"),
    path("about/", about, name="about"),
    path("sign-in/", LoginView.as_view(template_name="account/sign_in.html"), name="sign_in"),
    path("sign-in/<str:token>/", sign_in_link, name="sign_in_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("account/", account, name="account"),
]
