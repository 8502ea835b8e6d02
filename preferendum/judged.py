"""Machine judges among judgments: their answers, apart from people's, and systems in order with their help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from preferendum.counted import Counted, counted
from preferendum.evidence import Evidence
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.records import Preference
from preferendum.formats.settings import CountedKinds
from preferendum.reading import Data, refused
from preferendum.scoring.summary_answers import answers_of
from preferendum.scoring.win_rate import Answers


@dataclass(frozen=True, slots=True)
class Beside:
    """People's judgments of summaries that count, `human`, and one list of each machine's; with both as arrays of the
    same systems and topics, `answers` and `of_machines`."""

    kept: Counted
    human: list[Preference]
    machines: list[list[Preference]]
    answers: Answers
    of_machines: list[Answers]
    evidence: list[Evidence]


def beside(data: Data, names: Sequence[str], kinds: CountedKinds | None = None, texts: Data | None = None) -> Beside:
    """People's and these machines' judgments of whole outputs. `texts`: topics with what was judged.

    Raises `Refused` for machines that did not judge, `ValueError` where others than people are to count.
    """
    if kinds not in (None, "people"):
        raise ValueError(f"counted_kinds={kinds!r}: people's answers alone count where a machine helps")
    if data.archive is not None:
        raise refused(data.name, "a whole study", "judgments as JSON Lines or CSV, people's and the machine's")
    every = [own for own in data.bundle.preferences if own.of == "summaries" and kind_of(own) == "machine"]
    machines_there = sorted({own.annotator for own in every} - {""})
    for name in names:
        if name not in machines_there:
            expected = (
                f"one of {', '.join(machines_there)}"
                if machines_there
                else "judgments of the kind machine, with their annotator"
            )
            raise refused(data.name, f"no judgment by the machine {name}", expected, field="annotator")
    kept = counted(texts, data, kinds)
    own = kept.evidence()
    machines = [_once([row for row in every if row.annotator == name]) for name in names]
    by_machines: dict[str, list[Preference]] = {topic.topic_id: [] for topic in own}
    for row in chain.from_iterable(machines):
        by_machines.setdefault(row.topic, []).append(row)
    joined = {topic.topic_id: topic for topic in own}
    unjudged = replace(own[0], summaries=(), between_summaries=())
    topics = [joined.get(name) or replace(unjudged, topic_id=name) for name in by_machines]
    both = [
        replace(topic, between_summaries=(*topic.between_summaries, *by_machines[topic.topic_id])) for topic in topics
    ]
    return _beside(kept, both, machines, names)


def _beside(kept: Counted, topics: list[Evidence], machines: list[list[Preference]], names: Sequence[str]) -> Beside:
    rows = [row for topic in topics for row in topic.between_summaries]
    whole = answers_of(topics)
    who = np.array([names.index(row.annotator) if kind_of(row) == "machine" else -1 for row in rows])
    human = [row for row in rows if kind_of(row) != "machine"]
    of_machines = [whole.some(who == number) for number in range(len(names))]
    own = [
        replace(topic, between_summaries=tuple(row for row in topic.between_summaries if kind_of(row) != "machine"))
        for topic in topics
    ]
    return Beside(kept, human, machines, whole.some(who < 0), of_machines, own)


def _once(rows: Sequence[Preference]) -> list[Preference]:
    """The judgments without those of the same pair in the same order as an earlier one, where topics have names."""
    first = {(row.topic, row.a, row.b): row for row in reversed(rows)}
    return [row for row in rows if not row.topic or first[row.topic, row.a, row.b] is row]
