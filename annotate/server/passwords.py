"""Passwords that are long and still easy to guess."""

from __future__ import annotations

from itertools import pairwise

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

#: Fewer different characters, or steps from one character to the next, are a pattern: `abababab`, `abcdefgh`, `112233`.
LEAST = 5
#: A repeated part that is longer would be a password by itself.
LONGEST_PART = 11


class PatternValidator:
    """Refuses passwords of a few characters, of characters in order, and of a part that is repeated."""

    def validate(self, password: str, user: object = None) -> None:
        letters = password.casefold()
        steps = {ord(after) - ord(before) for before, after in pairwise(letters)}
        if len(set(letters)) < LEAST or len(steps) < LEAST or _is_repeated(letters):
            message = _("This password follows a pattern: a few characters, characters in order, or a repeated part.")
            raise ValidationError(message, "password_pattern")

    def get_help_text(self) -> str:
        return _("Your password can\N{RIGHT SINGLE QUOTATION MARK}t be a few characters or a part that repeats.")


def _is_repeated(letters: str) -> bool:
    """Whether a part is written at least twice, and nothing else but its beginning."""
    parts = (letters[:size] for size in range(1, min(len(letters) // 2, LONGEST_PART) + 1))
    return any((part * len(letters)).startswith(letters) for part in parts)
