"""What all plots have in common: their widths, letters and colours, elements of SVG, and the frame with its axes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from preferendum.show.plots.axes import Tick

#: Widths in px: of a page's column, of a figure in a paper, of a phone.
WIDE, PAPER, NARROW = 1040.0, 720.0, 360.0
#: Sizes of letters in px.
FONT, SMALL = 14.0, 12.0
#: An average letter of a sans-serif is about this wide, in units of its size; there is no browser here to measure it.
LETTER = 0.6
#: From every edge.
PAD = 10.0
LONGEST_LABEL = 32
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif"

#: Of marks, of what is chosen, and of what differs from it: apart in every kind of colour vision, and in grey. The
#: stylesheet of the pages has others of the same names for the dark.
MARK, CHOSEN, DIFFERS = "#1d4a8f", "#1d4a8f", "#a3262a"
#: Of lines (after Okabe and Ito). Each stands out by 3:1 or more from white and from a dark page.
COLOURS, GREY = ("#2f7fc2", "#d55e00", "#0f9070", "#b0659a", "#8a7a2a", "#6c71c4", "#b5651d"), "#7f7f7f"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing. `label`: what it shows, for who cannot see it; `body`: its elements; `has_links`: to other pages."""

    width: float
    height: float
    label: str
    body: str
    has_links: bool = False

    def on_page(self) -> str:
        """The drawing as an element of a page, which has the type and the colours."""
        return self._svg(self.body, 0, class_="plot", role="group" if self.has_links else "img")

    def alone(self, note: str = "", fonts: str = FONTS, points: float | None = None) -> str:
        """The drawing as a document of its own, black on white and without links, with a note below; `points`: its
        width.
        """
        lines = list(wrapped(note, self.width - 2 * PAD))
        below = "".join(text(PAD, self.height + SMALL + 16 * k, line, size=SMALL) for k, line in enumerate(lines))
        more = 16.0 * len(lines)
        times, unit = (points / self.width, "pt") if points else (1.0, "")
        size = {"width": f"{self.width * times:g}{unit}", "height": f"{(self.height + more) * times:g}{unit}"}
        own = size | {"color": "#000", "font_family": fonts, "role": "img"}
        return self._svg(re.sub("</?a( [^>]*)?>", "", self.body) + below, more, **own) + "\n"

    def _svg(self, body: str, more: float, **own: object) -> str:
        size = f"0 0 {self.width:g} {self.height + more:g}"
        return element(
            "svg", body, xmlns="http://www.w3.org/2000/svg", viewBox=size, **own, aria_label=self.label,
            font_size=f"{FONT:g}", fill="currentColor",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """The rectangle of the marks, with the ticks along its sides. All are positions. `bands`: from where to where lines
    go up, if not all the way."""

    width: float
    left: float
    right: float
    top: float
    bottom: float
    below: Sequence[Tick] = ()
    beside: Sequence[Tick] = ()
    x_title: str = ""
    y_title: str = ""
    has_levels: bool = False
    bands: Sequence[tuple[float, float]] = ()

    @property
    def height(self) -> float:
        """The height with the marks and the title below."""
        return self.bottom + (46 if self.x_title else 26)

    def drawing(self, label: str, marks: Iterable[str], *, has_links: bool = False) -> Drawing:
        """The frame with marks in it."""
        return Drawing(self.width, self.height, label, "\n".join([*self._drawn(), *marks]), has_links)

    def _drawn(self) -> Iterator[str]:
        """Lines under the marks: up where x counts, across where y does; then numbers and titles."""
        across = [line(self.left, level.at, self.right, level.at) for level in self.beside if self.has_levels]
        bands = self.bands or [(self.top, self.bottom)]
        up = [line(tick.at, top, tick.at, bottom) for tick in self.below for top, bottom in bands]
        yield element("g", *across, *up, stroke="currentColor", stroke_opacity=".16")
        yield line(self.left, self.bottom, self.right, self.bottom, stroke="currentColor", stroke_opacity=".6")
        yield from (text(tick.at, self.bottom + 18, tick.label, "middle", SMALL) for tick in self.below)
        yield from (text(self.left - 10, level.at, level.label, "end", SMALL, dy=".35em") for level in self.beside)
        if self.x_title:
            yield text(self.right, self.bottom + 38, self.x_title, "end", SMALL)
        if self.y_title:
            yield text(PAD, 18, self.y_title, size=SMALL)


# Elements


def element(name: str, *children: str, **attributes: object) -> str:
    """An element of SVG around others; its attributes have _ for -, `class_` for class, and None leaves one out."""
    kept = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    given = "".join(f' {key}="{_written(value)}"' for key, value in kept.items())
    return f"<{name}{given}>{''.join(children)}</{name}>" if children else f"<{name}{given}/>"


def _written(value: object) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else escape(str(value))


def text(x: float, y: float, words: str, anchor: str | None = None, size: float | None = None, **more: object) -> str:
    """Words at a place."""
    size_of = None if size is None else f"{size:g}"
    return element("text", escape(words), x=x, y=y, text_anchor=anchor, font_size=size_of, **more)


def line(x1: float, y1: float, x2: float, y2: float, **more: object) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **more)


def dot(x: float, y: float, r: float = 4.5, **more: object) -> str:
    """A round mark."""
    return element("circle", *_children(more), cx=x, cy=y, r=r, **more)


def box(x: float, y: float, width: float, height: float, **more: object) -> str:
    """A rectangle."""
    return element("rect", *_children(more), x=x, y=y, width=width, height=height, **more)


def title(words: str) -> str:
    """What a mark says under the pointer, and to who cannot see it."""
    return element("title", escape(words))


def _children(more: dict[str, object]) -> list[str]:
    words = more.pop("says", None)
    return [] if words is None else [title(str(words))]


def points(places: Iterable[tuple[float, float]]) -> str:
    """Places as SVG wants them."""
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def colour_of(number: int, most: int = len(COLOURS)) -> str:
    """The colour of a line among others: the first `most` have colours of their own, all others are grey."""
    return COLOURS[number] if number < most else GREY


# Letters


def shortened(label: str, longest: int = LONGEST_LABEL) -> str:
    """A label of at most so many letters."""
    return label if len(label) <= longest else label[: longest - 1] + "…"


def fitted(label: str, room: float, size: float = FONT) -> str:
    """The beginning of a label, as much as there is room for."""
    longest = min(len(label), int(room / (size * LETTER)) + 1)
    while longest > 1 and width_of(shortened(label, longest), size) > room:
        longest -= 1
    return shortened(label, longest)


def room_for(labels: Iterable[str], most: float, size: float = FONT) -> float:
    """What the longest of the labels takes, and no more than `most`."""
    return min(max((width_of(label, size) for label in labels), default=0.0), most)


def width_of(label: str, size: float = FONT) -> float:
    """About how wide a label is; wide (east Asian) letters are as wide as they are high."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in label)
    return size * (wide + (len(label) - wide) * LETTER)


def wrapped(words: str, room: float) -> Iterator[str]:
    """Words in small letters, in lines that fit."""
    row = ""
    for word in words.split():
        if row and width_of(f"{row} {word}", SMALL) > room:
            yield row
            row = word
        else:
            row = f"{row} {word}".strip()
    if row:
        yield row


def apart(heights: Sequence[float], low: float, high: float, distance: float) -> list[float]:
    """The heights nearest to these with `distance` between them, from `low` to `high` as far as there is room."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    placed = list(heights)
    below = low - distance
    for k in order:
        placed[k] = below = max(placed[k], below + distance)
    above = max(high, low + distance * len(heights)) + distance
    for k in reversed(order):
        placed[k] = above = min(placed[k], above - distance)
    return [round(height, 2) for height in placed]
