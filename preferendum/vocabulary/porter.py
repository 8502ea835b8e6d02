"""Stems as in the programs that published figures used: ROUGE-1.5.5 and SIMetrix.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the author's two later corrections (`bli`
becomes `ble`, `logi` becomes `log`). Lin's change concerns step 4, where Porter takes the longest of `ement`, `ment`
and `ent` and then stops: here each of the three is tried in turn, so that "agreement" becomes "agreem".
ROUGE-1.5.5 looks up irregular forms in WordNet, too. No general stemmer can stand in for this: with plain Porter more
than half of all ROUGE-1 scores differ. SIMetrix uses Martin Porter's own program: his corrections, step 4
as he wrote it, and words of one or two letters as they are.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

_CONSONANT = "[^aeiou]"
_VOWEL = "[aeiouy]"
_CONSONANTS = f"{_CONSONANT}[^aeiouy]*"
_VOWELS = f"{_VOWEL}[aeiou]*"

# Porter's measure m counts the VC in [C](VC)^m[V].
_MEASURE_OVER_0 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}")
_MEASURE_IS_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}(?:{_VOWELS})?$")
_MEASURE_OVER_1 = re.compile(f"(?:{_CONSONANTS})?{_VOWELS}{_CONSONANTS}{_VOWELS}{_CONSONANTS}")
_HAS_VOWEL = re.compile(f"(?:{_CONSONANTS})?{_VOWEL}")
_SHORT = re.compile(f"{_CONSONANTS}{_VOWEL}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP_2_ENDINGS, _STEP_3_ENDINGS = tuple(_STEP_2), tuple(_STEP_3)
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip
_MARTINS_STEP_4 = (*_STEP_4, "ment", "ent", "ion")


@lru_cache(maxsize=1 << 17)
def stem(token: str) -> str:
    """The stem of a lower-cased ASCII token; tokens of three characters or fewer stay as they are."""
    if len(token) <= 3:
        return token
    return irregular_forms().get(token) or suffix_stripped(token)


@cache
def irregular_forms() -> dict[str, str]:
    """WordNet 2.0's exceptions: 5,930 inflected forms and their bases ("geese" and "goose")."""
    path = Path(__file__).parents[1] / "data" / "wordnet20_exceptions.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


@lru_cache(maxsize=1 << 17)
def martins_stem(token: str) -> str:
    """The stem of a lower-cased ASCII token by Martin Porter's own program; one or two characters stay as they are."""
    return token if len(token) <= 2 else suffix_stripped(token, tries_each_ending=False)


def suffix_stripped(word: str, *, tries_each_ending: bool = True) -> str:
    """Porter's five steps, for a word of at least three characters.

    `tries_each_ending`: whether step 4 tries -ement, -ment and -ent in turn, as Lin's does, or the longest alone.
    """
    begins_with_y = word.startswith("y")
    if begins_with_y:  # a consonant there; the capital keeps the patterns from taking it for a vowel
        word = "Y" + word[1:]
    step_4 = _each_bare_suffix if tries_each_ending else _bare_suffix
    for step in (_plural, _past_or_progressive, _final_y, _double_suffix, _suffix, step_4, _final_e, _final_ll):
        word = step(word)
    return "y" + word[1:] if begins_with_y else word


def _plural(word: str) -> str:  # step 1a
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 1:
        return word[:-1]
    return word


def _past_or_progressive(word: str) -> str:  # step 1b
    if word.endswith("eed"):
        return word[:-1] if _MEASURE_OVER_0.match(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return _mended(rest) if _HAS_VOWEL.match(rest) else word
    return word


def _mended(rest: str) -> str:
    """The part before -ed and -ing, made into a word again: conflat(e), hop(p), fil(e)."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE.search(rest):
        return rest[:-1]
    if _SHORT.match(rest):
        return rest + "e"
    return rest


def _final_y(word: str) -> str:  # step 1c
    return word[:-1] + "i" if word.endswith("y") and _HAS_VOWEL.match(word[:-1]) else word


def _double_suffix(word: str) -> str:  # step 2
    return _replace(word, _STEP_2, _STEP_2_ENDINGS)


def _suffix(word: str) -> str:  # step 3
    return _replace(word, _STEP_3, _STEP_3_ENDINGS)


def _replace(word: str, replacements: dict[str, str], endings: tuple[str, ...]) -> str:
    suffix = _longest(word, endings)
    if suffix and _MEASURE_OVER_0.match(word[: -len(suffix)]):
        return word[: -len(suffix)] + replacements[suffix]
    return word


def _bare_suffix(word: str) -> str:  # step 4
    suffix = _longest(word, _MARTINS_STEP_4)
    return word if suffix == "ion" and not word.endswith(("sion", "tion")) else _without(word, suffix)


def _each_bare_suffix(word: str) -> str:  # Lin's step 4
    word = _without(word, _longest(word, _STEP_4))
    word = _without(word, "ment") if word.endswith("ment") else word
    if word.endswith("ent"):
        return _without(word, "ent")
    return _without(word, "ion") if word.endswith(("sion", "tion")) else word


def _without(word: str, suffix: str) -> str:
    if not suffix:
        return word
    rest = word[: -len(suffix)]
    return rest if _MEASURE_OVER_1.match(rest) else word


def _longest(word: str, endings: tuple[str, ...]) -> str:
    """The longest of the endings that the word has; empty for none, which is what most words have."""
    return max(filter(word.endswith, endings), key=len) if word.endswith(endings) else ""


def _final_e(word: str) -> str:  # step 5a
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    dropped = _MEASURE_OVER_1.match(rest) or (_MEASURE_IS_1.match(rest) and not _SHORT.match(rest))
    return rest if dropped else word


def _final_ll(word: str) -> str:  # step 5b
    return word[:-1] if word.endswith("ll") and _MEASURE_OVER_1.match(word) else word
