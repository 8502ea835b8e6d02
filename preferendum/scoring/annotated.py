"""From Pyramid annotations to sentences with the content units that people marked in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from preferendum.formats.pyramid import Annotation, Contributor
from preferendum.formats.sentences import cut
from preferendum.scoring.simulate import Annotated

Marks = Iterable[tuple[str, Iterable[Contributor]]]


def annotated_sentences(annotation: Annotation, language: str = "") -> tuple[Annotated, ...]:
    """Every sentence of the annotated summaries, people's first, with the SCUs that have words in it.

    The lines that name the model summaries are no sentences of theirs and are left out.
    """
    pyramid = annotation.pyramid
    weights = pyramid.weights
    of_models = ((scu.uid, scu.contributors) for scu in pyramid.scus)
    sentences = list(_marked(pyramid.text, of_models, weights, language, frozenset(pyramid.borders)))
    for peer in annotation.peers.values():
        sentences += _marked(peer.text, peer.matched.items(), weights, language)
    return tuple(sentences)


def _marked(
    text: str, marks: Marks, weights: Mapping[str, int], language: str, headers: frozenset[int] = frozenset()
) -> Iterator[Annotated]:
    spans = sorted(
        (*part.span, uid)
        for uid, contributors in marks
        for contributor in contributors
        for part in contributor.parts
        if part.span
    )
    for sentence in cut(text, language):
        if text.rfind("\n", 0, sentence.start) + 1 in headers:
            continue
        uids = {uid for start, end, uid in spans if start < sentence.end and end > sentence.start}
        yield Annotated(sentence.text, {uid: float(weights[uid]) for uid in sorted(uids)})
