"""Links that carry a signed word of ours, so that nothing secret needs to be stored to check them."""

from __future__ import annotations

from django.core import signing
from django.urls import reverse

from annotate.models import Invitation, Study


def invitation_path(invitation: Invitation) -> str:
    """The path that lets people in; whoever may see the invitation may see it again at any time."""
    return reverse("join", args=[signing.Signer(salt="invitation").sign(str(invitation.pk))])


def find_invitation(token: str) -> Invitation | None:
    """The invitation that a link names, or None where the link is not one of ours."""
    try:
        primary_key = int(signing.Signer(salt="invitation").unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return Invitation.objects.select_related("study").filter(pk=primary_key).first()


def crowd_path(study: Study) -> str:
    """The path by which the people of a crowd platform come; the platform adds who they are."""
    return reverse("crowd", args=[signing.Signer(salt="crowd").sign(str(study.pk))])


def find_crowd(token: str) -> Study | None:
    """The study that a crowd's link leads to, or None where the link is not one of ours."""
    try:
        primary_key = int(signing.Signer(salt="crowd").unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return Study.objects.filter(pk=primary_key).first()


def sign_in_path(user_id: int, page: str = "/") -> str:
    """A path that signs a person in and leads to `page`; made only where somebody at the machine asks for it."""
    return reverse("sign_in_link", args=[signing.dumps([user_id, page], salt="sign-in")])


def read_sign_in(token: str, max_age: int) -> tuple[int, str] | None:
    """The user and the page that a link is for, or None where it is not ours or older than `max_age` seconds."""
    try:
        user_id, page = signing.loads(token, salt="sign-in", max_age=max_age)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return int(user_id), str(page)
