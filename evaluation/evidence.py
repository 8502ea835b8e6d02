"""The plain values that go into the mathematics and come out of it.

Sentences are integers inside: index i is the i-th sentence of the topic in document order. Names such as
`d1:0` (document, index from 0) belong to the borders: files, tables, pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from formats.pyramid import Annotation

Smoothing = Literal["paper", "sharpened", "kernel", "none"]
Value = Literal["strength", "chance"]
Normalization = Literal["length", "budget", "pivot"]
Match = Literal["any", "similarity", "content"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How judgments become scores; the names are the command line's options (docs/model.md says what each does).

    `prior`: pseudo-wins and as many pseudo-losses of every sentence against one of utility 0.
    `budget`: characters that `normalize="budget"` divides by; None takes the topic's longest summary. It says nothing
    where `match="content"`, which does not count characters.
    `weigh_annotators`: whether a judgment counts as much as whoever gave it is reliable (`evaluation.reliability`).
    """

    smooth: Smoothing = "kernel"
    prior: float = 1.0
    redundancy: bool = True
    value: Value = "chance"
    normalize: Normalization = "pivot"
    match: Match = "content"
    similarity: str = "tfidf-jaccard"
    budget: int | None = None
    weigh_annotators: bool = False


@dataclass(frozen=True, slots=True)
class Judgments:
    """What people said of one topic, one entry a judgment, in the order in which they were stored.

    `a`, `b` (m,): indices of the two sentences; `outcome` (m,): the share of the win that goes to `a`
    (1 preferred, 0 not, 0.5 a tie); `weight` (m,): how much the judgment counts; `annotator` (m,): who, as an integer.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    outcome: NDArray[np.float64]
    weight: NDArray[np.float64]
    annotator: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.a)


@dataclass(frozen=True, slots=True)
class SummaryText:
    """One system's summary of the topic, cut into sentences, with what people thought of it (higher is better)."""

    system: str
    sentences: tuple[str, ...]
    human: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that one topic's scores rest on. `sentence_ids` and `sentences` run in document order.

    `pyramid`: what people found the references and the summaries to say, where somebody annotated them.
    """

    topic_id: str
    sentence_ids: tuple[str, ...]
    sentences: tuple[str, ...]
    judgments: Judgments
    summaries: tuple[SummaryText, ...] = ()
    references: tuple[tuple[str, ...], ...] = ()
    language: str = "en"
    pyramid: Annotation | None = None
