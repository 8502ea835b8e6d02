"""Whether scores depend on the document set, on its way to the reports."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import F, QuerySet

from annotate.models import Study, StudyDocumentSets, StudyMetrics
from evaluation.worker.records.metrics import StudyScores
from formats.results import DocumentSetsReport, to_json
from formats.results.metrics import Peers


def studies_without_sets() -> QuerySet[Study]:
    """Those whose agreement with metrics is there, and whose topics are behind. Adds the `wanted` version."""
    behind = Study.objects.filter(metrics__version__gt=F("metrics__sets_version"))
    return behind.annotate(wanted=F("metrics__version"))


@transaction.atomic
def save_document_sets(loaded: StudyScores, reports: Mapping[Peers, DocumentSetsReport]) -> bool:
    """Publish how topics compare; False where newer figures are there, or the study is gone.

    What there is no report of any more is forgotten.
    """
    if not Study.objects.select_for_update(no_key=True).filter(pk=loaded.study_id).values_list("pk"):
        return False
    if not StudyMetrics.objects.filter(study=loaded.study_id, sets_version__lt=loaded.version).exists():
        return False
    rows = StudyDocumentSets.objects.filter(study=loaded.study_id)
    rows.exclude(peers__in=list(reports)).delete()
    for peers, report in reports.items():
        rows.update_or_create(study_id=loaded.study_id, peers=peers, defaults={"figures": to_json(report)})
    StudyMetrics.objects.filter(study=loaded.study_id).update(sets_version=loaded.version, problem="")
    return True
