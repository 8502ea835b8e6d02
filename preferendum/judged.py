"""Machine judges among judgments: their answers, apart from people's, and systems in order with their help."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from preferendum.counted import counted
from preferendum.evidence import Evidence, evidence
from preferendum.formats.archive.study_preferences import counted as in_archive
from preferendum.formats.judge import judge_in
from preferendum.formats.readers.preferences import kind_of
from preferendum.formats.records import Preference
from preferendum.formats.settings import CountedKinds
from preferendum.reading import Data, refused
from preferendum.results.helped import WhyNot
from preferendum.scoring.helped import Alone, Helped, JudgeFit, judge_fit
from preferendum.scoring.stopping import StopRule
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.scoring.win_rate import Answers


@dataclass(frozen=True)
class Beside:
    """People's judgments of summaries that count, `human`, and one list of each machine's; with both as arrays of the
    same systems and topics, `answers` and `of_machines`. `name`: where they stood; `notes`: what is
    to be said of them. What is fitted to them is fitted once, and raises `newton.NotConverged`."""

    human: list[Preference]
    machines: list[list[Preference]]
    answers: Answers
    of_machines: list[Answers]
    evidence: list[Evidence]
    name: str = ""
    notes: tuple[str, ...] = ()
    stop_rule: StopRule | None = None

    @cached_property
    def alone(self) -> Alone:
        """People alone, who gave answers."""
        return Alone.of(self.answers, summaries_there(self.evidence, self.answers), self.stop_rule)

    @cached_property
    def fits(self) -> list[JudgeFit]:
        """Each machine alone."""
        return [*map(judge_fit, self.of_machines)]

    @cached_property
    def helped(self) -> list[Helped | WhyNot]:
        """People helped by each machine; the reason where nothing is borrowed of it."""
        return [
            self.alone.helped([own], judge_in(rows).made) for own, rows in zip(self.fits, self.machines, strict=True)
        ]

    def helped_by(self, number: int, by_maker: Collection[str]) -> Helped | WhyNot:
        """People helped by one machine. `by_maker`: systems by its maker, besides those that its answers name."""
        if not by_maker:
            return self.helped[number]
        return self.alone.helped([self.fits[number]], [*judge_in(self.machines[number]).made, *by_maker])


def beside(data: Data, names: Sequence[str], kinds: CountedKinds | None = None, texts: Data | None = None) -> Beside:
    """People's and these machines' judgments of whole outputs. `texts`: topics with what was judged.

    Raises `Refused` for machines that did not judge, `ValueError` where others than people are to count.
    """
    if kinds not in (None, "people"):
        raise ValueError(f"counted_kinds={kinds!r}: people's answers alone count where a machine helps")
    rows = data.bundle.preferences if data.archive is None else [*in_archive(data.archive, ("human", "machine"))]
    every = [own for own in rows if own.of == "summaries" and kind_of(own) == "machine"]
    machines_there = sorted({own.annotator for own in every} - {""})
    for name in names:
        if name not in machines_there:
            expected = (
                f"one of {', '.join(machines_there)}"
                if machines_there
                else "judgments of the kind machine, with their annotator"
            )
            raise refused(data.name, f"no judgment by the machine {name}", expected, field="annotator")
    own, notes = _human(data, rows, texts)
    machines = [once([row for row in every if row.annotator == name]) for name in names]
    by_machines: dict[str, list[Preference]] = {topic.topic_id: [] for topic in own}
    for row in chain.from_iterable(machines):
        by_machines.setdefault(row.topic, []).append(row)
    of_people = {topic.topic_id: topic for topic in own}
    unjudged = replace(own[0], summaries=(), between_summaries=())
    topics = [of_people.get(name) or replace(unjudged, topic_id=name) for name in by_machines]
    both = [
        replace(topic, between_summaries=(*topic.between_summaries, *by_machines[topic.topic_id])) for topic in topics
    ]
    return replace(joined(both, machines, names), name=data.name, notes=notes)


def _human(data: Data, rows: Sequence[Preference], texts: Data | None) -> tuple[list[Evidence], tuple[str, ...]]:
    """The topics with people's judgments of summaries, and what is to be said of them."""
    if data.archive is None:
        kept = counted(texts, data, None)
        return kept.evidence(), kept.notes
    by_topic: dict[str, list[Preference]] = {topic.topic_id: [] for topic in data.archive.topics}
    for row in rows:
        if row.of == "summaries" and kind_of(row) == "human":
            by_topic[row.topic].append(row)
    return [evidence(topic, by_topic[topic.topic_id]) for topic in data.archive.topics], ()


def joined(topics: Sequence[Evidence], machines: list[list[Preference]], names: Sequence[str]) -> Beside:
    """The judgments of summaries in these topics, by people and by machines of these names."""
    rows = [row for topic in topics for row in topic.between_summaries]
    whole = answers_of(topics)
    number_of = {name: number for number, name in enumerate(names)}
    who = np.array([number_of[row.annotator] if kind_of(row) == "machine" else -1 for row in rows])
    of_machines = [whole.some(who == number) for number in range(len(names))]
    own = [
        replace(topic, between_summaries=tuple(row for row in topic.between_summaries if kind_of(row) != "machine"))
        for topic in topics
    ]
    human = [row for topic in own for row in topic.between_summaries]
    return Beside(human, machines, whole.some(who < 0), of_machines, own)


def once(rows: Sequence[Preference]) -> list[Preference]:
    """The judgments without those of the same pair in the same order as an earlier one, where topics have names."""
    first = {(row.topic, row.a, row.b): row for row in reversed(rows)}
    return [row for row in rows if not row.topic or first[row.topic, row.a, row.b] is row]
