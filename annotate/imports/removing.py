"""Remove data from a study, and restore them within a day.

Rows that nobody judged are deleted and kept as text (`Removal.rows`). A topic is only hidden: its judgments are about
its sentences, and stay with them. Removing and restoring hold the study first, as imports do, then the tallies of its
topics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core import serializers
from django.db import transaction
from django.db.models import Exists, F, Model, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate import judging
from annotate.audit_log import note
from annotate.imports import compared, recutting
from annotate.imports.holding import hold, refuse_busy
from annotate.models import (
    GoldPair,
    HumanScore,
    Judgment,
    MetricScore,
    Pair,
    PyramidAnnotation,
    Reference,
    Removal,
    Sentence,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
)
from annotate.refusal import Refusal
from formats.analyses import OF_ALL_SCORES

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
#: Analyses of scores by metrics and people, and of their agreement.
OF_HUMAN_SCORES: tuple[str, ...] = (
    *("across-topics", "metrics", "intervals", "pairs-of-systems", "mixtures", "convergence"),
    *(analysis.name for analysis in OF_ALL_SCORES),
)
#: Analyses of a ranking by answers about summaries.
OF_WIN_RATES = ("win-rate-influence", "win-rate-smallest-set", "later-systems", "summary-forecast")
Kind = Removal.Kind
#: The tables that are kept as text, those that others refer to first.
ORDER: tuple[type[Model], ...] = (*(System, Reference, PyramidAnnotation, Summary, HumanScore, MetricScore, GoldPair),)

REMOVABLE = (Kind.TOPIC, Kind.SYSTEM, Kind.SUMMARY, Kind.REFERENCE, Kind.HUMAN_SCORES)
#: The tables that are counted for those who decide.
COUNTED: Mapping[str, type[Model]] = {
    "summaries": Summary,
    "references": Reference,
    "human_scores": HumanScore,
    "metric_scores": MetricScore,
    "pyramids": PyramidAnnotation,
    "gold_pairs": GoldPair,
}


@dataclass(frozen=True)
class Target:
    """Something that can be removed: its name, its rows, its topics."""

    kind: str
    name: str
    rows: Mapping[type[Model], QuerySet[Any]]
    topics: QuerySet[Topic]
    topic: Topic | None = None

    @property
    def topic_name(self) -> str:
        return "" if self.topic is None or self.kind == Kind.TOPIC else self.topic.name

    def counts(self) -> dict[str, int]:
        """How much is removed with it; without zeros."""
        numbers = {name: self.rows[table].count() for name, table in COUNTED.items() if table in self.rows}
        if self.kind == Kind.TOPIC and self.topic is not None:
            answers = judging.answers_in(*_with_compared([self.topic]))
            numbers["documents"] = SourceDocument.objects.filter(topic=self.topic).count()
            numbers["sentences"] = Sentence.objects.filter(topic=self.topic).count()
            numbers["judgments"] = answers.count()
            numbers["annotators"] = answers.order_by().values("annotator").distinct().count()
        elif Summary in self.rows:
            numbers["judgments"] = compared.answers_about(self.rows[Summary].select_related("system"))
        return {name: number for name, number in numbers.items() if number}


def find_target(study: Study, kind: str, key: str) -> Target | None:
    """What would be removed, by its key; human scores by their dimension. None if it does not exist."""
    topics = Topic.objects.filter(study=study)
    if kind == Kind.HUMAN_SCORES:
        # A query may only have values that a database can store.
        storable = key.encode(errors="replace").decode().replace("\0", "")
        scores = HumanScore.objects.filter(summary__topic__in=topics, dimension=storable)
        scored = topics.filter(pk__in=scores.order_by().values("summary__topic"))
        return Target(kind, storable, {HumanScore: scores}, scored) if scores.exists() else None
    if kind not in REMOVABLE or not (key.isascii() and key.isdigit() and len(key) < 16):
        return None
    return _target_of(kind, int(key), study, topics)


def _target_of(kind: str, key: int, study: Study, topics: QuerySet[Topic]) -> Target | None:
    if kind == Kind.TOPIC:
        topic = topics.filter(pk=key).first()
        return None if topic is None else Target(kind, topic.name, _of_topic(topic), topics.filter(pk=key), topic)
    if kind == Kind.SYSTEM:
        system = System.objects.filter(study=study, pk=key).first()
        summaries = Summary.objects.filter(system=key, topic__in=topics)
        summarized = topics.filter(pk__in=summaries.order_by().values("topic"))
        return None if system is None else Target(kind, system.name, _of_summaries(summaries), summarized)
    table: type[Summary] | type[Reference] = Summary if kind == Kind.SUMMARY else Reference
    row = table.objects.select_related("topic").filter(topic__in=topics, pk=key).first()
    if row is None:
        return None
    own = topics.filter(pk=row.topic_id)
    if isinstance(row, Summary):
        return Target(kind, row.system.name, _of_summaries(Summary.objects.filter(pk=key)), own, row.topic)
    return Target(kind, row.name, {Reference: Reference.objects.filter(pk=key)}, own, row.topic)


def _of_topic(topic: Topic) -> dict[type[Model], QuerySet[Any]]:
    own: tuple[type[Any], ...] = (Reference, PyramidAnnotation, GoldPair)
    rows = {table: table.objects.filter(topic=topic) for table in own}
    return _of_summaries(Summary.objects.filter(topic=topic)) | rows


def _of_summaries(summaries: QuerySet[Summary]) -> dict[type[Model], QuerySet[Any]]:
    return {
        System: System.objects.filter(pk__in=summaries.order_by().values("system")),
        Summary: summaries,
        HumanScore: HumanScore.objects.filter(summary__in=summaries),
        MetricScore: MetricScore.objects.filter(summary__in=summaries),
    }


@transaction.atomic
def remove(study: Study, user: User, kind: str, key: str) -> Removal:
    """Remove something from a study, at once and for everybody; for a day it can be restored.

    Raises `Refusal` if it is gone, if something else needs it, and while an upload is being stored.
    """
    _hold(study)
    judging.lock_study(study.pk)
    target = find_target(study, kind, key)
    if target is None:
        raise _gone()
    _refuse_needed(study, target)
    topics = list(_locked(target.topics))
    _raise_removed_version(study, topics)
    counts = target.counts()
    removal = Removal.objects.create(
        study=study,
        user=user,
        kind=kind,
        name=target.name,
        topic_name=target.topic_name,
        counts=counts,
        rows=_as_text(target),
    )
    _delete(target)
    if kind == Kind.TOPIC:
        with_compared = _with_compared(topics)
        for topic in with_compared:
            judging.void(topic)
        Topic.asked.filter(pk__in=[topic.pk for topic in with_compared]).update(removal=removal)
    elif Summary in target.rows:
        compared.keep_in_step(study, [topic.pk for topic in topics], removal)
    _compute_anew(study, kind, topics)
    note(study, user, "remove data", **_named(removal), **counts)
    return removal


def _hold(study: Study) -> None:
    """One at a time, and nothing while an upload is being stored: it was compared with what the study has."""
    if not hold(study.pk):
        raise _gone()
    refuse_busy(study.pk)


def _gone() -> Refusal:
    return Refusal(_("The study does not have this any more."), "gone")


def _refuse_needed(study: Study, target: Target) -> None:
    """Raises `Refusal` for what other data name: without it, no export could be imported."""
    if target.kind == Kind.TOPIC:
        update = Topic.objects.filter(study=study, base=target.name).exclude(name=target.name).first()
        if update is not None:
            message = _("The topic %(name)s is an update of this topic. Remove that topic first.")
            raise Refusal(message % {"name": update.name}, "needed")
    if target.kind == Kind.REFERENCE and target.topic is not None:
        same = Summary.objects.filter(topic=target.topic, reference=target.name).select_related("system").first()
        if same is not None:
            message = _("The summary by %(name)s is this reference. Remove that summary first.")
            raise Refusal(message % {"name": same.system.name}, "needed")
        others = Reference.objects.filter(topic=target.topic).exclude(name=target.name)
        has_other = others.exists() or PyramidAnnotation.objects.filter(topic=target.topic).exists()
        if not has_other and not SourceDocument.objects.filter(topic=target.topic).exists():
            raise Refusal(_("This topic has nothing else. Remove the whole topic."), "needed")


def _as_text(target: Target) -> str:
    rows = [row for table in ORDER if table in target.rows for row in target.rows[table].order_by("pk")]
    return str(serializers.serialize("json", rows))


def _delete(target: Target) -> None:
    systems = list(target.rows[System].values_list("pk", flat=True)) if System in target.rows else []
    for table in reversed(ORDER):
        if table in target.rows and table is not System:
            target.rows[table].delete()
    System.objects.filter(pk__in=systems, summaries=None).delete()


def _named(removal: Removal) -> dict[str, str]:
    named = {"removal": str(removal.key), "kind": removal.kind, "name": removal.name}
    return named | ({"topic": removal.topic_name} if removal.topic_name else {})


# What was computed


def _compute_anew(study: Study, kind: str, topics: Iterable[Topic]) -> None:
    """Have everything that rests on these topics computed again, and delete results that have no data left."""
    keys = [topic.pk for topic in topics]
    if kind == Kind.TOPIC:
        recutting.forget_computed(keys)
        _forget("topic", keys, "TopicMetrics")
    Topic.objects.filter(pk__in=keys).score_anew()
    if kind in (Kind.SYSTEM, Kind.SUMMARY):
        judging.raise_version(keys)
    _forget_unfounded(study, keys)


def _raise_removed_version(study: Study, topics: Iterable[Topic]) -> None:
    """Keep sums of the topics' versions from falling when topics are removed: reports would seem up to date."""
    several = Topic.asked.filter(pk__in=[topic.pk for topic in _with_compared(topics)])
    rows = several.values_list("text_version", "peers_version", "tally__data_version")
    lost = 1 + sum(version or 0 for versions in rows for version in versions)
    study.count_removed(lost)


def _forget(what: str, keys: Collection[int] | QuerySet[Any, Any], *tables: str, **only: Any) -> None:
    """Delete the worker's results for these topics (`topic`), or this study (`study`): it can compute them again."""
    for name in tables:
        apps.get_model("annotate", name)._default_manager.filter(**{f"{what}__in": keys}, **only).delete()


def _forget_unfounded(study: Study, keys: list[int]) -> None:
    """Delete reports that would never be renewed, because all their data are gone."""
    topics = Topic.objects.filter(study=study)
    has_summaries = Exists(Summary.objects.filter(topic=OuterRef("pk")))
    unsummarized = topics.filter(~has_summaries, pk__in=keys)
    _forget("topic", unsummarized.values("pk"), "TopicMetrics")
    _forget("topic", unsummarized.values("pk"), "Result", analysis="mixtures")
    has_model = Exists(Reference.objects.filter(topic=OuterRef("pk"))) | Exists(
        PyramidAnnotation.objects.filter(topic=OuterRef("pk"))
    )
    without_model = topics.filter(~has_model, pk__in=keys)
    _forget("topic", without_model.values("pk"), "Result", analysis__in=("sentence-ranking", "mixtures"))
    here = [study.pk]
    if not topics.filter(fits__isnull=False, summaries__isnull=False).exists():
        _forget("study", here, "Ranking")
        _forget("study", here, "Result", analysis__in=OF_WIN_RATES)
    if not topics.filter(fits__isnull=False).exists():
        _forget("study", here, "Result", analysis__in=("influence", "smallest-set"))
    if not topics.filter(tally__isnull=False).exists():
        _forget("study", here, "Result", analysis="annotators")
    if not HumanScore.objects.filter(summary__topic__in=topics).exists():
        _forget("study", here, "Result", analysis__in=OF_HUMAN_SCORES)


# Back again


@transaction.atomic
def restore_removed(removal: Removal, user: User) -> Removal:
    """Restore a removal. Raises `Refusal` where that is impossible: too late, its name taken, its topic removed."""
    study = removal.study
    _hold(study)
    judging.lock_study(study.pk)
    removal = Removal.objects.select_for_update(no_key=True).get(pk=removal.pk)
    if removal.restored_at is not None:
        return removal
    if removal.restorable_until is None:
        raise Refusal(_("This was removed more than a day ago and cannot be restored."), "too_late")
    rows = _from_text(removal)
    if removal.kind == Kind.REPLACED:
        topics = _put_back_versions(removal, rows)
    else:
        _refuse_taken(removal, rows)
        topics = _put_back(removal, rows)
    Removal.objects.filter(pk=removal.pk).update(restored_at=timezone.now(), rows="")
    if removal.kind == Kind.TOPIC:
        for topic in _with_compared(topics):
            judging.revive(study, topic)
    elif Summary in rows or Topic in rows:
        compared.keep_in_step(study, [topic.pk for topic in topics], removal)
        judging.raise_version(topic.pk for topic in topics)
    Topic.objects.filter(pk__in=[topic.pk for topic in topics]).score_anew()
    note(study, user, "restore data", **_named(removal))
    removal.refresh_from_db()
    return removal


def _from_text(removal: Removal) -> dict[type[Model], list[Any]]:
    rows: dict[type[Model], list[Any]] = {}
    for row in serializers.deserialize("json", removal.rows or "[]"):
        rows.setdefault(type(row.object), []).append(row.object)
    return rows


#: The columns that an upload may replace.
REPLACEABLE: Mapping[type[Model], tuple[str, ...]] = {
    Topic: ("title", "question"),
    Reference: ("text", "sentences", "extra", "upload"),
    Summary: ("text", "sentences", "extra", "person", "reference", "upload"),
    HumanScore: ("score", "upload"),
}


def _put_back_versions(removal: Removal, rows: Mapping[type[Model], list[Any]]) -> list[Topic]:
    """Restore rows as they were before an upload; returns their topics."""
    topics = {row.pk for row in rows.get(Topic, [])} | {row.topic_id for row in rows.get(SourceDocument, [])}
    for table, columns in REPLACEABLE.items():
        for batch in recutting.batches(rows.get(table, [])):
            stored = table._base_manager.filter(pk__in=[row.pk for row in batch])
            if stored.count() < len(batch):
                message = _("Some of this was removed since. Restore that first.")
                raise Refusal(message, "needs_other")
            table._base_manager.bulk_update(batch, columns)
            if table is not Topic:
                topics |= set(stored.values_list("summary__topic" if table is HumanScore else "topic", flat=True))
    MetricScore.objects.bulk_create(rows.get(MetricScore, []), BATCH, ignore_conflicts=True)
    present = list(_locked(Topic.objects.filter(pk__in=topics)))
    if len(present) < len(topics):
        raise Refusal(_("The topic of this was removed, too. Restore the topic first."), "needs_other")
    recutting.put_back(rows, removal)
    _create(GoldPair, rows.get(GoldPair, []))
    return present


def _refuse_taken(removal: Removal, rows: Mapping[type[Model], list[Any]]) -> None:
    """Raises `Refusal` where the name is taken since, or what the rows belong to is gone."""
    study = removal.study
    if removal.kind == Kind.TOPIC:
        if Topic.with_unfinished.filter(study=study, name=removal.name, removal=None, summaries_of=None).exists():
            raise _taken()
        return
    summaries, references = rows.get(Summary, []), rows.get(Reference, [])
    topics = {row.topic_id for row in (*summaries, *references)}
    if not topics <= set(Topic.objects.filter(study=study).values_list("pk", flat=True)):
        raise Refusal(_("The topic of this was removed, too. Restore the topic first."), "needs_other")
    systems = {row.pk: row.name for row in rows.get(System, [])}
    for batch in recutting.batches(summaries):
        stored = Summary.keys_of({row.topic_id for row in batch})
        if any((row.topic_id, systems[row.system_id]) in stored for row in batch):
            raise _taken()
    if any(Reference.objects.filter(topic=row.topic_id, name=row.name).exists() for row in references):
        raise _taken()
    if removal.kind == Kind.HUMAN_SCORES:
        _refuse_taken_scores(study, removal.name, rows.get(HumanScore, []))


def _refuse_taken_scores(study: Study, dimension: str, scores: list[HumanScore]) -> None:
    wanted = {row.summary_id for row in scores}
    stored = set(Summary.objects.filter(topic__in=Topic.objects.filter(study=study)).values_list("pk", flat=True))
    if not wanted <= stored:
        message = _("Some of the summaries that these scores belong to were removed, too. Restore those first.")
        raise Refusal(message, "needs_other")
    if HumanScore.objects.filter(summary__topic__study=study, dimension=dimension).exists():
        raise _taken()


def _taken() -> Refusal:
    message = _("Something of this name was uploaded since. Remove that first.")
    return Refusal(message, "taken")


def _put_back(removal: Removal, rows: Mapping[type[Model], list[Any]]) -> list[Topic]:
    """Store the rows under their old keys; returns their topics."""
    systems = dict(System.objects.filter(study=removal.study_id).values_list("name", "pk"))
    missing = [row for row in rows.get(System, []) if row.name not in systems]
    _create(System, missing)
    systems |= {row.name: row.pk for row in missing}
    now = {row.pk: systems[row.name] for row in rows.get(System, [])}
    for summary in rows.get(Summary, []):
        summary.system_id = now[summary.system_id]
    for table in ORDER[1:]:
        _create(table, rows.get(table, []))
    if removal.kind == Kind.TOPIC:
        keys = set(Topic.with_unfinished.filter(removal=removal).values_list("pk", flat=True))
        # It is cut again, in case the study's language has changed meanwhile; judged topics never are.
        removed = Topic.with_unfinished.filter(pk__in=keys)
        removed.filter(summaries_of=None).update(text_version=F("text_version") + 1)
        removed.update(removal=None)
    else:
        keys = {row.topic_id for table in (Summary, Reference) for row in rows.get(table, [])}
        scored = {row.summary_id for batch in recutting.batches(rows.get(HumanScore, [])) for row in batch}
        keys |= set(
            Topic.objects.filter(pk__in=Summary.objects.filter(pk__in=scored).values("topic")).values_list(
                "pk", flat=True
            )
        )
    return list(_locked(Topic.objects.filter(pk__in=keys)))


def _with_compared(topics: Iterable[Topic]) -> list[Topic]:
    """These topics, and those of their summaries."""
    own = list(topics)
    return [*own, *Topic.asked.filter(summaries_of__in=[topic.pk for topic in own]).order_by("pk")]


def _locked(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """These topics, locked: no fit of them is published until the transaction ends."""
    return topics.select_for_update(no_key=True, of=("self",)).order_by("pk")


def _create(table: type[Model], rows: list[Any]) -> None:
    """Store rows with their original times."""
    stamps = [field.name for field in table._meta.fields if getattr(field, "auto_now_add", False)]
    before = [[getattr(row, name) for name in stamps] for row in rows]
    table._default_manager.bulk_create(rows, BATCH)
    for row, times in zip(rows, before, strict=True):
        for name, time in zip(stamps, times, strict=True):
            setattr(row, name, time)
    if stamps and rows:
        table._default_manager.bulk_update(rows, stamps, BATCH)


# After a day


def forget_removed() -> None:
    """Delete what can no longer be restored; topics with judgments stay as their history."""
    expired = Removal.objects.expired()
    judged = Exists(Judgment.objects.filter(topic=OuterRef("pk")))
    has_history = Exists(Judgment.objects.filter(assignment__topic=OuterRef("pk")))
    # A sentence may have been removed after one that it was compared with.
    others = Pair.objects.exclude(topic=OuterRef("pk"))
    is_needed = Exists(others.filter(first__topic=OuterRef("pk"))) | Exists(others.filter(second__topic=OuterRef("pk")))
    for topic in Topic.with_unfinished.filter(~judged, ~has_history, ~is_needed, removal__in=expired):
        with transaction.atomic():
            topic.delete()
    expired.exclude(rows="").update(rows="")
