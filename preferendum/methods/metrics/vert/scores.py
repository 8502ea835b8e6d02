"""VERT-F: word bigrams that a summary and the references have in common, and whether they have them equally often.

P. C. F. de Oliveira, E. W. Torrens, A. Cidral, S. Schossland & E. Bittencourt, "Evaluating summaries automatically: a
system proposal", LREC 2008, as P. A. Rankel, J. M. Conroy & J. D. Schlesinger, "Better metrics to automatically predict
the quality of a text summary", Algorithms 5(4), 2012, describe it: a combination of chi-squared, precision, recall and
their F. How it combines them is not said there; here it is the mean of the four.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.methods.metrics.shared.by_references import first_references, number_of_references, over_references
from preferendum.metrics.registry import JACKKNIFE, Need, Options, UnknownMetric
from preferendum.text import stems, tokens

Bigrams = Mapping[tuple[str, str], int]
Part = Literal["all", "f", "chi2"]


class Parts(NamedTuple):
    """Each from 0, nothing in common, to 1. `homogeneity`: 1 - chi-squared / number of bigrams in both texts."""

    precision: float
    recall: float
    f: float
    homogeneity: float


def parts(summary: Bigrams, reference: Bigrams) -> Parts:
    """What two texts have in common; nothing, if one of them has no bigram."""
    own, theirs = sum(summary.values()), sum(reference.values())
    if not own or not theirs:
        return Parts(0.0, 0.0, 0.0, 0.0)
    shared = sum(min(times, reference.get(bigram, 0)) for bigram, times in summary.items())
    return Parts(shared / own, shared / theirs, 2 * shared / (own + theirs), _homogeneity(summary, reference))


def _homogeneity(summary: Bigrams, reference: Bigrams) -> float:
    """Chi-squared of a table of 2 rows is at most N, reached where no column has both.

    It is N (sum of n_ij^2 / (n_i. n_.j) - 1), and in 1 - chi-squared / N a column of one row alone cancels out.
    """
    own, theirs = sum(summary.values()), sum(reference.values())
    both = summary.keys() & reference.keys()
    return sum(
        (a * b / (a + b)) * (1 / own + 1 / theirs) for a, b in ((summary[bigram], reference[bigram]) for bigram in both)
    )


@dataclass(frozen=True, slots=True)
class Vert:
    """The metric: the mean over references, `references` of them, the first by name; None for all."""

    name: str
    part: Part = "all"
    jackknife: bool = False
    references: int | None = None

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.REFERENCES})

    @property
    def signature(self) -> str:
        what = {"all": "mean of P, R, F and 1 - chi2/N", "f": "F", "chi2": "1 - chi2/N"}[self.part]
        kept = "" if self.references is None else f", by the first {self.references} references by name"
        words = "stems of tokens of any script (English: Porter 1980), no stop words removed, across sentences"
        return f"{what} of word bigrams, mean over references{kept}; {words}" + " (jackknife)" * self.jackknife

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """A summary that is a reference itself is scored by the others; not a number where there is no other."""
        topic = first_references(topic, self.references)
        of_references = [_bigrams(reference, topic.language) for reference in topic.references]
        of_summaries = [_bigrams(summary.sentences, topic.language) for summary in topic.summaries]

        def mean(summary: int, references: tuple[int, ...]) -> float:
            return float(np.mean([self._value(parts(of_summaries[summary], of_references[k])) for k in references]))

        return over_references(topic, self.jackknife, mean)

    def _value(self, shared: Parts) -> float:
        return {"all": sum(shared) / len(shared), "f": shared.f, "chi2": shared.homogeneity}[self.part]


def _bigrams(sentences: tuple[str, ...], language: str) -> Bigrams:
    return Counter(pairwise(stems(tokens(" ".join(sentences)), language)))


def make(asked: str, options: Options, _: Settings | None) -> Vert:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    references = number_of_references(asked, options)
    if "f" in options and "chi2" in options:
        raise UnknownMetric(f"{asked}: either f or chi2, or the mean of all four without them")
    part: Part = "f" if "f" in options else "chi2" if "chi2" in options else "all"
    return Vert(asked, part, JACKKNIFE in options, references)
