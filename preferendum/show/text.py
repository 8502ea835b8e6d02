"""Tables as they are read in a terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from preferendum.show.shown import Table

#: How long the lines of a note are.
NOTE = 100


def as_text(table: Table) -> str:
    """A table below its title, then its note."""
    rows = aligned(table.heads, table.texts(), [not column.is_text for column in table.read])
    return "\n".join([table.title, *rows, *textwrap.wrap(table.note, NOTE)])


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> list[str]:
    """The lines of a table, whatever the script; none without rows."""
    cells = [heads, *rows] if rows else []
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return [("  " + "  ".join(map(_padded, row, widths, to_the_right))).rstrip() for row in cells]


def _padded(cell: str, width: int, is_to_the_right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if is_to_the_right else cell + space


def _width(text: str) -> int:
    """The places that a text takes in a terminal: wide characters two, marks none."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
