"""The answers to a pair, one row each: choices, keys, words, files, weights and statistics follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from formats.words import gettext_noop as _

#: The share of a win that an answer gives to each sentence if it prefers neither.
HALF = 0.5
#: The revision of an answer that takes it back; no answer.
UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. If it prefers a sentence, its key names the side on which that one was shown.

    `key`: its name in tables, forms, archives and the API. `share`: of a win, for the sentence on the left. `letter`:
    its name in files of preferences. `keyboard`: the labels of the keys that give it. `name`: what annotators read;
    `meaning`, `advice`: what the guidelines say. `relation`: the words between the preferred sentence and the other.
    """

    key: str
    share: float
    letter: str
    keyboard: tuple[str, ...]
    name: str
    meaning: str
    relation: str = _("preferred to")
    advice: str = ""


def _by_key(*answers: Answer) -> Mapping[str, Answer]:
    return {answer.key: answer for answer in answers}


ANSWERS = _by_key(
    Answer(
        *("left", 1.0, "a", ("←", "1"), _("the first sentence")),
        meaning=_("the first one (left, or above) answers the question better"),
    ),
    Answer(
        *("right", 0.0, "b", ("2", "→"), _("the second sentence")),
        meaning=_("the second one (right, or below) answers the question better"),
    ),
    Answer(
        *("tie", HALF, "tie", ("0",), _("equally important")),
        meaning=_("both answer it equally well"),
        relation=_("as important as"),
        advice=_("If you cannot choose between the two, answer that they are equal."),
    ),
)
#: The same answers as annotators read them where two summaries are compared.
SUMMARY_ANSWERS = {
    key: replace(ANSWERS[key], name=name)
    for key, name in {
        "left": _("the first summary"),
        "right": _("the second summary"),
        "tie": _("equally good"),
    }.items()
}
#: Those that prefer a sentence: all that there are in a study that allows no ties.
PREFERENCES = {key: answer for key, answer in ANSWERS.items() if answer.share != HALF}
#: Where a sentence is shown.
SIDES = tuple(PREFERENCES)
#: By key, the share of a win for the sentence on the left.
SHARES = {key: answer.share for key, answer in ANSWERS.items()}
#: By letter, the key.
LETTERS = {answer.letter: key for key, answer in ANSWERS.items()}


def share_of_first(answer: str, swapped: bool) -> float:
    """The share of a win for the first sentence of a pair; `swapped`: whether it was shown on the right."""
    return 1 - SHARES[answer] if swapped else SHARES[answer]


def other_side(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]
