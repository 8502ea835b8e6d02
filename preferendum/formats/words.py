"""Texts for people in rooms that know no website: English, or what the website translates it into.

`annotate.apps` hands Django's gettext in when the website starts; elsewhere texts stay as they are written. xgettext
finds the texts by the names of these functions.
"""

from __future__ import annotations

from collections.abc import Callable


def _english(singular: str, plural: str, n: int) -> str:
    return singular if n == 1 else plural


_translate: Callable[[str], str] = str
_translate_number: Callable[[str, str, int], str] = _english


def translate_with(translate: Callable[[str], str], translate_number: Callable[[str, str, int], str]) -> None:
    """From now on, translate by these."""
    global _translate, _translate_number
    _translate, _translate_number = translate, translate_number


def gettext(text: str) -> str:
    """The text in the reader's language."""
    return _translate(text)


def ngettext(singular: str, plural: str, n: int) -> str:
    """The text for so many in the reader's language."""
    return _translate_number(singular, plural, n)


def number_of(count: int, what: str) -> str:
    """A number with its English noun, for texts that are not translated: "1 vote", "2,000 votes"."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def gettext_noop(text: str) -> str:
    """The text as it is: marked here, translated where it is shown."""
    return text
