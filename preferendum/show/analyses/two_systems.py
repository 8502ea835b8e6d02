"""Two systems: how far one is ahead of the other, over all topics and in each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from math import inf

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.metrics.names import WIN_RATE
from preferendum.results import Difference, Ground
from preferendum.results.outlook import Needed
from preferendum.show.analyses.forecast import might_show
from preferendum.show.plots import interval_plot
from preferendum.show.points import Unit, unit_of, what_a_point_is, why_untested
from preferendum.show.shown import Choice, Column, Figure, Shown, Table, as_text, figure, p_value, sentences

#: In files: the two systems.
_SIDES = ("first", "second")
#: With more topics than this, the figure shows them, and the table on a click.
MOST_TOPICS = 12
#: Fewer answers than this claim nothing: what they say is shown in grey.
FEWEST_ANSWERS = 5
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
class Direct:
    """How many answers compare the two themselves: those that prefer the first, the second, and neither."""

    first: int = 0
    second: int = 0
    neither: int = 0

    @property
    def total(self) -> int:
        return self.first + self.second + self.neither


#: What answers about two systems may prefer, by the names of the counts.
PREFERRED = tuple(own.name for own in fields(Direct))


@dataclass(frozen=True, slots=True)
class TopicLine:
    """One topic, with the score of each system's summary, where there is one. `judgments`: what these rest on, None of
    coverage, which rests on none; `direct`: of answers about the two summaries themselves."""

    topic: Keyed
    title: str
    first: float | None
    second: float | None
    lead: Lead | None
    judgments: int | None = 0
    direct: Direct = Direct()

    @property
    def is_thin(self) -> bool:
        """Whether it rests on too few judgments to claim anything."""
        return self.judgments is not None and self.judgments < FEWEST_ANSWERS


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
        """The topics, the largest difference first (by win rate, of direct answers), those that claim nothing last."""

        def difference(line: TopicLine) -> float:
            if self.score == WIN_RATE:
                return line.direct.first - line.direct.second
            return line.lead.difference if line.lead else -inf

        return sorted(self.lines, key=lambda line: (line.is_thin, -difference(line)))

    @property
    def wins(self) -> tuple[int, int, int]:
        """In how many topics with enough judgments the first is ahead, the second, and neither as people read it."""
        zero = self.unit.show(0.0)
        leads = [line.lead.difference for line in self.lines if line.lead and not line.is_thin]
        signs = [0 if self.unit.show(abs(lead)) == zero else 1 if lead > 0 else -1 for lead in leads]
        return signs.count(1), signs.count(-1), signs.count(0)

    @property
    def direct(self) -> Direct:
        """The answers that compare the two themselves, over all topics."""
        lines = [line.direct for line in self.lines]
        return Direct(*(sum(getattr(own, name) for own in lines) for name in PREFERRED))

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
        _verdict(two), [*_figure(two), _topics(two), *_reasons(two)], choices=[first, second], notes=_notes(two)
    )


def _verdict(two: TwoSystems) -> str:
    lead, (wins, lost, ties) = two.lead, two.wins
    about = {"first": two.first[1], "second": two.second[1], "wins": wins, "lost": lost, "ties": ties}
    if lead is None:
        why = _(
            "There is no difference over all topics to show: one of the two has no place on the leaderboard, or there "
            "are too many systems to compare every two."
        )
        return " ".join((*_directly(two), why))
    p = p_value(lead.p)
    topics = wins + lost + ties
    about |= {
        "topics": topics,
        "difference": two.unit.with_unit(two.unit.change(lead.difference)),
        "interval": "" if lead.low is None else f" (95% {two.unit.interval(lead.low, lead.high)})",
        "p": p if p.startswith("<") else f"= {p}",
    }
    difference = _("The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s.")
    if topics and two.score == "coverage":
        difference = ngettext(
            "The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s; of %(topics)d topic the "
            "first scores higher in %(wins)d, the second in %(lost)d, neither in %(ties)d.",
            "The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s; of %(topics)d topics "
            "the first scores higher in %(wins)d, the second in %(lost)d, neither in %(ties)d.",
            topics,
        )
    elif topics:
        difference = ngettext(
            "The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s; of %(topics)d topic "
            "with five judgments or more, the first scores higher in %(wins)d, the second in %(lost)d, neither in "
            "%(ties)d.",
            "The mean scores of %(first)s and %(second)s differ by %(difference)s%(interval)s; of %(topics)d topics "
            "with five judgments or more, the first scores higher in %(wins)d, the second in %(lost)d, neither in "
            "%(ties)d.",
            topics,
        )
    if two.score == WIN_RATE:
        difference = (
            _("By all answers, the win rates of %(first)s and %(second)s differ by %(difference)s%(interval)s.")
            if two.direct.total
            else _("Through others: the win rates of %(first)s and %(second)s differ by %(difference)s%(interval)s.")
        )
    return " ".join((*_directly(two), *(sentence % about for sentence in (difference, *_meaning(two, lead)))))


def _directly(two: TwoSystems) -> list[str]:
    """What answers about the two themselves say; the verdict begins with it."""
    if two.score == "coverage":
        return []
    if two.score != WIN_RATE:
        return [_("Inferred from answers about source sentences.")]
    direct, names = two.direct, {"first": two.first[1], "second": two.second[1]}
    if not direct.total:
        return [_("No answer compares these two directly.")]
    sentence = ngettext(
        "%(n)d answer compares them directly: %(wins)d for %(first)s, %(lost)d for %(second)s, %(ties)d for neither.",
        "%(n)d answers compare them directly: %(wins)d for %(first)s, %(lost)d for %(second)s, %(ties)d for neither.",
        direct.total,
    )
    numbers = {"n": direct.total, "wins": direct.first, "lost": direct.second, "ties": direct.neither}
    return [sentence % (names | numbers)]


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
    if two.lead and not why_untested(two.score):
        notes.append(two.ground.words)
    if two.needed:
        notes.append(might_show(two.needed))
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
    """None of win rates: that of one topic leans on all topics, and is no result of the topic."""
    unit = two.unit
    rows = [
        unit.row(line.title, line.lead.difference, line.lead.low, line.lead.high)
        for line in two.in_order
        if line.lead and two.score != WIN_RATE
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
    unit, lines, is_direct = two.unit, two.in_order, two.score == WIN_RATE
    names = two.first[1], two.second[1]
    leads = _("Each topic leads to the words, sentences and answers that make its difference.")
    return Table(
        "topics",
        _("Topic by topic, in numbers"),
        (
            Column("topic"),
            Column("", _("Topic"), as_text),
            *(
                Column(name, "" if is_direct else unit.named(own), unit.show)
                for name, own in zip(_SIDES, names, strict=True)
            ),
            Column("difference", "" if is_direct else unit.named(_("Difference")), unit.change),
            Column("low"),
            Column("high"),
            Column("", _("95% interval") if two.has_intervals and not is_direct else ""),
            Column("p"),
            Column("judgments", "" if is_direct or two.score == "coverage" else _("Judgments")),
            *(
                Column(f"prefer_{name}", label if is_direct else "", group=_("Answers about these two"))
                for name, label in zip(PREFERRED, (*names, _("no preference")), strict=True)
            ),
        ),
        tuple(
            (
                *(line.topic[1], line.title, line.first, line.second),
                *(lead.difference if line.lead else None, lead.low, lead.high),
                *(unit.interval(lead.low, lead.high), lead.p, line.judgments),
                *(line.direct.first, line.direct.second, line.direct.neither),
            )
            for line in lines
            for lead in (line.lead or Lead(0.0),)
        ),
        links=tuple({"topic_id": line.topic[0]} for line in lines),
        leads_to="compare_in_topic",
        closed=len(lines) > MOST_TOPICS and not is_direct,
        first=MOST_TOPICS,
        thin=frozenset(k for k, line in enumerate(lines) if line.is_thin),
        note=sentences(
            leads,
            "" if two.score == "coverage" else _("Grey: fewer than five judgments, which claim nothing."),
            what_a_point_is() if two.score == "importance" else "",
        ),
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
