"""What tests of differences say of an order of systems: in words, and as brackets around those that are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Difference, Ground, LeaderboardRow, SystemResult

Rows = tuple[LeaderboardRow, ...]


def rows_of(
    results: Iterable[SystemResult],
    differences: Iterable[Difference],
    persons: Collection[str] = (),
    summaries: Mapping[str, int] | None = None,
) -> list[LeaderboardRow]:
    """The results with the systems that each is significantly better than."""
    worse: dict[str, list[str]] = {}
    for difference in differences:
        if difference.significant:
            worse.setdefault(difference.better, []).append(difference.worse)
    return [
        LeaderboardRow(
            **asdict(result),
            better_than=tuple(worse.get(result.system, ())),
            summary=(summaries or {}).get(result.system),
            person=result.system in persons,
        )
        for result in results
    ]


def by_author(rows: Sequence[LeaderboardRow]) -> tuple[Rows, Rows]:
    """People's rows and the others, each ranked among themselves; all are others if one kind is missing."""
    people, others = ([row for row in rows if row.person is kind] for kind in (True, False))
    if not people or not others:
        return (), tuple(rows)
    unplaced = (replace(row, rank_low=None, rank_high=None) for row in _ranked(people))
    return tuple(unplaced), _ranked(others)


def _ranked(rows: Sequence[LeaderboardRow]) -> Rows:
    names = {row.system for row in rows}
    better = Counter(name for row in rows for name in row.better_than)
    ranked = []
    for row in rows:
        place = 1 + sum(other.rank < row.rank for other in rows)
        low, high = min(place, 1 + better[row.system]), max(place, len(rows) - len(names & set(row.better_than)))
        bounds = (None, None) if row.rank_low is None else (low, high)
        ranked.append(replace(row, rank=place, rank_low=bounds[0], rank_high=bounds[1]))
    return tuple(ranked)


def tests_of(rows: Sequence[LeaderboardRow], differences: Sequence[Difference]) -> list[Difference]:
    """The tested differences between these systems."""
    names = {row.system for row in rows}
    return [own for own in differences if own.significant is not None and {own.better, own.worse} <= names]


def open_tests(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> list[Difference]:
    """The tests that decide nothing yet: about the first system, or any if no two systems differ significantly."""
    is_undecided = not any(own.significant for own in tests)
    return [own for own in tests if not own.significant and (is_undecided or rows[0].system in (own.better, own.worse))]


def answer(rows: Sequence[LeaderboardRow], tests: Sequence[Difference], ground: Ground) -> str:
    """The verdict, or that it is too early for one; "" where nothing is tested."""
    return verdict(rows, tests) if tests else ground.words if ground.is_early else ""


def verdict(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> str:
    """What they show of the first place, in one sentence."""
    if not any(own.significant for own in tests):
        return _("So far the answers do not tell these systems apart.")
    first, *others = rows
    beaten = {row.system for row in others} & set(first.better_than)
    alike = len(others) - len(beaten)
    about = {"system": first.system, "n": alike}
    if not beaten:
        return _("%(system)s scores highest, but cannot be told from any other system yet.") % about
    if len(rows) == 2:
        return _("%(system)s leads %(other)s.") % (about | {"other": others[0].system})
    if not alike:
        return _("%(system)s leads all other systems.") % about
    words = ngettext(
        "%(system)s leads; %(n)d system cannot be told from it.",
        "%(system)s leads; %(n)d systems cannot be told from it.",
        alike,
    )
    return words % about


def brackets(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> list[list[str]]:
    """The part of each bracket at each row: "begins", "continues", "ends" or "".

    No two systems of a bracket differ significantly; all are neighbours, as in a diagram of critical differences
    (Demšar 2006). No bracket is part of another.
    """
    names = [row.system for row in rows]
    apart = {frozenset((own.better, own.worse)) for own in tests if own.significant}
    lanes: list[list[str]] = []
    reached = 0
    for first in range(len(names) if tests else 0):
        last = first
        while last + 1 < len(names) and all({names[last + 1], name} not in apart for name in names[first : last + 1]):
            last += 1
        if last > max(first, reached):
            lane = next((lane for lane in lanes if not any(lane[first:])), None)
            if lane is None:
                lanes.append(lane := [""] * len(names))
            lane[first : last + 1] = ["begins", *["continues"] * (last - first - 1), "ends"]
            reached = last
    return [list(beside) for beside in zip(*lanes, strict=True)] or [[] for _name in names]
