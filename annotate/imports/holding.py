"""One at a time: storing, removing, restoring and cutting hold the study first, then tallies of its topics."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotate.models import Study, Upload
from annotate.refusal import Refusal


def hold(study_id: int) -> bool:
    """Lock the study: one change of its data at a time, and none while it is deleted. False if it is gone."""
    return Study.objects.select_for_update(no_key=True).filter(pk=study_id).values_list("pk").first() is not None


def refuse_busy(study_id: int) -> None:
    """Raises `Refusal` while an upload is being stored: it was compared with what the study has."""
    confirmed = Upload.objects.filter(study=study_id, state=Upload.State.CONFIRMED)
    if (confirmed | Upload.unfinished().filter(study=study_id)).exists():
        message = _(
            "An upload is being stored. Until it is done, texts and sentences cannot be changed; judging goes on. "
            "Try again when it is done."
        )
        raise Refusal(message, "busy")
