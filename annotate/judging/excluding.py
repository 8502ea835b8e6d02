"""Exclude an annotator, take them back in, or give them no pairs for a while.

None of this deletes or changes a judgment. While an annotator is excluded, the places of their judgments are free for
others. Taken back in, their judgments have their places again; pairs that were filled meanwhile need as many as they
have then.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.audit_log import LONGEST, note
from annotate.judging import tallies
from annotate.judging.annotators import pause
from annotate.judging.importing import recount_places
from annotate.models import Annotator, Assignment, Study
from annotate.refusal import cleaned, invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The log keeps a reason of so many characters word for word.
LONGEST_REASON = LONGEST


def exclude(annotator: Annotator, user: User, reason: str) -> bool:
    """Stop counting the annotator's judgments, and give them no more pairs; False if they are excluded already.

    Raises `Refusal` without a reason, or with one that is too long or cannot be stored.
    """
    return _decide(annotator, user, reason, excluded=True)


def readmit(annotator: Annotator, user: User, reason: str) -> bool:
    """Count the annotator's judgments again; False if they are not excluded. Raises `Refusal` as `exclude` does."""
    return _decide(annotator, user, reason, excluded=False)


def rest(annotator: Annotator, user: User, on: bool) -> bool:
    """Give the annotator no pairs for a while (`on`), or pairs again; judgments still count. False if unchanged."""
    with transaction.atomic():
        tallies.lock_study(annotator.study_id)
        row = Annotator.objects.filter(pk=annotator.pk, paused_at__isnull=on)
        if not row.update(paused_at=timezone.now() if on else None):
            return False
        if on:
            pause(annotator)
        action = "pause annotator" if on else "end pause of annotator"
        note(annotator.study, user, action, annotator=annotator.pseudonym, key=str(annotator.key))
    annotator.refresh_from_db(fields=["paused_at"])
    return True


def _checked(reason: str) -> str:
    reason = cleaned("reason", reason)
    if not reason:
        raise invalid("reason", _("Enter a reason. It is kept in the audit log."))
    if len(reason) > LONGEST_REASON:
        message = _("Enter at most %(most)d characters. The audit log keeps the reason word for word.") % {
            "most": LONGEST_REASON
        }
        raise invalid("reason", message)
    return reason


def _decide(annotator: Annotator, user: User, reason: str, *, excluded: bool) -> bool:
    reason = _checked(reason)
    with transaction.atomic():
        item_sets = tallies.lock_study(annotator.study_id)
        row = Annotator.objects.filter(pk=annotator.pk, excluded_at__isnull=excluded)
        changed = row.update(excluded_at=timezone.now() if excluded else None)
        annotator.refresh_from_db(fields=["excluded_at"])
        if not changed:
            return False
        judged = _judged(annotator, item_sets)
        if excluded:
            pause(annotator)
        _count_afresh(annotator, judged)
        note(
            annotator.study,
            user,
            "exclude annotator" if excluded else "take annotator back in",
            annotator=annotator.pseudonym,
            key=str(annotator.key),
            reason=reason,
            judgments=sum(judged.values()),
        )
    return True


def _judged(annotator: Annotator, item_sets: list[int]) -> dict[int, int]:
    """How many of the annotator's answers would count in each item set; also 0, where all are about copies."""
    figures_say = Q(holds_place=True) | Q(reason=Assignment.Reason.IMPORTED)
    rows = Assignment.objects.filter(figures_say, annotator=annotator, state=Assignment.State.JUDGED)
    judged = Counter[int]()
    for item_set_id, holds_place in rows.filter(item_set__in=item_sets).values_list("item_set_id", "holds_place"):
        judged[item_set_id] += holds_place
    return judged


def _count_afresh(annotator: Annotator, judged: dict[int, int]) -> None:
    study = Study.objects.get(pk=annotator.study_id)
    for item_set_id in judged:
        recount_places(study, item_set_id)
    tallies.raise_version(judged)
