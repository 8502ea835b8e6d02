"""Agreement of annotators: in the study, in each topic, over time, and of any two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from formats import results
from formats.plots import course_plot
from formats.results import Agreement, Bounded, StudyAgreement
from formats.shown import DASH, Cell, Column, Figure, Shown, Table, as_text, figure
from formats.words import gettext as _
from formats.words import gettext_noop

#: The statistics in the order in which they are shown.
STATISTICS = {
    "percent": gettext_noop("Agreement"),
    "alpha": gettext_noop("Krippendorff’s alpha, direction-free"),
    "kappa": gettext_noop("Fleiss’ kappa, direction-free"),
}
#: Why there is no alpha or kappa.
WHY = {
    "nobody_twice": gettext_noop("No pair has been judged by two annotators yet."),
    "all_equal": gettext_noop("No answer prefers one of the two, so agreement cannot be computed."),
}
#: Two annotators who share fewer pairs are shown in grey: one pair more could turn their share round.
THIN = 5
#: Steps of colour in the heat map.
STEPS = 10


@dataclass(frozen=True, slots=True)
class Two:
    """Two annotators, each as (key, name): how many pairs both judged and how often alike."""

    a: tuple[int, str]
    b: tuple[int, str]
    shared: int
    alike: int

    @property
    def percent(self) -> int | None:
        return round(100 * self.alike / self.shared) if self.shared else None

    @property
    def is_thin(self) -> bool:
        return self.shared < THIN

    @property
    def step(self) -> int | None:
        """The step of colour, None for too few pairs."""
        return None if self.is_thin else min(STEPS - 1, STEPS * self.alike // self.shared)


@dataclass(frozen=True, slots=True)
class NamedAgreement:
    """A study's agreement with the names of its topics, of its annotators and of pairs: topic and both sentences.

    What has been removed since has no name and is not shown.
    """

    agreement: StudyAgreement
    topics: Mapping[int, str]
    annotators: Mapping[int, str]
    pairs: Mapping[int, tuple[str, str, str]]

    @property
    def in_order(self) -> list[tuple[int, str]]:
        """Annotators by key and name, so that each shares pairs with those before it; who shares none is left out."""
        table = self.agreement.table
        return [
            (key, self.annotators[key])
            for key in (table.annotators[place] for place in _in_order(table.shared))
            if key in self.annotators
        ]

    @property
    def heat(self) -> list[tuple[tuple[int, str], list[Two]]]:
        """A row for each annotator but the first, of cells with those before it; empty where no two share a pair."""
        table, order = self.agreement.table, self.in_order
        place = {key: k for k, key in enumerate(table.annotators)}

        def cell(annotator: tuple[int, str], other: tuple[int, str]) -> Two:
            row, column = place[annotator[0]], place[other[0]]
            return Two(annotator, other, table.shared[row][column], table.alike[row][column])

        return [(annotator, [cell(annotator, other) for other in order[:k]]) for k, annotator in enumerate(order) if k]

    @property
    def listed(self) -> list[Two]:
        """The same two by two, those who agree least first, thin ones last."""
        cells = [cell for _annotator, row in self.heat for cell in row if cell.shared]
        return sorted(cells, key=lambda cell: (cell.is_thin, cell.alike / cell.shared, -cell.shared))


def _in_order(shared: tuple[tuple[int, ...], ...]) -> list[int]:
    partners = {
        place: {other for other, pairs in enumerate(row) if pairs and other != place}
        for place, row in enumerate(shared)
    }
    rest = [place for place in partners if partners[place]]
    order: list[int] = []
    while rest:
        order.append(max(rest, key=lambda place: (len(partners[place] & {*order}), len(partners[place]))))
        rest.remove(order[-1])
    return order


def show(named: NamedAgreement, _asked: Mapping[str, str]) -> Shown:
    """The study and its topics, the course of alpha, and in files who agrees with whom and on which pairs not."""
    agreement = named.agreement
    return Shown(
        verdict(agreement),
        [_by_topic(named), *_course(agreement), _time(agreement), _two_by_two(named), _disputed(named)],
        notes=_without_pairs(named),
    )


def verdict(agreement: StudyAgreement) -> str:
    """How far annotators agree, about sentences and summaries apart, or why that is not known."""
    if agreement.sentences is None or agreement.summaries is None:
        return _said(agreement.study)
    apart = {"sentences": _said(agreement.sentences), "summaries": _said(agreement.summaries)}
    return _("Sentences: %(sentences)s Summaries: %(summaries)s") % apart


def _said(study: Agreement) -> str:
    if study.why:
        return _(WHY[study.why])
    about = {"percent": printed(study.percent), "alpha": printed(study.alpha), "pairs": study.pairs}
    sentence = _(
        "On %(pairs)d pairs with two or more judgments, agreement is %(percent)s and Krippendorff’s alpha %(alpha)s "
        "(95%% intervals). An alpha of 1 is perfect agreement, 0 is what chance gives."
    )
    return sentence % about


def printed(own: Bounded | results.Figure) -> str:
    """A value with its interval, where there is one."""
    if own.value is None:
        return DASH
    is_bounded = own.low is not None and own.high is not None
    return f"{own.value:.2f}" + (f" [{own.low:.2f}, {own.high:.2f}]" if is_bounded else "")


def _by_topic(named: NamedAgreement) -> Table:
    lines: list[tuple[str, Agreement]] = [(_("The study"), named.agreement.study)]
    apart = (_("Sentences"), named.agreement.sentences), (_("Summaries"), named.agreement.summaries)
    lines += [(title, own) for title, own in apart if own]
    lines += [
        (named.topics[own.topic], own) for own in named.agreement.topics if own.pairs and own.topic in named.topics
    ]
    return Table(
        "agreement",
        _("Agreement of annotators"),
        (
            Column("topic", _("Topic"), as_text),
            Column("judgments"),
            Column("pairs", _("Pairs with two or more judgments")),
            Column("comparisons"),
            *(
                column
                for name, label in STATISTICS.items()
                for column in (Column(name), Column(f"{name}_low"), Column(f"{name}_high"), Column("", _(label)))
            ),
            Column("why"),
            Column("", _("Why not") if any(own.why for _title, own in lines[1:]) else "", as_text),
        ),
        tuple(_line(title, own) for title, own in lines),
        note=_(
            "Each figure is followed by its 95% interval, from a bootstrap over pairs. An alpha of 1 is perfect "
            "agreement, 0 is what chance gives. A dash means that there are too few data to compute it. "
            "Direction-free: which sentence of a pair is stored first is an accident, so chance counts every answer "
            "half in each direction. Alpha and kappa as they are usually computed may be lower."
        ),
        marked=frozenset({0}),
    )


def _without_pairs(named: NamedAgreement) -> tuple[str, ...]:
    """The topics that the table leaves out, in one line."""
    without = [own for own in named.agreement.topics if not own.pairs and own.topic in named.topics]
    line = _("In %(n)d of %(topics)d topics with judgments, no pair has been judged by two annotators yet.")
    return (line % {"n": len(without), "topics": len(named.agreement.topics)},) if without else ()


def _line(title: str, own: Agreement) -> tuple[Cell, ...]:
    of_each = (getattr(own, name) for name in STATISTICS)
    figures = [cell for bounded in of_each for cell in (bounded.value, bounded.low, bounded.high, printed(bounded))]
    return title, own.judgments, own.pairs, own.comparisons, *figures, own.why, _(WHY[own.why]) if own.why else ""


def _course(agreement: StudyAgreement) -> list[Figure]:
    draw = partial(
        course_plot,
        label=_("Krippendorff’s alpha against the number of judgments"),
        x_title=_("judgments"),
        y_title=_("Krippendorff’s alpha"),
    )
    caption = _(
        "Krippendorff’s alpha, direction-free, after a growing number of judgments. The line breaks where there are "
        "too few data to compute it."
    )
    course = tuple((point.judgments, point.alpha) for point in agreement.time)
    return figure("time", _("Over time"), caption, draw, course)


def _time(agreement: StudyAgreement) -> Table:
    rows = tuple((point.judgments, point.alpha) for point in agreement.time)
    return Table("time", _("Over time"), (Column("judgments"), Column("alpha")), rows, folded=True)


def _two_by_two(named: NamedAgreement) -> Table:
    """Pages have a heat map of it."""
    columns = tuple(map(Column, ("first", "second", "alike", "shared")))
    rows = tuple((cell.a[1], cell.b[1], cell.alike, cell.shared) for cell in named.listed)
    return Table("annotators", _("Agreement of each two annotators"), columns, rows, folded=True)


def _disputed(named: NamedAgreement) -> Table:
    """Folded, since pages link to the sentences."""
    columns = tuple(map(Column, ("topic", "first", "second", "preferred_first", "preferred_second", "ties")))
    disputed = [pair for pair in named.agreement.disputed if pair.pair in named.pairs]
    rows = tuple((*named.pairs[pair.pair], pair.first, pair.second, pair.ties) for pair in disputed)
    return Table("disputed", _("Pairs on which annotators disagree"), columns, rows, folded=True)
