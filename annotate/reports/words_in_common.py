"""The words that two sentences share, for pages that show them together."""

from __future__ import annotations

from preferendum.formats.tokens import pieces, tokens


def mark_shared(text: str, other: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether the other text has this word, too, in any case."""
    shared = set(tokens(other))
    marked = pieces(text, lambda token: token.text in shared)
    return [(piece, token is not None and token.text in shared) for piece, token in marked]
