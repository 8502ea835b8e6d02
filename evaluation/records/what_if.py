"""Load what a what-if question needs to know of a study."""

from __future__ import annotations

from django.db.models import Q

from annotate.models import Assignment, Tally, WhatIfQuestion


def topics_judged(question: WhatIfQuestion) -> dict[int, int]:
    """The data versions of the topics, in order, where the question's annotators have judgments that may count."""
    concerned = Q(annotator__kind=question.kind) if question.kind else Q(annotator__in=question.annotators)
    judged = Assignment.objects.filter(
        concerned, topic__study=question.study_id, state=Assignment.State.JUDGED, holds_place=True
    )
    tallies = Tally.objects.filter(topic__in=judged.values("topic_id")).order_by("topic__position")
    return dict(tallies.values_list("topic_id", "data_version"))
