"""Are annotators consistent with themselves? Pairs that they saw twice, and preferences that run in circles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from preferendum.annotators.answers import Answers, Numbers, Sheet
from preferendum.results import Figure
from preferendum.results.statistics import share

#: The share of circular triads under coin tosses.
CIRCULAR_BY_CHANCE = 0.25
#: Topics in which one annotator judged more sentences than this are left out of the counting of triads.
MOST_SENTENCES = 400


def repeats(topics: Sequence[Answers], sheet: Sheet) -> Figure:
    """How often the same sentence was preferred again when the same pair was repeated."""
    same, seen_twice = 0, 0
    for topic, rows in zip(sheet.topics, sheet.rows, strict=True):
        answers = topics[topic]
        first: dict[tuple[int, int], float] = {}
        for row in rows[np.argsort(answers.time[rows], kind="stable")].tolist():
            a, b = int(answers.judgments.a[row]), int(answers.judgments.b[row])
            value = float(answers.judgments.outcome[row])
            pair, preferred = ((a, b), value) if a < b else ((b, a), 1 - value)
            if not answers.repeat[row]:
                first[pair] = preferred
            elif pair in first:
                same += first[pair] == preferred
                seen_twice += 1
    return share(same, seen_twice, chance=0.5)


def circularity(topics: Sequence[Answers], sheet: Sheet) -> Figure:
    """The share of circular triads in all topics together; topics with very many sentences in question left out."""
    circular = triples = 0
    for topic, rows in zip(sheet.topics, sheet.rows, strict=True):
        wins = _wins(topics[topic], rows)
        if wins is not None:
            more_circular, more_triples = circular_triads(wins)
            circular, triples = circular + more_circular, triples + more_triples
    return share(circular, triples, chance=CIRCULAR_BY_CHANCE)


def circular_triads(wins: NDArray[np.float64]) -> tuple[int, int]:
    """The number of triads a over b over c over a, and the number of triples with every pair judged.

    `wins` (n, n): how often row was preferred to column. The more frequent winner wins a pair; even pairs count as
    not judged (Kendall & Babington Smith 1940).
    """
    beats = (wins > wins.T).astype(np.int64)
    judged = beats + beats.T
    return int(np.sum(beats @ beats * beats.T)) // 3, int(np.sum(judged @ judged * judged)) // 6


def _wins(answers: Answers, rows: Numbers) -> NDArray[np.float64] | None:
    """(k, k): how often each of the k sentences in these rows was preferred to each other one.

    None where there can be no triad, or where there are too many sentences.
    """
    judgments = answers.judgments
    sentences, place = np.unique(np.concatenate([judgments.a[rows], judgments.b[rows]]), return_inverse=True)
    if len(rows) < 3 or len(sentences) > MOST_SENTENCES or len(rows) < len(sentences) // 2 + 1:
        return None
    wins = np.zeros((len(sentences), len(sentences)))
    a, b = place[: len(rows)], place[len(rows) :]
    np.add.at(wins, (a, b), judgments.outcome[rows])
    np.add.at(wins, (b, a), 1 - judgments.outcome[rows])
    return wins
