"""What people type, as it is stored."""

from __future__ import annotations

from django.utils.translation import gettext as _

from annotate.refusal import invalid
from formats import text
from formats.complaints import Complaints, Place


def cleaned(field: str, typed: str) -> str:
    """The text without space around it, in NFC, its lines ending in \\n, as texts from files are stored.

    Raises `Refusal` for what would break a database, a page or a normaliser: control characters, half surrogates,
    mountains of combining marks.
    """
    found = text.clean(Place(Complaints(), field), typed.strip())
    if found is None:
        message = _("There is a character in it that cannot be stored. Type it anew instead of pasting it.")
        raise invalid(field, message)
    return found
