"""What people answered, on its way to the figures about them, and the figures on their way into the tables."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotate.models import AgreementReport, Annotator, AnnotatorReport, Assignment, Judgment, Study
from annotate.snapshot import snapshot
from evaluation.consensus import Agreement, Disputed, Said, Table
from evaluation.evidence import Judgments
from evaluation.people import Answers, Person
from evaluation.records.evidence import SHARE_OF_LEFT

BATCH = 500
#: No study's people are looked at more often than this.
PAUSE = timedelta(seconds=10)
#: And not before so long has passed for each of their judgments: a look takes a twentieth of that.
PAUSE_EACH = timedelta(milliseconds=2.5)


@dataclass(frozen=True, slots=True)
class People:
    """Everything that a study's people answered, at one version; keys of rows by the numbers that stand for them."""

    study_id: int
    version: int
    weighed: bool
    annotators: tuple[int, ...]
    topics: tuple[int, ...]
    pairs: tuple[int, ...]
    answers: tuple[Answers, ...]
    said: Said


def studies_unreported() -> QuerySet[Study]:
    """The studies with people whose figures are behind, if the last ones are not too fresh. Adds `version`."""
    now = timezone.now()
    old = Q(agreement__computed_at__lte=now - PAUSE) | Q(agreement__computed_at__gt=now + PAUSE)
    somebody = Exists(Annotator.objects.filter(study=OuterRef("pk"), judged__gt=0))
    reported = Exists(AgreementReport.objects.filter(study=OuterRef("pk"), version__gt=0))
    return (
        Study.objects.annotate(version=Sum("topics__tally__data_version"))
        .filter(somebody | reported, version__gt=0)
        .filter(Q(agreement__isnull=True) | (Q(agreement__version__lt=F("version")) & old))
        .order_by("pk")
    )


def is_report_due(version: int, computed_at: datetime | None, now: datetime) -> bool:
    """Whether a study with so many judgments was left alone for long enough; or the clock was set back since."""
    return computed_at is None or not now - version * PAUSE_EACH < computed_at <= now


def load_people(study_id: int, also: Collection[int] = ()) -> People | None:
    """What people answered, as it was at one moment; None where the study is gone.

    Annotators `also` are counted though they are excluded.
    """
    with snapshot():
        study = Study.objects.filter(pk=study_id).annotate(version=Sum("topics__tally__data_version")).first()
        return None if study is None else _load(study, study.version or 0, also)


def _load(study: Study, version: int, also: Collection[int]) -> People:
    annotators = tuple(Annotator.objects.filter(study=study).order_by("pk").values_list("pk", flat=True))
    rows = list(
        Judgment.objects.filter(
            assignment__topic__study=study,
            assignment__state=Assignment.State.JUDGED,
            revision=F("assignment__revision"),
        )
        .exclude(answer=Judgment.Answer.UNDONE)
        .exclude(assignment__reason=Assignment.Reason.TRAINING)
        .order_by("pk")
        .values_list(
            "topic_id",
            "answer",
            "seconds",
            "assignment__swapped",
            "assignment__pair_id",
            "assignment__pair__first_id",
            "assignment__pair__second_id",
            "assignment__annotator_id",
            "assignment__holds_place",
            "assignment__annotator__excluded_at",
            "assignment__occasion",
            "assignment__expected",
            Length("assignment__pair__first__text") + Length("assignment__pair__second__text"),
        )
    )
    topic_keys, topic = _numbered([row[0] for row in rows])
    pair_keys, pair = _numbered([row[4] for row in rows])
    person = np.searchsorted(np.array(annotators, dtype=np.int64), np.array([row[7] for row in rows], dtype=np.int64))
    swapped = np.array([row[3] for row in rows], dtype=np.bool_)
    first = np.array([row[5] for row in rows], dtype=np.int64)
    second = np.array([row[6] for row in rows], dtype=np.int64)
    outcome = np.array([SHARE_OF_LEFT[row[1]] for row in rows], dtype=np.float64)
    seconds = np.array([math.nan if row[2] is None else row[2] for row in rows], dtype=np.float64)
    counted = np.array([row[8] and (row[9] is None or row[7] in also) for row in rows], dtype=np.bool_)
    repeat = np.array([row[10] > 0 for row in rows], dtype=np.bool_)
    expected = [SHARE_OF_LEFT[row[11]] if row[11] else math.nan for row in rows]
    known = np.array(expected, dtype=np.float64)
    # Where a study names no speed, nobody reads too fast.
    least = np.array([row[12] / study.reading_speed if study.reading_speed else 0.0 for row in rows], dtype=np.float64)
    left, right = np.where(swapped, second, first), np.where(swapped, first, second)
    counted &= ~repeat

    def answers(number: int) -> Answers:
        at = np.flatnonzero(topic == number)
        sentences = np.unique(np.concatenate([left[at], right[at]]))
        judgments = Judgments(
            a=np.searchsorted(sentences, left[at]),
            b=np.searchsorted(sentences, right[at]),
            outcome=outcome[at],
            weight=np.ones(len(at)),
            annotator=person[at],
        )
        return Answers(judgments, seconds[at], least[at], counted[at], repeat[at], known[at], at)

    said = Said(pair, np.where(swapped, 1 - outcome, outcome), person, topic)
    return People(
        study_id=study.pk,
        version=version,
        weighed=study.weigh_annotators,
        annotators=annotators,
        topics=topic_keys,
        pairs=pair_keys,
        answers=tuple(answers(number) for number in range(len(topic_keys))),
        said=said.only(counted),
    )


def _numbered(keys: Sequence[int]) -> tuple[tuple[int, ...], np.ndarray[Any, np.dtype[np.int64]]]:
    found, number = np.unique(np.array(keys, dtype=np.int64), return_inverse=True)
    return tuple(found.tolist()), number.astype(np.int64)


@transaction.atomic
def save_people(
    loaded: People,
    people: Sequence[Person],
    whole: Agreement,
    by_topic: Mapping[int, Agreement],
    over_time: Sequence[tuple[int, float]],
    table: Table,
    disputed: Sequence[Disputed],
) -> bool:
    """Publish the figures; False where newer ones are there, or the study is gone."""
    study = Study.objects.filter(pk=loaded.study_id).first()
    if study is None:
        return False
    now = timezone.now()
    AgreementReport.objects.bulk_create([AgreementReport(study=study, computed_at=now)], ignore_conflicts=True)
    figures = {
        "study": _plain(whole),
        "topics": [{"topic": loaded.topics[number], **_plain(one)} for number, one in by_topic.items()],
        "time": [{"judgments": judgments, "alpha": _number(alpha)} for judgments, alpha in over_time],
        "table": {
            "annotators": [loaded.annotators[number] for number in table.people.tolist()],
            "shared": table.shared.tolist(),
            "alike": table.alike.tolist(),
        },
        "disputed": [_plain(one) | {"pair": loaded.pairs[one.pair]} for one in disputed],
    }
    ours = AgreementReport.objects.filter(study=study, version__lt=loaded.version)
    if not ours.update(version=loaded.version, figures=figures, problem="", computed_at=now):
        return False
    there = set(Annotator.objects.filter(study=study).values_list("pk", flat=True))
    AnnotatorReport.objects.bulk_create(
        [
            AnnotatorReport(
                annotator_id=key,
                version=loaded.version,
                figures={name: _plain(figure) for name, figure in person.figures.items()},
                flags=list(person.flags),
                weight=min(max(person.reliability, 0.0), 1.0) if loaded.weighed else None,
                computed_at=now,
            )
            for key, person in zip(loaded.annotators, people, strict=True)
            if key in there
        ],
        BATCH,
        update_conflicts=True,
        unique_fields=["annotator"],
        update_fields=["version", "figures", "flags", "weight", "computed_at"],
    )
    return True


def note_people_failure(study_id: int, problem: str) -> None:
    """Say why the figures could not be worked out; those that are there stay."""
    if Study.objects.filter(pk=study_id).exists():
        now = timezone.now()
        AgreementReport.objects.bulk_create(
            [AgreementReport(study_id=study_id, computed_at=now)], ignore_conflicts=True
        )
        AgreementReport.objects.filter(study=study_id).update(problem=problem, computed_at=now)


def _plain(value: Any) -> dict[str, Any]:
    """A result as JSON keeps it: what cannot be told is null."""
    return {name: _cleaned(one) for name, one in dataclasses.asdict(value).items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cleaned(one) for name, one in value.items()}
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
