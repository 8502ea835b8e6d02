"""Consistency of annotators with themselves, or with the others where too few pairs were shown twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from formats.results import Figure
from formats.shown import Column, Shown, Table, as_text, bounded, decimals, interval
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
    about = {
        "name": first.annotator,
        "value": f"{own.value:.2f}",
        "interval": interval(own.low, own.high, 2),
        "n": own.n,
    }
    if first.by == "fit":
        by_fit = _(
            "Too few pairs have been shown twice, so annotators are ordered by how well a model of the others’ answers "
            "explains theirs: lowest for %(name)s, %(value)s %(interval)s on %(n)d answers."
        )
        return by_fit % about
    by_repeats = _(
        "Consistency is lowest for %(name)s: of %(n)d pairs shown twice, sides swapped, the same sentence was "
        "preferred both times in a share of %(value)s %(interval)s."
    )
    return by_repeats % about


def _table(least: Sequence[Consistency]) -> Table:
    return Table(
        "consistency",
        _("Least consistent first"),
        (
            Column("annotator", _("Annotator"), as_text),
            Column("by"),
            Column("value", _("Predictability") if least[0].by == "fit" else _("Repeats"), decimals(2)),
            Column("low"),
            Column("high"),
            Column("", _("95% interval")),
            Column("n", "n"),
        ),
        tuple((line.annotator, line.by, *bounded(line.figure, 2), line.figure.n) for line in least),
        links=tuple({"annotator_id": line.key} for line in least),
        leads_to="study_annotator",
        note=_(
            "Owczarzak et al. (2012) ask how consistent those are who rate summaries, and whether the ranking changes "
            "without the least consistent one or two. These are the same questions about annotators, who judge pairs "
            "of sentences."
        ),
    )
