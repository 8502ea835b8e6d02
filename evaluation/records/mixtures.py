"""Find studies whose scores from judgments and simulated ones together are out of date."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate.models import Fit, Item, Result, Study, Topic
from annotate.models.analysis import of_head
from evaluation.records.derived import at_rest, with_intervals
from preferendum.work import MOST_SENTENCES

_LONG = Exists(Item.objects.filter(item_set=OuterRef("pk"), position__gte=MOST_SENTENCES).order_by())


def studies_unmixed() -> QuerySet[Study]:
    """Studies with intervals of agreement and topics to simulate from, where nothing has changed for a while."""
    # The agreement's version counts past mixtures: subtract them, to wait for other changes only.
    version = of_head("metrics") - of_head("mixtures", "turns")
    behind = Study.objects.annotate(wanted=version).filter(wanted__gt=of_head("mixtures"))
    return at_rest(with_intervals(behind)).filter(Exists(_mixable().filter(study=OuterRef("pk"))))


def version_to_mix(study_id: int) -> int | None:
    """The version of agreement without past mixtures; None if the study is gone or no longer has metrics."""
    metrics, mixed = (Result.objects.head(study_id, name) for name in ("metrics", "mixtures"))
    return None if metrics.pk is None else metrics.version - mixed.turns


def is_judged() -> Exists:
    """Whether the newest fit of a topic rests on any judgment."""
    return Exists(Fit.objects.newest().filter(item_set=OuterRef("pk"), judgments__gt=0))


def _mixable() -> QuerySet[Topic]:
    """Topics with judgments and with references or a Pyramid, and short enough for a quick fit."""
    sources = Q(references__isnull=False) | Q(pyramid__isnull=False)
    return Topic.objects.filter(sources, is_judged(), ~_LONG).order_by().distinct()
