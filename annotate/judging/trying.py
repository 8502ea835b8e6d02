"""Trials: annotators who judge as usual, but never count and are erased after a day."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models.functions import Now

from annotate.database import append_only
from annotate.judging import tallies
from annotate.judging.annotators import new_pseudonym
from annotate.judging.checks import Check, choose
from annotate.judging.drawing import lease
from annotate.judging.reach import look_ahead
from annotate.models import Annotator, Assignment, Item, Judgment, Pair, Study, Tally

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The maximum number of pairs of a trial, whatever the study's pairs per annotator.
LONGEST = 60
KEPT = timedelta(days=1)
BATCH = 100


@transaction.atomic
def start_trial(study: Study, user: User | None = None, pairs: Sequence[tuple[Item, Item]] = ()) -> Annotator:
    """A new annotator whose judgments never count; without a `user`, the addresses of its pages give access.

    These `pairs`, of one item set, are first, in this order and on these sides.
    """
    trial = next_trial(study)
    trial.user, trial.pseudonym = user, new_pseudonym()
    trial.save()
    item_set = Tally.objects.lock(pairs[0][0].item_set_id) if pairs else None
    for left, right in pairs:
        first, second = Pair.in_order(left.pk, right.pk)
        check = Check(left.item_set_id, first, second, Assignment.Reason.RANDOM, swapped=left.pk != first)
        if item_set is not None and (choice := choose(check, item_set, trial)):
            lease(choice, item_set, trial)
    return trial


def next_trial(study: Study) -> Annotator:
    """An unsaved trial, to tell how many pairs it would have, and how long these take."""
    trial = Annotator(study=study, kind=Annotator.TRIAL, quota=min(study.pairs_per_annotator, LONGEST))
    look_ahead(trial)
    return trial


def forget_trials() -> None:
    """Erase trials older than a day, in batches."""
    expired = Annotator.objects.filter(kind=Annotator.TRIAL, joined_at__lt=Now() - KEPT)
    while keys := list(expired.values_list("pk", flat=True)[:BATCH]):
        _erase(keys)


@transaction.atomic
def _erase(annotators: list[int]) -> None:
    """Delete trials with their judgments, reports, and pairs without other assignments."""
    theirs = Assignment.objects.filter(annotator__in=annotators)
    item_sets = set(theirs.values_list("item_set_id", flat=True))
    tallies.lock(item_sets)
    with append_only.erasing():
        Judgment.objects.filter(assignment__in=theirs).delete()
    theirs.delete()
    Annotator.objects.filter(pk__in=annotators).delete()
    Pair.objects.filter(item_set__in=item_sets, need=0, assignments=None).delete()
