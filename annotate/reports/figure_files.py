"""Figures as files: SVG as drawn, and PDF and PNG that typst makes of the same drawing."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from annotate.reports.plots import Plot
from preferendum.show.plots import NARROW, PAPER

if TYPE_CHECKING:
    import typst

#: The forms of a figure, with their media types.
FIGURES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
#: Resolution of a PNG in dots per inch, as journals require.
DOTS = 300


class Place(NamedTuple):
    """Where a figure will stand: the width at which it is drawn in px, and its width there in points."""

    drawn: float
    points: float


#: TeX's \\columnwidth and \\textwidth in the style of the ACL; a slide of 16:9. Letters are of 7 points at least.
PLACES = {"column": Place(NARROW, 219.0), "page": Place(PAPER, 455.0), "slide": Place(1.5 * NARROW, 864.0)}
#: Latin, Greek, Cyrillic, Arabic, Hebrew and more; missing letters are taken from the machine's fonts.
OWN_FONT, OWN_FONTS = "DejaVu Sans", Path(__file__).parent / "fonts"
#: The page is as large as the picture.
PAGE = """
#set page(width: auto, height: auto, margin: 0pt)
#set document(title: sys.inputs.label)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.label, width: float(sys.inputs.width) * 1pt)
"""


def figure(plot: Plot, form: str, note: str, place: str) -> bytes:
    """A figure as a file of one of `FIGURES` for one of `PLACES`, with a note below.

    PDF and PNG show a box for a letter that no font of this machine has.
    """
    drawn, points = PLACES[place]
    drawing = plot.draw(drawn)
    if form == "svg":
        return drawing.alone(note, points=points).encode()
    import typst  # only now: it takes 7 MB, and few ask for these files

    inputs = {"svg": drawing.alone(note, f"{OWN_FONT}, sans-serif"), "label": drawing.label, "width": str(points)}
    compiler = typst.Compiler(PAGE.encode(), font_paths=_fonts(), sys_inputs=inputs)
    made = compiler.compile(format="pdf" if form == "pdf" else "png", ppi=DOTS)
    assert isinstance(made, bytes)
    return made


@cache
def _fonts() -> typst.Fonts:
    import typst

    return typst.Fonts(include_system_fonts=True, include_embedded_fonts=False, font_paths=[str(OWN_FONTS)])
