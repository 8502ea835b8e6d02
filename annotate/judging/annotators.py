"""Who judges: they join under a pseudonym, pause, and see how far they are."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from annotate import invitations
from annotate.judging.drawing import give_up
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
) -> Annotator:
    """The annotator that this person is in the study: a new one, or the one that they were before.

    A person is one annotator; the machines that they let judge are as many as they have names for.
    Raises `Refusal` where the invitation is good no longer, or the pseudonym is somebody else's; whoever is in already
    does not use an invitation up again.
    """
    if user is not None and (known := _known(study, user, kind, pseudonym)) is not None:
        return known
    try:
        with transaction.atomic():
            if invitation is not None:
                invitations.use(invitation)
            return Annotator.objects.create(
                study=study, invitation=invitation, user=user, kind=kind, pseudonym=pseudonym or new_pseudonym()
            )
    except IntegrityError as error:
        if user is not None and (known := _known(study, user, kind, pseudonym)) is not None:
            return known  # they joined in another tab, just now
        message = _("This name is already used in the study.")
        raise Refusal(message, "taken", {"pseudonym": [message]}) from error


def pause(annotator: Annotator) -> None:
    """Give back what they hold, so that nobody waits for them; they go on with another pair whenever they like."""
    held = Assignment.objects.filter(annotator=annotator, state=Assignment.State.OPEN)
    for topic_id in sorted(set(held.values_list("topic_id", flat=True))):
        with transaction.atomic():
            topic = Tally.objects.lock(topic_id)
            if topic is not None:
                give_up(topic, held.filter(topic=topic_id))


def set_shortcuts(annotator: Annotator, on: bool) -> None:
    """Switch single-key shortcuts on or off for this person."""
    Annotator.objects.filter(pk=annotator.pk).update(shortcuts=on)
    annotator.shortcuts = on


def new_pseudonym() -> str:
    """Says nothing about anybody; 31^10 of them, so that two alike never come up."""
    return "judge-" + "".join(secrets.choice(LETTERS) for _ in range(10))


def _known(study: Study, user: User, kind: str, pseudonym: str) -> Annotator | None:
    mine = Annotator.objects.filter(study=study, user=user, kind=kind)
    return (mine if kind == Annotator.Kind.HUMAN else mine.filter(pseudonym=pseudonym)).first()
