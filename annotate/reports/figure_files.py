"""Figures as files: SVG as it is drawn, and PDF and PNG that typst makes of the very same drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import typst
from django.utils.translation import gettext as _

from annotate.refusal import Refusal
from annotate.reports.font_letters import letters_of
from annotate.reports.plots import Plot

#: The forms of a figure, with their media types.
FIGURES = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
#: Of a PNG, in dots an inch: what journals ask for.
DOTS = 300
#: A drawing's px in a printer's points.
POINTS = 0.75
#: Latin, Greek, Cyrillic, Arabic, Hebrew and more; what it lacks comes from the fonts of the machine.
OWN_FONTS = str(Path(__file__).parent / "fonts")
#: The page is as large as the picture.
PAGE = """
#set page(width: auto, height: auto, margin: 0pt)
#set document(title: sys.inputs.label)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.label, width: float(sys.inputs.width) * 1pt)
"""


def figure(plot: Plot, form: str, note: str) -> bytes:
    """A figure as a file of one of `FIGURES`, with a note below.

    Raises `Refusal` where no font here has letters that a PDF or a PNG needs: nothing is drawn as boxes.
    """
    drawing = plot.paper
    svg = drawing.alone(note)
    if form == "svg":
        return svg.encode()
    inputs = {"svg": svg, "label": drawing.label, "width": str(drawing.width * POINTS)}
    compiler = typst.Compiler(PAGE.encode(), font_paths=_fonts_for(svg), sys_inputs=inputs)
    made = compiler.compile(format="pdf" if form == "pdf" else "png", ppi=DOTS)
    assert isinstance(made, bytes)
    return made


def _fonts_for(svg: str) -> typst.Fonts:
    """The fonts of our own; where they lack a letter, those of the machine, too."""
    letters = {ord(letter) for letter in _words(svg) if not letter.isspace()}
    own, everything = _fonts(with_system=False), _fonts(with_system=True)
    if not _lacking(letters, own.fonts()):
        return own
    if missing := _lacking(letters, everything.fonts()):
        shown = " ".join(map(chr, sorted(missing)[:10]))
        message = _("No font of this server has these letters, so there is no PDF or PNG: %(letters)s. Take the SVG.")
        raise Refusal(message % {"letters": shown}, "no_font")
    return everything


def _words(svg: str) -> Iterator[str]:
    for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):  # noqa: S314  (our own)
        yield from "".join(element.itertext())


def _lacking(letters: set[int], fonts: Iterable[typst.FontInfo]) -> set[int]:
    """Of these letters those that none of the fonts has."""
    missing = set(letters)
    for font in fonts:
        if not missing:
            break
        if font.path:
            ranges = letters_of(font.path, font.index)
            missing = {letter for letter in missing if not any(first <= letter <= last for first, last in ranges)}
    return missing


@cache
def _fonts(*, with_system: bool) -> typst.Fonts:
    return typst.Fonts(include_system_fonts=with_system, include_embedded_fonts=False, font_paths=[OWN_FONTS])
