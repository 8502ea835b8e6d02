"""The reason for an answer: words that a study offers to tap, with commas between them, and a line of one's own."""

from __future__ import annotations

#: Characters of all words that a study offers, and of a line of one's own.
WORDS_CHARACTERS, NOTE_CHARACTERS = 200, 300


def listed(words: str) -> list[str]:
    """The words between the commas, each once."""
    return list(dict.fromkeys(filter(None, (" ".join(word.split()) for word in words.split(",")))))
