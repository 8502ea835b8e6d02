"""What is behind and may be worked on now, read from the tables alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from annotate.health import topics_behind
from annotate.models import Claim, Export, Fit, Preview, Study, Topic, Upload
from evaluation.records.examination import is_rested, studies_unexamined, topics_unexamined
from evaluation.records.people import studies_unreported
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


def find_work() -> list[Work]:
    """Everything that is behind, due and claimed by nobody, in the order in which it shall be done.

    First what somebody waits for, then the topics that were tried longest ago.
    """
    now = timezone.now()
    claimed = set(Claim.objects.filter(until__gt=now).values_list("name", flat=True))
    topics = _topics(now)
    found = [
        *_uploads(),
        *_exports(),
        *_previews(),
        *topics[:TURN],
        *_studies(),
        *topics[TURN:],
        *_people(),
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


def _topics(now: datetime) -> list[Work]:
    columns = ("text_version", "progress__prepared_version", "progress__fitted_version", "progress__tried_at")
    behind = topics_behind().filter(_due(now)).order_by(F("progress__tried_at").asc(nulls_first=True), "pk")
    return [
        Work("refit_topic" if (mark[1] or 0) >= mark[0] else "prepare_topic", pk, f"topic:{pk}", tuple(mark))
        for pk, *mark in behind.values_list("pk", *columns)
    ]


def _due(now: datetime) -> Q:
    """Never failed, has waited long enough (or longer than anybody waits: the clock was set back), or has new data."""
    return (
        Q(progress__retry_at__isnull=True)
        | Q(progress__retry_at__lte=now)
        | Q(progress__retry_at__gt=now + PAUSES[-1])
        | Q(progress__tries__lte=HOPEFUL, progress__tried_version__lt=F("tally__data_version"))
    )


def _studies() -> list[Work]:
    fits = Fit.objects.filter(topic__study=OuterRef("pk"))
    studies = (
        Study.objects.annotate(version=Sum("topics__progress__fitted_version"))
        .filter(Exists(fits), Q(ranking__isnull=True) | Q(ranking__version__lt=F("version")))
        .order_by("pk")
    )
    return [Work("rank_study", pk, f"study:{pk}", (version,)) for pk, version in studies.values_list("pk", "version")]


def _uploads() -> list[Work]:
    tasks = {str(Upload.State.WAITING): "read_upload", str(Upload.State.CONFIRMED): "store_upload"}
    uploads = Upload.objects.filter(state__in=tasks).order_by("pk").values_list("pk", "state", "tries")
    return [Work(tasks[state], pk, f"upload:{pk}", (state, tries)) for pk, state, tries in uploads]


def _exports() -> list[Work]:
    exports = Export.objects.filter(state=Export.State.WAITING).order_by("pk").values_list("pk", "tries")
    return [Work("write_export", pk, f"export:{pk}", (tries,)) for pk, tries in exports]


def _people() -> list[Work]:
    """Last, and only one at a time for each study: figures about people can wait."""
    studies = studies_unreported().order_by("pk").values_list("pk", "agreement__version", "agreement__computed_at")
    return [Work("report_people", pk, f"people:{pk}", tuple(mark)) for pk, *mark in studies]


def _curves() -> list[Work]:
    owed = curves_owed().order_by("pk").values_list("topic_id", "data_version")
    return [Work("draw_curve", topic_id, f"topic:{topic_id}", (version,)) for topic_id, version in owed]


def _previews() -> list[Work]:
    """Somebody waits for these; each goes on where it stopped."""
    previews = Preview.objects.filter(state=Preview.State.WAITING).order_by("pk").values_list("pk", "done", "tries")
    return [Work("work_out_preview", pk, f"preview:{pk}", tuple(mark)) for pk, *mark in previews]


def _examinations(now: datetime) -> list[Work]:
    """Last of all, and none while a topic waits for scores."""
    if topics_behind().exclude(progress__problem__gt="").exists():
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
