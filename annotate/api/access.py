"""The API's callers: a token, or a signed-in browser. What is not allowed is denied."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from annotate import access, accounts
from annotate.models import Annotator, Study, Token
from annotate.server import limits

if TYPE_CHECKING:
    from rest_framework.views import APIView


class DenyAll(BasePermission):
    """The default: a view without a permission denies every caller."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return False


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`."""

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        kind, _space, secret = get_authorization_header(request).partition(b" ")
        if kind.lower() != b"bearer":
            return None
        token = accounts.find_token(secret.strip().decode("latin-1"))
        if token is None or token.is_expired:
            _spend_a_guess(request)
            why = _("This token is not valid: it is wrong, or it was revoked.")
            raise AuthenticationFailed(_("This token has expired. Create another one.") if token else why)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _spend_a_guess(request: Request) -> None:
    try:
        limits.spend(limits.GUESSES, limits.visitor(request._request))
    except limits.TooOften as often:
        raise Throttled(often.seconds) from often


class Calls(BaseThrottle):
    """Limits the calls a minute of each token; browsers are not counted."""

    seconds = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        if isinstance(request.auth, Token):
            try:
                limits.calls.count(str(request.auth.pk))
            except limits.TooOften as often:
                self.seconds = float(often.seconds)
                return False
        return True

    def wait(self) -> float:
        return self.seconds


class SignedIn(BasePermission):
    """A user, or a program with their token; a read-only token may only read."""

    message = _("This token is read-only.")

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.user.is_authenticated:
            return False
        changes = request.method not in SAFE_METHODS and not getattr(view, "changes_nothing", False)
        return not (changes and isinstance(request.auth, Token) and request.auth.read_only)


class BySession(SignedIn):
    """A user in a browser: no token makes other tokens."""

    message = _("Sign in with a browser to do this. A token is not enough.")

    def has_permission(self, request: Request, view: APIView) -> bool:
        return super().has_permission(request, view) and request.auth is None


def user_of(request: Request) -> User:
    """The caller, if a permission has made sure that there is one."""
    return cast(User, request.user)


def visible_studies(request: Request) -> QuerySet[Study]:
    """The studies that the caller may see, within their token's scope."""
    studies = access.visible_studies(user_of(request))
    if isinstance(request.auth, Token) and request.auth.study_id is not None:
        return studies.filter(pk=request.auth.study_id)
    return studies


def find_study(request: Request, study_id: int, ability: str) -> Study:
    """The study, if the caller may see it and has the ability. Raises `Http404` or `PermissionDenied`."""
    study = visible_studies(request).filter(pk=study_id).first()
    if study is None:
        raise Http404
    if not access.may(user_of(request), study, ability):
        raise PermissionDenied
    return study


def find_own_study(request: Request, study_id: int) -> Study:
    """A study that the caller belongs to in any role, even only to judge in it. Raises `Http404`."""
    if not reaches(request, study_id):
        raise Http404
    study = access.own_studies(user_of(request)).filter(pk=study_id).first()
    if study is None:
        raise Http404
    return study


def own_annotators(request: Request) -> QuerySet[Annotator]:
    """The annotators that the caller is, or runs as a member of the study, within their token's scope."""
    user = user_of(request)
    may_run = Q(kind=Annotator.Kind.HUMAN) | Q(study__in=access.own_studies(user))
    annotators = Annotator.objects.lasting().filter(may_run, user=user).select_related("study")
    if isinstance(request.auth, Token) and request.auth.study_id is not None:
        return annotators.filter(study=request.auth.study_id)
    return annotators


def reaches(request: Request, study_id: int) -> bool:
    """Whether the caller's token, if any, covers this study."""
    narrowed = request.auth.study_id if isinstance(request.auth, Token) else None
    return narrowed is None or narrowed == study_id
