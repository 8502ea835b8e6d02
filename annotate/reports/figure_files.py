"""Figures as files: SVG as it is drawn, and PDF and PNG that typst makes of the very same drawing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import typst

from annotate.reports.plots import Plot

#: The forms of a figure, with their media types.
FIGURES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
#: Of a PNG, in dots an inch: what journals ask for.
DOTS = 300
#: A drawing's px in a printer's points.
POINTS = 0.75
#: Latin, Greek, Cyrillic, Arabic, Hebrew and more; what it lacks comes from the fonts of the machine.
OWN_FONT, OWN_FONTS = "DejaVu Sans", Path(__file__).parent / "fonts"
#: The page is as large as the picture.
PAGE = """
#set page(width: auto, height: auto, margin: 0pt)
#set document(title: sys.inputs.label)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.label, width: float(sys.inputs.width) * 1pt)
"""


def figure(plot: Plot, form: str, note: str) -> bytes:
    """A figure as a file of one of `FIGURES`, with a note below.

    A PDF or a PNG shows a box for a letter that no font of this machine has.
    """
    drawing = plot.paper
    if form == "svg":
        return drawing.alone(note).encode()
    inputs = {
        "svg": drawing.alone(note, f"{OWN_FONT}, sans-serif"),
        "label": drawing.label,
        "width": str(drawing.width * POINTS),
    }
    compiler = typst.Compiler(PAGE.encode(), font_paths=_fonts(), sys_inputs=inputs)
    made = compiler.compile(format="pdf" if form == "pdf" else "png", ppi=DOTS)
    assert isinstance(made, bytes)
    return made


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=True, include_embedded_fonts=False, font_paths=[str(OWN_FONTS)])
