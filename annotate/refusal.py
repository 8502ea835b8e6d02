"""The answer of a verb that cannot be done as things stand, or with such a value."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils.translation import gettext as _


class Refusal(ValueError):
    """A wrong state or a value that will not do. The message is for the person who asked; `code` is for programs.

    `fields` says which value is at fault, by the name of the field.
    """

    def __init__(self, message: str, code: str = "refused", fields: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.fields = fields or {}


def invalid(field: str, message: str) -> Refusal:
    """A value of this field will not do."""
    return Refusal(message, "invalid", {field: [message]})


def check(row: Model) -> None:
    """What the model's validators say of a row, as a refusal with its fields."""
    try:
        row.full_clean()
    except ValidationError as error:
        fields = {name: [str(one) for one in said] for name, said in error.message_dict.items()}
        raise Refusal(_("Some values will not do."), "invalid", fields) from error
