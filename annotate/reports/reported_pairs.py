"""Pairs that annotators reported: what is wrong with them, and whether it is settled."""

from __future__ import annotations

from django.db.models import QuerySet

from annotate.models import ReportedPair, Study
from annotate.models.judging import texts_of


def of(study: Study) -> QuerySet[ReportedPair]:
    """The reports that stand, the newest first."""
    rows = ReportedPair.objects.standing().filter(study=study)
    rows = rows.select_related("assignment__item_set__topic", "assignment__annotator", *texts_of("assignment__pair__"))
    return rows.order_by("-at", "-pk")


def unsettled(study: Study) -> QuerySet[ReportedPair]:
    """Reports of sentences that are still judged."""
    return ReportedPair.objects.unsettled().filter(study=study)
