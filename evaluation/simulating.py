"""Judgments of a stored topic, simulated from its references or its Pyramid (model.md, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from annotate.models import Study
from evaluation import records
from preferendum.fit.similarity import similarity
from preferendum.formats.records import Preference
from preferendum.scoring.simulate import judge
from preferendum.scoring.simulations import Source, has_source, sentence_values

#: Pseudonyms of the simulated annotators.
PSEUDONYMS: Mapping[Source, str] = {
    "references": "simulated from the references",
    "pyramid": "simulated from the Pyramid",
}


def simulate(
    topic_id: int, study: Study, source: Source, count: int, seed: int, split: Callable[[str, str], Sequence[str]]
) -> Iterator[Preference]:
    """`count` judgments of one topic; none if it has no such source, or the source values all its sentences equally."""
    loaded = records.load_with_sources(topic_id, split)
    if loaded is None:
        return
    topic = loaded.evidence
    if not topic.sentences or not has_source(topic, source):
        return
    judgments = judge(sentence_values(topic, similarity(topic.sentences, study.similarity), source), count, seed)
    names = topic.sentence_ids
    for a, b, outcome in zip(judgments.a, judgments.b, judgments.outcome, strict=True):
        yield Preference(
            topic.topic_id,
            names[a],
            names[b],
            "a" if outcome == 1 else "b",
            annotator=PSEUDONYMS[source],
            extra={"kind": "simulated"},
        )
