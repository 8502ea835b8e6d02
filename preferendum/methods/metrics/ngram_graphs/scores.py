"""AutoSummENG and MeMoG: which character n-grams of a summary and of the references are neighbours, and how often.

G. Giannakopoulos, V. Karkaletsis, G. Vouros & P. Stamatopoulos, "Summarization system evaluation revisited: n-gram
graphs", ACM TSLP 5(3), 2008 (AutoSummENG: n-grams of 3 characters, a window of 3); G. Giannakopoulos & V. Karkaletsis,
"Summarization system evaluation variations based on n-gram graphs", TAC 2010 (MeMoG). What the papers leave open is as
in the authors' program: edges in both directions, text with its line ends, and no letters changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.methods.metrics.shared.by_references import first_references, number_of_references, over_references
from preferendum.metrics.registry import JACKKNIFE, Need, Options

CHARACTERS = 3
"""Of an n-gram."""
WINDOW = 3
"""How far apart neighbours may begin."""
_BITS = 21  # of a Unicode code point; three of them fit into 64


class Graph(NamedTuple):
    """`edges` (e,): pairs of neighbours as ascending numbers; `weights` (e,): how often they are neighbours."""

    edges: NDArray[np.int64]
    weights: NDArray[np.float64]


def graphs(texts: Sequence[str]) -> list[Graph]:
    """The n-gram graph of each text; equal edges have equal numbers in all of them."""
    codes = [_ngrams(text) for text in texts]
    distinct, ngram = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *codes]), return_inverse=True)
    ends = np.cumsum([len(code) for code in codes])[:-1]
    return [_graph(numbers, len(distinct)) for numbers in np.split(ngram, ends)] if texts else []


def value_similarity(graph: Graph, other: Graph, normalized: bool = False) -> float:
    """The sum of smaller / larger weight over shared edges, over the edges of the larger graph: 0 to 1, symmetric.

    `normalized`: over the edges of the smaller graph, that is, divided by the similarity of sizes.
    """
    _, in_graph, in_other = np.intersect1d(graph.edges, other.edges, assume_unique=True, return_indices=True)
    a, b = graph.weights[in_graph], other.weights[in_other]
    size = (min if normalized else max)(len(graph.edges), len(other.edges))
    return float((np.minimum(a, b) / np.maximum(a, b)).sum() / size) if size else 0.0


def merged(parts: Sequence[Graph]) -> Graph:
    """All edges of the graphs; an existing edge moves towards the k-th graph's weight by 1/k of the way."""
    edges = np.unique(np.concatenate([part.edges for part in parts]))
    weights = np.zeros(len(edges))
    for k, part in enumerate(parts, start=1):
        at = np.searchsorted(edges, part.edges)
        is_new = weights[at] == 0
        weights[at] += np.where(is_new, part.weights, (part.weights - weights[at]) / k)
    return Graph(edges, weights)


def _ngrams(text: str) -> NDArray[np.int64]:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    places = max(len(points) - CHARACTERS + 1, 0)
    return sum((points[k : k + places] << _BITS * k for k in range(CHARACTERS)), start=np.zeros(places, dtype=np.int64))


def _graph(ngrams: NDArray[np.int64], distinct: int) -> Graph:
    pairs = [(ngrams[gap:], ngrams[:-gap]) for gap in range(1, WINDOW + 1)]
    both_ways = [a * distinct + b for pair in pairs for a, b in (pair, pair[::-1])]
    edges, times = np.unique(np.concatenate(both_ways), return_counts=True)
    return Graph(edges, times.astype(np.float64))


@dataclass(frozen=True, slots=True)
class GraphSimilarity:
    """The metric: the mean similarity to each reference's graph, or the one to the graph merged from all of them.

    `references`: by so many, the first by name; None for all.
    """

    name: str
    merge: bool
    normalized: bool = False
    jackknife: bool = False
    references: int | None = None

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.REFERENCES})

    @property
    def signature(self) -> str:
        to = "the references' graphs merged by running means, in the order of names" if self.merge else "each reference"
        value = "normalized value similarity" if self.normalized else "value similarity"
        over = "" if self.merge else ", mean"
        kept = "" if self.references is None else f", by the first {self.references} references by name"
        jackknife = " (jackknife)" if self.jackknife else ""
        return f"{value} to {to}{over}; character {CHARACTERS}-grams, window {WINDOW}, both ways{kept}{jackknife}"

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """A summary that is a reference itself is scored by the others; not a number where there is no other."""
        number = len(topic.references) if self.references is None else self.references
        topic = first_references(topic, number)  # merging depends on the order
        texts = [*topic.references, *(summary.sentences for summary in topic.summaries)]
        of_texts = graphs(["".join(f"{line}\n" for line in text) for text in texts])
        of_references, of_summaries = of_texts[: len(topic.references)], of_texts[len(topic.references) :]

        @cache
        def targets(references: tuple[int, ...]) -> list[Graph]:
            chosen = [of_references[k] for k in references]
            return [merged(chosen)] if self.merge else chosen

        def similarity(summary: int, references: tuple[int, ...]) -> float:
            own = of_summaries[summary]
            return float(np.mean([value_similarity(own, target, self.normalized) for target in targets(references)]))

        return over_references(topic, self.jackknife, similarity)


def make(asked: str, options: Options, _: Settings | None) -> GraphSimilarity:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    references = number_of_references(asked, options)
    merge = asked.partition(":")[0] == "memog"
    return GraphSimilarity(asked, merge, "normalized" in options, JACKKNIFE in options, references)
