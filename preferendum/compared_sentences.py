"""Which sentences of a topic are compared, and which judgments are about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from preferendum.formats.checks.text import visible
from preferendum.formats.not_judged import DUPLICATE

Key = TypeVar("Key", str, int)


@dataclass(frozen=True, slots=True)
class Row(Generic[Key]):
    """A sentence: its `key`, its public `name`, and why it is not to be judged, if so."""

    key: Key
    name: str
    text: str
    not_judged: str

    @property
    def words(self) -> str:
        return visible(self.text)


@dataclass(frozen=True, slots=True)
class Compared(Generic[Key]):
    """The sentences that a fit compares; `places`: by key, the place of each sentence that may have judgments;
    `left_out`: the keys of the others."""

    rows: tuple[Row[Key], ...]
    places: dict[Key, int]
    left_out: tuple[Key, ...]


def compared_sentences(rows: Sequence[Row[Key]], judged: Collection[Key]) -> Compared[Key]:
    """The sentences to judge, and others that have judgments nevertheless, imported or given earlier. A judgment of a
    copy counts for the sentence that it copies. `judged`: the keys of those that have any."""
    asked = [row for row in rows if not row.not_judged or (row.key in judged and row.not_judged != DUPLICATE)]
    texts = {row.words for row in asked}
    copies = [row for row in rows if row.key in judged and row.not_judged == DUPLICATE]
    alone = {row.key for row in asked} | {row.key for row in copies if row.words not in texts}
    kept = tuple(row for row in rows if row.key in alone)
    places = {row.key: place for place, row in enumerate(kept)}
    by_words = {row.words: place for place, row in reversed(list(enumerate(kept)))}
    places |= {row.key: by_words[row.words] for row in copies}
    return Compared(kept, places, tuple(row.key for row in rows if row.key not in alone))
