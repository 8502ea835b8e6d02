"""A topic with judgments by simulated annotators, alone or added to people's (tables 2 and 3 of Zopf 2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Judgments
from preferendum.fit.similarity import Similarity
from preferendum.scoring import simulate
from preferendum.scoring.annotated import annotated_sentences

Source = Literal["references", "pyramid"]
#: As the paper's tables call them.
SHORT: Mapping[Source, Literal["ref", "py"]] = {"references": "ref", "pyramid": "py"}


@dataclass(frozen=True, slots=True)
class Simulation:
    """So many judgments a topic, simulated from the references (equation 6) or from the Pyramid (7 and 8)."""

    source: Source
    judgments: int
    seed: int

    def __str__(self) -> str:
        return f"{self.judgments} judgments a topic simulated from {self.source}, seed {self.seed}"


def has_source(topic: Evidence, source: Source) -> bool:
    """Whether the topic has what judgments are simulated from."""
    return bool(topic.references) if source == "references" else topic.pyramid is not None


def sentence_values(topic: Evidence, similarity: Similarity, source: Source) -> NDArray[np.float64]:
    """(n,): the value of each source sentence to the simulated annotator. The topic has what `source` names."""
    if source == "references":
        return simulate.value_by_references(similarity, [text for reference in topic.references for text in reference])
    assert topic.pyramid is not None
    return simulate.value_by_pyramid(similarity, annotated_sentences(topic.pyramid, topic.language))


def with_simulated(topic: Evidence, simulations: Sequence[Simulation], similarity: Similarity) -> Evidence:
    """The topic with simulated judgments after its own, by one annotator each, who are of a kind of their own."""
    parts = [topic.judgments]
    annotators = int(topic.judgments.annotator.max(initial=-1)) + 1
    for number, simulation in enumerate(simulations, annotators):
        seed = (*simulate.seed_for(simulation.seed, topic.topic_id), *simulation.source.encode())
        values = sentence_values(topic, similarity, simulation.source)
        judged = simulate.judge(values, simulation.judgments, seed)
        parts.append(replace(judged, annotator=judged.annotator + number))
    kinds = (*(topic.kinds or ("human",) * annotators), *("simulated",) * len(simulations))
    return replace(topic, judgments=Judgments.joined(parts), kinds=kinds)
