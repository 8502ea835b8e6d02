"""What is behind and may be worked on now, read from the tables alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotate.health import topics_behind
from annotate.models import Claim, Export, Fit, Preview, Study, Topic, Upload
from annotate.prepared import Prepared
from evaluation.records.claims import LASTING
from evaluation.records.examination import is_rested, studies_unexamined, topics_unexamined
from evaluation.records.people import is_report_due, studies_unreported
from evaluation.records.tries import HOPEFUL, PAUSES

#: What of a row changes when a try at it has come to an end.
Mark = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """A task to be done: its name, the key of its row, and the name under which whoever does it claims it."""

    task: str
    key: int
    claim: str
    mark: Mark


#: After how many topics the studies have their turn: where more are always behind, none would ever be ranked.
TURN = 16


#: One that lasts longer than claims ever do was made, or given back, before the clock was set back: nobody has it.
_claimed = Prepared(lambda now, latest: Claim.objects.filter(until__gt=now, until__lte=latest).values_list("name"))


def find_work() -> list[Work]:
    """Everything that is behind, due and claimed by nobody, in the order in which it shall be done.

    First what somebody waits for, then the topics that were tried longest ago.
    """
    now = timezone.now()
    claimed = {name for (name,) in _claimed(now, now + LASTING)}
    topics = _topics(now)
    found = [
        *_uploads(),
        *_exports(),
        *_previews(),
        *topics[:TURN],
        *_studies(),
        *topics[TURN:],
        *_people(now),
        *_curves(),
        *_examinations(now),
    ]
    return [work for work in found if work.claim not in claimed]


def topics_uncut() -> QuerySet[Topic]:
    """The topics whose texts are not cut as they stand now."""
    return Topic.objects.filter(Q(progress__isnull=True) | Q(progress__prepared_version__lt=F("text_version")))


def curves_owed() -> QuerySet[Fit]:
    """Newest fits whose curve has gaps; none while a topic waits that has not failed."""
    owed = Fit.objects.filter(curve_owed=True, data_version=F("topic__progress__fitted_version"))
    return owed.filter(~Exists(topics_behind().exclude(progress__problem__gt="")))


_behind = Prepared(lambda topic: topics_behind().filter(pk=topic).order_by().values_list("pk"))
_owed = Prepared(lambda topic: curves_owed().filter(topic=topic).values_list("pk"))


def is_behind(topic_id: int) -> bool:
    """Whether the topic is not cut or not scored as it stands now."""
    return bool(_behind(topic_id))


def is_curve_owed(topic_id: int) -> bool:
    """Whether the topic's curve has gaps that may be filled now."""
    return bool(_owed(topic_id))


def _due(now: Any, latest: Any) -> Q:
    """Never failed, has waited long enough (or longer than anybody waits: the clock was set back), or has new data."""
    return (
        Q(progress__retry_at__isnull=True)
        | Q(progress__retry_at__lte=now)
        | Q(progress__retry_at__gt=latest)
        | Q(progress__tries__lte=HOPEFUL, progress__tried_version__lt=F("tally__data_version"))
    )


_topics_due = Prepared(
    lambda now, latest: (
        topics_behind()
        .filter(_due(now, latest))
        .order_by(F("progress__tried_at").asc(nulls_first=True), "pk")
        .values_list(
            "pk", "text_version", "progress__prepared_version", "progress__fitted_version", "progress__tried_at"
        )
    )
)


def _topics(now: datetime) -> list[Work]:
    return [
        Work("refit_topic" if (mark[1] or 0) >= mark[0] else "prepare_topic", pk, f"topic:{pk}", tuple(mark))
        for pk, *mark in _topics_due(now, now + PAUSES[-1])
    ]


def _fits_to_come(study: Any) -> QuerySet[Topic]:
    """Topics that are about to be fitted. Whoever judges without a pause has one waiting whenever somebody looks: their
    systems are put in order as soon as the topics before them in this queue are done, not a beat later."""
    return topics_behind().filter(study=study, progress__problem="")


_unranked = Prepared(
    lambda: (
        Study.objects.annotate(version=Sum("topics__progress__fitted_version"))
        .filter(
            Exists(Fit.objects.filter(topic__study=OuterRef("pk"))),
            Q(ranking__isnull=True) | Q(ranking__version__lt=F("version")) | Exists(_fits_to_come(OuterRef("pk"))),
        )
        .order_by("pk")
        .values_list("pk", "version")
    )
)


def _studies() -> list[Work]:
    return [Work("rank_study", pk, f"study:{pk}", (version,)) for pk, version in _unranked()]


_UPLOADS = {str(Upload.State.WAITING): "read_upload", str(Upload.State.CONFIRMED): "store_upload"}
_files_brought = Prepared(
    lambda: Upload.objects.filter(state__in=_UPLOADS).order_by("pk").values_list("pk", "state", "tries")
)
_files_wanted = Prepared(
    lambda: Export.objects.filter(state=Export.State.WAITING).order_by("pk").values_list("pk", "tries")
)


def _uploads() -> list[Work]:
    return [Work(_UPLOADS[state], pk, f"upload:{pk}", (state, tries)) for pk, state, tries in _files_brought()]


def _exports() -> list[Work]:
    return [Work("write_export", pk, f"export:{pk}", (tries,)) for pk, tries in _files_wanted()]


def _people(now: datetime) -> list[Work]:
    """Last, and only one at a time for each study: figures about people can wait."""
    columns = ("pk", "version", "agreement__version", "agreement__computed_at")
    return [
        Work("report_people", pk, f"people:{pk}", (reported, at))
        for pk, version, reported, at in studies_unreported().values_list(*columns)
        if is_report_due(version, at, now)
    ]


_curves_owed = Prepared(lambda: curves_owed().order_by("pk").values_list("topic_id", "data_version"))


def _curves() -> list[Work]:
    return [Work("draw_curve", topic_id, f"topic:{topic_id}", (version,)) for topic_id, version in _curves_owed()]


_previews_waiting = Prepared(
    lambda: Preview.objects.filter(state=Preview.State.WAITING).order_by("pk").values_list("pk", "done", "tries")
)


def _previews() -> list[Work]:
    """Somebody waits for these; each goes on where it stopped."""
    return [Work("work_out_preview", pk, f"preview:{pk}", tuple(mark)) for pk, *mark in _previews_waiting()]


_waiting_for_scores = Prepared(
    lambda: topics_behind().exclude(progress__problem__gt="").order_by().values_list("pk")[:1]
)


def _examinations(now: datetime) -> list[Work]:
    """Last of all, and none while a topic waits for scores."""
    if _waiting_for_scores():
        return []
    columns = ("pk", "progress__fitted_version", "examination__seconds", "examination__computed_at")
    topics = [
        Work("examine_topic", pk, f"examination:{pk}", (version,))
        for pk, version, seconds, at in topics_unexamined(now).order_by("pk").values_list(*columns)
        if is_rested(seconds, at, now)
    ]
    if topics:
        return topics
    studies = studies_unexamined().order_by("pk").values_list("pk", "examination__version")
    return [Work("examine_study", pk, f"robustness:{pk}", (version,)) for pk, version in studies]
