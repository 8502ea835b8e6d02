"""Load what a what-if question needs to know of a study."""

from __future__ import annotations

from django.db.models import Q

from annotate.models import Assignment, Tally, WhatIfQuestion


def topics_judged(question: WhatIfQuestion) -> dict[int, int]:
    """The data versions of the item sets, in order, where the question's annotators have judgments that may count."""
    concerned = Q(annotator__kind=question.kind) if question.kind else Q(annotator__in=question.annotators)
    judged = Assignment.objects.filter(
        concerned, item_set__study=question.study_id, state=Assignment.State.JUDGED, holds_place=True
    )
    tallies = Tally.objects.filter(item_set__in=judged.values("item_set_id")).order_by("item_set")
    return dict(tallies.values_list("item_set_id", "data_version"))
