"""The features of a summary and its documents that the light PrefScore reads.

G. Luo, H. Li, Y. He & F. S. Bao, "PrefScore: pairwise preference learning for reference-free summarization quality
assessment", COLING 2022. Its scorer is BERT; here f(d, s) = w . phi(d, s) weighs the figures below, learnt from the
same preferences by the same loss (`preferendum.methods.training.preference_training`). With c(w) of N words in the
documents and d(w) of n in the summary,

    js, kl, kl-summary   the metrics of these names
    cosine-tf            of c and d
    new-words            the share of the summary's words that the documents do not have
    log-unigram          the mean over its words of the logarithm of the smoothed c(w) / N

and the seven features of language of `classy`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence
from preferendum.methods.metrics.divergence.scores import BINS_PER_WORD, GAMMA, smoothed
from preferendum.methods.metrics.trained.classy import linguistic
from preferendum.methods.metrics.trained.files import KINDS
from preferendum.metrics import registry
from preferendum.metrics.registry import Need
from preferendum.vocabulary.words import aligned, words, words_of_documents

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Documents = Literal["pooled", "mean"]

FEATURES = KINDS["prefscore"].features
DIVERGENCES = ("js", "kl", "kl-summary")


@dataclass(frozen=True, slots=True)
class Prefscore:
    """What trained metrics of the kind `prefscore` read of summaries.

    `documents`: all as one text, or each by itself and the mean over them, as the paper does with its scores.
    """

    features: tuple[str, ...]
    documents: Documents = "mean"

    @classmethod
    def of(cls, names: Sequence[str], options: Mapping[str, str]) -> Self:
        return cls(tuple(names), "pooled" if options.get("documents") == "pooled" else "mean")

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS})

    @property
    def signature(self) -> str:
        kept = "documents pooled" if self.documents == "pooled" else "mean over documents"
        return (
            f"{kept}; Lidstone {GAMMA} over {BINS_PER_WORD} x documents' vocabulary; {registry.metric('js').signature}"
        )

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        return self

    def values(self, topic: Evidence) -> Matrix:
        """(summaries, features)"""
        parts = [topic] if self.documents == "pooled" else list(_by_document(topic))
        content = np.mean([_content(part) for part in parts], axis=0)
        columns = dict(zip(FEATURES, np.column_stack([content, linguistic(topic)]).T, strict=True))
        return np.column_stack([columns[name] for name in self.features])


def _by_document(topic: Evidence) -> Iterator[Evidence]:
    """The topic with each of its documents alone, by the names that sentences bear."""
    names = [name.rpartition(":")[0] for name in topic.sentence_ids]
    for document in dict.fromkeys(names):
        rows = [k for k, name in enumerate(names) if name == document]
        yield replace(
            topic,
            sentence_ids=tuple(topic.sentence_ids[k] for k in rows),
            sentences=tuple(topic.sentences[k] for k in rows),
        )


def _content(topic: Evidence) -> Matrix:
    """(summaries, 6): the features that compare with the documents."""
    divergences = [registry.metric(name).score(topic) for name in DIVERGENCES]
    source = words_of_documents(topic.sentences, topic.language)
    c, *rows = aligned([source, *(words(summary.sentences, topic.language) for summary in topic.summaries)])
    d = np.reshape(rows, (-1, len(c)))
    n = d.sum(axis=1)
    with np.errstate(invalid="ignore"):
        cosine = d @ c / (np.linalg.norm(d, axis=1) * np.linalg.norm(c))
        new = d[:, c == 0].sum(axis=1) / n
        log_unigram = d @ np.log(smoothed(c, BINS_PER_WORD * len(source))) / n
    least = np.log(GAMMA / (c.sum() + GAMMA * BINS_PER_WORD * len(source))) if source else 0.0
    empty = n == 0  # it shares nothing, and says nothing new
    return np.column_stack(
        [*divergences, *(np.where(empty, value, own) for own, value in ((cosine, 0), (new, 0), (log_unigram, least)))]
    )
