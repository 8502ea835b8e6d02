"""Results that print themselves: as text in a terminal, as HTML with plots in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from preferendum.formats.words import number_of
from preferendum.show.plots import PAPER
from preferendum.show.shown import Figure, Table
from preferendum.show.text import as_text


@dataclass(frozen=True, repr=False, eq=False)
class Printed:
    """A result as tables and figures, the main ones first."""

    tables: Sequence[Table]
    figures: Sequence[Figure]

    def __repr__(self) -> str:
        return "\n\n".join(as_text(opened(table)) for table in self.tables)

    def _repr_html_(self) -> str:
        """The tables and plots as a notebook shows them."""
        return "\n".join([*map(_table, map(opened, self.tables)), *map(_plot, self.figures)])

    def to_dicts(self) -> list[dict[str, Any]]:
        """Give the rows of the main table with every digit, by the names that its CSV has.

        Returns
        -------
        list of dict
            One for each row; what is not known is None.
        """
        rows: list[dict[str, Any]] = self.tables[0].json()["rows"]
        return rows

    def to_latex(self) -> str:
        """Give the main table for a paper that uses the package booktabs, with a caption.

        Returns
        -------
        str
            A `table` environment.
        """
        return self.tables[0].latex()

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Write the main figure to a file.

        Parameters
        ----------
        path : str or path-like
            The file to write, which must end in `.svg`.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ValueError
            If the file has another ending, or there is nothing to draw.
        """
        file = Path(path)
        if file.suffix.lower() != ".svg":
            raise ValueError(f"{file.name}: plots are written as SVG, to a file that ends in .svg")
        if not self.figures:
            raise ValueError("there is nothing to draw")
        file.write_text(self.figures[0].draw(PAPER).alone(), encoding="utf-8")
        return file


def opened(table: Table) -> Table:
    """The table with the rows that are open on a page; its note says how many more there are."""
    more = len(table.rows) - table.first
    if not table.first or more <= 0:
        return table
    note = f"{number_of(more, 'more row')} {'is' if more == 1 else 'are'} in files."
    return replace(table.with_note(note), rows=table.rows[: table.first])


def _table(table: Table) -> str:
    """Write a table below its title and note, names at the left and numbers at the right."""
    sides = ["left" if column.is_text else "right" for column in table.read]
    rows = [_row("td", texts, sides) for texts in table.texts()]
    head = _row("th", table.heads, sides)
    words = f"<p><b>{escape(table.title)}</b><br>{escape(table.note)}</p>"
    return f"{words}\n<table><thead>{head}</thead><tbody>\n{''.join(rows)}</tbody></table>"


def _row(tag: str, texts: Sequence[str], sides: Sequence[str]) -> str:
    cells: Iterator[str] = (
        f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>' for text, side in zip(texts, sides, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>\n"


def _plot(figure: Figure) -> str:
    return f'<div style="max-width: {PAPER:g}px">{figure.draw(PAPER).on_page()}</div>'
