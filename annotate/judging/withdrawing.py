"""Annotators withdraw: they stop for good, and may have everything deleted."""

from __future__ import annotations

from django.db import transaction

from annotate.database import append_only
from annotate.judging import tallies
from annotate.judging.annotators import pause
from annotate.models import Annotator, Assignment, Judgment, ReportedPair


def stop(annotator: Annotator) -> None:
    """End the annotator's work and forget who they are; their judgments stay and count under their pseudonym.

    Notes to the researchers are deleted: an annotator's own words may say who they are.
    """
    with transaction.atomic():
        pause(annotator)
        locked = Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
        locked.quota, locked.user, locked.invitation = locked.judged, None, None
        locked.save(update_fields=["quota", "user", "invitation"])
        ReportedPair.objects.filter(assignment__annotator=annotator).exclude(note="").delete()
        with append_only.erasing():
            Judgment.objects.filter(assignment__annotator=annotator).exclude(note="").update(note="")


def erase(annotator: Annotator) -> int:
    """Delete the annotator with all their judgments; returns how many answers. Their places are free again.

    Item sets that they judged are fitted again.
    """
    mine = Assignment.objects.filter(annotator=annotator)
    with transaction.atomic():
        # All item sets of the study: they may be drawing in another tab, from one where they have judged nothing yet.
        tallies.lock_study(annotator.study_id)
        item_sets = sorted(set(mine.values_list("item_set_id", flat=True)))
        answers = mine.filter(state=Assignment.State.JUDGED).count()
        for item_set_id in item_sets:
            held = mine.holding(Annotator.TAKES_PLACES).filter(item_set_id=item_set_id)
            tallies.return_places(item_set_id, held.values_list("pair_id", flat=True))
        tallies.raise_version(item_sets)
        with append_only.erasing():
            Judgment.objects.filter(assignment__in=mine).delete()
        mine.delete()
        Annotator.objects.filter(pk=annotator.pk).delete()
    return answers
