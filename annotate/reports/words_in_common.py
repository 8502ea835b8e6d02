"""The words that two sentences share, for pages that show them together."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")


def mark_shared(text: str, other: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether the other text has this word, too, in any case."""
    shared = {word.casefold() for word in WORD.findall(other)}
    return [(piece, piece.casefold() in shared) for piece in re.split(r"(\w+)", text) if piece]
