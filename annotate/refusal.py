"""The answer of a verb that cannot be done in the present state, or with such a value."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.translation import gettext as _

from preferendum.formats.checks import text
from preferendum.formats.checks.complaints import Complaints, Place


class Refusal(ValueError):
    """A wrong state or an unsuitable value. The message is for users; `code` is for programs.

    `fields` names the values at fault.
    """

    def __init__(self, message: str, code: str = "refused", fields: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.fields = fields or {}


def invalid(field: str, message: str) -> Refusal:
    """A refusal of this field's value."""
    return Refusal(message, "invalid", {field: [message]})


def check(row: Model) -> None:
    """Raise the errors of a row's validators as a refusal with its fields."""
    try:
        row.full_clean()
    except ValidationError as error:
        fields = {name: [str(message) for message in messages] for name, messages in error.message_dict.items()}
        raise Refusal(_("Some values are not valid."), "invalid", fields) from error


def cleaned(field: str, typed: str) -> str:
    """The text without space around it, in NFC, with lines ending in \\n, as texts from files are stored.

    Invisible characters alone become "", which is refused where a text is required.

    Raises `Refusal` for what would break a database, a page or a normaliser: control characters, half surrogates,
    mountains of combining marks.
    """
    stored = text.clean(Place(Complaints(), field), typed.strip())
    if stored is None:
        message = _("The text contains a character that cannot be stored. Type it instead of pasting it.")
        raise invalid(field, message)
    return "" if text.blank(stored) else stored
