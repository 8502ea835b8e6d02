"""Permissions: who may see and do what.

What a user may not see answers 404, as if it did not exist; what they may see but not do answers 403.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, cast

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from annotate.models import Annotator, Membership, Study, Upload

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import AnonymousUser, User
    from django.db.models import QuerySet

Role = Membership.Role
P = ParamSpec("P")

#: What each role may do in a study. Without a role named here, one may not even see it.
ABILITIES: dict[str, frozenset[str]] = {
    "see": frozenset({Role.OWNER, Role.RESEARCHER, Role.ADMIN}),  # the study, its topics, scores and leaderboard
    "edit": frozenset({Role.OWNER, Role.RESEARCHER}),  # texts: uploads and mended sentences
    "settings": frozenset({Role.OWNER, Role.RESEARCHER}),
    "export": frozenset({Role.OWNER, Role.RESEARCHER}),
    "annotators": frozenset({Role.OWNER, Role.ADMIN}),  # invitations, and annotators' figures
    "members": frozenset({Role.OWNER}),  # who belongs to the study, and in which role
}


def visible_studies(user: User | AnonymousUser) -> QuerySet[Study]:
    """The studies that this user may see."""
    if not user.is_authenticated:
        return Study.objects.none()
    if user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user, memberships__role__in=ABILITIES["see"])


def own_studies(user: User | AnonymousUser) -> QuerySet[Study]:
    """The studies that this user belongs to in any role, even only to judge in them; for superusers, all."""
    if not user.is_authenticated:
        return Study.objects.none()
    return Study.objects.all() if user.is_superuser else Study.objects.filter(memberships__user=user)


def find_study(user: User | AnonymousUser, study_id: int, ability: str = "see") -> Study:
    """The study, if this user may see it and has the ability.

    Raises `Http404` if they may not see it, `PermissionDenied` if they may see it but lack the ability.
    """
    study = visible_studies(user).filter(pk=study_id).first()
    if study is None:
        raise Http404
    if ability != "see" and not may(user, study, ability):
        raise PermissionDenied
    return study


def may(user: User | AnonymousUser, study: Study, ability: str) -> bool:
    """Whether this user has the ability in the study; superusers have all."""
    if not user.is_authenticated:
        return False
    if user.is_superuser:
        return True
    return Membership.objects.filter(study=study, user=user, role__in=ABILITIES[ability]).exists()


def abilities(user: User | AnonymousUser, study: Study) -> frozenset[str]:
    """All of this user's abilities in the study, so that pages offer nothing that would be refused."""
    if not user.is_authenticated:
        return frozenset()
    if user.is_superuser:
        return frozenset(ABILITIES)
    roles = set(Membership.objects.filter(study=study, user=user).values_list("role", flat=True))
    return frozenset(ability for ability, may_do in ABILITIES.items() if roles & may_do)


def in_study(
    ability: str,
) -> Callable[
    [Callable[Concatenate[HttpRequest, Study, P], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, int, P], HttpResponseBase],
]:
    """Pass a view of `/studies/<study_id>/...` the study, for a signed-in user with the ability.

    Visitors who are not signed in must sign in. An open page that polls is reloaded for that: a redirect would put the
    form in place of its figures.
    """

    def decorate(
        view: Callable[Concatenate[HttpRequest, Study, P], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, int, P], HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, study_id: int, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                if "HX-Request" in request.headers:
                    return HttpResponse(status=401, headers={"HX-Refresh": "true"})
                return redirect_to_login(request.get_full_path())
            return view(request, find_study(request.user, study_id, ability), *args, **kwargs)

        return cast("Callable[Concatenate[HttpRequest, int, P], HttpResponseBase]", guarded)

    return decorate


def is_partial(user: User | AnonymousUser, study: Study) -> bool:
    """Whether this user sees the study's results, or uploaded its texts, and so shall not judge, except in a pilot."""
    if study.pilot or not user.is_authenticated:
        return False
    if user.is_superuser:
        return True
    members = Membership.objects.filter(study=study.pk, user=user, role__in=ABILITIES["see"])
    return members.exists() or Upload.objects.filter(study=study.pk, user=user).exists()


def may_create_studies(user: User | AnonymousUser) -> bool:
    """Whether this user may create studies: researchers of any study, and users with the operator's permission."""
    if not user.is_authenticated:
        return False
    researches = Membership.objects.filter(user=user, role__in=ABILITIES["edit"])
    return user.has_perm("annotate.add_study") or researches.exists()


def may_see_health(user: User | AnonymousUser) -> bool:
    """Whether this user may see the worker's state: superusers, and those who manage a study's annotators."""
    if not user.is_authenticated:
        return False
    looks_after = Membership.objects.filter(user=user, role__in=ABILITIES["annotators"])
    return user.is_superuser or looks_after.exists()


def account(request: HttpRequest) -> User | None:
    """The signed-in user."""
    return request.user if request.user.is_authenticated else None


def known_annotators(request: HttpRequest) -> dict[str, Any]:
    """This browser's annotators by study, as joining stored them in the session."""
    return dict(request.session.get("annotators", {}))


def is_annotator(request: HttpRequest, annotator: Annotator) -> bool:
    """Whether this browser is the annotator: it joined as them, or their account is signed in.

    A trial of the start page's pairs belongs to anyone with its address; other trials, and machines, to a member, while
    they are one.
    """
    is_theirs = request.user.is_authenticated and request.user.pk == annotator.user_id
    if annotator.kind == Annotator.TRIAL:
        return annotator.user_id is None or (is_theirs and may(request.user, annotator.study, "see"))
    if request.session.get("annotators", {}).get(str(annotator.study_id)) == str(annotator.key):
        return True
    is_human = annotator.kind == Annotator.Kind.HUMAN
    return is_theirs and (is_human or own_studies(request.user).filter(pk=annotator.study_id).exists())


def remember_annotator(request: HttpRequest, annotator: Annotator) -> None:
    """Make this browser the annotator from now on."""
    request.session["annotators"] = known_annotators(request) | {str(annotator.study_id): str(annotator.key)}


def forget_annotator(request: HttpRequest, annotator: Annotator) -> None:
    """Forget this browser's annotator in the study."""
    others = known_annotators(request)
    others.pop(str(annotator.study_id), None)
    request.session["annotators"] = others
