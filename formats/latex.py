"""Tables for papers that use the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ESCAPED = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "’": "'",
    "²": "$^2$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "χ": r"$\chi$",
    # The usual fonts of LaTeX have other signs in the places of these.
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "“": "``",
    "”": "''",
}


#: The sign of a number. LaTeX would print it as a hyphen.
_MINUS = re.compile(r"(?<![\w.-])-(?=\.?\d)")


def write_latex(
    columns: Sequence[str],
    alignment: str,
    rows: Iterable[Sequence[str]],
    comments: Iterable[str] = (),
    caption: str = "",
) -> str:
    """A table of plain texts, which are escaped; `alignment`: for each column `l` if it has words, `r` if numbers.

    With a caption it floats.
    """
    around = [r"\begin{table}", r"\centering"], [rf"\caption{{{escaped(one_line(caption))}}}", r"\end{table}"]
    above, below = around if caption else ([], [])
    lines = [*(f"% {one_line(comment)}" for comment in comments), *above]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", _row(columns, "l" * len(columns)), r"\midrule"]
    lines += [_row(row, alignment) for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}", *below]
    return "\n".join(lines)


def _row(cells: Iterable[str], alignment: str) -> str:
    """A row may not begin with a star or a bracket: the end of the row before would take it as its argument."""
    texts = [escaped(one_line(cell)) for cell in cells]
    signed = [_MINUS.sub("$-$", text) if place == "r" else text for text, place in zip(texts, alignment, strict=True)]
    row = " & ".join(signed)
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def escaped(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def one_line(text: str) -> str:
    """Each stretch of white space as one space."""
    return " ".join(text.split())
