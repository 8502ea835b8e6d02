"""Links as QR codes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import segno

#: The margin of light modules that a reader needs, by the standard (ISO/IEC 18004).
QUIET_ZONE = 4


@dataclass(frozen=True, slots=True)
class QRCode:
    """A square of `size` modules a side, quiet zone included; `path` is its dark modules as an SVG path."""

    size: int
    path: str


def qr_code(link: str) -> QRCode:
    """The QR code of a link, with as much error correction as fits into the smallest code."""
    rows = [list(row) for row in segno.make_qr(link).matrix_iter(border=QUIET_ZONE)]
    return QRCode(len(rows), "".join(_dark_runs(y, row) for y, row in enumerate(rows)))


def _dark_runs(y: int, row: list[int]) -> str:
    """The dark modules of a row as rectangles, one for each run."""
    path, x = [], 0
    for is_dark, run in groupby(row):
        width = len(list(run))
        if is_dark:
            path.append(f"M{x} {y}h{width}v1h-{width}z")
        x += width
    return "".join(path)
