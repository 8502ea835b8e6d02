"""Pairs whose right answer a researcher knows: prepared for practice, or to be hidden among the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from annotate.acts import note
from annotate.models import KnownPair, Sentence, Study
from annotate.refusal import Refusal
from annotate.words import cleaned

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def prepare_pair(
    study: Study, user: User, *, better: Sentence, worse: Sentence, use: str, explanation: str = ""
) -> KnownPair:
    """Say of two sentences of one topic which is right, and what for. What people were shown before stays as it was.

    Raises `Refusal` where the sentences are one, or of two topics, or prepared already.
    """
    if better.topic_id != worse.topic_id or better.topic.study_id != study.pk:
        raise _refusal("worse", _("Both sentences must be of one topic of this study."))
    if better.pk == worse.pk:
        raise _refusal("worse", _("Choose two different sentences."))
    either = Q(better=better, worse=worse) | Q(better=worse, worse=better)
    if KnownPair.objects.filter(either).exists():
        raise _refusal("worse", _("This pair is prepared already."))
    explanation = cleaned("explanation", explanation)
    known = KnownPair(topic_id=better.topic_id, better=better, worse=worse, use=use, explanation=explanation)
    try:
        known.full_clean()
    except ValidationError as error:
        fields = {name: [str(one) for one in said] for name, said in error.message_dict.items()}
        raise Refusal(_("Some values will not do."), "invalid", fields) from error
    known.save(force_insert=True)
    note(study, user, "prepare pair", known_pair=known.pk, use=use)
    return known


@transaction.atomic
def forget_known_pair(known: KnownPair, user: User) -> None:
    """Prepare this pair no longer. Those who were shown it keep what they answered, and whether it was right."""
    note(known.topic.study, user, "forget pair", known_pair=known.pk, use=known.use)
    KnownPair.objects.filter(pk=known.pk).delete()


def _refusal(field: str, message: str) -> Refusal:
    return Refusal(message, "invalid", {field: [message]})
