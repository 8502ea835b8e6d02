"""Load annotators' answers, and save the figures about annotators."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone
from numpy.typing import NDArray

from annotate import webhooks
from annotate.database.snapshot import snapshot
from annotate.models import Annotator, AnnotatorReport, Assignment, ItemSet, Judgment, Study
from annotate.models.analysis import of_head
from annotate.models.study import sum_of_topics
from annotate.reports.annotators import Answered, count_answers
from evaluation.records.derived import publish
from preferendum.annotators.agreement import PairJudgments
from preferendum.annotators.answers import Answers
from preferendum.evidence import Judgments
from preferendum.formats.answers import SHARES
from preferendum.results import AnnotatorFigures, StudyAgreement, to_json

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

BATCH = 500


@dataclass(frozen=True, slots=True)
class Crowd:
    """The answers of a study's annotators of one kind; `annotators`, `topics`, `pairs`: row keys by number.

    `of_summaries`: of each topic, whether it is of summaries.
    """

    kind: str
    annotators: tuple[int, ...]
    topics: tuple[int, ...]
    of_summaries: tuple[bool, ...]
    pairs: tuple[int, ...]
    answers: tuple[Answers, ...]
    judgments: PairJudgments

    def numbers(self, annotators: Collection[int]) -> list[int]:
        """The numbers of these annotators."""
        return [number for number, key in enumerate(self.annotators) if key in annotators]


@dataclass(frozen=True, slots=True)
class StudyAnswers:
    """All answers in a study, at one version, by kind of annotators, the leading kind first."""

    study_id: int
    version: int
    weighed: bool
    crowds: tuple[Crowd, ...]

    @property
    def leading(self) -> Crowd:
        """The annotators among whom the study's agreement is computed."""
        return self.crowds[0]

    def judgments_of(self, kind: str) -> PairJudgments:
        """The judgments of one kind that would count if it did; none without annotators of that kind."""
        none = self.leading.judgments.only(slice(0))
        return next((crowd.judgments for crowd in self.crowds if crowd.kind == kind), none)


def studies_unreported() -> QuerySet[Study]:
    """Studies whose figures about annotators are out of date. Adds the `wanted` version."""
    has_judged = Exists(Annotator.objects.lasting().filter(study=OuterRef("pk"), judged__gt=0))
    studies = Study.objects.annotate(wanted=sum_of_topics("tally__data_version"), done=of_head("annotators"))
    return studies.filter(has_judged | Q(done__gt=0), wanted__gt=F("done"))


def load_answers(study_id: int, also: Collection[int] = ()) -> StudyAnswers | None:
    """The answers of a study's annotators at one moment; None if the study is gone.

    Annotators `also` count although they are excluded.
    """
    with snapshot():
        study = Study.objects.filter(pk=study_id).annotate(version=sum_of_topics("tally__data_version")).first()
        return None if study is None else _load(study, study.version or 0, also)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Standing judgments in the order of their arrival, as columns (m,).

    Topics, pairs and annotators are numbered; `left` and `right` are keys of sentences; `least`: the seconds needed to
    read them; `longer`: the share of the left one if the longer is preferred.
    """

    topic: Numbers
    pair: Numbers
    annotator: Numbers
    left: Numbers
    right: Numbers
    swapped: Flags
    outcome: Vector
    seconds: Vector
    least: Vector
    counted: Flags
    repeat: Flags
    says_on_what: Flags
    expected: Vector
    sided: Flags
    longer: Vector

    def in_topic(self, number: int) -> Answers:
        """The answers in one topic."""
        at = np.flatnonzero(self.topic == number)
        left, right = self.left[at], self.right[at]
        sentences = np.unique(np.concatenate([left, right]))
        judgments = Judgments(
            a=np.searchsorted(sentences, left),
            b=np.searchsorted(sentences, right),
            outcome=self.outcome[at],
            weight=np.ones(len(at)),
            annotator=self.annotator[at],
        )
        return Answers(
            judgments,
            seconds=self.seconds[at],
            least=self.least[at],
            counted=self.counted[at],
            repeat=self.repeat[at],
            expected=self.expected[at],
            sided=self.sided[at],
            longer=self.longer[at],
            time=at,
        )

    def of_pairs(self) -> PairJudgments:
        """The judgments that count, by which sentence of the pair was preferred, on whichever side it was shown."""
        value = np.where(self.swapped, 1 - self.outcome, self.outcome)
        return PairJudgments(self.pair, value, self.annotator, self.topic).only(self.counted & self.says_on_what)


def _load(study: Study, version: int, also: Collection[int]) -> StudyAnswers:
    present = set(Annotator.objects.arrived().filter(study=study).order_by().values_list("kind", flat=True).distinct())
    kinds = (study.leading_kind, *sorted(present - {study.leading_kind}))
    crowds = tuple(_load_crowd(study, kind, also) for kind in kinds)
    return StudyAnswers(study_id=study.pk, version=version, weighed=study.weigh_annotators, crowds=crowds)


def _load_crowd(study: Study, kind: str, also: Collection[int]) -> Crowd:
    of_kind = Annotator.objects.arrived().filter(study=study, kind=kind)
    annotators = tuple(of_kind.order_by("pk").values_list("pk", flat=True))
    columns = _columns(study, kind)
    topics, topic = _numbered(columns["item_set_id"])
    pairs, pair = _numbered(columns["assignment__pair_id"])
    rows = _rows(study, columns, also, topic=topic, pair=pair, annotators=annotators)
    about_summaries = set(ItemSet.objects.filter(study=study, of="summaries").values_list("pk", flat=True))
    return Crowd(
        kind=kind,
        annotators=annotators,
        topics=topics,
        of_summaries=tuple(key in about_summaries for key in topics),
        pairs=pairs,
        answers=tuple(rows.in_topic(number) for number in range(len(topics))),
        judgments=rows.of_pairs(),
    )


COLUMNS = (
    *("item_set_id", "answer", "seconds", "assignment__item_set__topic__name"),
    *("assignment__pair_id", "assignment__pair__first_id", "assignment__pair__second_id", "assignment__swapped"),
    *("assignment__reason", "assignment__holds_place", "assignment__occasion", "assignment__expected"),
    *("assignment__annotator_id", "assignment__annotator__excluded_at", "assignment__annotator__is_unnamed"),
)


def _columns(study: Study, kind: str) -> dict[str, Sequence[Any]]:
    """The standing judgments of a kind, without practice: `COLUMNS`, and the lengths of both texts."""
    standing = (
        Judgment.objects.standing()
        .filter(assignment__item_set__study=study, assignment__annotator__kind=kind)
        .exclude(assignment__reason=Assignment.Reason.TRAINING)
    )
    lengths = [Length(f"assignment__pair__{text}__text") for text in ("first", "second")]
    rows = list(standing.order_by("pk").values_list(*COLUMNS, *lengths))
    names = (*COLUMNS, "first_length", "second_length")
    return dict(zip(names, zip(*rows, strict=True) if rows else ((),) * len(names), strict=True))


def _rows(
    study: Study,
    columns: Mapping[str, Sequence[Any]],
    also: Collection[int],
    *,
    topic: Numbers,
    pair: Numbers,
    annotators: Sequence[int],
) -> _Rows:
    keys = columns["assignment__annotator_id"]
    swapped = np.array(columns["assignment__swapped"], dtype=np.bool_)
    first = np.array(columns["assignment__pair__first_id"], dtype=np.int64)
    second = np.array(columns["assignment__pair__second_id"], dtype=np.int64)
    # Two answers about the same two systems that do not say on what are no two about the same texts.
    says_on_what = np.array([name != "" for name in columns["assignment__item_set__topic__name"]], dtype=np.bool_)
    again = (np.array(columns["assignment__occasion"], dtype=np.int64) > 0) & says_on_what
    # Nor are two that nobody signed answers of one annotator.
    repeat = again & ~np.array(columns["assignment__annotator__is_unnamed"], dtype=np.bool_)
    is_excluded = [at is not None for at in columns["assignment__annotator__excluded_at"]]
    is_out = np.array(is_excluded, dtype=np.bool_) & ~np.isin(keys, list(also))
    counted = np.array(columns["assignment__holds_place"], dtype=np.bool_) & ~is_out & ~again
    expected = columns["assignment__expected"]
    lengths = [np.array(columns[name], dtype=np.float64) for name in ("first_length", "second_length")]
    ahead = np.where(swapped, -1, 1) * np.sign(lengths[0] - lengths[1])
    return _Rows(
        topic=topic,
        pair=pair,
        annotator=np.searchsorted(np.array(annotators, dtype=np.int64), np.array(keys, dtype=np.int64)),
        left=np.where(swapped, second, first),
        right=np.where(swapped, first, second),
        swapped=swapped,
        outcome=np.array([SHARES[answer] for answer in columns["answer"]], dtype=np.float64),
        seconds=np.array(columns["seconds"], dtype=np.float64),
        # If the study sets no reading speed, nobody reads too fast.
        least=(lengths[0] + lengths[1]) / (study.reading_speed or math.inf),
        counted=counted,
        repeat=repeat,
        says_on_what=says_on_what,
        expected=np.array([SHARES[side] if side else math.nan for side in expected], dtype=np.float64),
        sided=np.array(columns["assignment__reason"], dtype=np.str_) != Assignment.Reason.IMPORTED,
        longer=np.where(ahead == 0, math.nan, (ahead + 1) / 2),
    )


def _numbered(keys: Sequence[int]) -> tuple[tuple[int, ...], Numbers]:
    names, number = np.unique(np.array(keys, dtype=np.int64), return_inverse=True)
    return tuple(names.tolist()), number.astype(np.int64)


def save_annotators(
    loaded: StudyAnswers, figures: Sequence[Sequence[AnnotatorFigures]], agreement: StudyAgreement
) -> bool:
    """Publish the figures of each crowd's annotators; False if these or newer ones exist, or the study is gone."""
    whole = _with_keys(agreement, loaded.leading)
    # Counted later than loaded: where that differs the study has a newer version, and nobody uses it.
    answered = count_answers([key for crowd in loaded.crowds for key in crowd.annotators])
    with transaction.atomic():
        if not publish(loaded.study_id, "annotators", loaded.version, {(): whole}):
            return False
        webhooks.conclude_agreement(loaded.study_id, whole.study)
        now = timezone.now()
        for crowd, own in zip(loaded.crowds, figures, strict=True):
            _save_figures(loaded, dict(zip(crowd.annotators, own, strict=True)), answered, now)
    return True


def _with_keys(agreement: StudyAgreement, crowd: Crowd) -> StudyAgreement:
    """The agreement with row keys in place of numbers."""
    annotators = tuple(crowd.annotators[number] for number in agreement.table.annotators)
    return replace(
        agreement,
        topics=tuple(replace(topic, topic=crowd.topics[topic.topic]) for topic in agreement.topics),
        table=replace(agreement.table, annotators=annotators),
        disputed=tuple(replace(pair, pair=crowd.pairs[pair.pair]) for pair in agreement.disputed),
    )


def _save_figures(
    loaded: StudyAnswers, figures: Mapping[int, AnnotatorFigures], answered: Mapping[int, Answered], now: datetime
) -> None:
    still_here = set(Annotator.objects.filter(study=loaded.study_id).values_list("pk", flat=True))
    AnnotatorReport.objects.bulk_create(
        [
            AnnotatorReport(
                annotator_id=key,
                version=loaded.version,
                figures=to_json(record.figures),
                flags=to_json(record.flags),
                weight=_weight(record) if loaded.weighed else None,
                answered=to_json(answered[key]),
                computed_at=now,
            )
            for key, record in figures.items()
            if key in still_here
        ],
        BATCH,
        update_conflicts=True,
        unique_fields=["annotator"],
        update_fields=["version", "figures", "flags", "weight", "answered", "computed_at"],
    )


def _weight(annotator: AnnotatorFigures) -> float:
    return min(max(annotator.figures["reliability"].value or 0.0, 0.0), 1.0)
