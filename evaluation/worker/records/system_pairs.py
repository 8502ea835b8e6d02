"""Which systems people and metrics tell apart, on its way to the reports."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import F, QuerySet

from annotate.models import Study, StudyMetrics, SystemPairsReport
from evaluation.meta.study_pairs import Key, Scorer
from evaluation.worker.records.metrics import StudyScores
from formats.results import PairCounts, to_json


def studies_untested() -> QuerySet[Study]:
    """Those with intervals of their agreement with metrics, whose pairs of systems are behind. Adds `wanted`."""
    behind = Study.objects.filter(
        metrics__version__gt=F("metrics__pairs_version"), metrics__bounded_version__gte=F("metrics__version")
    )
    return behind.annotate(wanted=F("metrics__version") + F("metrics__pairs"))


def pairs_known(study_id: int) -> dict[Key, str]:
    """The digests of the scores whose pairs were tested, by scorer."""
    rows = SystemPairsReport.objects.filter(study=study_id).values_list("peers", "by_human", "by", "digest")
    return {(peers, by_human, by): digest for peers, by_human, by, digest in rows}  # type: ignore[misc]  # a Literal


@transaction.atomic
def save_pairs(study_id: int, scorer: Scorer, counts: PairCounts) -> None:
    """Publish what one scorer tells apart, if the study is still there."""
    if not Study.objects.select_for_update(no_key=True).filter(pk=study_id).values_list("pk"):
        return
    peers, by_human, by = scorer.key
    values = {"digest": scorer.digest, "figures": to_json(counts)}
    SystemPairsReport.objects.update_or_create(
        study_id=study_id, peers=peers, by_human=by_human, by=by, defaults=values
    )
    StudyMetrics.objects.filter(study=study_id).update(pairs=F("pairs") + 1)


@transaction.atomic
def note_pairs_tested(loaded: StudyScores, keys: Collection[Key]) -> None:
    """Say that all pairs of this version are there; scorers that are there no more are forgotten."""
    for row in SystemPairsReport.objects.filter(study=loaded.study_id).defer("figures"):
        if (row.peers, row.by_human, row.by) not in keys:
            row.delete()
    StudyMetrics.objects.filter(study=loaded.study_id).update(pairs_version=loaded.version, problem="")
