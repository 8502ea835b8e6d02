"""Which words two sentences share, for a page that shows one beside the other."""

from __future__ import annotations

import re

WORD = re.compile(r"\w+")


def mark_shared(text: str, other: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is a word that the other text has, too, in any case."""
    shared = {word.casefold() for word in WORD.findall(other)}
    return [(piece, piece.casefold() in shared) for piece in re.split(r"(\w+)", text) if piece]
