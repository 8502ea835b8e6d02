"""The terms of a summary's score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from annotate.models import Item, Score
from preferendum.formats.tokens import Token, pieces
from preferendum.results import Key, Part, SourceWords, WordTerm

#: A word that changes a score by less than this share of the weightiest one is not tinted.
LIGHT = 0.05
#: A term, and the sentences that contain its word, with how often.
Named = tuple[WordTerm, list[tuple[Item, int]]]


def word_terms(score: Score | None) -> tuple[WordTerm, ...]:
    """The terms of a recommended score, one a word, the largest first; none for a fit that is not the newest."""
    words = score.fit.source_words if score else None
    if score is None or words is None:
        return ()
    return words.terms(score.summary.system.name, score.fit.settings["score"])


def with_names(words: Sequence[WordTerm]) -> list[Named]:
    """The terms with their sentences."""
    keys = {key for term in words for key, _times in term.sentences}
    named = {row.pk: row for row in Item.objects.filter(pk__in=keys).select_related("document")}
    return [(term, [(named[int(key)], times) for key, times in term.sentences if int(key) in named]) for term in words]


def tinted(
    text: str, words: SourceWords, terms: Sequence[Named]
) -> Iterator[tuple[str, WordTerm | None, list[tuple[Item, int]], int]]:
    """The text in pieces. Words that change the score have their term with its sentences, and a shade: 8 adds most, 0
    takes most (4 is neither). A word counts once, so that only the first place where it stands has them."""
    most = max((abs(term.contribution) for term, _sentences in terms), default=0.0)
    left = {term.word: (term, sentences) for term, sentences in terms if abs(term.contribution) > LIGHT * most}

    def word_of(token: Token | None) -> str:
        number = words.spelled.get(token.text) if token else None
        return "" if number is None else words.words[number]

    for piece, token in pieces(text, lambda token: word_of(token) in left):
        term, sentences = left.pop(word_of(token), (None, []))
        steps = math.ceil(4 * abs(term.contribution) / most) if term else 0
        yield piece, term, sentences, 4 + steps if term and term.contribution > 0 else 4 - steps


def parts_of(score: Score | None) -> tuple[tuple[Part, Item | None], ...]:
    """The terms of a score as published, each with the most similar source sentence."""
    parts = score.terms if score else ()
    keys = [part.nearest for part in parts if part.nearest is not None]
    sentences: dict[Key | None, Item] = {}
    sentences |= {row.pk: row for row in Item.objects.select_related("document").filter(pk__in=keys)}
    return tuple((part, sentences.get(part.nearest)) for part in parts)
