"""The answer of a verb that cannot be done as things stand."""

from __future__ import annotations


class Refusal(ValueError):
    """A wrong state or a value that will not do. The message is for the person who asked; `code` is for programs.

    `fields` says which value is at fault, by the name of the field.
    """

    def __init__(self, message: str, code: str = "refused", fields: dict[str, list[str]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.fields = fields or {}
