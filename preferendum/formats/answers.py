"""The answers to a pair, one row each: choices, keys, words, files, weights and statistics follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from preferendum.formats.words import gettext_noop as _

#: The share of a win that an answer gives to each sentence if it prefers neither.
HALF = 0.5
#: The revision of an answer that takes it back; no answer.
UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. If it prefers a sentence, its key names the side on which that one was shown.

    `key`: its name in tables, forms, archives and the API. `share`: of a win, for the sentence on the left. `letter`:
    its name in files of preferences. `keyboard`: the labels of the keys that give it. `name`: what annotators read,
    `of_summaries` where two summaries are compared; `meaning`, `advice`: what the guidelines say. `relation`: the words
    between the preferred sentence and the other. `setting`: of a study, where the answer is allowed; empty: everywhere.
    `count`: what a report calls it, after how often it was given.
    """

    key: str
    share: float
    letter: str
    keyboard: tuple[str, ...]
    name: str
    of_summaries: str
    meaning: str
    relation: str = _("preferred to")
    advice: str = ""
    setting: str = ""
    count: str = ""


def _by_key(*answers: Answer) -> Mapping[str, Answer]:
    return {answer.key: answer for answer in answers}


ANSWERS = _by_key(
    Answer(
        *("left", 1.0, "a", ("←", "1"), _("the first sentence"), _("the first summary")),
        meaning=_("the first one (left, or above) answers the question better"),
    ),
    Answer(
        *("right", 0.0, "b", ("2", "→"), _("the second sentence"), _("the second summary")),
        meaning=_("the second one (right, or below) answers the question better"),
    ),
    Answer(
        *("tie", HALF, "tie", ("0",), _("equally important"), _("equally good")),
        meaning=_("both answer it equally well"),
        relation=_("as important as"),
        advice=_("If you cannot choose between the two, answer that they are equal."),
        setting="ties_allowed",
        count=_("equal"),
    ),
    Answer(
        *("neither", HALF, "neither", ("9",), _("neither is important"), _("both are bad")),
        meaning=_("neither of the two answers it"),
        relation=_("as bad as"),
        advice=_("If neither of the two is any good, answer that: it is not the same as equal."),
        setting="neither_allowed",
        count=_("neither"),
    ),
)
#: The same answers as annotators read them where two summaries are compared.
SUMMARY_ANSWERS = {key: replace(answer, name=answer.of_summaries) for key, answer in ANSWERS.items()}
#: Those that prefer a sentence, which every study allows.
PREFERENCES = {key: answer for key, answer in ANSWERS.items() if answer.share != HALF}
#: Where a sentence is shown.
SIDES = tuple(PREFERENCES)
#: By key, the share of a win for the sentence on the left.
SHARES = {key: answer.share for key, answer in ANSWERS.items()}
#: By letter, the key.
LETTERS = {answer.letter: key for key, answer in ANSWERS.items()}
#: The letters of the answers that prefer no sentence: both are alike, or both are bad.
TIE, NEITHER = (answer.letter for answer in ANSWERS.values() if answer.share == HALF)


def share_of_first(answer: str, swapped: bool) -> float:
    """The share of a win for the first sentence of a pair; `swapped`: whether it was shown on the right."""
    return SHARES[turned(answer, swapped)]


def turned(answer: str, swapped: bool) -> str:
    """The answer, with the other side if the sides are `swapped`."""
    return other_side(answer) if swapped and answer in PREFERENCES else answer


def without_preference(given: Mapping[str, int]) -> dict[str, int]:
    """The answers that prefer no sentence and were given, with their `count`."""
    return {ANSWERS[key].count: number for key, number in given.items() if number and key not in PREFERENCES}


def other_side(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]
