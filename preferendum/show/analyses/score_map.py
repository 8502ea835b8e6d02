"""The score map: every summary's score at a glance, systems by topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.metrics.names import WIN_RATE
from preferendum.results import LeaderboardRow
from preferendum.results.scores import has_intervals
from preferendum.show.analyses.two_systems import FEWEST_ANSWERS
from preferendum.show.points import Unit, unit_of
from preferendum.show.shown import Choice, Column, Shown, Table, as_text

#: How many shades there are, from the lowest score to the highest.
SHADES = 9
#: So many topics are beside each other on a page.
TOPICS_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class ScoredSummary:
    """The score of a summary, which is given by its key, with its interval and the `answers` that it rests on; None of
    coverage, which rests on none.

    By win rate, its share of the answers about it, and by sentences what the topic's own judgments say. `shade`: from 0
    to `SHADES` - 1.
    """

    key: int
    answers: int | None
    score: float
    low: float | None = None
    high: float | None = None
    shade: int = SHADES // 2

    @property
    def is_thin(self) -> bool:
        """Whether it rests on too few answers to claim anything."""
        return self.answers is not None and self.answers < FEWEST_ANSWERS

    def shaded(self, shade: int) -> ScoredSummary:
        return replace(self, shade=shade)


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
        """How scores over all topics are read."""
        return unit_of(self.score, [(line.row.score, line.row.low, line.row.high) for line in self.lines])

    @property
    def unit_of_topics(self) -> Unit:
        """How those of single topics are read."""
        cells = (own for line in self.lines for own in line.summaries if own and not own.is_thin)
        return unit_of(self.score, [(own.score, own.low, own.high) for own in cells])

    @property
    def rests_on(self) -> str:
        """What the numbers of a cell are."""
        if self.score == WIN_RATE:
            return _(
                "By topic, the share of the answers about a summary that prefer it, a tie half, with its 95% interval; "
                "n: answers. Over all topics, the win rate."
            )
        if self.score == "coverage":
            return _("The share of the words of a topic’s sources that a summary has, whatever people say.")
        if has_intervals(self.score):
            return _(
                "The score of a summary from the judgments of its topic, with its 95% interval; n: these judgments."
            )
        return _("The score of a summary from the judgments of its topic; n: these judgments.")

    def window(self, start: int) -> ScoreMap:
        """The map of so many topics as a page has, from this one on."""
        ends = slice(start, start + TOPICS_A_PAGE)
        lines = tuple(replace(line, summaries=line.summaries[ends]) for line in self.lines)
        return replace(self, topics=self.topics[ends], lines=lines)


def show(scores: ScoreMap, asked: Mapping[str, str]) -> Shown:
    """A page has a map of it with the way to every summary, of so many topics at a time."""
    n = len(scores.topics)
    starts = range(0, max(n, 1), TOPICS_A_PAGE)
    options = [(str(start), f"{start + 1}–{min(start + TOPICS_A_PAGE, n)}") for start in starts]
    page = Choice.of("topics", _("Topics"), options, asked)
    choices = [page] if len(options) > 1 else []
    detail = scores.window(int(page.chosen))
    return Shown(_verdict(scores), [_table(scores), _cells(scores)], choices=choices, detail=detail)


def _verdict(scores: ScoreMap) -> str:
    """The verdict about the systems, which people's summaries are no part of.

    Topics are not counted by win rates: that of one leans on all of them.
    """
    lines = [line for line in scores.lines if not line.row.person] or scores.lines
    columns = [
        [own if own and not own.is_thin else None for own in column]
        for column in zip(*(line.summaries for line in lines), strict=True)
    ]
    first, unit, of_topics = lines[0], scores.unit, scores.unit_of_topics
    leads = sum(_leads(column, of_topics) for column in columns)
    topics = sum(any(column) for column in columns)
    sentence = _("%(system)s has the highest mean score, %(score)s.")
    if topics:
        sentence = ngettext(
            "%(system)s has the highest mean score, %(score)s, and in %(leads)d of %(topics)d topic with five "
            "judgments or more a higher score than all others.",
            "%(system)s has the highest mean score, %(score)s, and in %(leads)d of %(topics)d topics with five "
            "judgments or more a higher score than all others.",
            topics,
        )
    if topics and scores.score == "coverage":
        sentence = ngettext(
            "%(system)s has the highest mean score, %(score)s, and in %(leads)d of %(topics)d topic a higher score "
            "than all others.",
            "%(system)s has the highest mean score, %(score)s, and in %(leads)d of %(topics)d topics a higher score "
            "than all others.",
            topics,
        )
    if scores.score == WIN_RATE:
        sentence = _("%(system)s has the highest win rate, %(score)s.")
    people = _("People’s summaries are not ranked.") if len(lines) < len(scores.lines) else ""
    about = {
        "system": first.row.system,
        "score": unit.with_interval(unit.as_score(unit.show(first.row.score)), first.row.low, first.row.high),
        "leads": leads,
        "topics": topics,
    }
    return " ".join(filter(None, (sentence % about, people, scores.answer)))


def _leads(column: Sequence[ScoredSummary | None], unit: Unit) -> bool:
    """Whether the first is ahead of all others of a topic as people read it: a tie is a tie."""
    first, *others = (round(unit.times * own.score, unit.decimals) if own else None for own in column)
    return first is not None and all(own is None or first > own for own in others)


def _cells(scores: ScoreMap) -> Table:
    """Every cell with its interval, for files."""
    names = ("system", "topic", "score", "low", "high", "answers")
    return Table(
        "cells",
        _("Systems by topics, with intervals"),
        tuple(map(Column, names)),
        tuple(
            (line.row.system, topic[1], own.score, own.low, own.high, own.answers)
            for line in scores.lines
            for topic, own in zip(scores.topics, line.summaries, strict=True)
            if own
        ),
        folded=True,
    )


def _table(scores: ScoreMap) -> Table:
    unit = scores.unit
    return Table(
        "scores",
        _("Systems by topics"),
        (
            Column("system", _("System"), as_text),
            Column("mean", unit.named(_("All topics")), unit.show),
            *(Column(_column(name), name, scores.unit_of_topics.show) for _key, name, _title in scores.topics),
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
