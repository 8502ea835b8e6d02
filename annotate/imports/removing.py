"""Remove data from a study, and restore them within a day.

Rows that nobody judged are deleted and kept as text (`Removal.rows`). A topic is only hidden: its judgments are about
its sentences, and stay with them. Removing and restoring hold the study first, as imports do, then the tallies of its
topics.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core import serializers
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate import judging
from annotate.audit_log import note
from annotate.imports import compared, recutting
from annotate.imports.holding import hold, refuse_busy
from annotate.models import (
    GoldPair,
    HumanScore,
    Item,
    ItemSet,
    Judgment,
    MetricScore,
    Pair,
    PyramidAnnotation,
    Reference,
    Removal,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    TopicMetrics,
)
from annotate.refusal import Refusal
from preferendum.work import works

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BATCH = 500
#: Analyses of a ranking by answers about summaries.
OF_WIN_RATES = (
    *("win-rate-influence", "win-rate-smallest-set", "later-systems", "summary-forecast"),
    *("judge-cards", "helped-boards"),
)
Kind = Removal.Kind
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
        if HumanScore in self.rows:
            numbers["ratings"] = self.rows[HumanScore].exclude(assessor="").count()
            numbers["human_scores"] -= numbers["ratings"]
        if self.kind == Kind.TOPIC and self.topic is not None:
            answers = judging.answers_in(*_sets_of([self.topic.pk]))
            numbers["documents"] = SourceDocument.objects.filter(topic=self.topic).count()
            numbers["sentences"] = Item.objects.filter(item_set=self.topic.pk).count()
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
    own: tuple[type[Any], ...] = (Reference, PyramidAnnotation)
    rows: dict[type[Model], QuerySet[Any]] = {table: table.objects.filter(topic=topic) for table in own}
    rows[GoldPair] = GoldPair.objects.filter(item_set=topic.pk)
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
    topics = [topic.pk for topic in _locked(target.topics)]
    # Two: the version of win rates counts one more for a topic with a tally.
    study.count_removed(2)
    counts = target.counts()
    removal = Removal.objects.create(
        study=study,
        user=user,
        kind=kind,
        name=target.name,
        topic_name=target.topic_name,
        counts=counts,
        rows=serializers.serialize("json", chain(*target.rows.values())),
    )
    _delete(study, target)
    if kind == Kind.TOPIC:
        recutting.keep_versions(_sets_of(topics))
        for item_set in _sets_of(topics):
            judging.void(item_set)
        _sets_of(topics).update(removal=removal)
        Topic.objects.filter(pk__in=topics).update(removal=removal)
    elif Summary in target.rows:
        compared.keep_in_step(study, topics, removal)
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


def _delete(study: Study, target: Target) -> None:
    for table, rows in target.rows.items():
        if table is not System:
            rows.delete()
    System.objects.filter(study=study, summaries=None).delete()


def _named(removal: Removal) -> dict[str, str]:
    named = {"removal": str(removal.key), "kind": removal.kind, "name": removal.name}
    return named | ({"topic": removal.topic_name} if removal.topic_name else {})


# What was computed


def _compute_anew(study: Study, kind: str, topics: Collection[int]) -> None:
    """Have everything that rests on these topics computed again, and delete results that have no data left."""
    if kind == Kind.TOPIC:
        recutting.forget_computed(topics)
        _forget_metrics(Topic.with_unfinished.filter(pk__in=topics))
    Topic.objects.filter(pk__in=topics).score_anew()
    if kind in (Kind.SYSTEM, Kind.SUMMARY):
        judging.raise_version(topics)
    _forget_unfounded(study, topics)


def _forget(table: str, **which: Any) -> None:
    """Delete these results of the worker: it can compute them again."""
    apps.get_model("annotate", table)._default_manager.filter(**which).delete()


def _forget_metrics(topics: QuerySet[Topic]) -> None:
    now = TopicMetrics.objects.filter(topic=OuterRef("pk")).values("version")
    topics.update(last_scored_version=Coalesce(Subquery(now), F("last_scored_version")))
    _forget("TopicMetrics", topic__in=topics)


def _forget_unfounded(study: Study, keys: Collection[int]) -> None:
    """Delete reports that would never be renewed, because all their data are gone."""
    topics = Topic.objects.filter(study=study)
    unsummarized = topics.filter(summaries=None, pk__in=keys)
    without_model = topics.filter(references=None, pyramid=None, pk__in=keys)
    _forget_metrics(unsummarized)
    _forget("Result", topic__in=unsummarized, analysis="mixtures")
    _forget("Result", topic__in=without_model, analysis__in=("sentence-ranking", "mixtures"))
    fitted = topics.filter(sentence_set__fits__isnull=False)
    ranked = fitted.filter(summaries__isnull=False)
    human_scores = HumanScore.objects.filter(summary__topic__in=topics)
    if not ranked.exists():
        _forget("Ranking", study=study)
    for data, analyses in (
        (ranked, OF_WIN_RATES),
        (fitted, ("influence", "smallest-set")),
        (topics.filter(sentence_set__tally__isnull=False), ("annotators",)),
        (human_scores, tuple(work.name for work in works() if "scores" in work.needs)),
    ):
        if not data.exists():
            _forget("Result", study=study, analysis__in=analyses)


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
    try:
        with transaction.atomic():
            _put_back(removal, rows)
    except IntegrityError as error:
        raise Refusal(_("Something of this name was uploaded since. Remove that first."), "taken") from error
    topics = _topics_of(rows)
    recutting.put_back(rows, removal)
    removal.restored_at, removal.rows = timezone.now(), ""
    removal.save(update_fields=["restored_at", "rows"])
    if removal.kind == Kind.TOPIC:
        for item_set in _sets_of(topics):
            judging.revive_pairs(item_set)
    elif Summary in rows or Topic in rows:
        compared.keep_in_step(study, topics, removal)
        judging.raise_version(topics)
    Topic.objects.filter(pk__in=topics).score_anew()
    note(study, user, "restore data", **_named(removal))
    return removal


#: Rows by their tables.
Rows = dict[type[Model], list[Any]]
#: The columns that an upload may replace.
REPLACEABLE: Mapping[type[Model], tuple[str, ...]] = {
    Topic: ("title", "question"),
    Reference: ("text", "sentences", "extra", "upload"),
    Summary: ("text", "sentences", "turns", "extra", "person", "reference", "upload"),
    HumanScore: ("score", "upload"),
}


def _from_text(removal: Removal) -> Rows:
    rows: Rows = {}
    for row in serializers.deserialize("json", removal.rows or "[]"):
        rows.setdefault(type(row.object), []).append(row.object)
    return rows


def _put_back(removal: Removal, rows: Rows) -> None:
    """Store rows under their old keys; those that an upload replaced are still there. Adds a removed topic to `rows`.

    Documents and sentences are left to `recutting`.
    """
    present = dict(System.objects.filter(study=removal.study_id).values_list("name", "pk"))
    systems = {row.pk: present.get(row.name, row.pk) for row in rows.get(System, [])}
    rows[System] = [row for row in rows.get(System, []) if row.name not in present]
    for summary in rows.get(Summary, []):
        summary.system_id = systems.get(summary.system_id, summary.system_id)
    for table, own in rows.items():
        if removal.kind == Kind.REPLACED and table in REPLACEABLE:
            _update(table, own)
        elif table not in (SourceDocument, Item):
            table._default_manager.bulk_create(own, BATCH, ignore_conflicts=table is MetricScore)
    if removal.kind == Kind.TOPIC:
        hidden = Topic.with_unfinished.filter(removal=removal)
        rows[Topic] = list(hidden)
        # It is cut again, in case the study's language has changed meanwhile; judged topics never are.
        hidden.update(text_version=F("text_version") + 1, removal=None)
        ItemSet.with_unfinished.filter(removal=removal).update(removal=None)


def _update(table: type[Model], rows: Sequence[Any]) -> None:
    for batch in recutting.batches(rows):
        if table._base_manager.filter(pk__in=[row.pk for row in batch]).count() < len(batch):
            raise Refusal(_("Some of this was removed since. Restore that first."), "needs_other")
        table._base_manager.bulk_update(batch, REPLACEABLE[table])


def _topics_of(rows: Rows) -> list[int]:
    """The topics of these rows, locked. Raises `Refusal` if something that rows belong to is removed."""
    topics = {row.topic_id for table in (SourceDocument, Reference, Summary) for row in rows.get(table, [])}
    topics |= {row.pk for row in rows.get(Topic, [])}
    for batch in recutting.batches(sorted({row.summary_id for row in rows.get(HumanScore, [])})):
        scored = dict(Summary.objects.filter(pk__in=batch).values_list("pk", "topic"))
        if len(scored) < len(batch):
            message = _("Some of the summaries that these scores belong to were removed, too. Restore those first.")
            raise Refusal(message, "needs_other")
        topics |= set(scored.values())
    present = _locked(Topic.objects.filter(pk__in=topics))
    if len(present) < len(topics):
        raise Refusal(_("The topic of this was removed, too. Restore the topic first."), "needs_other")
    return [topic.pk for topic in present]


def _sets_of(topics: Collection[int]) -> QuerySet[ItemSet]:
    """The item sets of these topics."""
    return ItemSet.objects.filter(topic__in=topics).select_related("study").order_by("pk")


def _locked(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """These topics, locked: no fit of them is published until the transaction ends."""
    return topics.select_for_update(no_key=True, of=("self",)).order_by("pk")


# After a day


def forget_removed() -> None:
    """Delete what can no longer be restored; item sets with judgments stay as their history."""
    expired = Removal.objects.expired()
    judged = Exists(Judgment.objects.filter(item_set=OuterRef("pk")))
    has_history = Exists(Judgment.objects.filter(assignment__item_set=OuterRef("pk")))
    # An item may have been removed after one that it was compared with.
    others = Pair.objects.exclude(item_set=OuterRef("pk"))
    as_first = Exists(others.filter(first__item_set=OuterRef("pk")))
    as_second = Exists(others.filter(second__item_set=OuterRef("pk")))
    unneeded = ItemSet.with_unfinished.filter(~judged, ~has_history, ~as_first, ~as_second, removal__in=expired)
    for item_set in unneeded.select_related("topic").order_by("-pk"):  # summaries first: sentences go with their topic
        with transaction.atomic():
            # The heartbeat, which calls this, must not wait: a study that is held has its turn in a minute.
            free = Study.objects.select_for_update(no_key=True, skip_locked=True)
            if study := free.filter(pk=item_set.study_id).first():
                _forget_set(item_set, study)
    expired.exclude(rows="").update(rows="")


def _forget_set(item_set: ItemSet, study: Study) -> None:
    topic = item_set.topic
    if item_set.of == "summaries":
        study.count_removed(item_set.last_data_version)
        item_set.delete()
    elif not ItemSet.with_unfinished.filter(topic=topic).exclude(pk=item_set.pk).exists():
        study.count_removed(item_set.last_data_version + topic.last_scored_version)
        topic.delete()
