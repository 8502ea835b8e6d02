"""All scores of topics by systems, in colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from preferendum.results import ScoreMatrix
from preferendum.show.plots.axes import decimals
from preferendum.show.plots.drawing import (
    LETTER,
    NARROW,
    PAD,
    PAPER,
    SMALL,
    Drawing,
    box,
    element,
    fitted,
    line,
    room_for,
    shortened,
    text,
)

#: From the lowest scores to the highest (ColorBrewer's Blues, without the darkest); a missing one has a cross instead.
COLOURS = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c")
MISSING = "none"
#: A grid of more scores says none of them under the pointer.
MOST_TOLD = 10_000
#: Height of a row, narrowest column with a name, distance of people from machines, width of a colour in the legend.
CELL, NAMED, APART, SWATCH = 17.0, 11.0, 10.0, 24.0


@dataclass(frozen=True, slots=True)
class GridWords:
    """The words around a grid."""

    label: str
    machines: str
    authors: str
    missing: str


@dataclass(frozen=True, slots=True)
class _Layout:
    left: float
    top: float
    cell: float
    at: tuple[float, ...]
    low: float
    high: float
    is_named: bool
    is_told: bool

    @property
    def decimals(self) -> int:
        """The decimals of the scores that are shown."""
        return decimals([self.high - self.low], 3)


def score_grid(matrix: ScoreMatrix, words: GridWords, *, width: float = PAPER) -> Drawing | None:
    """Lay out all scores, topics without any last; None where there is none."""
    rows = list(zip(matrix.topics, matrix.scores, strict=True))
    rows.sort(key=lambda row: all(score is None for score in row[1]))
    present = [score for _topic, scores in rows for score in scores if score is not None]
    if not present:
        return None
    layout = _layout(matrix, width, min(present), max(present))
    bottom = layout.top + CELL * len(rows)
    names = [*_heads(matrix, layout, words), *(_names(matrix, layout) if layout.is_named else ())]
    for k, (topic, _scores) in enumerate(rows):
        names.append(
            text(PAD, layout.top + CELL * k, fitted(topic, layout.left - PAD - 8, SMALL), size=SMALL, dy="1em")
        )
    cells = element("g", *_cells(rows, matrix, layout, words), stroke="#888", stroke_width=".4")
    body = "\n".join([*names, cells, *_legend(layout, bottom + 16, words)])
    return Drawing(width, bottom + 62, words.label, body)


def _layout(matrix: ScoreMatrix, width: float, low: float, high: float) -> _Layout:
    systems = len(matrix.systems)
    left = PAD + room_for(matrix.topics, 0.28 * width, SMALL) + 8
    gap = APART if 0 < matrix.machines < systems else 0.0
    cell = min((width - left - gap - PAD) / systems, width / 4)
    is_named = cell >= NAMED
    longest = max(len(shortened(name)) for name in matrix.systems)
    top = 34 + SMALL * LETTER * longest if is_named else 30.0
    at = tuple(left + k * cell + (gap if k >= matrix.machines else 0.0) for k in range(systems))
    is_told = width > NARROW and systems * len(matrix.topics) <= MOST_TOLD
    return _Layout(left, top, cell, at, low, high, is_named, is_told)


def _heads(matrix: ScoreMatrix, layout: _Layout, words: GridWords) -> Iterator[str]:
    if matrix.machines:
        yield text(layout.left, 18, words.machines, size=SMALL)
    if matrix.machines < len(matrix.systems):
        room = matrix.machines * layout.cell
        y = 18 if room > len(words.machines) * SMALL * LETTER or not matrix.machines else layout.top - 8
        yield text(layout.at[matrix.machines], y, words.authors, size=SMALL)


def _names(matrix: ScoreMatrix, layout: _Layout) -> Iterator[str]:
    for x, name in zip(layout.at, matrix.systems, strict=True):
        turned = f"translate({x + layout.cell / 2:g} {layout.top - 5:g}) rotate(-90)"
        yield text(0, 0, shortened(name), size=SMALL, dy=".35em", transform=turned)


def _cells(
    rows: Sequence[tuple[str, Sequence[float | None]]], matrix: ScoreMatrix, layout: _Layout, words: GridWords
) -> Iterator[str]:
    for k, (topic, scores) in enumerate(rows):
        y = layout.top + CELL * k
        for x, system, score in zip(layout.at, matrix.systems, scores, strict=True):
            says = f"{topic}, {system}: {words.missing if score is None else f'{score:.{layout.decimals}f}'}"
            yield box(x, y, layout.cell, CELL, fill=_fill(score, layout), says=says if layout.is_told else None)
            if score is None:
                yield _cross(x, y, layout.cell)


def _cross(x: float, y: float, width: float) -> str:
    return line(x, y + CELL, x + width, y, stroke="currentColor", stroke_width="1")


def _fill(score: float | None, layout: _Layout) -> str:
    """Steps of equal width from the lowest score to the highest."""
    if score is None:
        return MISSING
    span = layout.high - layout.low
    share = (score - layout.low) / span if span else 0.5
    return COLOURS[min(int(share * len(COLOURS)), len(COLOURS) - 1)]


def _legend(layout: _Layout, y: float, words: GridWords) -> Iterator[str]:
    swatches = [box(PAD + SWATCH * k, y, SWATCH, 12.0, fill=fill) for k, fill in enumerate(COLOURS)]
    end = PAD + SWATCH * len(COLOURS)
    missing = box(end + SWATCH, y, SWATCH, 12.0, fill=MISSING)
    cross = line(end + SWATCH, y + 12, end + 2 * SWATCH, y, stroke="currentColor", stroke_width="1")
    yield element("g", *swatches, missing, cross, stroke="#888", stroke_width=".4")
    yield text(PAD, y + 28, f"{layout.low:.{layout.decimals}f}", size=SMALL)
    yield text(end, y + 28, f"{layout.high:.{layout.decimals}f}", "end", SMALL)
    yield text(end + SWATCH, y + 28, words.missing, size=SMALL)
