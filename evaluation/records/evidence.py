"""A topic's judgments and texts as evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from django.db.models import QuerySet

from annotate.database.snapshot import snapshot
from annotate.judging.designs import systems_by_number
from annotate.models import Assignment, Item, Judgment, Study, Summary, Topic
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
    """What a fit of the topic rests on, without its references; None if the topic is gone or not prepared."""
    return next(iter(load_several([topic_id], split, but, also, kind)), None)


def load_several(
    topic_ids: Collection[int], split: Split, but: Collection[int] = (), also: Collection[int] = (), kind: str = ""
) -> list[Snapshot]:
    """What fits of these topics rest on, in as many queries as that of one.

    Annotators `but` are left out; annotators `also` are included although they are excluded; a `kind` of annotators, if
    given, counts alone. Everything is read as it was at one moment, and no transaction is open once the mathematics
    begins.
    """
    with snapshot():
        counted = Judgment.objects.counted(also, kind).exclude(assignment__annotator__in=list(but))
        return _load(topic_ids, split, counted)


def _load(topic_ids: Collection[int], split: Split, counted: QuerySet[Judgment]) -> list[Snapshot]:
    rows = Topic.objects.select_related("study", "sentence_set__tally").order_by("pk")
    topics = list(rows.filter(pk__in=topic_ids, sentence_set__tally__isnull=False, cut_version__gt=0))
    keys = [topic.pk for topic in topics]
    sentences, designs, judged = _sentences(keys), systems_by_number(keys), rests_on.count_judged(keys)
    judgments = _by_topic(counted.filter(assignment__item_set__in=keys).values_list(*COLUMNS))
    by_system = Summary.objects.filter(topic__in=keys).order_by("system__name")
    summaries = _by_topic(by_system.values_list("topic_id", "pk", "system__name", "text", "sentences"))
    snapshots = []
    for key, topic in zip(keys, topics, strict=True):
        study, language, compared = topic.study, topic.language or topic.study.language, sentences[key]
        answers, annotators, answered = _judgments(judgments[key], compared.places, designs[key])
        evidence = Evidence(
            topic_id=topic.name,
            sentence_ids=tuple(row.name for row in compared.rows),
            sentences=tuple(row.text for row in compared.rows),
            judgments=answers,
            summaries=tuple(
                SummaryText(system, tuple(cut if cut is not None else split(text, language)))
                for _, system, text, cut in summaries[key]
            ),
            language=language,
            kinds=tuple(kind for kind, _is_unnamed in annotators.values()),
            annotators=() if any(is_unnamed for _kind, is_unnamed in annotators.values()) else tuple(annotators),
        )
        own = Snapshot(
            topic_id=key,
            data_version=topic.sentence_set.tally.data_version,
            cut_version=topic.cut_version,
            evidence=evidence,
            settings=settings_of(study),
            seed=study.seed,
            sentence_keys=tuple(row.key for row in compared.rows),
            summary_keys=tuple(pk for pk, *_ in summaries[key]),
            annotator_keys=tuple(annotators),
            judgment_keys=answered,
            random_share=study.random_share,
            leading=study.leading_kind,
            counted_kinds=study.counted_kinds,
            left_out=compared.left_out,
            stop_rule=StopRule(study.judgments_per_topic) if study.stop_rule else None,
            judged=judged[key],
        )
        snapshots.append(own)
    return snapshots


def _by_topic(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    """The rows without their first column, the key of the topic, by this key."""
    by_topic = defaultdict[int, list[tuple[Any, ...]]](list)
    for key, *row in rows:
        by_topic[key].append(tuple(row))
    return by_topic


def _sentences(topics: Collection[int]) -> dict[int, Compared[int]]:
    in_order = Item.objects.filter(item_set__in=topics).order_by("position")
    rows = defaultdict[int, list[Row[int]]](list)
    for key, pk, document, index, text, mark in in_order.values_list(
        "item_set_id", "pk", "document__name", "index", "text", "not_judged"
    ):
        rows[key].append(Row(pk, f"{document}:{index}", text, mark))
    marked = [key for key, own in rows.items() if any(row.not_judged for row in own)]
    judged = _judged(marked) if marked else set()
    return {key: compared_sentences(rows[key], judged) for key in topics}


def _judged(topics: Collection[int]) -> set[int]:
    """The keys of the topics' sentences that were judged, whether the judgments count or not."""
    answered = Assignment.objects.lasting().filter(item_set__in=topics, state=Assignment.State.JUDGED).order_by()
    return set(chain(*answered.values_list("pair__first_id", "pair__second_id").distinct()))


COLUMNS = (
    *("assignment__item_set_id", "pk", "answer"),
    *("assignment__swapped", "assignment__pair__first_id", "assignment__pair__second_id"),
    *("assignment__annotator_id", "assignment__annotator__kind", "assignment__annotator__is_unnamed"),
    *("assignment__design_weight", "assignment__drawn_for"),
)


def _judgments(
    answers: Sequence[tuple[Any, ...]], index: Mapping[int, int], systems: Mapping[int, tuple[str, ...]]
) -> tuple[Judgments, dict[int, tuple[str, bool]], tuple[int, ...]]:
    """The judgments that count, in the order they were stored; of their annotators, in that of their first ones, the
    kind and whether they are unnamed; their primary keys.

    A sentence against its own copy says nothing and is left out. `systems`: those that pairs were drawn for, by number.
    """
    rows = [row for row in answers if index[row[3]] != index[row[4]]]
    columns = zip(*rows, strict=True) if rows else ((),) * (len(COLUMNS) - 1)
    keys, replies, swapped, firsts, seconds, annotators, kinds, are_unnamed, design, drawn_for = columns
    first = np.array([index[key] for key in firsts], dtype=np.int64)
    second = np.array([index[key] for key in seconds], dtype=np.int64)
    turned = np.array(swapped, dtype=np.bool_)
    who = dict(zip(annotators, zip(kinds, are_unnamed, strict=True), strict=True))
    numbers = {key: number for number, key in enumerate(who)}
    judgments = Judgments(
        a=np.where(turned, second, first),
        b=np.where(turned, first, second),
        outcome=np.array([SHARES[answer] for answer in replies], dtype=np.float64),
        weight=np.ones(len(rows)),
        annotator=np.array([numbers[key] for key in annotators], dtype=np.int64),
        design=np.array(design, dtype=np.float64),
        drawn_for=np.fromiter((systems.get(number) for number in drawn_for), np.object_, len(rows)),
    )
    return judgments, who, keys


def settings_of(study: Study) -> Settings:
    """The settings of this study's recommended scores."""
    return Settings(**study.recommended_settings)
