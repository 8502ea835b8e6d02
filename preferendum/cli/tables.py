"""Tables for people, spreadsheets and papers."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from preferendum.formats.readers.tables import write_rows
from preferendum.show import shown, text
from preferendum.show.latex import one_line, write_latex
from preferendum.show.plots import decimals
from preferendum.show.shown import Cell

P_VALUES = frozenset(("p", "Holm", "Williams"))
P_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns. Numbers are right-aligned, `None` is an empty cell.

    `title` and `notes` are lines for people; a column of floats is shown with so many decimals that its largest number
    has `digits` significant ones, a column of p-values always with four, and the columns named in `shows` as these say.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    digits: int = 4
    shows: Mapping[str, shown.Show] = field(default_factory=dict)

    def with_note(self, note: str) -> Table:
        """The table with one note more."""
        return replace(self, notes=(*self.notes, note))

    def with_column(self, name: str, value: Cell) -> Table:
        """The table with one column more, of the same value in each row."""
        return replace(self, columns=(*self.columns, name), rows=tuple((*row, value) for row in self.rows))


def as_text(tables: Sequence[Table | shown.Table]) -> str:
    """Tables as they are read in a terminal."""
    return "\n\n".join(map(_text, tables)) + "\n"


def as_csv(table: Table | shown.Table) -> str:
    """One table with every digit."""
    if isinstance(table, shown.Table):
        return table.csv().decode()
    file = io.BytesIO()
    write_rows(file, table.columns, table.rows)
    return file.getvalue().decode()


def as_latex(tables: Sequence[Table | shown.Table]) -> str:
    """Tables for a paper that uses the package booktabs."""
    return "\n\n".join(map(_latex, tables)) + "\n"


def _text(table: Table | shown.Table) -> str:
    if isinstance(table, shown.Table):
        return text.as_text(table)
    title, *notes = map(one_line, (table.title, *table.notes))
    return "\n".join(filter(None, [title, *text.aligned(*_laid_out(table)), *notes]))


def _latex(table: Table | shown.Table) -> str:
    if isinstance(table, shown.Table):
        return table.latex()
    heads, rows, right = _laid_out(table)
    alignment = "".join("r" if number else "l" for number in right)
    return write_latex(heads, alignment, rows, shown.sentences(table.title, *table.notes))


def _laid_out(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Heads and cells as people read them, and which columns are right-aligned."""
    return list(table.columns), _shown(table), _numeric(table)


def _shown(table: Table) -> list[list[str]]:
    """Every cell as people see it."""
    columns = [[row[k] for row in table.rows] for k in range(len(table.columns))]
    places = [
        P_DECIMALS if name in P_VALUES else decimals([cell for cell in column if isinstance(cell, float)], table.digits)
        for name, column in zip(table.columns, columns, strict=True)
    ]
    shows = [table.shows.get(name, partial(_cell, own)) for name, own in zip(table.columns, places, strict=True)]
    return [[show(cell) for show, cell in zip(shows, row, strict=True)] for row in table.rows]


def _cell(places: int, cell: Cell) -> str:
    if cell is None:
        return shown.DASH
    if isinstance(cell, float):
        return f"{cell:.{places}f}"
    return one_line(cell) if isinstance(cell, str) else str(cell)


def _numeric(table: Table) -> list[bool]:
    return [not any(isinstance(row[k], str) for row in table.rows) for k in range(len(table.columns))]
