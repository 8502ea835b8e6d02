"""What is shown of a result, described once. Page, CSV, LaTeX, JSON and terminal each write it in their own way."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from preferendum.formats.readers.tables import write_rows
from preferendum.show.latex import write_latex
from preferendum.show.plots import WIDE, Drawing

#: What stands for a figure that is not there.
DASH = "–"

Cell = str | int | float | None
Show = Callable[[Any], str]


def as_it_is(cell: Cell) -> str:
    """A text or a whole number."""
    return DASH if cell is None else str(cell)


def decimals(places: int) -> Show:
    """A number with so many decimals."""
    return lambda number: DASH if number is None else f"{number:.{places}f}"


def percent(share: float | None) -> str:
    """A share with all its digits."""
    return DASH if share is None else f"{100 * share:.10g}%"


def whole_percent(share: float | None) -> str:
    """A share that has no interval."""
    return percent(None if share is None else round(share, 2))


def p_value(p: float | None) -> str:
    """The p-value as papers print it: three decimals, no zero before the point."""
    if p is None:
        return DASH
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def sentences(*texts: str) -> str:
    """The texts that say something, one after the other."""
    return " ".join(text if text.endswith((".", "!", "?", ":")) else f"{text}." for text in texts if text)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `name`: in files and JSON, none for what people alone read; `label`: on pages and in papers, none for what files
    alone have; `show`: a cell as people read it; `group`: a heading that neighbours share; `ability`: what its readers
    must be able to do, if more than to see the analysis.
    """

    name: str
    label: str = ""
    show: Show = as_it_is
    group: str = ""
    ability: str = ""

    @property
    def is_text(self) -> bool:
        """Whether cells are texts, which are left-aligned; numbers are right-aligned."""
        return self.show is as_text


def as_text(cell: Cell) -> str:
    """A name: the same, at the left of its column."""
    return as_it_is(cell)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; every row has a cell for each column.

    `name`: of its files; `note`: what its columns mean, in sentences; `links`: of each row, what a click on its first
    cell chooses, or None; `leads_to`: the page of the study that it opens instead, with the keys of its address in
    `links`; `marked`: the rows to highlight; `thin`: those to
    show in grey; `folded`: pages and terminals leave it to the files; `closed`: pages
    show its title, and the rest on a click; `first`: so many rows are open on a page and the others folded, 0 for all.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    links: tuple[Mapping[str, str | int] | None, ...] = ()
    leads_to: str = ""
    marked: frozenset[int] = frozenset()
    thin: frozenset[int] = frozenset()
    folded: bool = False
    closed: bool = False
    first: int = 0

    def with_note(self, note: str) -> Table:
        """The table with one note more."""
        return replace(self, note=sentences(self.note, note))

    def with_column(self, name: str, value: Cell) -> Table:
        """The table with one column more in its files, of the same value in each row."""
        return replace(self, columns=(*self.columns, Column(name)), rows=tuple((*row, value) for row in self.rows))

    def for_reader(self, abilities: Collection[str]) -> Table:
        """The columns that a reader with these abilities may see."""
        places = [k for k, column in enumerate(self.columns) if column.ability in ("", *abilities)]
        columns = tuple(self.columns[k] for k in places)
        return replace(self, columns=columns, rows=tuple(tuple(row[k] for k in places) for row in self.rows))

    @property
    def read(self) -> list[Column]:
        """The columns that people read."""
        return [column for column in self.columns if column.label]

    @property
    def heads(self) -> list[str]:
        """What people read above the columns, where nothing can span several."""
        return [f"{column.group}, {column.label}" if column.group else column.label for column in self.read]

    def texts(self) -> list[list[str]]:
        """The cells that people read, as they read them."""
        places = [(k, column.show) for k, column in enumerate(self.columns) if column.label]
        return [[show(row[k]) for k, show in places] for row in self.rows]

    def csv(self) -> bytes:
        """Every digit of the columns that have a name."""
        file = io.BytesIO()
        write_rows(file, *self._named())
        return file.getvalue()

    def latex(self, rests_on: str = "") -> str:
        """For a paper that uses the package booktabs; the caption says what it shows, with what uncertainty, and what
        it rests on."""
        alignment = "".join("l" if column.is_text else "r" for column in self.read)
        return write_latex(self.heads, alignment, self.texts(), sentences(self.title, self.note, rests_on))

    def json(self) -> dict[str, Any]:
        """The columns that have a name, and a row as a record of them."""
        names, rows = self._named()
        records = [dict(zip(names, row, strict=True)) for row in rows]
        return {"name": self.name, "title": self.title, "note": self.note, "columns": list(names), "rows": records}

    def _named(self) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
        places = [k for k, column in enumerate(self.columns) if column.name]
        return tuple(self.columns[k].name for k in places), [tuple(row[k] for k in places) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot with what it shows. `draw`: the drawing at a width."""

    name: str
    title: str
    draw: Callable[[float], Drawing]
    caption: str = ""


def figure(name: str, title: str, caption: str, draw: Callable[..., Drawing | None], *about: Any) -> list[Figure]:
    """The figure that `draw` makes of `about`, or none where there is nothing to draw."""

    @cache
    def at(width: float) -> Drawing | None:
        return draw(*about, width=width)

    def drawn(width: float) -> Drawing:
        drawing = at(width)
        assert drawing is not None, "there is a drawing at every width or at none"
        return drawing

    return [] if at(WIDE) is None else [Figure(name, title, drawn, caption)]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reader may choose: `options` are (value, label), the first one where nothing is chosen."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str

    @classmethod
    def of(cls, name: str, label: str, options: Iterable[tuple[str, str]], asked: Mapping[str, str]) -> Choice:
        """The requested option, or the first. There must be one."""
        options = tuple(options)
        values = [value for value, _label in options]
        return cls(name, label, options, asked[name] if asked.get(name) in values else values[0])


@dataclass(frozen=True, slots=True)
class Shown:
    """The tables and figures of a result in their order.

    `verdict`: the answer to the question in one sentence, with its uncertainty; `parts`: tables and figures; `choices`:
    what may be chosen, with what is; `notes`: what else there is to say, in sentences; `rests_on`: the judgments used,
    if these are not all that count now; `detail`: what a template of the analysis shows in addition.
    """

    verdict: str
    parts: Sequence[Table | Figure]
    choices: Sequence[Choice] = ()
    notes: Sequence[str] = field(default=())
    rests_on: str = ""
    detail: Any = None

    def for_reader(self, abilities: Collection[str]) -> Shown:
        """What a reader with these abilities may see, without tables that have no column left."""
        parts = [part.for_reader(abilities) if isinstance(part, Table) else part for part in self.parts]
        return replace(self, parts=[part for part in parts if isinstance(part, Figure) or part.columns])

    @property
    def tables(self) -> list[Table]:
        return [part for part in self.parts if isinstance(part, Table)]
