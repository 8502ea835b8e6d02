"""The score map: every summary's score at a glance, systems by topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.metrics.names import WIN_RATE
from preferendum.results import LeaderboardRow
from preferendum.show.points import Unit, unit_of
from preferendum.show.shown import Column, Shown, Table, as_text

#: How many shades there are, from the lowest score to the highest.
SHADES = 9


@dataclass(frozen=True, slots=True)
class ScoredSummary:
    """The score of a summary, which is given by its key, and how it is shaded, from 0 to `SHADES` - 1."""

    key: int
    score: float
    shade: int


@dataclass(frozen=True, slots=True)
class SystemLine:
    """A system, by key and place on the leaderboard, with its summary of each topic, where that has a score."""

    key: int
    row: LeaderboardRow
    summaries: tuple[ScoredSummary | None, ...]


@dataclass(frozen=True, slots=True)
class ScoreMap:
    """The systems of a board, in its order, by topics: (key, name, title).

    `scored_by`: which of the two ways of scoring, `score`: what that ranks by; `answer`: what the board says. Topics
    scored under other settings than the board's are empty.
    """

    scored_by: str
    score: str
    answer: str
    topics: tuple[tuple[int, str, str], ...]
    lines: tuple[SystemLine, ...]

    @property
    def unit(self) -> Unit:
        """How scores are read."""
        return unit_of(self.score, [(line.row.score, line.row.low, line.row.high) for line in self.lines])


def show(scores: ScoreMap, _asked: Mapping[str, str]) -> Shown:
    """A page has a map of it with the way to every summary."""
    return Shown(_verdict(scores), [_table(scores)])


def _verdict(scores: ScoreMap) -> str:
    """The verdict about the systems, which people's summaries are no part of.

    Topics are not counted by win rates: that of one leans on all of them.
    """
    lines = [line for line in scores.lines if not line.row.person] or scores.lines
    columns = list(zip(*(line.summaries for line in lines), strict=True))
    best = [max((own.score for own in column if own), default=None) for column in columns]
    first = lines[0]
    leads = sum(own is not None and own.score == most for own, most in zip(first.summaries, best, strict=True))
    unit = scores.unit
    sentence = _(
        "%(system)s has the highest mean score, %(score)s, and the highest score in %(leads)d of %(topics)d topics."
    )
    if scores.score == WIN_RATE:
        sentence = _("%(system)s has the highest win rate, %(score)s.")
    people = _("People’s summaries are not ranked.") if len(lines) < len(scores.lines) else ""
    about = {
        "system": first.row.system,
        "score": unit.with_interval(unit.as_score(unit.show(first.row.score)), first.row.low, first.row.high),
        "leads": leads,
        "topics": sum(most is not None for most in best),
    }
    return " ".join(filter(None, (sentence % about, people, scores.answer)))


def _table(scores: ScoreMap) -> Table:
    unit = scores.unit
    return Table(
        "scores",
        _("Systems by topics"),
        (
            Column("system", _("System"), as_text),
            Column("mean", unit.named(_("All topics")), unit.show),
            *(Column(_column(name), name, unit.show) for _key, name, _title in scores.topics),
        ),
        tuple(
            (line.row.system, line.row.score, *(own.score if own else None for own in line.summaries))
            for line in scores.lines
        ),
        folded=True,
    )


def _column(topic: str) -> str:
    """Another name than those of the other columns."""
    return f"topic {topic}" if topic in ("system", "mean") else topic
