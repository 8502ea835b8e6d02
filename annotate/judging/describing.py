"""What is known of a machine that judges."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.judging import tallies
from annotate.models import Annotator, Assignment
from annotate.refusal import Refusal
from preferendum.formats.judge import Judge, judge_of, kept_of


@transaction.atomic
def describe(annotator: Annotator, judge: Judge, user: User | None) -> None:
    """Say what is known of a machine; the worker makes its card again. The audit log notes it.

    Raises `Refusal` where it has judged as another model, version, prompt or temperature, or is no machine.
    """
    if annotator.judge == kept_of(judge):
        return
    tallies.raise_version(Assignment.objects.filter(annotator=annotator).values_list("item_set", flat=True))
    annotator.judge = Annotator.objects.lock(annotator.pk).judge
    before = judge_of(annotator.judge)
    if annotator.judged and judge.contradicts(before):
        message = _(
            "It has judged as another model, version, prompt or temperature. Let this one judge by another name."
        )
        raise Refusal(message, "another_judge", {"judge": [message]})
    annotator.judge = kept_of(judge)
    annotator.save(update_fields=["judge"])
    note(annotator.study, user, "describe judge", annotator=annotator.pseudonym, judge=annotator.judge)
