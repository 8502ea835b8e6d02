"""The forecast: how many judgments a study needs to tell systems apart, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from preferendum.formats.words import gettext as _
from preferendum.results import Forecast, ForecastPoint, Ground, SummaryForecast
from preferendum.results.planning import PANELS, work
from preferendum.show.plots import Line, curve_plot
from preferendum.show.points import Unit, unit_of, why_untested
from preferendum.show.shown import DASH, Cell, Choice, Column, Figure, Shown, Table, decimals, figure

#: What a reader may say, and how it is called: a difference of two systems to tell apart, in the unit in which people
#: read the score; seconds a judgment; pay an hour. Each with the least and the most that it may be.
NUMBERS = {"difference": (1e-6, 100.0), "seconds": (0.1, 3600.0), "pay": (0.0, 1e6)}


@dataclass(frozen=True, slots=True)
class StudyForecast:
    """What was simulated, of a `score`; for win rates it is computed from variances. `planned`: the study's planned
    judgments a topic; `seconds`: what one took so far, or is assumed to take; `is_outdated`: the study has changed
    since it was simulated. `ground`: who has judged so far."""

    record: Forecast | SummaryForecast
    score: str
    planned: int
    seconds: float
    is_outdated: bool
    ground: Ground

    @property
    def unit(self) -> Unit:
        """How differences of the score are read."""
        margins = [self.record.margin(point.se) for point in self.record.points if point.se is not None]
        return unit_of(self.score, [(0.0, -margin, margin) for margin in margins])


def show(forecast: StudyForecast, asked: Mapping[str, str]) -> Shown:
    """Show by number of judgments the interval, the difference that is detected, hours and cost."""
    asked_for, seconds, pay = (number(name, asked) for name in NUMBERS)
    difference = None if asked_for is None else asked_for / forecast.unit.times
    expected = table(forecast, difference, forecast.seconds if seconds is None else seconds, pay)
    return Shown(
        verdict(forecast, difference),
        [*_figure(forecast), expected, *_panels(forecast)],
        choices=[Choice(name, name, ((own, own),), own) for name in NUMBERS if (own := _said(name, asked))],
        notes=notes(forecast),
    )


def number(name: str, asked: Mapping[str, str]) -> float | None:
    """The number requested under this name; None where it is no number, or out of bounds."""
    low, high = NUMBERS[name]
    try:
        value = float(asked.get(name, ""))
    except ValueError:
        return None
    return value if low <= value <= high else None


def _said(name: str, asked: Mapping[str, str]) -> str:
    return "" if number(name, asked) is None else asked[name]


def verdict(forecast: StudyForecast, difference: float | None) -> str:
    """How far the interval of a difference reaches or, where one is given, how many judgments it takes."""
    record, unit, why = forecast.record, forecast.unit, why_untested(forecast.score)
    if difference is not None and not why:
        about = {"difference": unit.with_unit(f"{unit.times * difference:g}")}
        needed = record.needed(difference)
        if needed is None:
            never = _(
                "Two systems that differ by %(difference)s are not told apart in 80%% of studies, even with the most "
                "judgments that were tried."
            )
            return never % about
        sentence = _(
            "Two systems that differ by %(difference)s are told apart in 80%% of studies with about %(n)d judgments a "
            "topic by many annotators."
        )
        return sentence % (about | {"n": needed})
    with_error = [point for point in record.points if point.se is not None]
    if not with_error:
        return f"{_('Nothing can be said with the numbers of judgments that were tried.')} {why}".strip()
    point = next((point for point in with_error if point.judgments == forecast.planned), with_error[-1])
    margin = _(
        "With %(n)d judgments a topic by many annotators, the 95%% interval of a difference reaches ±%(margin)s."
    )
    resolved = _("Differences of %(resolved)s are told apart in 80%% of studies.")
    figures = {"margin": record.margin(point.se or 0.0), "resolved": record.resolved(point.se or 0.0)}
    if figures["resolved"] is None:
        why = why or _("No two systems can be expected to be told apart.")
    texts = {name: unit.with_unit(unit.show(own)) for name, own in figures.items()}
    return f"{margin % (texts | {'n': point.judgments})} {why or resolved % texts}"


def _figure(forecast: StudyForecast) -> list[Figure]:
    record, unit = forecast.record, forecast.unit
    points = [(float(point.judgments), point.se, point.sd or 0.0) for point in record.points if point.se is not None]
    if len(points) < 2:
        return []
    margins = tuple((x, unit.times * record.margin(se)) for x, se, _sd in points)
    lines = [Line(_("interval, ±"), margins, tuple(unit.times * record.margin(sd) for _x, _se, sd in points))]
    if not why_untested(forecast.score):
        resolved = ((x, record.resolved(se)) for x, se, _sd in points)
        lines.append(Line(_("told apart"), tuple((x, unit.times * own) for x, own in resolved if own is not None)))
    draw = partial(
        curve_plot,
        label=_(
            "How far the interval of a difference reaches, by number of judgments; the table says the same in numbers"
        ),
        x_title=_("judgments a topic"),
        y_title=unit.named(_("difference of two systems")),
    )
    band = _("Band: one standard deviation over simulated studies.") if isinstance(record, Forecast) else ""
    caption = f"{band} {_('The horizontal axis is logarithmic.')}".strip()
    return figure("forecast", _("What to expect"), caption, draw, tuple(lines))


def table(forecast: StudyForecast, difference: float | None, seconds: float, pay: float | None) -> Table:
    """What to expect by number of judgments; `difference`: of the score itself."""
    record, unit, is_tested = forecast.record, forecast.unit, not why_untested(forecast.score)
    about = {"difference": unit.with_unit(f"{unit.times * (difference or 0.0):g}")}
    chance = _("Chance for %(difference)s") % about if difference is not None and is_tested else ""
    columns = (
        Column("judgments", _("Judgments a topic")),
        Column("in_all", _("In all")),
        Column("hours", _("Hours"), decimals(1)),
        Column("cost", _("Cost") if pay is not None else "", decimals(0)),
        Column("margin", unit.named(_("± of a difference")), unit.show),
        Column("sd", unit.named(_("sd")) if isinstance(record, Forecast) else "", unit.show),
        Column("resolved", unit.named(_("Told apart in 80%")) if is_tested else "", unit.show),
        Column("chance", chance, _percent),
    )

    reaches = _(
        "“±”: how far the 95% interval of the difference of two systems over all topics reaches to either side; "
        "farther where few annotators judge, as they differ."
    )
    marked = frozenset(k for k, point in enumerate(record.points) if point.judgments == forecast.planned)
    about_marked = [_("The number that the study plans stands out.")] if marked else []
    told = _("“Told apart in 80%”: the difference at which that happens in 80 of 100 studies, all systems compared.")

    def row(point: ForecastPoint) -> tuple[Cell, ...]:
        needs = work(record.topics * point.judgments, seconds, pay)
        return (
            *(point.judgments, needs.judgments, needs.hours, needs.cost),
            None if point.se is None else record.margin(point.se),
            None if point.sd is None else record.margin(point.sd),
            record.resolved(point.se) if point.se is not None and is_tested else None,
            record.chance(point.se, difference) if point.se and difference and is_tested else None,
        )

    return Table(
        "forecast",
        _("What to expect, in numbers"),
        columns,
        tuple(map(row, record.points)),
        note=" ".join([reaches, *about_marked, *([told] if is_tested else [])]),
        marked=marked,
    )


def _panels(forecast: StudyForecast) -> list[Table]:
    """What more annotators would bring with the judgments that the study plans: these err together, however many."""
    planned = [point.se for point in forecast.record.points if point.judgments == forecast.planned and point.se]
    spread = forecast.ground.spread
    if spread is None or not planned:
        return []
    rows = tuple((n, forecast.record.margin_of(planned[0], spread, n)) for n in PANELS)
    unit = forecast.unit
    columns = Column("annotators", _("Annotators")), Column("margin", unit.named(_("± of a difference")), unit.show)
    title = _("With as many judgments as planned, by more or fewer annotators")
    return [Table("annotators", title, columns, rows, note=_("As far as annotators have differed so far."))]


def _percent(chance: float | None) -> str:
    return DASH if chance is None else "> 99%" if chance > 0.99 else f"{100 * chance:.0f}%"


def notes(forecast: StudyForecast) -> list[str]:
    """What the forecast rests on."""
    record = forecast.record
    of_annotators = _(
        "How far annotators differ is not known, and not included: several must have judged the same topics."
    )
    annotators = [] if forecast.ground.spread is not None else [of_annotators]
    if isinstance(record, SummaryForecast):
        return [" ".join([*_of_summaries(record), *annotators])]
    sampled = _(
        "%(sampled)d of %(topics)d topics, %(sentences).0f sentences on average, stand for all, each simulated "
        "%(runs)d times; %(systems)d systems, %(pairs)d pairs of them; %(careless).0f%% careless answers, %(ties).0f%% "
        "ties; judgments a pair: %(per_pair)d; %(random).0f%% random pairs."
    )
    learnt = (
        _("How far sentences differ was learnt from %(learnt)d judgments.")
        if record.learnt_from
        else _("How far sentences differ is taken from studies of others, until there is a judgment a sentence.")
    )
    standard = _("The systems are those of standard summarizers, since the study has no two of its own.")
    stop_rule = _("Intervals and verdicts hold at every look.")
    about = {
        "sampled": record.sampled,
        "topics": record.topics,
        "sentences": record.sentences,
        "runs": record.runs,
        "systems": record.systems,
        "pairs": record.comparisons,
        "careless": 100 * record.careless,
        "ties": 100 * record.ties,
        "per_pair": record.judgments_per_pair,
        "random": 100 * record.random_share,
        "learnt": record.learnt_from,
    }
    sentences = [sampled % about, learnt % about]
    sentences += [standard] if record.are_standard else []
    sentences += [stop_rule] if record.stop_rule else []
    sentences += annotators
    old = [_("Texts or settings have changed since. Simulate again to include that.")] if forecast.is_outdated else []
    return [*old, " ".join(sentences)]


def _of_summaries(record: SummaryForecast) -> list[str]:
    basis = _(
        "%(topics)d topics and %(systems)d systems, %(pairs)d pairs of them; %(words).0f words in two summaries. "
        "Answers are spread evenly over topics and pairs."
    )
    learnt = (
        _("How far systems and their summaries differ was learnt from %(learnt)d answers.")
        if record.learnt_from
        else _("How far systems and their summaries differ is taken from studies of others, until somebody has judged.")
    )
    about = {"topics": record.topics, "systems": record.systems, "pairs": record.comparisons, "words": record.words}
    stop_rule = [_("Intervals and verdicts hold at every look.")] if record.stop_rule else []
    return [basis % about, learnt % {"learnt": record.learnt_from}, *stop_rule]
