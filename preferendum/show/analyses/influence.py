"""Influence: what leaving out any one annotator does to the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Influence
from preferendum.show.points import unit_of
from preferendum.show.shown import Column, Shown, Table, as_text


@dataclass(frozen=True, slots=True)
class NamedInfluence(Influence):
    """With names of annotators in place of keys. `score`: what the systems are ranked by; `is_open`: the leaderboard
    tells the first one from no other."""

    score: str
    is_open: bool = False


def show(influence: NamedInfluence, _asked: Mapping[str, str]) -> Shown:
    """Every system without any one annotator."""
    if influence.annotators < 2:
        return Shown(_("There are no two annotators to leave out in turn yet."), [])
    if influence.unknown == influence.annotators:
        return Shown(_("It could not be computed without any one annotator."), [])
    new_firsts = [_new_firsts(influence)] if influence.new_firsts else []
    return Shown(_verdict(influence), [_systems(influence), *new_firsts, _counts(influence)])


def _verdict(influence: NamedInfluence) -> str:
    n = len(influence.new_firsts)
    if sum(own.rank == 1 for own in influence.systems) > 1:
        answer = _("Several systems share the first place.")
    elif influence.survives:
        answer = _("The first place (%(first)s) stays the same without any one annotator.")
    else:
        answer = ngettext(
            "The first place (%(first)s) depends on single annotators: there is %(n)d without whom another system "
            "would be first.",
            "The first place (%(first)s) depends on single annotators: there are %(n)d without any one of whom another "
            "system would be first.",
            n,
        )
    among = ngettext(
        "%(n)d annotator was left out in turn", "%(n)d annotators were left out in turn", influence.annotators
    )
    if influence.unknown:
        among = f"{among}, {_('for %(unknown)d of them it could not be computed')}"
    about = {"first": influence.first, "n": n, "unknown": influence.unknown}
    if influence.is_open:
        answer = f"{_('So far the answers do not tell %(first)s from any other system.')} {answer}"
    return f"{answer % about} {among % (about | {'n': influence.annotators})}."


def _systems(influence: NamedInfluence) -> Table:
    unit = unit_of(influence.score, [(own.change, None, None) for own in influence.systems])
    return Table(
        "systems",
        _("Each system without any one annotator"),
        (
            Column("rank", _("Rank")),
            Column("system", _("System"), as_text),
            Column("rank_low"),
            Column("rank_high"),
            Column("", _("Ranks without one annotator")),
            Column("change", unit.named(_("Largest score change")), unit.change),
            Column("annotator", _("Without"), as_text, ability="annotators"),
        ),
        tuple(
            (
                *(own.rank, own.system, own.rank_low, own.rank_high),
                f"{own.rank_low}–{own.rank_high}" if own.rank_low < own.rank_high else str(own.rank_low),
                *(own.change, own.annotator),
            )
            for own in influence.systems
        ),
    )


def _new_firsts(influence: NamedInfluence) -> Table:
    """For those who look after annotators."""
    labels = {"annotator": _("Without"), "first": _("First is")}
    columns = tuple(Column(name, label, as_text, ability="annotators") for name, label in labels.items())
    return Table("new-firsts", _("Annotators on whom the first place depends"), columns, influence.new_firsts)


def _counts(influence: NamedInfluence) -> Table:
    columns = tuple(map(Column, ("first", "annotators", "unknown", "changing")))
    row = influence.first, influence.annotators, influence.unknown, len(influence.new_firsts)
    return Table("first-place", _("The first place"), columns, (row,), folded=True)
