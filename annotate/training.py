"""Metrics trained for a study: asked for by a person, learnt by the worker, used and deleted. The one writer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.audit_log import note
from annotate.models import HumanScore, Reference, Study, Topic, TrainedMetric
from annotate.refusal import Refusal, check, cleaned, invalid
from formats import limits
from formats.results.metrics import Peers
from formats.study_records import TrainedMetricRecord
from formats.trained_metrics import FROM_REFERENCES, KINDS, trained_metric_as_json

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

State = TrainedMetric.State
#: How many a study may have, and how many the worker is asked for at a time.
MOST, MOST_WAITING = 20, 3
#: In the order in which they are offered.
METHODS = (*KINDS["classy"].methods, *KINDS["simetrix"].methods, *FROM_REFERENCES)


def dimensions_of(studies: QuerySet[Study]) -> dict[int, list[str]]:
    """By study, the dimensions in which people scored summaries; studies without any are left out."""
    rows = HumanScore.objects.of_all().filter(summary__topic__study__in=studies).order_by("dimension")
    dimensions: dict[int, list[str]] = {}
    for study, dimension in rows.values_list("summary__topic__study", "dimension").distinct():
        dimensions.setdefault(study, []).append(dimension)
    return dimensions


def with_references(studies: QuerySet[Study]) -> set[int]:
    """Studies in which a topic has references beside documents."""
    rows = Reference.objects.filter(topic__study__in=studies, topic__documents__isnull=False)
    return set(rows.values_list("topic__study", flat=True).distinct())


@transaction.atomic
def train(
    study: Study,
    user: User,
    source: Study,
    *,
    name: str,
    method: str,
    target: str = "",
    peers: str = "machines",
    first: Study | None = None,
    without_assessors: Collection[str] = (),
) -> TrainedMetric:
    """Ask for a metric for the study, learnt from the human scores of `source`, which the person may see, or from its
    references: then without `target`. `first`: another study that they may see, on which features are fitted first.
    `without_assessors`: whose ratings shall teach nothing (Owczarzak et al. 2012, table 5)."""
    _locked(study)
    trained = TrainedMetric.objects.filter(study=study)
    if trained.count() >= MOST:
        raise Refusal(_("A study has at most %(most)d trained metrics. Delete one first.") % {"most": MOST})
    if trained.filter(state=State.WAITING).count() >= MOST_WAITING:
        raise Refusal(_("%(most)d metrics are being trained. Wait for one of them.") % {"most": MOST_WAITING})
    name = cleaned("name", name)
    if trained.filter(name=name).exists():
        raise invalid("name", _("There is a trained metric of this name."))
    if method not in METHODS:
        raise invalid("method", _("There is no such method."))
    if peers not in get_args(Peers):
        raise invalid("peers", _("Choose machines or all."))
    _check_source(Study.objects.filter(pk=source.pk), method, target)
    if first is not None:
        _check_first(first, source, method, target)
    teaching = [source] if first is None else [source, first]
    left_out = _known_assessors(teaching, method, without_assessors)
    row = TrainedMetric(
        study=study,
        user=user,
        name=name,
        method=method,
        target=target,
        peers="" if method in FROM_REFERENCES else peers,
        source=source,
        source_title=_title(source, study, left_out),
        left_out=left_out,
        first=first,
        first_title=_title(first, study, left_out) if first else "",
    )
    check(row)
    row.save(force_insert=True)
    note(study, user, "train metric", metric=name, method=method, target=target, source=[own.pk for own in teaching])
    for own in teaching:
        if own.pk != study.pk:
            note(own, user, "train metric of another study", method=method, target=target, study=study.pk)
    return row


def _check_first(first: Study, source: Study, method: str, target: str) -> None:
    if method in FROM_REFERENCES:
        raise invalid("first", _("This method learns from the references of one study."))
    if first.pk == source.pk:
        raise invalid("first", _("Choose another study than the one that it learns from."))
    if target not in dimensions_of(Study.objects.filter(pk=first.pk)).get(first.pk, []):
        raise invalid("first", _("Nobody scored summaries of that study in this dimension."))


def _check_source(source: QuerySet[Study], method: str, target: str) -> None:
    if method not in FROM_REFERENCES:
        if target not in chain.from_iterable(dimensions_of(source).values()):
            raise invalid("target", _("Nobody scored summaries of that study in this dimension."))
    elif target:
        raise invalid("target", _("This method learns from references, not from human scores."))
    elif not with_references(source):
        raise invalid("source", _("No topic of that study has references and documents."))


def _known_assessors(teaching: list[Study], method: str, names: Collection[str]) -> list[str]:
    """Each once; refused if nobody of that name rated a summary."""
    if names and method in FROM_REFERENCES:
        raise invalid("without_assessors", _("This method learns from references, not from human scores."))
    rated = HumanScore.objects.ratings().filter(summary__topic__study__in=teaching)
    rating = set(rated.values_list("assessor", flat=True).distinct())
    if unknown := [name for name in names if name not in rating]:
        if not rating:
            raise invalid("without_assessors", _("The human scores name no assessors."))
        message = _("No assessor is called “%(name)s”.") % {"name": unknown[0]}
        raise invalid("without_assessors", message)
    return list(dict.fromkeys(names))


def _title(source: Study, study: Study, left_out: list[str]) -> str:
    """What the metric says that it learnt from. Who rated another study's summaries is not told here."""
    if not left_out:
        return source.title
    if source.pk == study.pk:
        without = _("without %(assessors)s") % {"assessors": ", ".join(left_out)}
    else:
        number = len(left_out)
        without = ngettext("without %(number)d assessor", "without %(number)d assessors", number) % {"number": number}
    return f"{source.title} {without}"[: limits.TITLE_CHARACTERS]


@transaction.atomic
def use(metric: TrainedMetric, user: User, used: bool) -> TrainedMetric:
    """Score the study's summaries with it from now on, or no longer."""
    _locked(metric.study)
    metric.refresh_from_db()
    if used and metric.state != State.READY:
        raise Refusal(_("This metric is not trained yet."), "state")
    if metric.used != used:
        TrainedMetric.objects.filter(pk=metric.pk).update(used=used)
        Topic.objects.filter(study=metric.study_id).score_anew()
        note(metric.study, user, "use trained metric" if used else "stop using trained metric", metric=metric.name)
    metric.refresh_from_db()
    return metric


@transaction.atomic
def delete(metric: TrainedMetric, user: User) -> None:
    """Forget it and its scores. Where it is being trained that is given up: the worker finds nobody to tell."""
    _locked(metric.study)
    action = "cancel training" if metric.state == State.WAITING else "delete trained metric"
    if metric.used:
        Topic.objects.filter(study=metric.study_id).score_anew()
    note(metric.study, user, action, metric=metric.name)
    TrainedMetric.objects.filter(pk=metric.pk).delete()


def note_progress(metric: TrainedMetric, done: int, steps: int, parts: Mapping[str, Any] | None = None) -> bool:
    """Say how far it is, and keep what is learnt so far if given; False where nobody wants it any more."""
    values = {"done": done, "steps": steps} | ({} if parts is None else {"parts": dict(parts)})
    return bool(TrainedMetric.waiting().filter(pk=metric.pk).update(**values))


def finish(metric: TrainedMetric, model: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Publish what was learnt; the parts that it was put together from are not needed any more."""
    TrainedMetric.waiting().filter(pk=metric.pk).update(
        state=State.READY, model=dict(model), report=dict(report), parts={}, problem=""
    )


def restore(study: Study, records: list[TrainedMetricRecord]) -> None:
    """Take back what an archive holds."""
    TrainedMetric.objects.bulk_create(
        TrainedMetric(
            study=study,
            name=record.name,
            method=record.metric.method,
            target=record.metric.target,
            peers=record.metric.peers,
            source_title=record.source,
            state=State.READY,
            model=trained_metric_as_json(record.metric),
            report=dict(record.report),
            used=record.used,
        )
        for record in records
    )


def _locked(study: Study) -> None:
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
