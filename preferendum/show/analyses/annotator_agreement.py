"""Agreement of annotators: in the study, in each topic, over time, and of any two of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from preferendum import results
from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop, ngettext
from preferendum.results import Agreement, Bounded, StudyAgreement
from preferendum.results.agreement import FEWEST_PAIRS
from preferendum.show.plots import course_plot
from preferendum.show.points import unit_for
from preferendum.show.shown import DASH, Cell, Column, Figure, Shown, Table, as_text, figure, sentences, whole_percent

#: The statistics in the order in which they are shown; files have kappa, too.
STATISTICS = {"percent": gettext_noop("Agreement"), "alpha": gettext_noop("Krippendorff’s alpha")}
#: Two annotators who share fewer pairs are shown in grey: one pair more could turn their share round.
THIN = 5
#: So many topics, and annotators, are open on a page.
OPEN = 10
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

    What has been removed since has no name and is not shown. `topics`: by item set, sentences or summaries of a topic;
    `topic_of`: the topic's key, by item set.
    """

    agreement: StudyAgreement
    topics: Mapping[int, str]
    annotators: Mapping[int, str]
    pairs: Mapping[int, tuple[str, str, str]]
    topic_of: Mapping[int, int] = field(default_factory=dict)

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
        """For files the same two by two, those who agree least first, thin ones last."""
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
    """The course of alpha, topics, and who agrees least; in files also who agrees with whom."""
    agreement = named.agreement
    in_files = _time(agreement), _two_by_two(named), _disputed(named)
    shown = _by_topic(named), _with_others(named)
    return Shown(verdict(agreement), [*_course(agreement), *shown, *in_files], notes=_without_pairs(named))


def verdict(agreement: StudyAgreement) -> str:
    """How far annotators agree, about sentences and summaries apart, or why that is not known."""
    if agreement.sentences is None or agreement.summaries is None:
        return agreement_words(agreement.study)
    apart = {"sentences": agreement_words(agreement.sentences), "summaries": agreement_words(agreement.summaries)}
    return _("Sentences: %(sentences)s Summaries: %(summaries)s") % apart


def agreement_words(own: Agreement) -> str:
    """What may be said of an agreement, in a sentence or two."""
    if not own.pairs:
        return _("No pair is known to have been judged by two annotators.")
    if own.pairs < FEWEST_PAIRS:
        few = ngettext(
            "%(n)d pair has two answers; agreement needs ten.",
            "%(n)d pairs have two answers or more; agreement needs ten.",
            own.pairs,
        )
        return few % {"n": own.pairs}
    if not own.has_coefficient:
        return _("No answer prefers one of the two, so agreement cannot be computed.")
    sentence = {
        "more": _("Annotators agree in %(percent)s of %(comparisons)d comparisons, more often than by chance."),
        "less": _("Annotators agree in %(percent)s of %(comparisons)d comparisons, less often than by chance."),
        "no more": _(
            "Annotators agree in %(percent)s of %(comparisons)d comparisons: no more alike than chance, as far as "
            "%(pairs)d pairs can tell."
        ),
    }[own.than_chance or "no more"]
    alpha = _("Krippendorff’s alpha is %(alpha)s, from %(pairs)d pairs; 1 is perfect agreement, 0 is chance.")
    of = {"pairs": own.pairs}
    return sentences(
        sentence % {**of, "percent": printed(own.percent, is_share=True), "comparisons": own.comparisons},
        alpha % {**of, "alpha": printed(own.alpha)},
    )


def printed(own: Bounded | results.Figure, *, is_share: bool = False) -> str:
    """A value with its interval, where there is one; a share in percent."""
    unit = unit_for([own], is_share=is_share)
    return DASH if own.value is None else unit.with_interval(f"{unit.show(own.value)}{unit.sign}", own.low, own.high)


def cells(own: Bounded | results.Figure, *, is_share: bool = False) -> tuple[Cell, ...]:
    """Cells of a value: itself and both ends of its interval for files, all in words for people."""
    return own.value, own.low, own.high, printed(own, is_share=is_share)


def _with_others(named: NamedAgreement) -> Table:
    """Annotators, those who agree least with all others first."""
    table = named.agreement.table
    lines = []
    for k, key in enumerate(table.annotators):
        alike, shared = (sum(row[:k] + row[k + 1 :]) for row in (table.alike[k], table.shared[k]))
        if shared and key in named.annotators:
            lines.append((shared < THIN, alike / shared, named.annotators[key], alike, shared, key))
    lines.sort()
    return Table(
        "with-others",
        _("Who disagrees most"),
        (
            Column("annotator", _("Annotator"), as_text),
            Column("share"),
            Column("", _("Agrees with others"), as_text),
            Column("alike"),
            Column("comparisons", _("Comparisons")),
        ),
        tuple(
            (name, share, DASH if is_thin else whole_percent(share), alike, shared)
            for is_thin, share, name, alike, shared, _key in lines
        ),
        note=_(
            "A comparison is with one other annotator about one pair; those with fewer than five come last. A low "
            "share is a reason to look, not a verdict."
        ),
        links=tuple({"annotator_id": key} for *_own, key in lines),
        leads_to="study_annotator",
        folded=not lines,
        first=OPEN,
    )


def _by_topic(named: NamedAgreement) -> Table:
    lines: list[tuple[str, Agreement]] = [(_("The study"), named.agreement.study)]
    apart = (_("Sentences"), named.agreement.sentences), (_("Summaries"), named.agreement.summaries)
    lines += [(title, own) for title, own in apart if own]
    some = [own for own in named.agreement.topics if own.pairs and own.topic in named.topics]
    some.sort(key=lambda own: (own.pairs < FEWEST_PAIRS, own.alpha.value or 0))
    first = len(lines) + min(OPEN, sum(own.pairs >= FEWEST_PAIRS for own in some))
    lines += [(named.topics[own.topic], own) for own in some]
    return Table(
        "agreement",
        _("Agreement of annotators"),
        (
            Column("topic", _("Topic"), as_text),
            Column("judgments"),
            Column("pairs", _("Shared pairs")),
            Column("comparisons"),
            *(
                column
                for name, label in STATISTICS.items()
                for column in (Column(name), Column(f"{name}_low"), Column(f"{name}_high"), Column("", _(label)))
            ),
            *map(Column, ("kappa", "kappa_low", "kappa_high", "why")),
        ),
        tuple(_line(title, own) for title, own in lines),
        note=_(
            "Topics with fewer than ten shared pairs come last, the lowest alpha of the others first. Brackets are 95% "
            "intervals; a dash means that there are too few data. Which text of a pair is stored first is an "
            "accident, so chance counts every answer half in each direction."
        ),
        marked=frozenset({0}),
        folded=not named.agreement.study.pairs,
        first=first,
    )


def _without_pairs(named: NamedAgreement) -> tuple[str, ...]:
    """The topics that the table leaves out, in one line."""
    pairs = Counter[int]()
    for own in named.agreement.topics:
        if own.topic in named.topic_of:
            pairs[named.topic_of[own.topic]] += own.pairs
    without = sum(not number for number in pairs.values())
    line = ngettext(
        "In %(n)d of %(topics)d topic with judgments, no pair is known to have been judged by two annotators.",
        "In %(n)d of %(topics)d topics with judgments, no pair is known to have been judged by two annotators.",
        len(pairs),
    )
    return (line % {"n": without, "topics": len(pairs)},) if without else ()


def _line(title: str, own: Agreement) -> tuple[Cell, ...]:
    figures = [cell for name in STATISTICS for cell in cells(getattr(own, name), is_share=name == "percent")]
    kappa = own.kappa.value, own.kappa.low, own.kappa.high
    return title, own.judgments, own.pairs, own.comparisons, *figures, *kappa, own.why


def _course(agreement: StudyAgreement) -> list[Figure]:
    draw = partial(
        course_plot,
        label=_("Krippendorff’s alpha against the number of judgments"),
        x_title=_("judgments"),
        y_title=_("Krippendorff’s alpha"),
    )
    caption = _(
        "Krippendorff’s alpha after a growing number of judgments. The line breaks where there are too few data to "
        "compute it."
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
