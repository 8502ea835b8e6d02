"""A topic's judgments and texts as evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from annotate import judging
from annotate.models import Judgment, Sentence, Study, Summary, Tally, Topic, TopicProgress
from annotate.snapshot import snapshot
from evaluation.evidence import Evidence, Judgments, Match, Normalization, Settings, Smoothing, SummaryText, Value

#: (text, language) -> its sentences
Split = Callable[[str, str], Sequence[str]]

_SHARE_OF_LEFT = {Judgment.Answer.LEFT: 1.0, Judgment.Answer.RIGHT: 0.0, Judgment.Answer.TIE: 0.5}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A topic as it was when its data had this version, and which rows its sentences and summaries are.

    `sentence_keys`: primary keys in the order of `evidence.sentences`; `summary_keys`: in that of `evidence.summaries`;
    `annotator_keys`: in that of the annotators' numbers.
    """

    topic_id: int
    study_id: int
    data_version: int
    prepared_version: int
    evidence: Evidence
    settings: Settings
    seed: int
    sentence_keys: tuple[int, ...]
    summary_keys: tuple[int, ...]
    annotator_keys: tuple[int, ...]
    last_judgment_id: int
    random_share: float = 1.0


def load_evidence(
    topic_id: int, split: Split, but: Collection[int] = (), also: Collection[int] = ()
) -> Snapshot | None:
    """What a fit of the topic rests on, without its references; None where the topic is gone or not prepared.

    The annotators `but` are left out, and those `also` taken in though they are excluded. Everything is read as it was
    at one moment, and no transaction is open any more when the mathematics begins.
    """
    with snapshot():
        return _load(topic_id, split, but, also)


def _load(topic_id: int, split: Split, but: Collection[int], also: Collection[int]) -> Snapshot | None:
    tally = Tally.objects.filter(topic=topic_id).first()
    progress = TopicProgress.objects.filter(topic=topic_id, prepared_version__gt=0).first()
    topic = Topic.objects.select_related("study").filter(pk=topic_id).first()
    if tally is None or progress is None or topic is None:
        return None
    language = topic.language or topic.study.language
    sentences = list(
        Sentence.objects.filter(topic=topic).order_by("position").values_list("pk", "document__name", "index", "text")
    )
    keys = tuple(pk for pk, *_ in sentences)
    judgments, people, last = _judgments(topic, {pk: index for index, pk in enumerate(keys)}, but, also)
    summaries = list(Summary.objects.filter(topic=topic).select_related("system").order_by("system__name"))
    evidence = Evidence(
        topic_id=topic.name,
        sentence_ids=tuple(f"{document}:{index}" for _, document, index, _ in sentences),
        sentences=tuple(text for *_, text in sentences),
        judgments=judgments,
        summaries=tuple(
            SummaryText(
                summary.system.name,
                tuple(summary.sentences if summary.sentences is not None else split(summary.text, language)),
            )
            for summary in summaries
        ),
        language=language,
    )
    return Snapshot(
        topic_id=topic.pk,
        study_id=topic.study_id,
        data_version=tally.data_version,
        prepared_version=progress.prepared_version,
        evidence=evidence,
        settings=settings_of(topic.study),
        seed=topic.study.seed,
        sentence_keys=keys,
        summary_keys=tuple(summary.pk for summary in summaries),
        annotator_keys=people,
        last_judgment_id=last,
        random_share=topic.study.random_share,
    )


def _judgments(
    topic: Topic, index: dict[int, int], but: Collection[int], also: Collection[int]
) -> tuple[Judgments, tuple[int, ...], int]:
    """The judgments that count, in the order in which they were stored; who gave them; the primary key of the last."""
    columns = (
        "pk",
        "answer",
        "assignment__swapped",
        "assignment__pair__first_id",
        "assignment__pair__second_id",
        "assignment__annotator_id",
    )
    counted = judging.counted_judgments(topic, also).exclude(assignment__annotator__in=list(but))
    rows = list(counted.order_by("pk").values_list(*columns))
    left = [index[second if swapped else first] for _, _, swapped, first, second, _ in rows]
    right = [index[first if swapped else second] for _, _, swapped, first, second, _ in rows]
    outcome = [_SHARE_OF_LEFT[Judgment.Answer(answer)] for _, answer, *_ in rows]
    people, numbers = np.unique(np.array([row[-1] for row in rows], dtype=np.int64), return_inverse=True)
    judgments = Judgments(
        a=np.array(left, dtype=np.int64),
        b=np.array(right, dtype=np.int64),
        outcome=np.array(outcome, dtype=np.float64),
        weight=np.ones(len(rows)),
        annotator=numbers.astype(np.int64),
    )
    return judgments, tuple(people.tolist()), rows[-1][0] if rows else 0


def settings_of(study: Study) -> Settings:
    """How this study's judgments become scores."""
    return Settings(
        smooth=cast("Smoothing", study.smooth),
        prior=study.prior,
        redundancy=study.redundancy,
        value=cast("Value", study.value),
        normalize=cast("Normalization", study.normalize),
        match=cast("Match", study.match),
        similarity=study.similarity,
        weigh_annotators=study.weigh_annotators,
    )
