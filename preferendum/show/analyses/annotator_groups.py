"""Groups of annotators by an answer about themselves: how far each agrees, and how it alone would rank the systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from preferendum.formats.questionnaire import FEWEST
from preferendum.formats.words import gettext as _
from preferendum.results import GroupOutcome, LeaderboardRow
from preferendum.show.analyses.annotator_agreement import cells
from preferendum.show.points import unit_of
from preferendum.show.shown import Cell, Column, Shown, Table, as_text


@dataclass(frozen=True, slots=True)
class Group:
    """What a group says. `verdict`: of its board, in words; `board`: systems ranked by `score`; people have no rank."""

    name: str
    own: GroupOutcome
    verdict: str
    score: str
    board: Sequence[tuple[int | None, LeaderboardRow]]


def show(groups: Sequence[Group], _asked: Mapping[str, str]) -> Shown:
    """The verdict of each group, how far it agrees, and its board."""
    rule = _(
        "No group is tested against another, and each may have judged other pairs and topics. Groups of fewer than "
        "%(least)d people are not shown alone."
    )
    grounds = ((group, group.own.outcome.ground.words) for group in groups)
    return Shown(
        " ".join(f"{group.name}: {group.verdict}" for group in groups),
        [_agreement(groups), _systems(groups)],
        notes=[
            rule % {"least": FEWEST},
            *(f"{group.name}: {words}" for group, words in grounds if words != group.verdict),
        ],
    )


def _agreement(groups: Sequence[Group]) -> Table:
    numbers = {"annotators": _("Annotators"), "judgments": _("Judgments"), "ranking": _("For the leaderboard")}
    figures = {"percent": _("Agreement"), "alpha": _("Krippendorff’s alpha"), "with_others": _("With the others")}
    return Table(
        "agreement",
        _("Agreement within each group and with the others"),
        (
            Column("group", _("Group"), as_text),
            *(Column(name, label) for name, label in numbers.items()),
            *(
                column
                for name, label in figures.items()
                for column in (Column(name), Column(f"{name}_low"), Column(f"{name}_high"), Column("", label))
            ),
            *(Column("comparisons"), Column("comparisons_with_others")),
        ),
        tuple(_line(group.name, group.own) for group in groups),
        note=_("Agreement: how often two judgments of the same pair are alike."),
    )


def _line(name: str, own: GroupOutcome) -> tuple[Cell, ...]:
    agreement = own.outcome.agreement
    of_each = (agreement.percent, agreement.alpha, own.with_others)
    figures = [cell for figure in of_each for cell in cells(figure, is_share=figure is not agreement.alpha)]
    numbers = own.annotators, agreement.judgments, own.outcome.judgments
    return name, *numbers, *figures, agreement.comparisons, own.with_others.n


def _systems(groups: Sequence[Group]) -> Table:
    rows = [(group.name, *placed) for group in groups for placed in group.board]
    unit = unit_of(groups[0].score, [(row.score, row.low, row.high) for _name, _rank, row in rows])
    return Table(
        "systems",
        _("The leaderboard from each group’s judgments alone"),
        (
            Column("group", _("Group"), as_text),
            Column("rank", _("Rank")),
            *(Column("rank_low"), Column("rank_high")),
            Column("system", _("System"), as_text),
            Column("score", unit.named(_("Score")), unit.show),
            *(Column("low"), Column("high"), Column("", _("95% interval")), Column("topics", _("Topics"))),
        ),
        tuple(
            (
                *(name, rank, row.rank_low, row.rank_high, row.system, row.score, row.low, row.high),
                *(unit.interval(row.low, row.high), row.topics),
            )
            for name, rank, row in rows
        ),
    )
