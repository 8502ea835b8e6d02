"""Consistency of annotators with themselves, or with the others where too few pairs were shown twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from formats.analyses.annotator_agreement import cells, printed
from formats.results import Figure
from formats.shown import Column, Shown, Table, as_text
from formats.words import gettext as _


@dataclass(frozen=True, slots=True)
class Consistency:
    """How consistent an annotator is: the share of pairs shown twice that they judged alike, else the fit to others."""

    key: int
    annotator: str
    figure: Figure
    by: Literal["repeats", "fit"]


def show(least: Sequence[Consistency], _asked: Mapping[str, str]) -> Shown:
    """Annotators, the least consistent first."""
    if not least:
        return Shown(_("No annotator has judged enough pairs twice, or pairs that others judged, to tell."), [])
    return Shown(_verdict(least[0]), [_table(least)])


def _verdict(first: Consistency) -> str:
    own = first.figure
    about = {"name": first.annotator, "value": printed(own, is_share=first.by == "repeats"), "n": own.n}
    if first.by == "fit":
        by_fit = _(
            "Too few pairs have been shown twice, so annotators are ordered by how well a model of the others’ answers "
            "explains theirs: lowest for %(name)s, %(value)s on %(n)d answers."
        )
        return by_fit % about
    by_repeats = _(
        "Consistency is lowest for %(name)s: of %(n)d pairs shown twice, sides swapped, the same sentence was "
        "preferred both times in %(value)s."
    )
    return by_repeats % about


def _table(least: Sequence[Consistency]) -> Table:
    return Table(
        "consistency",
        _("Least consistent first"),
        (
            Column("annotator", _("Annotator"), as_text),
            Column("by"),
            *(Column(name) for name in ("value", "low", "high")),
            Column("", _("Predictability") if least[0].by == "fit" else _("Repeats")),
            Column("n", "n"),
        ),
        tuple((own.annotator, own.by, *cells(own.figure, is_share=own.by == "repeats"), own.figure.n) for own in least),
        links=tuple({"annotator_id": line.key} for line in least),
        leads_to="study_annotator",
        note=_(
            "With 95% intervals. Owczarzak et al. (2012) ask the same of those who rate summaries, and whether the "
            "ranking changes without the least consistent one or two."
        ),
    )
