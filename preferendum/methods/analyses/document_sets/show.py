"""Document sets: whether scores depend on the topic, and how far people's summaries are from machines'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.metrics.names import IMPORTANCE, scorer_name, title_of
from preferendum.results import DocumentSet, DocumentSets, DocumentSetsReport, RankTest, Scatter, ScoreMatrix
from preferendum.results.metrics import main_first
from preferendum.show.plots import GridWords, IntervalRow, Mark, interval_plot, scatter_plot, score_grid
from preferendum.show.points import Unit, unit_of
from preferendum.show.shown import DASH, Choice, Column, Figure, Shown, Table, as_text, decimals, figure, p_value


def show(report: DocumentSetsReport, asked: Mapping[str, str]) -> Shown:
    """Show one dimension: the tests of every scorer, and the chosen scorer's topics and scores."""
    dimensions = sorted((scorer.by for scorer in report.scorers if scorer.by_human), key=main_first)
    dimension = Choice.of("dimension", _("Scored by people for"), [(name, name) for name in dimensions], asked)
    scorers = [scorer for scorer in report.scorers if not scorer.by_human or scorer.by == dimension.chosen]
    scatters = {scatter.metric: scatter for scatter in report.scatters if scatter.dimension == dimension.chosen}
    names = [("" if scorer.by_human else scorer.by, scorer_name(scorer.by, scorer.by_human)) for scorer in scorers]
    by = Choice.of("by", _("Figures of the scores by"), names, asked)
    scorer = scorers[[value for value, _name in names].index(by.chosen)]
    against = Choice.of(
        "topic", _("Compared with"), [("", DASH), *((own.topic, own.topic) for own in scorer.sets)], asked
    )
    own = {"dimension": dimension.chosen, "peers": report.peers, "by": by.chosen}
    scatter = scatters.get(by.chosen) or next(iter(scatters.values()), None)
    return Shown(
        _verdict(scorers[0], report.level),
        [
            tests(scorers, scatters),
            *_topics_figure(scorer, own, against.chosen),
            *([topics(scorer, folded=True)] if scorer.sets else ()),
            *_scores_figure(scorer),
            scores([scorer]),
            *(_scatter_figure(scatter) if scatter else ()),
            *([_scatter(scatter)] if scatter else ()),
        ],
        choices=[dimension, by, against],
    )


def _verdict(people: DocumentSets, level: float) -> str:
    """On what people scored: Kruskal and Wallis' test, and Tukey's intervals."""
    if people.kruskal is None:
        return _("With so few scores, nothing can be said about topics.")
    about = {"H": f"{people.kruskal.statistic:.1f}", "p": _p(people.kruskal)}
    if people.kruskal.p > level:
        return _("People’s scores do not show that topics differ (H = %(H)s, p %(p)s).") % about
    about |= {"different": str(people.different), "pairs": str(people.pairs)}
    sentence = ngettext(
        "People score some topics higher (H = %(H)s, p %(p)s): %(different)s of %(pairs)s pair of topics differs.",
        "People score some topics higher (H = %(H)s, p %(p)s): %(different)s of %(pairs)s pairs of topics differ.",
        people.pairs,
    )
    return sentence % about


def _p(test: RankTest) -> str:
    shown = p_value(test.p)
    return shown if shown.startswith("<") else f"= {shown}"


def tests(scorers: Sequence[DocumentSets], scatters: Mapping[str, Scatter]) -> Table:
    """Every scorer's two tests. `scatters`: by metric, people's distance from machines."""
    has_gaps = any(scatter.gap is not None for scatter in scatters.values())
    between, within = _("Between topics"), _("Between systems")
    return Table(
        "tests",
        _("Differences between topics and between systems"),
        (
            Column("scorer"),
            Column("by"),
            Column("", _("Scored by"), as_text),
            Column("topics", _("Topics")),
            Column("kruskal_statistic", "H", decimals(1), between),
            Column("kruskal_df", _("df"), group=between),
            Column("kruskal_p", "p", p_value, between),
            Column("pairs", _("Pairs"), group=between),
            Column("different", _("differ"), group=between),
            Column("friedman_statistic", "χ²", decimals(1), within),
            Column("friedman_df", _("df"), group=within),
            Column("friedman_p", "p", p_value, within),
            Column("gap", _("People ahead") if has_gaps else "", decimals(2)),
        ),
        tuple(
            (
                "people" if scorer.by_human else "metric",
                scorer.by,
                scorer_name(scorer.by, scorer.by_human),
                len(scorer.sets),
                *_figures(scorer.kruskal),
                scorer.pairs,
                scorer.different,
                *_figures(scorer.friedman),
                None if scorer.by_human or scorer.by not in scatters else scatters[scorer.by].gap,
            )
            for scorer in scorers
        ),
        note=_note(has_gaps),
        links=tuple({"by": "" if scorer.by_human else scorer.by} for scorer in scorers),
    )


def _note(has_gaps: bool) -> str:
    of_tests = _(
        "H tests whether summaries are scored higher on some topics than on others (Kruskal and Wallis). Pairs of "
        "topics differ by Tukey’s intervals of mean ranks at .05, for all pairs together. χ² tests whether systems "
        "differ, topic by topic (Friedman); a dash where a score is missing."
    )
    of_gaps = _(
        "People ahead: how far their summaries lie above the line through the machines, in standard deviations of the "
        "machines from it."
    )
    return f"{of_tests} {of_gaps}" if has_gaps else of_tests


def _figures(test: RankTest | None) -> tuple[float | int | None, ...]:
    return (test.statistic, test.df, test.p) if test else (None, None, None)


def topics(scorer: DocumentSets, *, folded: bool = False) -> Table:
    """Topics by mean rank, the highest first."""
    unit = unit_of("", [(topic.mean_rank, topic.low, topic.high) for topic in scorer.sets])
    return Table(
        "topics",
        _("Topics by mean rank: %(name)s") % {"name": scorer_name(scorer.by, scorer.by_human)},
        (
            Column("topic", _("Topic"), as_text),
            Column("scores", _("Scores")),
            Column("mean_rank", _("Mean rank"), unit.show),
            Column("low"),
            Column("high"),
            Column("", _("Tukey’s interval"), as_text),
            Column("differ", _("Differ")),
            Column("differs_from"),
        ),
        tuple(
            (
                *(topic.topic, topic.n, topic.mean_rank, topic.low, topic.high),
                unit.interval(topic.low, topic.high),
                len(topic.differs),
                "; ".join(topic.differs),
            )
            for topic in _in_order(scorer)
        ),
        folded=folded,
    )


def _in_order(scorer: DocumentSets) -> list[DocumentSet]:
    return sorted(scorer.sets, key=lambda topic: (-topic.mean_rank, topic.topic))


def _topics_figure(scorer: DocumentSets, own: Mapping[str, str], chosen: str) -> list[Figure]:
    """A click chooses the topic that others are compared with."""
    against = next((topic for topic in scorer.sets if topic.topic == chosen), None)
    rows = [_row(topic, against, own) for topic in _in_order(scorer)]
    name = scorer_name(scorer.by, scorer.by_human)
    caption = _(
        "Dots are mean ranks among all scores, lines are Tukey’s intervals. Topics with equally many scores differ if "
        "their lines do not meet. Choose a topic to mark those that differ from it with squares."
    )
    label = _("Mean ranks of the topics with Tukey’s intervals")
    draw = partial(
        interval_plot, label=label, x_title=_("mean rank: %(name)s") % {"name": name}, heads=("", _("topic"))
    )
    return figure("topics", _against(against, name), caption, draw, tuple(rows)) if rows else []


def _against(topic: DocumentSet | None, name: str) -> str:
    if topic is None:
        return _("Topics by mean rank: %(name)s") % {"name": name}
    n = len(topic.differs)
    sentence = ngettext("%(topic)s differs from %(n)s topic", "%(topic)s differs from %(n)s topics", n)
    return sentence % {"topic": topic.topic, "n": n}


def _row(topic: DocumentSet, against: DocumentSet | None, own: Mapping[str, str]) -> IntervalRow:
    mark: Mark = ""
    if against is not None:
        mark = "chosen" if topic == against else "differs" if topic.topic in against.differs else ""
    more = {"differs": _("differs"), "chosen": _("chosen")}.get(mark, "")
    href = f"?{urlencode({**own, 'topic': topic.topic})}#topics"
    return IntervalRow(topic.topic, topic.mean_rank, topic.low, topic.high, mark=mark, href=href, more=more)


def scores(scorers: Sequence[DocumentSets]) -> Table:
    """Every score of a topic and a system; files alone have it."""
    return Table(
        "scores",
        _("All scores"),
        tuple(map(Column, ("by", "topic", "system", "machine", "score"))),
        tuple(row for scorer in scorers for row in _cells(scorer.by, scorer.matrix)),
        folded=True,
    )


def _cells(by: str, matrix: ScoreMatrix) -> list[tuple[str, str, str, int, float | None]]:
    return [
        (by, topic, system, int(k < matrix.machines), score)
        for topic, row in zip(matrix.topics, matrix.scores, strict=True)
        for k, (system, score) in enumerate(zip(matrix.systems, row, strict=True))
    ]


def _scores_figure(scorer: DocumentSets) -> list[Figure]:
    words = GridWords(
        label=_("All scores: topics by systems, darker is higher; the CSV file has them in numbers"),
        machines=_("machines"),
        authors=_("people"),
        missing=_("no score"),
    )
    unit = _unit(scorer.by)
    title = unit.named(_("All scores: %(name)s") % {"name": scorer_name(scorer.by, scorer.by_human)})
    caption = _(
        "A row for each topic, a column for each system: machines, then people, the highest mean first. A crossed cell "
        "has no score."
    )
    read = tuple(tuple(map(unit.of, row)) for row in scorer.matrix.scores)
    return figure("scores", title, caption, partial(score_grid, words=words), replace(scorer.matrix, scores=read))


def _unit(by: str) -> Unit:
    """How scores are read in figures; tables are in files alone, as numbers."""
    return unit_of("importance" if by == IMPORTANCE else "")


def _scatter(scatter: Scatter) -> Table:
    return Table(
        "scatter",
        _scatter_title(scatter),
        (*map(Column, ("system", "machine", scatter.metric, f"human {scatter.dimension}")),),
        tuple((point.system, int(point.machine), point.x, point.y) for point in scatter.points),
        folded=True,
    )


def _scatter_title(scatter: Scatter) -> str:
    return _("%(metric)s against human %(dimension)s") % {
        "metric": title_of(scatter.metric),
        "dimension": scatter.dimension,
    }


def _scatter_figure(scatter: Scatter) -> list[Figure]:
    label = _("Systems’ means by the metric and by people; the CSV file has them in numbers")
    upwards = _("human %(dimension)s") % {"dimension": scatter.dimension}
    caption = _("Each system’s means over the topics that both scored; the line fits the machines (least squares).")
    if scatter.gap is not None:
        more = _("People’s summaries (squares) lie %(gap)s standard deviations of the machines above it on average.")
        caption += " " + more % {"gap": f"{scatter.gap:.2f}"}
    unit = _unit(scatter.metric)
    draw = partial(scatter_plot, label=label, x_title=unit.named(title_of(scatter.metric)), y_title=upwards)
    return figure("scatter", _scatter_title(scatter), caption, draw, _read(scatter, unit))


def _read(scatter: Scatter, unit: Unit) -> Scatter:
    """The scatter with the metric's scores in the unit."""
    points = tuple(replace(point, x=unit.times * point.x) for point in scatter.points)
    return replace(scatter, points=points, slope=None if scatter.slope is None else scatter.slope / unit.times)


def gaps(scatters: Sequence[Scatter]) -> Table:
    """People above the line through the machines, for every metric and dimension."""
    return Table(
        "gaps",
        _("People above the line through the machines"),
        (
            Column("dimension", _("Dimension"), as_text),
            Column("metric", _("Metric"), as_text),
            Column("machines", _("Machines")),
            Column("people", _("People")),
            Column("slope", _("Slope"), decimals(4)),
            Column("intercept", _("Intercept"), decimals(4)),
            Column("sd", "sd", decimals(4)),
            Column("gap", _("Gap"), decimals(2)),
        ),
        tuple(
            (
                *(scatter.dimension, scatter.metric),
                *(sum(point.machine is machine for point in scatter.points) for machine in (True, False)),
                *(scatter.slope, scatter.intercept, scatter.sd, scatter.gap),
            )
            for scatter in scatters
        ),
        note=_(
            "People’s score = intercept + slope × metric, over systems’ means. The gap is in the machines’ sd from it."
        ),
    )
