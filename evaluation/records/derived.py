"""Save the results of analyses, and find the studies where an analysis is out of date."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotate.models import Result, Study, Topic
from annotate.models.analysis import choice_of, of_head
from preferendum.results import to_json
from preferendum.work import Keys

#: Hundreds of fits rest on all judgments: they do not start while people are judging or uploading.
QUIET = timedelta(minutes=1)


def studies_behind(analysis: str, after: str = "metrics") -> QuerySet[Study]:
    """Studies where the analysis is older than the one that it rests on. Adds the `wanted` version, which changes with
    every turn of the analysis."""
    behind = Study.objects.alias(there=of_head(after), done=of_head(analysis)).filter(there__gt=F("done"))
    return behind.annotate(wanted=F("there") + of_head(analysis, "turns"))


def with_intervals(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Studies whose agreement between metrics and people has its intervals."""
    return studies.alias(bounded=of_head("intervals")).filter(bounded__gte=of_head("metrics"))


def at_rest(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Studies where nothing has changed for a while."""
    now = timezone.now()
    heads = Result.objects.filter(study=OuterRef("pk"), analysis="metrics", choice="")
    return studies.exclude(Exists(heads.filter(computed_at__range=(now - QUIET, now))))


@transaction.atomic
def publish(study: int, analysis: str, version: int, records: Mapping[Any, Any], note: Any = None) -> bool:
    """Replace all records of an analysis of a study.

    False if results of this version or a newer one exist, or the study is gone. A record under no keys is the head's;
    without one, the head gets the `note`.
    """
    head = _head(study, analysis)
    if head is None or head.version >= version:
        return False
    now = timezone.now()
    kept = {choice_of(keys): record for keys, record in records.items()}
    own = {"problem": "", "record": to_json(kept.pop("", note))}
    rows = Result.objects.filter(study=study, analysis=analysis).exclude(choice="")
    rows.exclude(choice__in=kept).delete()
    for choice, record in kept.items():
        values = {"version": version, "record": to_json(record), "computed_at": now}
        Result.objects.update_or_create(study_id=study, analysis=analysis, choice=choice, defaults=values)
    Result.objects.filter(pk=head.pk).update(version=version, turns=F("turns") + 1, computed_at=now, **own)
    return True


@transaction.atomic
def finish(study: int, analysis: str, version: int, keys: Collection[Keys]) -> None:
    """Record that all of this version is saved, under these keys; delete records under other keys."""
    head = _head(study, analysis)
    if head is not None and head.version < version:
        rows = Result.objects.filter(study=study, analysis=analysis).exclude(choice="")
        rows.exclude(choice__in=[choice_of(own) for own in keys]).delete()
        Result.objects.filter(pk=head.pk).update(version=version, problem="", computed_at=timezone.now())


@transaction.atomic
def keep(study: int, analysis: str, keys: Keys, record: Any, version: int = 0) -> None:
    """Save one record of an analysis that is computed in turns, if the study still exists."""
    head = _head(study, analysis)
    if head is not None:
        values = {"version": version, "record": to_json(record), "computed_at": timezone.now()}
        Result.objects.update_or_create(study_id=study, analysis=analysis, choice=choice_of(keys), defaults=values)
        Result.objects.filter(pk=head.pk).update(turns=F("turns") + 1)


@transaction.atomic
def keep_of_topic(topic: int, analysis: str, version: int, record: Any) -> bool:
    """Save the record of a topic; False if a newer one exists or the topic is gone."""
    if not Topic.objects.select_for_update(no_key=True).filter(pk=topic).values_list("pk"):
        return False
    rows = Result.objects.filter(topic=topic, analysis=analysis)
    if rows.filter(version__gt=version).exists():
        return False
    values = {"version": version, "record": to_json(record), "computed_at": timezone.now()}
    Result.objects.update_or_create(topic_id=topic, analysis=analysis, choice="", defaults=values)
    return True


@transaction.atomic
def note(study: int, analysis: str, **columns: Any) -> None:
    """Note a problem or the worker's progress in the head; all else stays."""
    head = _head(study, analysis)
    if head is not None:
        Result.objects.filter(pk=head.pk).update(**columns)


def _head(study: int, analysis: str) -> Result | None:
    """The head of an analysis, its study locked until the transaction ends; None if the study is gone."""
    if not Study.objects.select_for_update(no_key=True).filter(pk=study).values_list("pk"):
        return None
    now = {"computed_at": timezone.now()}
    return Result.objects.get_or_create(study_id=study, analysis=analysis, choice="", defaults=now)[0]
