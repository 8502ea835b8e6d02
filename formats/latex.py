"""Tables for papers that use the package booktabs."""

from __future__ import annotations

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


def write_latex(
    columns: Sequence[str], alignment: str, rows: Iterable[Sequence[str]], comments: Iterable[str] = ()
) -> str:
    """A table of plain texts, which are escaped; `alignment`: a letter for each column."""
    lines = [f"% {one_line(comment)}" for comment in comments]
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", _row(columns), r"\midrule"]
    lines += [_row(row) for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    """A row may not begin with a star or a bracket: the end of the row before would take it as its argument."""
    row = " & ".join(escaped(one_line(cell)) for cell in cells)
    return ("{}" if row.startswith(("[", "*")) else "") + row + r" \\"


def escaped(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def one_line(text: str) -> str:
    """Each stretch of white space as one space."""
    return " ".join(text.split())
