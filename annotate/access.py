"""Who may see and do what, in one place.

A thing that a person may not see answers 404, as if it were not there; a thing that they may see but not do
answers 403.
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

#: What each role may do in a study. Whoever is not named may not even see it.
ABILITIES: dict[str, frozenset[str]] = {
    "see": frozenset({Role.OWNER, Role.RESEARCHER, Role.ADMIN}),  # the study, its topics, scores and leaderboard
    "edit": frozenset({Role.OWNER, Role.RESEARCHER}),  # texts: uploads and mended sentences
    "settings": frozenset({Role.OWNER, Role.RESEARCHER}),
    "export": frozenset({Role.OWNER, Role.RESEARCHER}),
    "annotators": frozenset({Role.OWNER, Role.ADMIN}),  # invitations, and annotators' figures
    "members": frozenset({Role.OWNER}),  # who belongs to the study, and in which role
}


def visible_studies(user: User | AnonymousUser) -> QuerySet[Study]:
    """The studies that this person may look into."""
    if not user.is_authenticated:
        return Study.objects.none()
    if user.is_superuser:
        return Study.objects.all()
    return Study.objects.filter(memberships__user=user, memberships__role__in=ABILITIES["see"])


def find_study(user: User | AnonymousUser, study_id: int, ability: str = "see") -> Study:
    """The study, if this person may see it and has the ability.

    Raises `Http404` where they may not see it, `PermissionDenied` where they may see it and nothing more.
    """
    study = visible_studies(user).filter(pk=study_id).first()
    if study is None:
        raise Http404
    if not may(user, study, ability):
        raise PermissionDenied
    return study


def may(user: User | AnonymousUser, study: Study, ability: str) -> bool:
    """Whether this person has the ability in the study; a site's superuser has every one."""
    if not user.is_authenticated:
        return False
    if user.is_superuser:
        return True
    return Membership.objects.filter(study=study, user=user, role__in=ABILITIES[ability]).exists()


def abilities(user: User | AnonymousUser, study: Study) -> frozenset[str]:
    """Everything that this person may do in the study, so that a page offers nothing that would be refused."""
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
    """Let a view of `/studies/<study_id>/...` begin with the study, found for a signed-in person with the ability.

    Whoever is not signed in is asked to. A page that is open and asks for news by itself is loaded anew for that: led
    to the form behind its back, it would put the form where its figures stand.
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
    """Whether this person sees the study's results, or brought its texts, and so shall not judge: but in a pilot."""
    if study.pilot or not user.is_authenticated:
        return False
    if user.is_superuser:
        return True
    members = Membership.objects.filter(study=study.pk, user=user, role__in=ABILITIES["see"])
    return members.exists() or Upload.objects.filter(study=study.pk, user=user).exists()


def may_create_studies(user: User | AnonymousUser) -> bool:
    """Whoever researches somewhere, or was given the right by the operator, may begin a study of their own."""
    if not user.is_authenticated:
        return False
    researches = Membership.objects.filter(user=user, role__in=ABILITIES["edit"])
    return user.has_perm("annotate.add_study") or researches.exists()


def may_see_health(user: User | AnonymousUser) -> bool:
    """Whoever runs the installation, or looks after the annotators of a study, may see how the worker does."""
    if not user.is_authenticated:
        return False
    looks_after = Membership.objects.filter(user=user, role__in=ABILITIES["annotators"])
    return user.is_superuser or looks_after.exists()


def account(request: HttpRequest) -> User | None:
    """Who is signed in."""
    return request.user if request.user.is_authenticated else None


def known_annotators(request: HttpRequest) -> dict[str, Any]:
    """The annotators that this browser is, by study: what joining left in the session."""
    return dict(request.session.get("annotators", {}))


def is_annotator(request: HttpRequest, annotator: Annotator) -> bool:
    """Whether this browser is the annotator: it joined as them, or their account is signed in.

    In a trial of the start page's pairs is whoever has its address; in another one, a member as long as they are one.
    """
    if annotator.kind == Annotator.TRIAL:
        is_theirs = request.user.is_authenticated and request.user.pk == annotator.user_id
        return annotator.user_id is None or (is_theirs and may(request.user, annotator.study, "see"))
    if request.session.get("annotators", {}).get(str(annotator.study_id)) == str(annotator.key):
        return True
    return annotator.user_id is not None and request.user.is_authenticated and request.user.pk == annotator.user_id


def remember_annotator(request: HttpRequest, annotator: Annotator) -> None:
    """Let this browser be the annotator from now on."""
    request.session["annotators"] = known_annotators(request) | {str(annotator.study_id): str(annotator.key)}


def forget_annotator(request: HttpRequest, annotator: Annotator) -> None:
    """Let this browser be nobody in the annotator's study."""
    others = known_annotators(request)
    others.pop(str(annotator.study_id), None)
    request.session["annotators"] = others
