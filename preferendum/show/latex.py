"""Tables for papers that use the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ESCAPED = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
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
    columns: Sequence[str], alignment: str, rows: Iterable[Sequence[str]], caption: str, comments: Iterable[str] = ()
) -> str:
    """A table of plain texts, which are escaped; `alignment`: for each column `l` if it has words, `r` if numbers."""
    lines = [f"% {one_line(comment)}" for comment in comments]
    lines += [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{alignment}}}"]
    lines += [r"\toprule", _row(columns, "l" * len(columns)), r"\midrule"]
    lines += [_row(row, alignment) for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escaped(one_line(caption))}}}", r"\end{table}"]
    return "\n".join(lines)


def _row(cells: Iterable[str], alignment: str) -> str:
    """A row may not begin with a star or a bracket: the end of the row before would take it as its argument."""
    texts = zip(map(escaped, map(one_line, cells)), alignment, strict=True)
    row = " & ".join(_MINUS.sub("$-$", text) if place == "r" else text for text, place in texts)
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def escaped(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def one_line(text: str) -> str:
    """Each stretch of white space as one space."""
    return " ".join(text.split())
