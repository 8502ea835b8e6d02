"""Two systems: how far one is ahead of the other, over all topics and in each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf

from preferendum.formats.words import gettext as _
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Difference, Ground
from preferendum.results.needed import Needed
from preferendum.show.plots import interval_plot
from preferendum.show.points import Unit, unit_of, what_a_point_is, why_untested
from preferendum.show.shown import Choice, Column, Figure, Shown, Table, as_text, figure, p_value

#: With more topics than this, the figure shows them, and the table on a click.
MOST_TOPICS = 12
#: A system by key and name.
Keyed = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Lead:
    """How far the first of two systems is ahead of the second; negative if the second is. Fields as in `Difference`."""

    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    significant: bool | None = None

    @classmethod
    def of(cls, first: str, difference: Difference) -> Lead:
        low, high = difference.low, difference.high
        if difference.better == first:
            return cls(difference.difference, low, high, difference.p, difference.significant)
        turned_low, turned_high = (None if number is None else -number for number in (high, low))
        return cls(-difference.difference, turned_low, turned_high, difference.p, difference.significant)


@dataclass(frozen=True, slots=True)
class TopicLine:
    """One topic, with the score of each system's summary, where there is one."""

    topic: Keyed
    title: str
    first: float | None
    second: float | None
    lead: Lead | None


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason for an answer about two summaries of a topic: words that were tapped, and a note.

    `preferred`: 0 for the first system's summary, 1 for the second's, 2 for neither.
    """

    topic: Keyed
    preferred: int
    words: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class TwoSystems:
    """Two systems over all topics. `score`: what they are ranked by.

    `needed`: how many judgments might separate them, if the difference is real; None where they are separated, or it is
    unknown. `ground`: of whom the verdict holds. `planned`: how many the stop rule assumes, None without it.
    `equal_within`: by the stop rule, the difference is smaller than this, the smallest that the study calls a
    difference. `is_outdated`: scores are of earlier settings. `reasons`: for answers about the two, where annotators
    gave some.
    """

    first: Keyed
    second: Keyed
    score: str
    lead: Lead | None
    needed: Needed | None
    ground: Ground
    planned: int | None
    equal_within: float | None
    holds_at_every_look: bool
    is_outdated: bool
    lines: tuple[TopicLine, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def in_order(self) -> list[TopicLine]:
        """The topics, the largest difference first, those without one last."""
        return sorted(self.lines, key=lambda line: -line.lead.difference if line.lead else inf)

    @property
    def wins(self) -> tuple[int, int]:
        """In how many topics the first is ahead, and the second."""
        leads = [line.lead.difference for line in self.lines if line.lead]
        return sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)

    @property
    def has_intervals(self) -> bool:
        """Whether any topic says how sure its difference is; those of win rates are known over all topics alone."""
        return any(line.lead is not None and line.lead.low is not None for line in self.lines)

    @property
    def unit(self) -> Unit:
        """How scores are read."""
        return unit_of_lines(self.score, self.lines)


def unit_of_lines(score: str, lines: tuple[TopicLine, ...]) -> Unit:
    """How the scores of these topics are read."""
    leads = [line.lead for line in lines if line.lead]
    return unit_of(score, [(lead.difference, lead.low, lead.high) for lead in leads])


@dataclass(frozen=True, slots=True)
class Systems:
    """The systems of a study, best first; `compare` reads the records of any two of them."""

    systems: tuple[Keyed, ...]
    compare: Callable[[Keyed, Keyed], TwoSystems]


def show(systems: Systems, asked: Mapping[str, str]) -> Shown:
    """The two requested systems, by default the first two."""
    if len(systems.systems) < 2:
        return Shown(_("There are no two systems with summaries yet."), [])
    by_key = {str(key): (key, name) for key, name in systems.systems}
    options = [(key, name) for key, (_key, name) in by_key.items()]
    first = Choice.of("first", _("This system"), options, asked)
    others = [(key, name) for key, name in options if key != first.chosen]
    second = replace(Choice.of("second", _("with this one"), others, asked), options=tuple(options))
    two = systems.compare(by_key[first.chosen], by_key[second.chosen])
    return Shown(
        _verdict(two),
        [*_figure(two), _topics(two), *_reasons(two)],
        choices=[first, second],
        notes=_notes(two),
    )


def _verdict(two: TwoSystems) -> str:
    lead, about = two.lead, {"first": two.first[1], "second": two.second[1], "wins": two.wins[0], "lost": two.wins[1]}
    if lead is None:
        return _(
            "There is no difference over all topics to show: one of the two has no place on the leaderboard, or there "
            "are too many systems to compare every two."
        )
    p = p_value(lead.p)
    about |= {
        "topics": sum(line.lead is not None for line in two.lines),
        "difference": two.unit.with_unit(two.unit.change(lead.difference)),
        "interval": "" if lead.low is None else f" (95% {two.unit.interval(lead.low, lead.high)})",
        "p": p if p.startswith("<") else f"= {p}",
    }
    difference = _(
        "The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s; the first scores "
        "higher in %(wins)d of %(topics)d topics, the second in %(lost)d."
    )
    if two.score == WIN_RATE:
        difference = _("The win rates of %(first)s and %(second)s differ by %(difference)s%(interval)s.")
    return " ".join(sentence % about for sentence in (difference, *_meaning(two, lead)))


def _meaning(two: TwoSystems, lead: Lead) -> list[str]:
    """What the difference shows, as sentences that may have places for numbers."""
    if lead.significant:
        significant = _("On these topics, the difference is significant at .05 (p %(p)s, Holm, all pairs).")
        return [significant, _("That holds however often you looked.")] if two.holds_at_every_look else [significant]
    if two.equal_within is not None:
        equal = _("The two are equal: their difference is surely below %(within)s, however often you looked.")
        return [equal.replace("%(within)s", two.unit.with_unit(f"{two.unit.of(two.equal_within):g}"))]
    if lead.significant is None:
        return [why] if (why := why_untested(two.score)) else []
    return [_("So far the answers do not tell these two apart (p %(p)s, Holm, all pairs).")]


def _notes(two: TwoSystems) -> list[str]:
    notes = []
    if two.score == WIN_RATE:
        notes.append(_("The win rate of one topic leans on all topics, so that its few answers move it little."))
    if two.lead and not why_untested(two.score):
        notes.append(two.ground.words)
    if two.needed:
        notes.append(two.needed.words)
    if two.lead and not two.lead.significant and two.equal_within is None and two.planned:
        notes.append(_("The study plans %(n)d.") % {"n": two.planned})
    if two.is_outdated:
        notes.append(
            _(
                "These are the scores of earlier settings. They stay until every topic has been scored under the new "
                "ones, so that no figure mixes the two."
            )
        )
    return notes


def _figure(two: TwoSystems) -> list[Figure]:
    unit = two.unit
    rows = [
        unit.row(line.title, line.lead.difference, line.lead.low, line.lead.high) for line in two.in_order if line.lead
    ]
    draw = partial(
        interval_plot,
        label=_("Differences of the two systems’ scores in each topic; the table says the same in numbers"),
        x_title=unit.named(_("%(first)s less %(second)s") % {"first": two.first[1], "second": two.second[1]}),
        heads=("", _("topic")),
        reference=0.0,
    )
    dots = _("Dots are differences of scores, largest first; right of 0 %(first)s is ahead.") % {"first": two.first[1]}
    caption = f"{dots} {_('Lines are 95% intervals.')}" if two.has_intervals else dots
    return figure("topics", _("Topic by topic"), caption, draw, rows) if rows else []


def _topics(two: TwoSystems) -> Table:
    unit, lines = two.unit, two.in_order
    leads = _("Each topic leads to the words, sentences and answers that make its difference.")
    return Table(
        "topics",
        _("Topic by topic, in numbers"),
        (
            Column("topic"),
            Column("", _("Topic"), as_text),
            Column("first", unit.named(two.first[1]), unit.show),
            Column("second", unit.named(two.second[1]), unit.show),
            Column("difference", unit.named(_("Difference")), unit.show),
            Column("low"),
            Column("high"),
            Column("", _("95% interval") if two.has_intervals else ""),
            Column("p"),
        ),
        tuple(
            (
                *(line.topic[1], line.title, line.first, line.second),
                *(lead.difference if line.lead else None, lead.low, lead.high),
                *(unit.interval(lead.low, lead.high), lead.p),
            )
            for line in lines
            for lead in (line.lead or Lead(0.0),)
        ),
        links=tuple({"topic_id": line.topic[0]} for line in lines),
        leads_to="compare_in_topic",
        closed=len(lines) > MOST_TOPICS,
        note=" ".join([leads, what_a_point_is()] if two.score == "importance" else [leads]),
    )


def _reasons(two: TwoSystems) -> list[Table]:
    """How often each reason was tapped, and what annotators wrote, by what they preferred."""
    sides = (two.first[1], two.second[1], _("no preference"))
    counts: dict[str, list[int]] = {}
    for given in two.reasons:
        for word in given.words:
            counts.setdefault(word, [0, 0, 0])[given.preferred] += 1
    words = Table(
        "reasons",
        _("Reasons for preferring"),
        tuple(map(Column, ("reason", "first", "second", "no_preference"), (_("Reason"), *sides))),
        tuple((word, *numbers) for word, numbers in sorted(counts.items(), key=lambda row: -sum(row[1]))),
        note=_("How often annotators tapped it who answered so about summaries of these two."),
    )
    written = [given for given in two.reasons if given.note]
    notes = Table(
        "notes",
        _("Reasons in annotators’ own words"),
        (
            Column("topic", _("Topic"), as_text),
            Column("preferred", _("Preferred"), as_text),
            Column("note", _("Reason")),
        ),
        tuple((given.topic[1], sides[given.preferred], given.note) for given in written),
        links=tuple({"topic_id": given.topic[0]} for given in written),
        leads_to="compare_in_topic",
    )
    return [table for table in (words, notes) if table.rows]
