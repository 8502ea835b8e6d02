"""The forecast: what more answers, annotators or topics bring, in a sentence a question, with hours and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from preferendum.formats.checks import limits
from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import Forecast, SummaryForecast
from preferendum.results.ground import EARLIEST
from preferendum.results.outlook import FEWEST_ANNOTATORS, Needed, Outlook
from preferendum.results.planning import Pace, work
from preferendum.show.plots import Line, curve_plot
from preferendum.show.points import Unit, unit_of, why_untested
from preferendum.show.shown import Cell, Choice, Column, Figure, Shown, Table, decimals, figure

#: Numbers that a reader may say: a difference of two systems to tell apart, in the unit in which people read the score;
#: pay an hour. Each with the least and the most that it may be.
NUMBERS = {"difference": (1e-6, 100.0), "pay": (0.0, 1e6)}
#: The longest name of a currency.
LONGEST_CURRENCY = limits.CURRENCY_CHARACTERS


@dataclass(frozen=True, slots=True)
class Asked:
    """What a reader wishes. `difference`: as people read the score."""

    difference: float | None = None
    pay: float | None = None
    currency: str = ""

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Asked:
        """Read what is in an address; what is no number, or out of bounds, was not said."""
        currency = asked.get("currency", "").strip()[:LONGEST_CURRENCY]
        return cls(number("difference", asked), number("pay", asked), currency)

    @property
    def choices(self) -> list[Choice]:
        """The choices that files and the next page keep."""
        wishes = {name: f"{own:.10g}" for name in NUMBERS if (own := getattr(self, name)) is not None}
        wishes |= {"currency": self.currency} if self.currency else {}
        return [Choice(name, name, ((own, own),), own) for name, own in wishes.items()]


@dataclass(frozen=True, slots=True)
class StudyForecast:
    """One question of a study, by a `score`. `is_outdated`: it has changed since it was simulated."""

    outlook: Outlook
    score: str
    pace: Pace
    is_outdated: bool = False

    @property
    def unit(self) -> Unit:
        """How differences of the score are read."""
        halves = [half for own in self.outlook.steps if (half := self.outlook.after(own)) is not None]
        return unit_of(self.score, [(0.0, -half, half) for half in halves])

    @property
    def is_tested(self) -> bool:
        """Whether systems are tested for differences."""
        return not why_untested(self.score)


def show(questions: Sequence[StudyForecast], asked: Mapping[str, str]) -> Shown:
    """Show of each question what is known, its curve with today's dot, and by number of answers what they bring."""
    wishes = Asked.of(asked)
    if not questions:
        return Shown(_("Nothing can be asked, so there is nothing to expect."), [])
    named = {"sentences": _("About sentences:"), "summaries": _("About summaries:")}
    verdicts = [verdict(own, wishes) for own in questions]
    if len(questions) > 1:
        verdicts = [f"{named[own.outlook.question]} {text}" for own, text in zip(questions, verdicts, strict=True)]
    parts: list[Table | Figure] = []
    for own in questions:
        if own.outlook.steps:
            parts += [*_figure(own), table(own, wishes)]
    notes = [text for own in questions if (text := note(own))]
    return Shown("\n".join(verdicts), parts, choices=wishes.choices, notes=notes)


def _titled(question: StudyForecast) -> str:
    if question.outlook.question == "summaries":
        return _("What to expect of answers about summaries")
    return _("What to expect of answers about sentences")


def number(name: str, asked: Mapping[str, str]) -> float | None:
    """The number requested under this name; None where it is no number, or out of bounds."""
    low, high = NUMBERS[name]
    try:
        value = float(asked.get(name, ""))
    except ValueError:
        return None
    return value if low <= value <= high else None


def verdict(question: StudyForecast, asked: Asked) -> str:
    """What is known by now, and what would bring more."""
    return " ".join(own for own in _sentences(question, asked) if own)


def _sentences(question: StudyForecast, asked: Asked) -> Iterator[str]:
    outlook, unit = question.outlook, question.unit
    if not outlook.is_anchored:
        yield from _early(question, asked)
    else:
        today = _("%(answers)s: the difference of two systems is known to about ±%(margin)s.")
        yield today % {"answers": _answers(outlook), "margin": _with_unit(unit, outlook.half)}
        yield from _more(question, asked)
    if asked.difference is not None and question.is_tested:
        yield _told(question, asked)
    yield why_untested(question.score)


def _answers(outlook: Outlook) -> str:
    """How many there are, and by whom; of each kind where they are not people's alone."""
    if outlook.ground.are_simulated:
        answers = ngettext("%(n)s simulated answer", "%(n)s simulated answers", outlook.now)
    else:
        answers = ngettext("%(n)s answer", "%(n)s answers", outlook.now)
    answers %= {"n": f"{outlook.now:,}"}
    if outlook.annotators:
        by = ngettext("%(answers)s by %(n)d annotator", "%(answers)s by %(n)d annotators", outlook.annotators)
        answers = by % {"answers": answers, "n": outlook.annotators}
    judged = replace(outlook.judged, imported=0)
    is_people = judged.human == judged.total
    return answers if is_people or outlook.ground.are_simulated else f"{answers} ({judged.words})"


def _early(question: StudyForecast, asked: Asked) -> Iterator[str]:
    """What to expect where today's answers do not tell it."""
    outlook, unit = question.outlook, question.unit
    least = {"answers": _answers(outlook), "n": EARLIEST, "annotators": FEWEST_ANNOTATORS}
    if not outlook.now:
        yield _("No answer counts yet.")
    elif outlook.is_early:
        yield (
            _(
                "%(answers)s: too early to go by. It takes %(n)d answers by %(annotators)d annotators who answer about "
                "equally often."
            )
            % least
        )
    else:
        yield _("%(answers)s, and no interval of a difference of two systems.") % least
    answers, expected = outlook.next_answers, outlook.expected
    if outlook.now and not answers:
        yield _full(outlook)
    margin = outlook.after(answers) if answers else None
    if margin is None or expected is None:
        return
    sentence = (
        _("If others answer like these, %(n)s answers (%(work)s) bring about ±%(margin)s.")
        if expected.learnt_from and outlook.now
        else _("In typical studies, %(n)s answers (%(work)s) bring about ±%(margin)s.")
    )
    yield sentence % (_needs(question, asked, answers) | {"margin": _with_unit(unit, margin)})


def _full(outlook: Outlook) -> str:
    """That no pair takes another answer."""
    if outlook.question == "summaries":
        return _("Pairs of summaries have all their answers: more take more topics, or more answers a pair.")
    return _("Pairs of sentences have all their answers: more take more topics, or more answers a pair.")


def _more(question: StudyForecast, asked: Asked) -> Iterator[str]:
    """What more answers, annotators, or topics would bring, each where it is worth it."""
    outlook, unit = question.outlook, question.unit
    answers, annotators, topics = outlook.more_answers, outlook.more_annotators, outlook.more_topics
    if answers:
        bring = _("%(n)s answers in all would bring ±%(margin)s (%(work)s).")
        yield bring % (_needs(question, asked, answers.answers) | {"margin": unit.show(answers.half)})
    elif not outlook.next_answers:
        yield _full(outlook)
    elif annotators or topics:
        yield _("More answers alone would hardly help.")
    if annotators:
        bring = _("%(n)s answers by %(annotators)d annotators in all, about %(each)d each, would bring ±%(margin)s.")
        each = round(annotators.answers / annotators.annotators)
        about = {"n": f"{annotators.answers:,}", "annotators": annotators.annotators, "each": each}
        yield bring % (about | {"margin": unit.show(annotators.half)})
    if topics:
        bring = _("%(n)s answers about %(topics)d topics in place of %(now)d would bring ±%(margin)s.")
        about = {"n": f"{topics.answers:,}", "topics": topics.topics, "now": outlook.topics}
        yield bring % (about | {"margin": unit.show(topics.half)})


def _told(question: StudyForecast, asked: Asked) -> str:
    """Whether, and after how many answers, two systems are distinguished that differ as the reader wishes."""
    outlook, unit = question.outlook, question.unit
    assert asked.difference is not None
    answers = outlook.answers_to_tell(asked.difference / unit.times)
    about = {"difference": unit.with_unit(f"{asked.difference:g}"), "topics": outlook.topics}
    if answers is not None and answers <= outlook.now:
        if not outlook.is_anchored:
            return ""
        told = _(
            "As many answers as there are tell two systems apart that differ by %(difference)s, in 80%% of studies."
        )
        return told % about
    if answers is not None:
        told = _(
            "%(n)s answers in all (%(work)s) tell two systems apart that differ by %(difference)s, in 80%% of studies."
        )
        return told % (about | _needs(question, asked, answers))
    limit = outlook.limit_of(asked.difference / unit.times)
    if limit == "topics":
        hardly = ngettext(
            "A difference of %(difference)s will hardly show with %(topics)d topic: add topics.",
            "A difference of %(difference)s will hardly show with %(topics)d topics: add topics.",
            outlook.topics,
        )
        return hardly % about
    if limit == "annotators":
        about |= {"annotators": outlook.annotators}
        hardly = ngettext(
            "A difference of %(difference)s will hardly show by %(annotators)d annotator: add annotators.",
            "A difference of %(difference)s will hardly show by %(annotators)d annotators: add annotators.",
            outlook.annotators,
        )
        return hardly % about
    if limit is None:
        return ""
    if outlook.furthest == outlook.most:
        sentence = _(
            "%(n)s answers, all that the pairs take, will hardly show a difference of %(difference)s: add topics."
        )
        return sentence % (about | {"n": f"{outlook.furthest:,}"})
    return _("%(n)s answers will hardly show a difference of %(difference)s.") % (
        about | {"n": f"{outlook.furthest:,}"}
    )


def _needs(question: StudyForecast, asked: Asked, answers: int) -> dict[str, str]:
    """So many answers in all, and the work that the missing ones are, in words."""
    more = max(answers - question.outlook.now, 0)
    needs = work_in_words(more, question.pace.seconds, asked, is_more=question.outlook.now > 0)
    return {"n": f"{answers:,}", "work": needs}


def work_in_words(answers: int, seconds: float, asked: Asked | None = None, *, is_more: bool = True) -> str:
    """Say how long so many answers take at so many seconds each, and what they cost if the pay was said. `is_more`:
    there are others already."""
    asked = asked or Asked()
    needs = work(answers, seconds, asked.pay)
    minutes = max(1, round(60 * needs.hours))
    hours = round(needs.hours)
    time = (
        ngettext("about %(n)d minute", "about %(n)d minutes", minutes) % {"n": minutes}
        if minutes < 55
        else ngettext("about %(n)s hour", "about %(n)s hours", hours) % {"n": f"{hours:,}"}
    )
    time = _("%(time)s more") % {"time": time} if is_more else time
    if needs.cost is None:
        return time
    cost = f"{needs.cost:,.0f}"
    money = f"{cost} {asked.currency}" if asked.currency else _("%(cost)s units of your pay") % {"cost": cost}
    return f"{time}, {money}"


def _with_unit(unit: Unit, half: float | None) -> str:
    return unit.with_unit(unit.show(half))


def might_show(needed: Needed, *, is_clearest: bool = False) -> str:
    """How many answers might show a difference that is not certain: of two systems, or the clearest of a board."""
    low, high = f"{needed.low:,}", f"{needed.high:,}"
    reach = _("%(low)s to %(high)s") if needed.low > needed.now else _("up to %(high)s")
    sentence = (
        _(
            "If the clearest difference, which is not yet certain, is real, %(range)s judgments in all might show it; "
            "there are %(now)s now."
        )
        if is_clearest
        else _("If the difference is real, %(range)s judgments in all might show it; there are %(now)s now.")
    )
    return sentence % {"range": reach % {"low": low, "high": high}, "now": f"{needed.now:,}"}


def _figure(question: StudyForecast) -> list[Figure]:
    outlook, unit = question.outlook, question.unit
    points = tuple((float(own), unit.times * (outlook.after(own) or 0.0)) for own in outlook.steps)
    if len(points) < 2:
        return []
    places = dict(points)
    marks = {_("today"): outlook.now if outlook.is_anchored else 0, _("planned"): outlook.to_come}
    draw = partial(
        curve_plot,
        label=_("How far the interval of a difference reaches, by number of answers; the table says it in numbers"),
        x_title=_("answers in all"),
        y_title=unit.named(_("± of a difference")),
        marks={name: (float(own), places[own]) for name, own in marks.items() if own in places},
    )
    line = Line(_("interval, ±"), points)
    return figure(outlook.question, _titled(question), _("The horizontal axis is logarithmic."), draw, (line,))


def table(question: StudyForecast, asked: Asked, sizes: Sequence[int] = ()) -> Table:
    """What to expect by number of answers, from today's on; or after `sizes` of them."""
    outlook, unit = question.outlook, question.unit
    least = outlook.now if outlook.is_anchored else 0
    shown = sizes or [own for own in outlook.steps if own >= least]
    cost = _("Cost (%(currency)s)") % {"currency": asked.currency} if asked.currency else _("Cost")
    columns = (
        Column("answers", _("Answers in all")),
        Column("hours", _("Hours to come"), decimals(1)),
        Column("cost", cost if asked.pay is not None else "", decimals(0)),
        Column("margin", unit.named(_("± of a difference")), unit.show),
        Column("told_apart", unit.named(_("Told apart in 80%")) if question.is_tested else "", unit.show),
    )

    def row(answers: int) -> tuple[Cell, ...]:
        needs = work(answers - outlook.now, question.pace.seconds, asked.pay)
        told = outlook.told_apart(answers) if question.is_tested else None
        hours, cost = (needs.hours, needs.cost) if needs.judgments > 0 else (None, None)
        return answers, hours, cost, outlook.after(answers), told

    marked = frozenset(k for k, own in enumerate(shown) if own == outlook.to_come)
    notes = [_("“±”: how far the 95% interval of the difference of two systems reaches to either side.")]
    if question.is_tested:
        notes.append(
            _("“Told apart in 80%”: the difference at which that happens in 80 of 100 studies, all systems compared.")
        )
    notes += [_("The first row is today.")] if outlook.is_anchored and not sizes else []
    notes += [_("The planned number stands out.")] if marked else []
    title = _("%(title)s, in numbers") % {"title": _titled(question)}
    rows = tuple(map(row, shown))
    return Table(outlook.question, title, columns, rows, note=" ".join(notes), marked=marked)


def note(question: StudyForecast) -> str:
    """What the forecast rests on."""
    return " ".join(own for own in _rests_on(question) if own)


def _rests_on(question: StudyForecast) -> Iterator[str]:
    outlook, expected, pace = question.outlook, question.outlook.expected, question.pace
    if question.is_outdated:
        yield _("Texts or settings have changed since. Simulate again to include that.")
    if outlook.is_anchored:
        yield _("Starts from today’s intervals.")
        if expected is None:
            yield _("Errors are taken to fall with the square root of the answers.")
        if outlook.ground.spread is None:
            yield _("How far annotators differ is not known, so nothing is said of more of them.")
    if isinstance(expected, Forecast):
        yield _of_sentences(expected)
    elif isinstance(expected, SummaryForecast):
        yield (
            ngettext(
                "How far systems and their summaries differ was learnt from %(learnt)d answer.",
                "How far systems and their summaries differ was learnt from %(learnt)d answers.",
                expected.learnt_from,
            )
            if expected.learnt_from
            else _("How far systems and their summaries differ is taken from studies of others.")
        ) % {"learnt": expected.learnt_from}
    if outlook.planned_share is not None or (expected and expected.stop_rule):
        yield _("Intervals and verdicts hold at every look.")
    seconds = {
        "taken": _("An answer took %(seconds).0f seconds on average, breaks of more than five minutes left out."),
        "said": _("%(seconds).0f seconds an answer."),
        "read": _(
            "No times of people’s answers here are known: hours are by the words to read, %(seconds).0f seconds an "
            "answer."
        ),
        "guessed": _("Neither times nor texts are known: hours are at %(seconds).0f seconds an answer."),
        "too fast": _(
            "Half of the answers came faster than their texts can be read: hours are by the words, %(seconds).0f "
            "seconds an answer."
        ),
    }
    if outlook.steps:
        yield seconds[pace.basis] % {"seconds": pace.seconds}


def _of_sentences(expected: Forecast) -> str:
    about = {
        "sampled": expected.sampled,
        "topics": expected.topics,
        "runs": expected.runs,
        "careless": 100 * expected.careless,
        "learnt": expected.learnt_from,
    }
    simulated = ngettext(
        "The topic was simulated %(runs)d times, with %(careless).0f%% careless answers.",
        "%(sampled)d of %(topics)d topics stand for all, each simulated %(runs)d times, with %(careless).0f%% careless "
        "answers.",
        expected.topics,
    )
    learnt = (
        ngettext(
            "How far sentences differ was learnt from %(learnt)d judgment.",
            "How far sentences differ was learnt from %(learnt)d judgments.",
            expected.learnt_from,
        )
        if expected.learnt_from
        else _("How far sentences differ is taken from studies of others, until there is a judgment a sentence.")
    )
    standard = [_("The systems are those of standard summarizers, since the study has no two of its own.")]
    return " ".join([simulated % about, learnt % about, *(standard if expected.are_standard else [])])
