"""Agreement with people: how well metrics, preferences first, order summaries as human scores do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop, ngettext
from preferendum.metrics.names import title_of
from preferendum.results import AgreementReport, Basis, DimensionAgreement, MetricAgreement
from preferendum.results.metrics import Level, Over
from preferendum.results.scores import MIXED, rests_on_answers
from preferendum.show.analyses.metric_scores import signatures, what_it_rests_on
from preferendum.show.plots import interval_plot
from preferendum.show.points import Unit, unit_for
from preferendum.show.shown import DASH, Column, Figure, Shown, Table, as_text, decimals, figure, p_value

#: What correlations are between, in the order in which they are shown.
LEVELS: Mapping[Level, str] = {
    "system": gettext_noop("Correlation of systems: of their means over topics"),
    "summary": gettext_noop("Correlation of summaries: within each topic, then the mean over topics"),
    "global": gettext_noop("Correlation of all summaries as one pool"),
}
#: Coefficients with whose they are, and their letter.
COEFFICIENTS = {"pearson": ("Pearson", "r"), "spearman": ("Spearman", "ρ"), "kendall": ("Kendall", "τ")}
_OVER: Mapping[Over, str] = {
    "both": gettext_noop("systems and topics"),
    "systems": gettext_noop("systems"),
    "topics": gettext_noop("topics"),
}
#: Tables that files alone have.
FILED = frozenset({"correlation-global", "differences", "metrics"})
#: What the rows with simulated judgments are.
MIXTURES = gettext_noop(
    "man+ref, man+py: the judgments that count together with 200 a topic that are simulated from the references "
    "(ref) or the Pyramid (py), as in table 2 of Zopf (2018). They are no result of people alone."
)
#: Two systems correlate fully, one way or the other.
FEWEST_SYSTEMS = 3


def show(report: AgreementReport, _asked: Mapping[str, str]) -> Shown:
    """Show a report of one dimension."""
    (dimension,) = report.dimensions
    alone, mixed = (_among(dimension, is_mixed=is_mixed) for is_mixed in (False, True))
    return Shown(
        _verdict(alone, report),
        [
            *_figure(alone),
            *(replace(table, folded=table.name in FILED) for table in tables(alone, report)),
            *(
                [replace(_agreement(mixed, report), name="mixtures", note=_(MIXTURES), folded=True)]
                if mixed.metrics
                else ()
            ),
            _by_topic(dimension),
            *([_minutes(report.minutes)] if report.minutes else ()),
        ],
        notes=judging_took(report.minutes),
    )


def _among(dimension: DimensionAgreement, *, is_mixed: bool) -> DimensionAgreement:
    """The dimension with only those scores that rest on simulated judgments, too, or with all others."""
    return replace(
        dimension,
        metrics=tuple(own for own in dimension.metrics if (MIXED in own.metric) is is_mixed),
        differences=tuple(own for own in dimension.differences if (MIXED in own.second) is is_mixed),
    )


def _verdict(dimension: DimensionAgreement, report: AgreementReport) -> str:
    """The metric that agrees best, the first metric, and how many of the others are better or worse than that; of
    preferences only that it is too early, while it is, or that the raters gave them, too."""
    left_out, why = _early(dimension), "".join(_why_early(dimension))
    if report.is_by_raters:
        left_out = [metric for metric in dimension.metrics if rests_on_answers(metric.metric)]
        why = _(
            "Preferences are left out here: most annotators gave the human scores, too, so agreement would only show "
            "that they agree with themselves."
        )
    others = [metric for metric in dimension.metrics if metric not in left_out]
    compared = [metric for metric in others if metric.agreement.value is not None]
    if not compared:
        return why or _("With so few scores, nothing can be said about agreement with people.")
    first = others[0]
    best = max(compared, key=lambda metric: metric.agreement.value or 0.0)
    about = {"metric": title_of(best.metric), "figure": _figure_of(best), "dimension": dimension.dimension}
    alike = [metric for metric in compared if metric.agreement.value == best.agreement.value]
    text = (
        _("%(metric)s has the highest agreement with human %(dimension)s: %(figure)s; a coin gets .5.")
        if len(alike) == 1
        else _(
            "Several, such as %(metric)s, have the highest agreement with human %(dimension)s: %(figure)s; "
            "a coin gets .5."
        )
    ) % about
    if best is not first:
        text += " " + _("%(first)s: %(figure)s.") % {"first": title_of(first.metric), "figure": _figure_of(first)}
    if dimension.differences and not left_out:
        tested = [difference.agreement for difference in dimension.differences]
        ahead = [own.value or 0.0 for own in tested if own.holm is not None and own.holm <= report.level]
        counts = {"better": sum(value < 0 for value in ahead), "worse": sum(value > 0 for value in ahead)}
        about = {"all": str(len(tested)), "first": title_of(first.metric)} | {k: str(n) for k, n in counts.items()}
        sentence = ngettext(
            "Of %(all)s other metric, %(better)s agrees significantly better than %(first)s, %(worse)s worse (Holm).",
            "Of %(all)s other metrics, %(better)s agree significantly better than %(first)s, %(worse)s worse (Holm).",
            len(tested),
        )
        text += " " + sentence % about
    return f"{text} {why}".rstrip()


def _early(dimension: DimensionAgreement) -> list[MetricAgreement]:
    """The metrics that rest on too few judgments for tests."""
    basis = dimension.basis
    return [metric for metric in dimension.metrics if basis and basis.is_early_for(metric.metric)]


def _why_early(dimension: DimensionAgreement) -> list[str]:
    return [too_early(dimension.basis)] if dimension.basis and _early(dimension) else []


def too_early(basis: Basis) -> str:
    """Why preferences are not tested."""
    text = _(
        "Too early for tests of preferences: %(judgments)s judgments of %(sentences)s sentences, on %(judged)s of "
        "%(topics)s topics. Tests need every topic judged, with a judgment a sentence on average."
    )
    about = {name: f"{getattr(basis, name):,}" for name in ("judgments", "sentences", "judged", "topics")}
    return text % about


def _topics_of(metric: MetricAgreement, dimension: DimensionAgreement) -> int:
    n = sum(topic.summaries > 0 for topic in metric.topics)
    return min(n, dimension.basis.judged) if dimension.basis and metric in _early(dimension) else n


def _name(metric: MetricAgreement, dimension: DimensionAgreement) -> str:
    """The metric's name, with the number of its topics where these are not all."""
    n = _topics_of(metric, dimension)
    about = {"metric": title_of(metric.metric), "n": n, "all": dimension.topics}
    return _("%(metric)s (%(n)d of %(all)d topics)") % about if n < dimension.topics else title_of(metric.metric)


def _figure_of(metric: MetricAgreement) -> str:
    """Its agreement with the interval, or that there is none yet."""
    own = metric.agreement
    if own.value is None:
        return DASH
    unit = unit_for([own])
    bounds = _("without an interval") if own.low is None else f"95% {unit.interval(own.low, own.high)}"
    return f"{unit.show(own.value)} ({bounds})"


def _best_first(dimension: DimensionAgreement) -> list[MetricAgreement]:
    """The metrics by agreement, those of fewer topics last."""
    return sorted(dimension.metrics, key=lambda own: (-_topics_of(own, dimension), -(own.agreement.value or 0.0)))


def _figure(dimension: DimensionAgreement) -> list[Figure]:
    """Metrics by their agreement, with chance as the reference."""
    figures = [(_name(metric, dimension), metric.agreement) for metric in _best_first(dimension)]
    unit = unit_for(own for _name, own in figures)
    rows = [unit.row(name, own.value, own.low, own.high) for name, own in figures if own.value is not None]
    label = _("Agreement of metrics with people, with 95% intervals; the table says the same in numbers")
    x_title = _("agreement with people (a coin: .5)")
    draw = partial(interval_plot, reference=0.5, label=label, x_title=x_title, heads=("", _("metric")))
    caption = _("Dots are agreement with people, best first, metrics of fewer topics last; lines are 95% intervals.")
    title = _("Agreement with human %(dimension)s") % {"dimension": dimension.dimension}
    return figure("agreement", title, caption, draw, rows) if rows else []


def tables(dimension: DimensionAgreement, report: AgreementReport) -> Iterator[Table]:
    """Agreement, correlations, tests of differences, and what each metric is."""
    yield _agreement(dimension, report)
    levels = (level for level in LEVELS if level != "system" or dimension.systems >= FEWEST_SYSTEMS)
    yield from (_correlations(dimension, level) for level in levels)
    if dimension.differences:
        yield _differences(dimension, report.draws)
    yield signatures((metric.metric, metric.signature) for metric in dimension.metrics)


def _agreement(dimension: DimensionAgreement, report: AgreementReport) -> Table:
    metrics, is_early = _best_first(dimension), dimension.metrics[0] in _early(dimension)
    tested = {} if is_early else {difference.second: difference.agreement for difference in dimension.differences}
    ahead = _("“%(first)s” ahead by") % {"first": title_of(dimension.metrics[0].metric)} if tested else ""
    unit = unit_for(metric.agreement for metric in metrics)
    return Table(
        "agreement",
        _agreement_title(dimension),
        (
            Column("metric"),
            Column("", _("Metric"), as_text),
            Column("", _("What it rests on"), as_text),
            Column("agreement", _("Agreement"), unit.show),
            *_bounds("", _("95% interval")),
            Column("", _("Topics")),
            *map(Column, ("pooled", "pooled_low", "pooled_high", "accuracy", "epsilon")),
            Column("difference", ahead, unit.change),
            Column("p"),
            Column("holm", _("p, Holm") if tested else "", p_value),
            Column("signature"),
        ),
        tuple(
            (
                *(metric.metric, title_of(metric.metric), what_it_rests_on(metric.metric)),
                *(*unit.bounded(metric.agreement), _topics_of(metric, dimension)),
                *(metric.agreement_pooled.value, metric.agreement_pooled.low, metric.agreement_pooled.high),
                *(metric.accuracy, metric.epsilon),
                *((own.value, own.p, own.holm) if (own := tested.get(metric.metric)) else (None, None, None)),
                metric.signature,
            )
            for metric in metrics
        ),
        note=_note(dimension, report),
        marked=_own(metrics),
    )


def _agreement_title(dimension: DimensionAgreement) -> str:
    title = ngettext(
        "Agreement with human %(dimension)s: %(topics)s topic, %(systems)s systems",
        "Agreement with human %(dimension)s: %(topics)s topics, %(systems)s systems",
        dimension.topics,
    )
    return title % {"dimension": dimension.dimension, "topics": dimension.topics, "systems": dimension.systems}


def _note(dimension: DimensionAgreement, report: AgreementReport) -> str:
    figures = _(
        "Agreement: of the pairs of summaries of a topic that people order, the share that the metric orders alike, as "
        "a mean over topics (Zopf 2018, equation 1); a coin gets .5."
    )
    drawn = _(
        "Intervals by a bootstrap over %(over)s, %(draws)s resamples, seed %(seed)s; p by permutation (Deutsch et al. "
        "2021), corrected by Holm for all differences. Agreement by importance also allows for how far annotators "
        "differ, where that is known."
    )
    own = _("Highlighted: the study’s own scores.")
    about = {"over": _(_OVER[report.over]), "draws": report.draws, "seed": report.seed}
    return " ".join([*_why_early(dimension), own, figures, drawn % about, *_unscored(dimension.metrics)])


def _unscored(metrics: Sequence[MetricAgreement]) -> Iterable[str]:
    """The metrics without scores of summaries that others score."""
    scored = {title_of(metric.metric): sum(topic.summaries for topic in metric.topics) for metric in metrics}
    most = max(scored.values(), default=0)
    if counts := [f"{title} {most - number}" for title, number in scored.items() if number < most]:
        yield _("Summaries that others score, and it does not: %(counts)s.") % {"counts": ", ".join(counts)}


def _correlations(dimension: DimensionAgreement, level: Level) -> Table:
    """Within topics with the share of topics that have a significant one."""
    is_mean = level == "summary"
    units = {kind: unit_for(own.correlations[level][kind] for own in dimension.metrics) for kind in COEFFICIENTS}
    columns = [Column("metric"), Column("", _("Metric"), as_text)]
    for kind, (name, letter) in COEFFICIENTS.items():
        columns += [Column(kind, letter, units[kind].show, name), *_bounds(f"{kind}_", _("95% interval"), name)]
        columns += [Column(f"{kind}_n"), *([Column(f"{kind}_share")] if is_mean else ())]
    columns.append(Column("", _("Topics") if is_mean else "n"))
    return Table(
        f"correlation-{level}",
        _(LEVELS[level]),
        tuple(columns),
        tuple(
            (
                *(metric.metric, _name(metric, dimension)),
                *(
                    cell
                    for kind in COEFFICIENTS
                    for own in [metric.correlations[level][kind]]
                    for cell in (
                        *units[kind].bounded(own),
                        own.n,
                        *((_share(metric, kind, dimension),) if is_mean else ()),
                    )
                ),
                max(own.n for own in metric.correlations[level].values()),
            )
            for metric in dimension.metrics
        ),
        note=" ".join([*_why_early(dimension), *_undefined(dimension.metrics)]) if is_mean else "",
        marked=_own(dimension.metrics),
        closed=True,
    )


def _share(metric: MetricAgreement, kind: str, dimension: DimensionAgreement) -> float | None:
    """The share of topics with a significant correlation; None while it is too early for tests."""
    return None if metric in _early(dimension) else metric.significant[kind].share


def _undefined(metrics: Sequence[MetricAgreement]) -> Iterator[str]:
    counts = [f"{title_of(metric.metric)} {metric.undefined_topics}" for metric in metrics if metric.undefined_topics]
    if counts:
        yield _("Topics where it is undefined, left out of the mean: %(counts)s.") % {"counts": ", ".join(counts)}


def _differences(dimension: DimensionAgreement, draws: int) -> Table:
    units = (
        unit_for(own.agreement for own in dimension.differences),
        unit_for(own.pearson for own in dimension.differences),
    )

    def tested(name: str, group: str, unit: Unit) -> tuple[Column, ...]:
        return (
            *(Column(name, _("ahead by"), unit.change, group), *_bounds(f"{name}_", _("95% interval"), group)),
            *(Column(f"{name}_p", "p", p_value, group), Column(f"{name}_holm", "Holm", p_value, group)),
        )

    return Table(
        "differences",
        _("Differences between metrics"),
        (
            *(Column("first"), Column("", _("First"), as_text), Column("second"), Column("", _("Second"), as_text)),
            *tested("agreement", _("Agreement"), units[0]),
            *tested("pearson", _("Pearson"), units[1]),
            Column("williams_t"),
            Column("williams_p", "p", p_value, "Williams"),
            Column("williams_holm", "Holm", p_value, "Williams"),
        ),
        tuple(
            (
                *(own.first, title_of(own.first), own.second, title_of(own.second)),
                *(*units[0].bounded(own.agreement), own.agreement.p, own.agreement.holm),
                *(*units[1].bounded(own.pearson), own.pearson.p, own.pearson.holm),
                *(own.williams_t, own.williams_p, own.williams_holm),
            )
            for own in dimension.differences
        ),
        note=_(
            "Of agreement and of the systems’ Pearson correlation; p by permutation (Deutsch et al. 2021), %(draws)s "
            "draws; Williams: of the Pearson correlations; Holm: for all rows together."
        )
        % {"draws": draws},
    )


def _by_topic(dimension: DimensionAgreement) -> Table:
    figures = (*COEFFICIENTS, *(f"{kind}_p" for kind in COEFFICIENTS))
    return Table(
        "topics",
        _("Agreement and correlations in each topic"),
        tuple(map(Column, ("metric", "topic", "summaries", "agreement", *figures))),
        tuple(
            (
                *(metric.metric, topic.topic, topic.summaries, topic.agreement),
                *(topic.values[kind] for kind in COEFFICIENTS),
                *(topic.p[kind] for kind in COEFFICIENTS),
            )
            for metric in dimension.metrics
            for topic in metric.topics
        ),
        folded=True,
    )


def judging_took(minutes: Mapping[str, float]) -> list[str]:
    """How long a topic took on average, of those where it is known."""
    if not minutes:
        return []
    sentence = ngettext(
        "Judging took %(minutes)s minutes a topic on average, over %(n)s topic whose time is known.",
        "Judging took %(minutes)s minutes a topic on average, over %(n)s topics whose time is known.",
        len(minutes),
    )
    return [sentence % {"minutes": f"{fmean(minutes.values()):.1f}", "n": len(minutes)}]


def _minutes(minutes: Mapping[str, float]) -> Table:
    columns = Column("topic", _("Topic"), as_text), Column("minutes", _("Minutes"), decimals(1))
    return Table("minutes", _("How long judging took"), columns, tuple(minutes.items()), folded=True)


def _own(metrics: Sequence[MetricAgreement]) -> frozenset[int]:
    """The rows of the study's own scores."""
    return frozenset(k for k, metric in enumerate(metrics) if rests_on_answers(metric.metric))


def _bounds(before: str, label: str, group: str = "") -> tuple[Column, ...]:
    """Columns of an interval: its ends in files, both in one cell for people."""
    return Column(f"{before}low"), Column(f"{before}high"), Column("", label, group=group)
