"""The way of every analysis into the table of results, and what is behind there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotate.models import Result, Study, Topic
from annotate.models.analysis import OfStudy, OfTopic, choice_of, of_head
from evaluation.meta.study_pairs import Key
from formats.results import to_json
from formats.results.metrics import Peers

#: What a record is kept under.
Keys = tuple[str, ...]
#: Hundreds of fits rest on all that people judged: they are not begun while somebody is judging, or uploading.
QUIET = timedelta(minutes=1)


def studies_behind(analysis: OfStudy, after: OfStudy = "metrics") -> QuerySet[Study]:
    """The studies in which the analysis is behind another one that it rests on. Adds the `wanted` version, which
    changes with every turn of it."""
    behind = Study.objects.alias(there=of_head(after), done=of_head(analysis)).filter(there__gt=F("done"))
    return behind.annotate(wanted=F("there") + of_head(analysis, "turns"))


def with_intervals(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Those whose agreement with metrics has its intervals."""
    return studies.alias(bounded=of_head("intervals")).filter(bounded__gte=of_head("metrics"))


def at_rest(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Those where nothing has changed for a while."""
    now = timezone.now()
    heads = Result.objects.filter(study=OuterRef("pk"), analysis="metrics", choice="")
    return studies.exclude(Exists(heads.filter(computed_at__range=(now - QUIET, now))))


@transaction.atomic
def publish(study: int, analysis: OfStudy, version: int, records: Mapping[Any, Any], note: Any = None) -> bool:
    """Put these records in the place of all that was kept of an analysis of a study.

    False where results of this version or a newer one are there, or the study is gone. A record under no keys is the
    head's; where there is none, the head gets the `note`.
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
def finish(study: int, analysis: OfStudy, version: int, keys: Collection[Keys]) -> None:
    """Say that all of this version was kept, under these keys; what there is under others is forgotten."""
    head = _head(study, analysis)
    if head is not None and head.version < version:
        rows = Result.objects.filter(study=study, analysis=analysis).exclude(choice="")
        rows.exclude(choice__in=[choice_of(own) for own in keys]).delete()
        Result.objects.filter(pk=head.pk).update(version=version, problem="", computed_at=timezone.now())


@transaction.atomic
def keep(study: int, analysis: OfStudy, keys: Keys, record: Any) -> None:
    """Keep one record of an analysis that is worked out in turns, if the study is still there."""
    head = _head(study, analysis)
    if head is not None:
        values = {"record": to_json(record), "computed_at": timezone.now()}
        Result.objects.update_or_create(study_id=study, analysis=analysis, choice=choice_of(keys), defaults=values)
        Result.objects.filter(pk=head.pk).update(turns=F("turns") + 1)


@transaction.atomic
def keep_of_topic(topic: int, analysis: OfTopic, version: int, record: Any) -> bool:
    """Keep the record of a topic; False where a newer one is there, or the topic is gone."""
    if not Topic.objects.select_for_update(no_key=True).filter(pk=topic).values_list("pk"):
        return False
    rows = Result.objects.filter(topic=topic, analysis=analysis)
    if rows.filter(version__gt=version).exists():
        return False
    values = {"version": version, "record": to_json(record), "computed_at": timezone.now()}
    Result.objects.update_or_create(topic_id=topic, analysis=analysis, choice="", defaults=values)
    return True


def note(study: int, analysis: OfStudy, **columns: Any) -> None:
    """Put this into the head: a problem, or how far the worker is. What is there stays."""
    with transaction.atomic():
        head = _head(study, analysis)
        if head is not None:
            Result.objects.filter(pk=head.pk).update(**columns)


def by_peers(reports: Mapping[Peers, Any]) -> dict[Keys, Any]:
    """Reports by whose summaries they are about, as they are kept."""
    return {(peers,): report for peers, report in reports.items()}


def keys_of(scorer: Key) -> Keys:
    """What the counts of a scorer's pairs of systems are kept under."""
    peers, by_human, by = scorer
    return peers, "people" if by_human else "metric", by


def pairs_known(study: int) -> dict[Key, str]:
    """The digests of the scores whose pairs of systems were tested, by scorer."""
    kept = Result.objects.by_keys(study, "pairs-of-systems")
    digests: dict[Any, str] = {}
    for (peers, whose, by), row in kept.items():
        digests[peers, whose == "people", by] = row.record["digest"]
    return digests


def _head(study: int, analysis: OfStudy) -> Result | None:
    """The head of an analysis, for as long as the transaction lasts; None where the study is gone."""
    if not Study.objects.select_for_update(no_key=True).filter(pk=study).values_list("pk"):
        return None
    now = {"computed_at": timezone.now()}
    return Result.objects.get_or_create(study_id=study, analysis=analysis, choice="", defaults=now)[0]
