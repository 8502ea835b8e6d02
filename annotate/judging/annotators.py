"""Annotators join under a pseudonym and pause."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from annotate import invitations
from annotate.judging.drawing import give_up
from annotate.judging.reach import look_ahead
from annotate.models import Annotator, Assignment, Invitation, Study, Tally
from annotate.refusal import Refusal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Letters and digits that nobody mistakes for one another.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


def join(
    study: Study,
    *,
    invitation: Invitation | None = None,
    user: User | None = None,
    kind: str = Annotator.Kind.HUMAN,
    pseudonym: str = "",
    form_token: UUID | None = None,
) -> Annotator:
    """The user's annotator in the study: a new one, or the one that exists already.

    A user is one human annotator, and one machine per pseudonym. A form that is sent twice (`form_token`) makes one
    annotator. Joining again uses up no invitation. Raises `Refusal` where the invitation is no longer valid, or the
    pseudonym is taken.
    """
    if (annotator := _known(study, user, kind, pseudonym, form_token)) is not None:
        return annotator
    annotator = Annotator(
        study=study,
        invitation=invitation,
        user=user,
        kind=kind,
        pseudonym=pseudonym or new_pseudonym(),
        key=_key_of(study, user, form_token) if form_token else uuid4(),
    )
    if kind == Annotator.Kind.HUMAN:
        look_ahead(annotator)  # before the study is locked: it takes longer than all else
    try:
        with transaction.atomic():
            Study.objects.select_for_update(no_key=True).get(pk=study.pk)
            if invitation is not None:
                invitations.use(invitation)
            annotator.save(force_insert=True)
            return annotator
    except (IntegrityError, Refusal) as error:
        if (annotator := _known(study, user, kind, pseudonym, form_token)) is not None:
            return annotator  # they joined in another tab, or by another click, just now
        if isinstance(error, Refusal):
            raise
        message = _("This name is already used in the study.")
        raise Refusal(message, "taken", {"pseudonym": [message]}) from error


def joined_by(study: Study, user: User | None, form_token: UUID | None) -> Annotator | None:
    """The annotator who joined by the form with this token, as this user or without an account."""
    if form_token is None:
        return None
    return Annotator.objects.filter(study=study, key=_key_of(study, user, form_token)).first()


def pause(annotator: Annotator) -> None:
    """End the annotator's leases, so that nobody waits for them; they can continue with another pair at any time."""
    held = Assignment.objects.filter(annotator=annotator, state=Assignment.State.OPEN)
    for item_set_id in sorted(set(held.values_list("item_set_id", flat=True))):
        with transaction.atomic():
            item_set = Tally.objects.lock(item_set_id)
            if item_set is not None:
                give_up(item_set, held.filter(item_set=item_set_id))


def set_shortcuts(annotator: Annotator, on: bool) -> None:
    """Switch single-key shortcuts on or off for this annotator."""
    Annotator.objects.filter(pk=annotator.pk).update(shortcuts=on)
    annotator.shortcuts = on


def new_pseudonym() -> str:
    """A random pseudonym; there are 31^10 of them, so that two are never equal."""
    return "judge-" + "".join(secrets.choice(LETTERS) for _ in range(10))


def _key_of(study: Study, user: User | None, form_token: UUID) -> UUID:
    """The key of the annotator who joins by this form: unique, so that a form makes one annotator. Nobody who sees the
    key in an address can compute the token from it."""
    value = f"{study.pk} {user.pk if user else ''} {form_token}"
    return UUID(salted_hmac("join", value, algorithm="sha256").hexdigest()[:32])


def _known(study: Study, user: User | None, kind: str, pseudonym: str, form_token: UUID | None) -> Annotator | None:
    if user is None:
        return joined_by(study, user, form_token)
    mine = Annotator.objects.filter(study=study, user=user, kind=kind)
    return (mine if kind == Annotator.Kind.HUMAN else mine.filter(pseudonym=pseudonym)).first()
