"""What a summary says that people prefer: importance, coverage, and both in one (docs/model.md).

Of a topic: x_jw, how often word w occurs in source sentence j; n_w = sum_j x_jw, in all of them; i_w its IDF;
T = sum_w n_w i_w. Words are stems without stop words (`preferendum.scoring.content`). Of the judgments: value_j, the
chance that sentence j is preferred to another one of the topic (`preferendum.fit.chances`), cleared of its length. Then

    b_w = sum_j x_jw value_j / n_w       the value of a word: the mean over its occurrences
    m = sum_w n_w i_w b_w / T            the mean value of all that the sources say

and, for a summary with the set S of distinct words,

    coverage    C(S) = sum_{w in S} n_w i_w / T               of the words alone, in [0, 1]
    importance  I(S) = sum_{w in S} n_w i_w (b_w - m) / T     of the judgments alone
    combined         = sum_{w in S} n_w i_w (1 + 4 (b_w - m)) / T = C(S) + 4 I(S)

Importance is 0 for all summaries where all values are equal, and for the whole source
(docs/decisions/people-decide.md). Repetition adds nothing, and m ensures that text of average value adds nothing,
however long. A summary that shares no word with the sources has no importance.

Combined is coverage in which a word counts by the odds that its sentences are preferred, b / (1 - b), which near 1/2
are 1 + 4 (b - 1/2). It is coverage where all values are equal, and 1 for the whole source.

**Cleared of length.** People tend to prefer the longer of two sentences. The expected effect of a sentence's length is
subtracted from its value, so that words gain nothing from the length of the sentences that they occur in:
value = 1/2 + c - e, with c the chance and e its regression on the logarithm of the number of characters, standardized,
its square, and its rank. Pseudo-sentences without any effect (`PSEUDO_SENTENCES`) shrink the slopes where sentences are
few.

Importance and combined are linear in the chances, with weights that depend on texts alone: row a_S of
`SharedWords.importance` gives I(S) = a_S c and its variance, error^2 |a_S|^2 where all pairs are equally likely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preferendum.evidence import Evidence
from preferendum.fit.chances import Chances, Shares
from preferendum.results import SourceWords
from preferendum.results.scores import ODDS
from preferendum.scoring.asking import Telling
from preferendum.scoring.content import contents, counts
from preferendum.scoring.scores import Scores, unknown

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sparse = sparse.csr_array[Any, Any]
Kind = Literal["importance", "combined", "coverage"]

PSEUDO_SENTENCES = (2.0, 2.0, 0.1)
"""So many sentences that show no effect of length hold down the slopes of the logarithm, its square, and the rank: few
for the rank, so that annotators who always choose the longer sentence tell no systems apart."""


@dataclass(frozen=True, slots=True)
class SharedWords:
    """A topic's texts, as far as they matter here; worked out once, whatever the judgments.

    `words` (k,): the distinct words of the source; `counts` (n, k): x; `idf` (k,): i; `contains` (s, k): whether the
    summary has the word; `spelled`: the number of a word, by its forms in summaries; `coverage` (s,): C; `importance`
    (s, n): weights of the chances; `length` (n, 3): what the regression on length knows of the sentences; `by_length`
    (s,): importance, not cleared, by their rank alone; `telling`: which pairs tell the systems apart.
    """

    systems: tuple[str, ...]
    words: tuple[str, ...]
    counts: Sparse
    idf: Vector
    contains: NDArray[np.bool_]
    spelled: Mapping[str, int]
    coverage: Vector
    importance: Matrix
    length: Matrix
    by_length: Vector
    telling: Telling

    @property
    def mass(self) -> Vector:
        """(k,): n_w i_w / T, the share of each word; empty where the source has no word at all."""
        mass: Vector = self.counts.sum(axis=0) * self.idf
        mass /= mass.sum() or 1.0
        return mass


@dataclass(frozen=True, slots=True)
class WordScores:
    """The scores (s,) of a topic's summaries. `importance` is nan where a summary shares no word with the source.

    `covariance` (s, s): of importance; nan without judgments of pairs drawn by lot. `shares`: of the annotators in it,
    summaries in place of sentences.
    """

    systems: tuple[str, ...]
    coverage: Vector
    importance: Vector
    covariance: Matrix
    judgments: int
    shares: Shares | None = None

    @property
    def combined(self) -> Vector:
        """(s,): nan where importance is."""
        return self.coverage + ODDS * self.importance

    def of(self, kind: Kind) -> Scores:
        """One of the three; judgments could not change coverage, so it has no errors."""
        if kind == "coverage":
            return Scores(self.systems, self.coverage, unknown(len(self.systems)), self.judgments)
        if kind == "combined":
            return Scores(self.systems, self.combined, ODDS**2 * self.covariance, self.judgments)
        return Scores(self.systems, self.importance, self.covariance, self.judgments, self.shares)


def share_words(topic: Evidence) -> SharedWords:
    """Find the words that the topic's summaries share with its source."""
    source, _spelled = contents(topic.sentences, topic.language)
    words = tuple(dict.fromkeys(word for sentence in source for word in sentence))
    columns = {word: k for k, word in enumerate(words)}
    x = counts(source, columns)[:, : len(words)]
    sentences = [sentence for summary in topic.summaries for sentence in summary.sentences]
    each, spelled = contents(sentences, topic.language)
    parts = iter(each)
    summaries = [list(chain(*islice(parts, len(summary.sentences)))) for summary in topic.summaries]
    contains = counts(summaries, columns).toarray()[:, : len(words)] > 0
    idf = _idf(x)
    mass = x.sum(axis=0) * idf
    total = float(mass.sum()) or 1.0
    coverage = contains @ mass / total
    coverage[contains.all(axis=1) & contains.any(axis=1)] = (
        1.0  # to the last digit, for the whole source scores exactly 0
    )
    length = _length(topic.sentences)
    weights = (x @ ((contains - coverage[:, None]) * idf).T).T / total
    importance = _clear(weights, length)
    systems = tuple(summary.system for summary in topic.summaries)
    return SharedWords(
        systems=systems,
        words=words,
        counts=x,
        idf=idf,
        contains=contains,
        spelled={word: columns[stem] for word, stem in spelled.items() if stem in columns},
        coverage=coverage,
        importance=importance,
        length=length,
        by_length=weights @ length[:, 2],
        telling=Telling(importance, systems),
    )


def score(shared: SharedWords, chances: Chances, judgments: int) -> WordScores:
    """The three scores of a topic's summaries from so many judgments."""
    advantages = chances.values - 0.5  # so that equal sentences give exactly 0
    shares = chances.shares
    importance = shared.importance @ advantages
    importance[~shared.contains.any(axis=1)] = np.nan
    return WordScores(
        systems=shared.systems,
        coverage=shared.coverage,
        importance=importance,
        covariance=chances.covariance(shared.importance),
        judgments=judgments,
        shares=shares and Shares(shares.judged, shared.importance @ shares.added),
    )


def cleared_values(shared: SharedWords, chances: Chances) -> Vector:
    """(n,): the sentences' values, 1/2 + c - e."""
    values: Vector = 0.5 + _clear(chances.values[None], shared.length)[0]
    return values


def source_words(shared: SharedWords, of_sentences: Vector) -> SourceWords:
    """What makes the scores, down to the values of the sentences (n,), cleared of length: the words of the source that
    some summary has."""
    occurrences = shared.counts.sum(axis=0)
    values = shared.counts.T @ of_sentences / occurrences
    used = np.flatnonzero(shared.contains.any(axis=0))
    column = {int(word): k for k, word in enumerate(used)}
    by_word = shared.counts.tocsc()[:, used]
    sentences, times = by_word.indices.tolist(), by_word.data.astype(int).tolist()
    return SourceWords(
        total=float((occurrences * shared.idf).sum()),
        mean=float(shared.mass @ values),
        words=tuple(shared.words[word] for word in used),
        occurrences=tuple(occurrences[used].astype(int).tolist()),
        idf=tuple(shared.idf[used].tolist()),
        values=tuple(values[used].tolist()),
        sentences=tuple(
            tuple(zip(sentences[start:end], times[start:end], strict=True))
            for start, end in pairwise(by_word.indptr.tolist())
        ),
        of_systems={
            system: tuple(column[word] for word in np.flatnonzero(own).tolist())
            for system, own in zip(shared.systems, shared.contains, strict=True)
        },
        spelled={spelled: column[word] for spelled, word in shared.spelled.items()},
    )


def _idf(x: Sparse) -> Vector:
    """(k,): ln((1 + n) / (1 + df)) + 1, a sentence being a document."""
    n, k = x.shape
    idf: Vector = np.log((1 + n) / (1 + np.bincount(x.indices, minlength=k))) + 1
    return idf


def _length(sentences: tuple[str, ...]) -> Matrix:
    """(n, 3): the standardized logarithm of the number of characters; its square, centred; the standardized rank."""
    if not sentences:
        return np.zeros((0, 3))
    characters = [max(len(sentence), 1) for sentence in sentences]
    _lengths, which, times = np.unique(characters, return_inverse=True, return_counts=True)
    log, rank = _standardized(np.log(characters)), _standardized((np.cumsum(times) - (times - 1) / 2)[which])
    return np.column_stack([log, log**2 - np.mean(log**2), rank])


def _standardized(values: Vector) -> Vector:
    """Zeros where all are equal."""
    return np.asarray((values - values.mean()) / (values.std() or 1.0))


def _clear(rows: Matrix, length: Matrix) -> Matrix:
    """Rows (r, n), centred and less their ridge regression on length: a symmetric map, so that it may be applied to
    weights as well as to values."""
    centred = rows - rows.mean(axis=1, keepdims=True) if rows.shape[1] else rows
    slopes = np.linalg.solve(length.T @ length + np.diag(PSEUDO_SENTENCES), length.T @ centred.T)
    cleared: Matrix = centred - (length @ slopes).T
    return cleared
