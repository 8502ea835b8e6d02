"""What tests of differences say of an order of systems: in words, and as brackets around those that are alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Difference, Ground, LeaderboardRow, SystemResult
from preferendum.results.statement import Headline, Statement, Told
from preferendum.show.shown import sentences

Rows = tuple[LeaderboardRow, ...]
#: So many systems that cannot be told from the first are named.
NAMED = 3
#: So many brackets fit beside a table.
MOST_BRACKETS = 6


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
    return [own for own in between(rows, differences) if own.significant is not None]


def between(rows: Sequence[LeaderboardRow], differences: Sequence[Difference]) -> list[Difference]:
    """The differences between these systems."""
    names = {row.system for row in rows}
    return [own for own in differences if {own.better, own.worse} <= names]


def open_tests(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> list[Difference]:
    """The tests that decide nothing yet: about the first system, or any if no two systems differ significantly."""
    is_undecided = not any(own.significant for own in tests)
    return [own for own in tests if not own.significant and (is_undecided or rows[0].system in (own.better, own.worse))]


def headline_of(
    rows: Sequence[LeaderboardRow], differences: Sequence[Difference], ground: Ground, *, is_tested: bool = True
) -> Headline:
    """Conclude what the tests say of the ranked systems; of too many to test every two, nothing."""
    if not rows:
        return Headline()
    first, others = rows[0], len(rows) - 1
    if not is_tested or not others:
        return Headline("untested", first.system, others=others)
    tests = tests_of(rows, differences)
    if ground.is_early or not tests:
        return Headline("early" if ground.is_early else "untested", first.system, others=others)
    significant = [own for own in tests if own.significant]
    surest = min(significant, key=lambda own: (own.p, -own.difference), default=None)
    level = alike(rows, tests)[first.system]
    told: Told = "open" if not significant else "middle" if len(level) == others else "shared" if level else "leads"
    clearest = None if surest is None else (surest.better, surest.worse)
    return Headline(told, first.system, level, others, len(significant), len(tests), clearest)


def verdict(rows: Sequence[LeaderboardRow], differences: Sequence[Difference], ground: Ground) -> str:
    """Say what the tests say of these systems; "" where nothing is tested."""
    return headline_words(headline_of(rows, differences, ground), ground)


def headline_words(headline: Headline, ground: Ground) -> str:
    """Say in a sentence or two what is known of the order, then what is not; "" where nothing is tested."""
    if headline.told in ("none", "untested"):
        return ""
    if headline.told == "early":
        return ground.words
    if headline.told == "open":
        return _("So far the answers do not tell these systems apart.")
    about = {"system": headline.first, "n": len(headline.alike), "others": headline.others}
    if headline.told == "leads":
        (only,) = (headline.clearest or ("", ""))[1:]
        return (
            _("%(system)s leads %(only)s.") if headline.others == 1 else _("%(system)s leads all other systems.")
        ) % (about | {"only": only})
    if headline.told == "shared":
        if len(headline.alike) <= NAMED:
            named = about | {"alike": _listed(headline.alike)}
            return _("%(system)s leads; %(alike)s cannot be told from it.") % named
        return _("%(system)s leads; %(n)d of %(others)d other systems cannot be told from it.") % about
    better, worse = headline.clearest or ("", "")
    apart = ngettext(
        "%(better)s is better than %(worse)s; of %(tests)d pairs of systems %(apart)d is told apart.",
        "%(better)s is better than %(worse)s; of %(tests)d pairs of systems %(apart)d are told apart.",
        headline.apart,
    ) % {"better": better, "worse": worse, "tests": headline.tests, "apart": headline.apart}
    return f"{apart} " + _("%(system)s scores highest, but cannot be told from any other system yet.") % about


def statement_words(own: Statement) -> str:
    """Say what is known of the order; then, where it is much, how much of it the length of the texts explains."""
    headline = headline_words(own.headline, own.ground)
    is_by_length = own.headline.apart and "length" in own.limits
    return sentences(headline, own.by_length.words) if is_by_length and own.by_length else headline


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return _("%(first)s and %(last)s") % {"first": ", ".join(first), "last": last} if first else last


def brackets(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> list[list[str]]:
    """The part of each bracket at each row: "begins", "continues", "ends", "passes" where the row is not in it, or "".

    No two systems of a bracket differ significantly, and any two that do not share one (a compact display of all pairs,
    Piepho 2004); none is part of another. Empty where this takes more than `MOST_BRACKETS` columns.
    """
    names = [row.system for row in rows]
    place = {name: k for k, name in enumerate(names)}
    groups = _groups([{k, *map(place.__getitem__, others)} for k, others in enumerate(alike(rows, tests).values())])
    lanes: list[list[str]] = []
    for group in groups:
        first, last = group[0], group[-1]
        lane = next((lane for lane in lanes if not any(lane[first : last + 1])), None)
        if lane is None:
            lanes.append(lane := [""] * len(names))
        parts = ["continues" if k in group else "passes" for k in range(first, last + 1)]
        lane[first : last + 1] = ["begins", *parts[1:-1], "ends"]
    return (
        [list(beside) for beside in zip(*lanes, strict=True)]
        if 0 < len(lanes) <= MOST_BRACKETS
        else [[] for _ in names]
    )


def alike(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> dict[str, tuple[str, ...]]:
    """The systems that each one does not differ from significantly, by system; nothing where nothing is tested."""
    apart = {frozenset((own.better, own.worse)) for own in tests if own.significant}
    names = [row.system for row in rows] if tests else []
    return {
        name: tuple(other for other in names if other != name and frozenset((name, other)) not in apart)
        for name in names
    }


def far_apart(rows: Sequence[LeaderboardRow], tests: Sequence[Difference]) -> tuple[str, str] | None:
    """The first two systems that do not differ significantly although their intervals do not meet."""
    by_name = {row.system: row for row in rows}
    for own in tests:
        high, low = by_name[own.worse].high, by_name[own.better].low
        if not own.significant and high is not None and low is not None and high < low:
            return own.better, own.worse
    return None


def _groups(alike: Sequence[set[int]]) -> list[list[int]]:
    """Sets of rows that are all alike, such that any two alike rows share one; each as large as it can be."""
    left = {(a, b) for a, own in enumerate(alike) for b in own if a < b}
    groups: list[list[int]] = []
    while left:
        group = set(min(left))
        for row in range(len(alike)):
            if row not in group and group <= alike[row]:
                group.add(row)
        groups.append(sorted(group))
        left -= {(a, b) for a in group for b in group}
    return groups
