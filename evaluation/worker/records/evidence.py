"""A topic's judgments and texts as evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from annotate.database.snapshot import snapshot
from annotate.models import Annotator, Assignment, Judgment, Sentence, Study, Summary, Topic
from evaluation.evidence import Evidence, Judgments, Settings, SummaryText

#: (text, language) -> its sentences
Split = Callable[[str, str], Sequence[str]]

# By what stands in the table: a member of an enumeration is not found under its value.
SHARE_OF_LEFT = {Judgment.Answer.LEFT.value: 1.0, Judgment.Answer.RIGHT.value: 0.0, Judgment.Answer.TIE.value: 0.5}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A topic as it was when its data had this version, and which rows its sentences and summaries are.

    `sentence_keys`: primary keys in the order of `evidence.sentences`; `summary_keys`: in that of `evidence.summaries`;
    `annotator_keys`: in that of the annotators' numbers. `leading`: the kind of annotators among whom influence is
    worked out.
    """

    topic_id: int
    study_id: int
    data_version: int
    cut_version: int
    evidence: Evidence
    settings: Settings
    seed: int
    sentence_keys: tuple[int, ...]
    summary_keys: tuple[int, ...]
    annotator_keys: tuple[int, ...]
    last_judgment_id: int
    random_share: float = 1.0
    leading: str = "human"
    counted_kinds: str = "people"


def load_evidence(
    topic_id: int, split: Split, but: Collection[int] = (), also: Collection[int] = (), kind: str = ""
) -> Snapshot | None:
    """What a fit of the topic rests on, without its references; None where the topic is gone or not prepared.

    The annotators `but` are left out, and those `also` taken in though they are excluded; where a `kind` of annotators
    is named, it alone counts. Everything is read as it was at one moment, and no transaction is open any more when the
    mathematics begins.
    """
    with snapshot():
        return _load(topic_id, split, but, Judgment.objects.counted(also, kind))


def _load(topic_id: int, split: Split, but: Collection[int], counted: QuerySet[Judgment]) -> Snapshot | None:
    rows = Topic.objects.select_related("study", "tally")
    topic = rows.filter(pk=topic_id, tally__isnull=False, cut_version__gt=0).first()
    if topic is None:
        return None
    study, language = topic.study, topic.language or topic.study.language
    in_order = Sentence.objects.filter(topic=topic).order_by("position")
    sentences = list(in_order.values_list("pk", "document__name", "index", "text"))
    keys = tuple(pk for pk, *_ in sentences)
    of_topic = counted.filter(assignment__topic=topic_id)
    judgments, annotators, last = _judgments(of_topic, {pk: index for index, pk in enumerate(keys)}, but)
    kinds = dict(Annotator.objects.filter(pk__in=annotators).values_list("pk", "kind"))
    by_system = Summary.objects.filter(topic=topic).order_by("system__name")
    summaries = list(by_system.values_list("pk", "system__name", "text", "sentences"))
    evidence = Evidence(
        topic_id=topic.name,
        sentence_ids=tuple(f"{document}:{index}" for _, document, index, _ in sentences),
        sentences=tuple(text for *_, text in sentences),
        judgments=judgments,
        summaries=tuple(
            SummaryText(system, tuple(cut if cut is not None else split(text, language)))
            for _, system, text, cut in summaries
        ),
        language=language,
        kinds=tuple(kinds[key] for key in annotators),
    )
    return Snapshot(
        topic_id=topic_id,
        study_id=study.pk,
        data_version=topic.tally.data_version,
        cut_version=topic.cut_version,
        evidence=evidence,
        settings=settings_of(study),
        seed=study.seed,
        sentence_keys=keys,
        summary_keys=tuple(pk for pk, *_ in summaries),
        annotator_keys=annotators,
        last_judgment_id=last,
        random_share=study.random_share,
        leading=study.leading_kind,
        counted_kinds=study.counted_kinds,
    )


COLUMNS = (
    "pk",
    "answer",
    "assignment__swapped",
    "assignment__pair__first_id",
    "assignment__pair__second_id",
    "assignment__annotator_id",
    "assignment__reason",
)


def _judgments(
    counted: QuerySet[Judgment], index: dict[int, int], but: Collection[int]
) -> tuple[Judgments, tuple[int, ...], int]:
    """The judgments that count, in the order in which they were stored; who gave them; the primary key of the last."""
    if but:
        counted = counted.exclude(assignment__annotator__in=list(but))
    rows = list(counted.values_list(*COLUMNS))
    keys, answers, swapped, firsts, seconds, annotators, reasons = zip(*rows, strict=True) if rows else ((),) * 7
    first = np.array([index[key] for key in firsts], dtype=np.int64)
    second = np.array([index[key] for key in seconds], dtype=np.int64)
    turned = np.array(swapped, dtype=np.bool_)
    keys_of_annotators, numbers = np.unique(np.array(annotators, dtype=np.int64), return_inverse=True)
    judgments = Judgments(
        a=np.where(turned, second, first),
        b=np.where(turned, first, second),
        outcome=np.array([SHARE_OF_LEFT[answer] for answer in answers], dtype=np.float64),
        weight=np.ones(len(rows)),
        annotator=numbers.astype(np.int64),
        chosen=np.array([reason == Assignment.Reason.SUGGESTED for reason in reasons], dtype=np.bool_),
    )
    return judgments, tuple(keys_of_annotators.tolist()), keys[-1] if keys else 0


def settings_of(study: Study) -> Settings:
    """How this study's judgments become its recommended scores."""
    return Settings(**study.recommended_settings)
