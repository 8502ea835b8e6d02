"""A topic's judgments and texts as evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from annotate import judging
from annotate.models import Judgment, Sentence, Study, Summary, Topic
from annotate.prepared import Part, Prepared
from annotate.snapshot import snapshot
from evaluation.evidence import Evidence, Judgments, Match, Normalization, Settings, Smoothing, SummaryText, Value

#: (text, language) -> its sentences
Split = Callable[[str, str], Sequence[str]]

# By what stands in the table: a member of an enumeration is not found under its value.
SHARE_OF_LEFT = {Judgment.Answer.LEFT.value: 1.0, Judgment.Answer.RIGHT.value: 0.0, Judgment.Answer.TIE.value: 0.5}


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


STUDY = Part(
    Study,
    "id language seed random_share smooth prior redundancy value normalize match similarity weigh_annotators",
)
_topic = Prepared(
    lambda topic: (
        Topic.objects.filter(pk=topic, tally__isnull=False, progress__prepared_version__gt=0)
        .order_by()
        .values_list("name", "language", "tally__data_version", "progress__prepared_version", *STUDY.columns("study"))
    )
)
_sentences = Prepared(
    lambda topic: (
        Sentence.objects.filter(topic=topic).order_by("position").values_list("pk", "document__name", "index", "text")
    )
)
_summaries = Prepared(
    lambda topic: (
        Summary.objects.filter(topic=topic)
        .order_by("system__name")
        .values_list("pk", "system__name", "text", "sentences")
    )
)


def _load(topic_id: int, split: Split, but: Collection[int], also: Collection[int]) -> Snapshot | None:
    row = next(iter(_topic(topic_id)), None)
    if row is None:
        return None
    name, own_language, data_version, prepared_version, *of_study = row
    study = STUDY.take(iter(of_study))
    language = own_language or study.language
    sentences = _sentences(topic_id)
    keys = tuple(pk for pk, *_ in sentences)
    judgments, people, last = _judgments(topic_id, {pk: index for index, pk in enumerate(keys)}, but, also)
    summaries = _summaries(topic_id)
    evidence = Evidence(
        topic_id=name,
        sentence_ids=tuple(f"{document}:{index}" for _, document, index, _ in sentences),
        sentences=tuple(text for *_, text in sentences),
        judgments=judgments,
        summaries=tuple(
            SummaryText(system, tuple(cut if cut is not None else split(text, language)))
            for _, system, text, cut in summaries
        ),
        language=language,
    )
    return Snapshot(
        topic_id=topic_id,
        study_id=study.pk,
        data_version=data_version,
        prepared_version=prepared_version,
        evidence=evidence,
        settings=settings_of(study),
        seed=study.seed,
        sentence_keys=keys,
        summary_keys=tuple(pk for pk, *_ in summaries),
        annotator_keys=people,
        last_judgment_id=last,
        random_share=study.random_share,
    )


COLUMNS = (
    "pk",
    "answer",
    "assignment__swapped",
    "assignment__pair__first_id",
    "assignment__pair__second_id",
    "assignment__annotator_id",
)
_counted = Prepared(lambda topic: judging.counted_judgments(topic).values_list(*COLUMNS))


def _judgments(
    topic_id: int, index: dict[int, int], but: Collection[int], also: Collection[int]
) -> tuple[Judgments, tuple[int, ...], int]:
    """The judgments that count, in the order in which they were stored; who gave them; the primary key of the last."""
    if but or also:
        counted = judging.counted_judgments(Topic(pk=topic_id), also).exclude(assignment__annotator__in=list(but))
        rows = list(counted.values_list(*COLUMNS))
    else:
        rows = _counted(topic_id)
    keys, answers, swapped, firsts, seconds, annotators = zip(*rows, strict=True) if rows else ((),) * 6
    first = np.array([index[key] for key in firsts], dtype=np.int64)
    second = np.array([index[key] for key in seconds], dtype=np.int64)
    turned = np.array(swapped, dtype=np.bool_)
    people, numbers = np.unique(np.array(annotators, dtype=np.int64), return_inverse=True)
    judgments = Judgments(
        a=np.where(turned, second, first),
        b=np.where(turned, first, second),
        outcome=np.array([SHARE_OF_LEFT[answer] for answer in answers], dtype=np.float64),
        weight=np.ones(len(rows)),
        annotator=numbers.astype(np.int64),
    )
    return judgments, tuple(people.tolist()), keys[-1] if keys else 0


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
