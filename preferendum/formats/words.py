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


def gettext_noop(text: str) -> str:
    """The text as it is: marked here, translated where it is shown."""
    return text
