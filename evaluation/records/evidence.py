"""A topic's judgments and texts as evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from django.db.models import QuerySet

from annotate.database.snapshot import snapshot
from annotate.judging.designs import systems_by_number
from annotate.models import Annotator, Assignment, Item, Judgment, Study, Summary, Topic
from annotate.reports import rests_on
from preferendum.compared_sentences import Compared, Row, compared_sentences
from preferendum.evidence import Evidence, Judgments, Settings, SummaryText
from preferendum.formats.answers import SHARES
from preferendum.scoring.stopping import StopRule

#: (text, language) -> its sentences
Split = Callable[[str, str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A topic at one version of its data, with the keys of its rows.

    `sentence_keys`: primary keys in the order of `evidence.sentences`; `summary_keys`: in that of `evidence.summaries`;
    `annotator_keys`: in that of the annotators' numbers; `judgment_keys`: in that of the judgments. `leading`: the kind
    of annotators whose influence is computed. `left_out`: the keys of the sentences that are not compared. `judged`:
    all its judgments, as pages count them.
    """

    topic_id: int
    data_version: int
    cut_version: int
    evidence: Evidence
    settings: Settings
    seed: int
    sentence_keys: tuple[int, ...]
    summary_keys: tuple[int, ...]
    annotator_keys: tuple[int, ...]
    judgment_keys: tuple[int, ...]
    random_share: float = 1.0
    leading: str = "human"
    counted_kinds: str = "people"
    left_out: tuple[int, ...] = ()
    stop_rule: StopRule | None = None
    judged: Sequence[rests_on.Group] = ()

    @property
    def last_judgment_id(self) -> int:
        """The key of the last judgment; 0 without any."""
        return self.judgment_keys[-1] if self.judgment_keys else 0


def load_evidence(
    topic_id: int, split: Split, but: Collection[int] = (), also: Collection[int] = (), kind: str = ""
) -> Snapshot | None:
    """What a fit of the topic rests on, without its references; None if the topic is gone or not prepared.

    Annotators `but` are left out; annotators `also` are included although they are excluded; a `kind` of annotators, if
    given, counts alone. Everything is read as it was at one moment, and no transaction is open once the mathematics
    begins.
    """
    with snapshot():
        return _load(topic_id, split, but, Judgment.objects.counted(also, kind))


def _load(topic_id: int, split: Split, but: Collection[int], counted: QuerySet[Judgment]) -> Snapshot | None:
    rows = Topic.objects.select_related("study", "sentence_set__tally")
    topic = rows.filter(pk=topic_id, sentence_set__tally__isnull=False, cut_version__gt=0).first()
    if topic is None:
        return None
    study, language = topic.study, topic.language or topic.study.language
    sentences = _sentences(topic)
    keys = tuple(row.key for row in sentences.rows)
    of_topic = counted.filter(assignment__item_set=topic_id)
    drawn_for = systems_by_number(topic_id)
    judgments, annotators, judged = _judgments(of_topic, sentences.places, but, drawn_for)
    kinds = Annotator.objects.filter(pk__in=annotators).values_list("pk", "kind", "is_unnamed")
    who = {key: (kind, is_unnamed) for key, kind, is_unnamed in kinds}
    by_system = Summary.objects.filter(topic=topic).order_by("system__name")
    summaries = list(by_system.values_list("pk", "system__name", "text", "sentences"))
    evidence = Evidence(
        topic_id=topic.name,
        sentence_ids=tuple(row.name for row in sentences.rows),
        sentences=tuple(row.text for row in sentences.rows),
        judgments=judgments,
        summaries=tuple(
            SummaryText(system, tuple(cut if cut is not None else split(text, language)))
            for _, system, text, cut in summaries
        ),
        language=language,
        kinds=tuple(who[key][0] for key in annotators),
        annotators=() if any(is_unnamed for _kind, is_unnamed in who.values()) else annotators,
    )
    return Snapshot(
        topic_id=topic_id,
        data_version=topic.sentence_set.tally.data_version,
        cut_version=topic.cut_version,
        evidence=evidence,
        settings=settings_of(study),
        seed=study.seed,
        sentence_keys=keys,
        summary_keys=tuple(pk for pk, *_ in summaries),
        annotator_keys=annotators,
        judgment_keys=judged,
        random_share=study.random_share,
        leading=study.leading_kind,
        counted_kinds=study.counted_kinds,
        left_out=sentences.left_out,
        stop_rule=StopRule(study.judgments_per_topic) if study.stop_rule else None,
        judged=rests_on.count_judged([topic_id])[topic_id],
    )


def _sentences(topic: Topic) -> Compared[int]:
    in_order = Item.objects.filter(item_set=topic.pk).order_by("position")
    columns = in_order.values_list("pk", "document__name", "index", "text", "not_judged")
    rows = [Row(pk, f"{document}:{index}", text, mark) for pk, document, index, text, mark in columns]
    return compared_sentences(rows, _judged(topic) if any(row.not_judged for row in rows) else set())


def _judged(topic: Topic) -> set[int]:
    """The keys of the topic's sentences that were judged, whether the judgments count or not."""
    answered = Assignment.objects.lasting().filter(item_set=topic.pk, state=Assignment.State.JUDGED).order_by()
    return set(chain(*answered.values_list("pair__first_id", "pair__second_id").distinct()))


COLUMNS = (
    "pk",
    "answer",
    "assignment__swapped",
    "assignment__pair__first_id",
    "assignment__pair__second_id",
    "assignment__annotator_id",
    "assignment__design_weight",
    "assignment__drawn_for",
)


def _judgments(
    counted: QuerySet[Judgment], index: dict[int, int], but: Collection[int], systems: Mapping[int, tuple[str, ...]]
) -> tuple[Judgments, tuple[int, ...], tuple[int, ...]]:
    """The judgments that count, in the order they were stored; the keys of their annotators, in that of their first
    ones; their primary keys.

    A sentence against its own copy says nothing and is left out. `systems`: those that pairs were drawn for, by number.
    """
    if but:
        counted = counted.exclude(assignment__annotator__in=list(but))
    rows = [row for row in counted.values_list(*COLUMNS) if index[row[3]] != index[row[4]]]
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    keys, answers, swapped, firsts, seconds, annotators, design, drawn_for = columns
    first = np.array([index[key] for key in firsts], dtype=np.int64)
    second = np.array([index[key] for key in seconds], dtype=np.int64)
    turned = np.array(swapped, dtype=np.bool_)
    numbers = {key: number for number, key in enumerate(dict.fromkeys(annotators))}
    judgments = Judgments(
        a=np.where(turned, second, first),
        b=np.where(turned, first, second),
        outcome=np.array([SHARES[answer] for answer in answers], dtype=np.float64),
        weight=np.ones(len(rows)),
        annotator=np.array([numbers[key] for key in annotators], dtype=np.int64),
        design=np.array(design, dtype=np.float64),
        drawn_for=np.fromiter((systems.get(number) for number in drawn_for), np.object_, len(rows)),
    )
    return judgments, tuple(numbers), keys


def settings_of(study: Study) -> Settings:
    """The settings of this study's recommended scores."""
    return Settings(**study.recommended_settings)
