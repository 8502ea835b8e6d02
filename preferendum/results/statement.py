"""What may be said of a study: who answered what, and which systems lead. The worker makes this record, one for each
question; pages, files, the API and the library read it and count nothing themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import add
from typing import Literal

from preferendum.formats.settings import KINDS_COUNTED, CountedKinds
from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results.ground import Ground
from preferendum.results.length import ByLength

#: What the tests say of the order. "none": there are no judgments; "untested": the score is not tested; "early": it is
#: too early for tests; "open": no two systems are told apart; "middle": the first is told apart from no other, though
#: some others are; "shared": it is told apart from some; "leads": from all.
Told = Literal["none", "untested", "early", "open", "middle", "shared", "leads"]
#: What limits the answer: it is too early; one or few annotators; one topic; the length of texts explains much of it.
Limit = Literal["early", "annotators", "topic", "length"]


@dataclass(frozen=True, slots=True)
class Judged:
    """How many judgments of each kind of annotators. `imported`: how many of the human ones were imported."""

    human: int = 0
    imported: int = 0
    machine: int = 0
    simulated: int = 0

    def __add__(self, other: Judged) -> Judged:
        return Judged(
            self.human + other.human,
            self.imported + other.imported,
            self.machine + other.machine,
            self.simulated + other.simulated,
        )

    @property
    def total(self) -> int:
        return self.human + self.machine + self.simulated

    @property
    def here(self) -> int:
        """How many people gave here; all others came from files, machines or simulations."""
        return self.human - self.imported

    @property
    def words(self) -> str:
        """Such as “12 by people (3 imported), 1,000 simulated”."""
        return ", ".join(self._phrases())

    def _phrases(self) -> Iterator[str]:
        number = {kind.name: f"{getattr(self, kind.name):,}" for kind in fields(self)}
        if 0 < self.imported == self.human:
            yield _("%(human)s by people (imported)") % number
        elif self.imported:
            yield _("%(human)s by people (%(imported)s imported)") % number
        elif self.human or not self.total:
            yield _("%(human)s by people") % number
        if self.machine:
            yield _("%(machine)s by machines") % number
        if self.simulated:
            yield _("%(simulated)s simulated") % number


@dataclass(frozen=True, slots=True)
class RestsOn:
    """The judgments that count, and those that do not because the study counts other kinds (`kinds`).

    Both leave out surplus answers and those of excluded annotators. `of_copies`: how many imported ones compare two
    sentences of the same words, and count nowhere. `about_summaries`: how many of those that count are about whole
    summaries.
    """

    kinds: CountedKinds = "people"
    counted: Judged = field(default_factory=Judged)
    not_counted: Judged = field(default_factory=Judged)
    of_copies: int = 0
    about_summaries: int = 0

    def __add__(self, other: RestsOn) -> RestsOn:
        return RestsOn(
            self.kinds,
            self.counted + other.counted,
            self.not_counted + other.not_counted,
            self.of_copies + other.of_copies,
            self.about_summaries + other.about_summaries,
        )

    @classmethod
    def together(cls, kinds: CountedKinds, parts: Iterable[RestsOn]) -> RestsOn:
        """The sum of the parts, of a study that counts these kinds."""
        rest = iter(parts)
        return reduce(add, rest, next(rest, None) or cls(kinds))

    @property
    def by_question(self) -> str:
        """How many count about sentences, and about summaries; "" where all are about one of them."""
        of_each = {"sentences": self.counted.total - self.about_summaries, "summaries": self.about_summaries}
        text = _("%(sentences)s about sentences, %(summaries)s about summaries")
        return text % {name: f"{n:,}" for name, n in of_each.items()} if all(of_each.values()) else ""

    @property
    def leading(self) -> int:
        """How many of those that count are of the leading kind."""
        number: int = getattr(self.counted, KINDS_COUNTED[self.kinds][0])
        return number

    @property
    def total(self) -> int:
        return self.counted.total + self.not_counted.total

    @property
    def kinds_beside(self) -> tuple[str, ...]:
        """The kinds that have judged and that the board does not count, or counts among others."""
        of_each = [
            (kind, getattr(self.counted, kind), getattr(self.not_counted, kind)) for kind in KINDS_COUNTED["all"]
        ]
        return tuple(kind for kind, counted, not_counted in of_each if not_counted or 0 < counted < self.counted.total)

    @property
    def is_mixed(self) -> bool:
        """Whether judgments by machines or simulations count."""
        return self.counted.human < self.counted.total


@dataclass(frozen=True, slots=True)
class Answers:
    """The judgments about one question or about all, and who gave those that count.

    `human`, `machine`, `simulated`: how many annotators of each kind gave them; `unnamed`: how many of the judgments by
    people are of a file that does not say by whom. `recruited`: how many of the people came from a platform. `pairs`,
    `topics`: how many the judgments are about, no topics where they do not say. `first`, `last`: their days here, as
    ISO dates; "" where no time is known. `random`, `telling`, `planned`: how many are about pairs drawn here at random,
    about pairs of sentences drawn because they tell more, and about pairs of summaries drawn before the first answer.
    """

    rests_on: RestsOn = field(default_factory=RestsOn)
    human: int = 0
    machine: int = 0
    simulated: int = 0
    unnamed: int = 0
    recruited: int = 0
    pairs: int = 0
    topics: int = 0
    first: str = ""
    last: str = ""
    random: int = 0
    telling: int = 0
    planned: int = 0

    @property
    def words(self) -> str:
        """Say in a sentence who gave how many judgments, about what."""
        if not self.rests_on.counted.total:
            return _("No judgment counts so far.")
        first, *others = self._given()
        given, about = "; ".join((first, *others)), self.rests_on.by_question
        if not self.topics:
            return _("%(given)s, without saying on which topics: intervals leave out how topics differ.") % {
                "given": given
            }
        # In brackets it would seem to be of the last kind alone, or of those imported.
        is_apart = about and (others or self.rests_on.counted.imported)
        about = f". {_('In all:')} {about}" if is_apart else f" ({about})" if about else ""
        topics = ngettext("on %(n)s topic", "on %(n)s topics", self.topics) % {"n": f"{self.topics:,}"}
        return f"{given}{about}, {topics}."

    def _given(self) -> Iterator[str]:
        counted = self.rests_on.counted
        if by_people := counted.human - self.unnamed:
            imported = counted.imported - self.unnamed
            yield _given(
                ngettext("%(who)d person gave %(n)s", "%(who)d people gave %(n)s", self.human), self.human, by_people
            ) + (
                ""
                if imported <= 0
                else _(" (imported)")
                if imported == by_people
                else _(" (%(n)s imported)") % {"n": f"{imported:,}"}
            )
        if self.unnamed:
            yield _("%(n)s by people whom no file names") % {"n": _judgments(self.unnamed)}
        if counted.machine:
            several = ngettext("%(who)d machine gave %(n)s", "%(who)d machines gave %(n)s", self.machine)
            yield _given(several, self.machine, counted.machine)
        if counted.simulated:
            several = ngettext(
                "%(who)d simulated annotator gave %(n)s", "%(who)d simulated annotators gave %(n)s", self.simulated
            )
            yield _given(several, self.simulated, counted.simulated)


def _given(sentence: str, who: int, number: int) -> str:
    return sentence % {"who": who, "n": _judgments(number)}


def _judgments(number: int) -> str:
    return ngettext("%(n)s judgment", "%(n)s judgments", number) % {"n": f"{number:,}"}


@dataclass(frozen=True, slots=True)
class Headline:
    """What the tests say of the first place, as data. `first`: the system that scores highest; `alike`: those that it
    cannot be distinguished from, best first; `others`: how many others are ranked; `apart`: how many of the tested
    pairs (`tests`) differ significantly; `clearest`: the better and the worse system of the surest of these."""

    told: Told = "none"
    first: str = ""
    alike: tuple[str, ...] = ()
    others: int = 0
    apart: int = 0
    tests: int = 0
    clearest: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What may be said of one question. `scored_by`, `score`: what systems are ranked by; `systems`: how many are;
    `halfwidth`: of the interval of a difference of two of them, the median; `limits`: what limits the answer."""

    answers: Answers
    scored_by: str
    score: str
    systems: int
    headline: Headline
    ground: Ground
    halfwidth: float | None = None
    limits: tuple[Limit, ...] = ()
    by_length: ByLength | None = None


@dataclass(frozen=True, slots=True)
class StudyStatement:
    """What may be said of a study: of all its `answers` together, and of those to each question that has any. `checks`:
    why people judged pairs whose answers never count: practice, gold pairs, repeats."""

    answers: Answers = field(default_factory=Answers)
    sentences: Statement | None = None
    summaries: Statement | None = None
    checks: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[Statement, ...]:
        """The statements of those that have a ranking, on summaries first: these answers say most."""
        return tuple(filter(None, (self.summaries, self.sentences)))
