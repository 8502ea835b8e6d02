"""The judgments of whole summaries in exchanged files, as answers about all topics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from preferendum.evidence import Evidence, author
from preferendum.formats.answers import LETTERS, SHARES
from preferendum.scoring.win_rate import Answers, Flags


def answers_of(topics: Sequence[Evidence]) -> Answers:
    """In the order of the topics; an annotator of one name is one in all of them. Answers count about a system that is
    left out among the summaries, too."""
    preferences = [preference for topic in topics for preference in topic.between_summaries]
    named = {summary.system for topic in topics for summary in topic.summaries}
    systems = tuple(sorted(named.union(*((preference.a, preference.b) for preference in preferences))))
    place = {system: number for number, system in enumerate(systems)}
    people: dict[tuple[str, str], int] = {}
    return Answers(
        systems=systems,
        topics=tuple(topic.topic_id for topic in topics),
        topic=np.repeat(np.arange(len(topics)), [len(topic.between_summaries) for topic in topics]),
        first=np.array([place[preference.a] for preference in preferences], dtype=np.int64),
        second=np.array([place[preference.b] for preference in preferences], dtype=np.int64),
        outcome=np.array([SHARES[LETTERS[preference.winner]] for preference in preferences], dtype=np.float64),
        weight=np.ones(len(preferences)),
        annotator=np.array(
            [people.setdefault(author(own), len(people)) if own.annotator else -1 for own in preferences],
            dtype=np.int64,
        ),
    )


def summaries_there(topics: Sequence[Evidence], answers: Answers) -> Flags:
    """(topics, systems): whether there is a summary."""
    systems = [{summary.system for summary in topic.summaries} for topic in topics]
    return np.array([[name in own for name in answers.systems] for own in systems], dtype=np.bool_)
