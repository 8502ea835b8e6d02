"""The state of the worker: whether one runs, what it does, how far it lags, what failed and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.models import Assignment, Claim, Export, Fit, Judgment, Ranking, Study, Topic, Upload, WorkerPulse
from annotate.reports.study import SILENCE

if TYPE_CHECKING:
    from django.db.models import QuerySet

#: Scores that are so much older than a judgment are late, and the operator should find out why.
LATE = timedelta(seconds=60)
#: Failed files stay on the page so long.
REMEMBERED = timedelta(days=7)
#: Work whose failure is told on its topic, board or file; of other work only its claims tell.
TOLD_ELSEWHERE = ("topic", "study", "summaries", "upload", "export", Claim.LOOK)
#: Attempts in a row after which work that may yet succeed by itself counts as failed.
IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process and its last sign of life."""

    name: str
    at: datetime
    program_version: str
    is_alive: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """A topic whose texts or judgments are newer than its sentences or scores.

    `since`: the time of the oldest judgment that is not in the scores yet; `problem`: why the last try failed, if it
    did; `retry_at`: the time of the next one.
    """

    topic: Topic
    is_cut: bool
    since: datetime | None
    problem: str
    retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class Busy:
    """A worker's present task. Of studies that the reader may not see, only its kind."""

    task: str
    since: datetime
    topic: Topic | None = None
    study: Study | None = None
    upload: Upload | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The worker's state, as far as the reader's studies are concerned; workers serve all studies.

    `unread`: the studies whose work the worker cannot read.
    """

    workers: tuple[Worker, ...]
    busy: tuple[Busy, ...]
    waiting: tuple[Waiting, ...]
    rankings: tuple[Ranking, ...]
    uploads: tuple[Upload, ...]
    exports: tuple[Export, ...]
    unread: tuple[Study, ...]
    failing: tuple[Claim, ...]
    at: datetime

    @property
    def is_running(self) -> bool:
        return any(worker.is_alive for worker in self.workers)

    @property
    def last_seen(self) -> datetime | None:
        """The last sign of life of any worker."""
        return max((worker.at for worker in self.workers), default=None)

    @property
    def failed(self) -> tuple[Waiting, ...]:
        return tuple(topic for topic in self.waiting if topic.problem)

    @property
    def pending(self) -> tuple[Waiting, ...]:
        return tuple(topic for topic in self.waiting if not topic.problem)

    @property
    def oldest(self) -> datetime | None:
        """The time of the oldest judgment that no score rests on yet, in topics that did not fail."""
        return min((topic.since for topic in self.pending if topic.since), default=None)

    @property
    def lag(self) -> int | None:
        """Seconds since then."""
        return None if self.oldest is None else max(0, round((self.at - self.oldest).total_seconds()))

    @property
    def is_late(self) -> bool:
        return self.oldest is not None and self.at - self.oldest > LATE

    @property
    def state(self) -> str:
        """The state in one word."""
        if not self.is_running:
            return "gone"
        if self.failures:
            return "failed"
        return "late" if self.is_late else "well"

    @property
    def files_waiting(self) -> int:
        uploads = sum(upload.state != Upload.State.FAILED for upload in self.uploads)
        return uploads + sum(export.state != Export.State.FAILED for export in self.exports)

    @property
    def failures(self) -> int:
        uploads = sum(upload.state == Upload.State.FAILED for upload in self.uploads)
        exports = sum(export.state == Export.State.FAILED for export in self.exports)
        return len(self.failed) + len(self.rankings) + len(self.unread) + len(self.failing) + uploads + exports


def look(studies: QuerySet[Study]) -> Health:
    """The present state, for a user who may see these studies."""
    now = timezone.now()
    workers = tuple(
        Worker(pulse.name, pulse.at, pulse.program_version, pulse.at >= now - SILENCE)
        for pulse in WorkerPulse.objects.order_by("-at")
    )
    lately = Q(changed_at__gte=now - REMEMBERED)
    uploads = Upload.objects.filter(study__in=studies).filter(
        Q(state__in=[Upload.State.WAITING, Upload.State.CONFIRMED]) | Q(state=Upload.State.FAILED) & lately
    )
    exports = Export.objects.filter(study__in=studies).filter(
        Q(state=Export.State.WAITING) | Q(state=Export.State.FAILED, created_at__gte=now - REMEMBERED)
    )
    return Health(
        workers=workers,
        busy=_busy(studies, now),
        waiting=_waiting(studies),
        rankings=tuple(Ranking.objects.filter(study__in=studies).exclude(problem="").select_related("study")),
        uploads=tuple(uploads.select_related("study").order_by("pk")),
        exports=tuple(exports.select_related("study").order_by("pk")),
        unread=tuple(studies.filter(pk__in=Claim.objects.of_failed_looks().values("study")).order_by("pk")),
        failing=_failing(studies),
        at=now,
    )


def with_since(topics: QuerySet[Topic]) -> QuerySet[Topic]:
    """Each with `since`: the time of the first judgment that counts and that its newest fit does not rest on.

    Imported ones do not count: they carry the time at which they were made elsewhere. An index finds the first one,
    however many follow.
    """
    newest = Fit.objects.newest().filter(item_set=OuterRef("pk"))
    first = (
        Judgment.objects.filter(
            item_set=OuterRef("pk"),
            pk__gt=Coalesce(OuterRef("rests_on"), 0),
            assignment__holds_place=True,
            assignment__item_set=F("item_set"),
        )
        .exclude(assignment__reason=Assignment.Reason.IMPORTED)
        .order_by("pk")
    )
    rests_on = Subquery(newest.values("last_judgment_id")[:1])
    return topics.annotate(rests_on=rests_on).annotate(since=Subquery(first.values("at")[:1]))


def _waiting(studies: QuerySet[Study]) -> tuple[Waiting, ...]:
    topics = with_since(Topic.objects.behind().filter(study__in=studies)).select_related(
        "study", "sentence_set__progress", "sentence_set__tally"
    )
    retries = dict(Claim.objects.filter(attempts__gt=0).values_list("name", "retry_at"))
    waiting = []
    for topic in topics.order_by("study_id", "position"):
        progress = getattr(topic.sentence_set, "progress", None)
        waiting.append(
            Waiting(
                topic=topic,
                is_cut=topic.is_cut,
                since=topic.since,  # type: ignore[attr-defined]  # annotated by the query
                problem=progress.problem if progress else "",
                retry_at=retries.get(f"topic:{topic.pk}"),
            )
        )
    return tuple(waiting)


def _failing(studies: QuerySet[Study]) -> tuple[Claim, ...]:
    claims = Claim.objects.filter(study__in=studies.values("pk"), attempts__gte=IN_A_ROW).order_by("name")
    return tuple(claim for claim in claims if claim.name.partition(":")[0] not in TOLD_ELSEWHERE)


def _busy(studies: QuerySet[Study], now: datetime) -> tuple[Busy, ...]:
    busy = []
    for claim in Claim.objects.filter(until__gt=now).order_by("since"):
        task, _, key = claim.name.partition(":")
        is_topic = task in ("topic", "curve", "examination")
        busy.append(
            Busy(
                task=task,
                since=claim.since,
                topic=Topic.objects.filter(study__in=studies, pk=key).first() if is_topic else None,
                study=studies.filter(pk=claim.study).first(),
                upload=Upload.objects.filter(study__in=studies, pk=key).first() if task == "upload" else None,
            )
        )
    return tuple(busy)
