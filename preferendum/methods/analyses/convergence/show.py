"""Convergence: how agreement with people grows with the number of judgments, and when it passes other metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.methods.analyses.metric_agreement.show import too_early
from preferendum.metrics.names import title_of
from preferendum.results import Baseline, Convergence, Curves, MetricConvergence, Passing
from preferendum.show.analyses.metric_scores import signatures
from preferendum.show.plots import convergence_lines, curve_plot
from preferendum.show.points import unit_for
from preferendum.show.shown import DASH, Cell, Column, Figure, Shown, Table, as_text, decimals, figure

#: The verdict speaks of these metrics, if they are there.
LEADING = ("rouge-2", "rouge-2:jackknife")


def show(report: Curves, _asked: Mapping[str, str]) -> Shown:
    """Show the report of one dimension."""
    convergence, n = report.kept.curves, report.kept.left_out
    left_out = ngettext(
        "%(n)s topic has more than 1,000 sentences and is left to the command line.",
        "%(n)s topics have more than 1,000 sentences and are left to the command line.",
        n,
    )
    return Shown(
        _verdict(convergence),
        [*curves(convergence), *tables(convergence), samples(convergence)],
        notes=[left_out % {"n": n}] if n else [],
        rests_on=_("The curves rest on: %(judgments)s") % {"judgments": report.rests_on},
    )


def _verdict(report: Convergence) -> str:
    """Where the first metric passes ROUGE-2, or without it the metric that agrees best; else its lead so far."""
    defined = {flat.metric: value for flat in report.baselines if (value := flat.agreement) is not None}
    best = max(defined, key=defined.__getitem__, default="")
    against = next((metric for metric in LEADING if metric in defined), best)
    if report.basis and report.basis.is_early:
        return too_early(report.basis)
    passings = [own for own in report.passings if own.baseline == against]
    if passings:
        text, first = words(passings[0], report.sizes[-1]), passings[0].metric
        others = [own for own in report.passings if own.metric == first and own.baseline != against]
        better = ", ".join(title_of(own.baseline) for own in others if (own.ahead.high or 0.0) < 0)
        less = _("It agrees less well than: %(metrics)s.") % {"metrics": better}
        return f"{text} {less}" if better else text
    last = [metric.points[-1] for metric in report.metrics if metric.points and metric.points[-1].agreement is not None]
    if not last:
        return _("With so few judgments and scores, nothing can be said about agreement with people.")
    about = {"agreement": f"{last[0].agreement:.3f}", "n": last[0].judgments, "dimension": report.dimension}
    return _("With %(n)s judgments a topic, agreement with human %(dimension)s is %(agreement)s.") % about


def words(passing: Passing, most: int) -> str:
    """How the metric compares with its baseline, in a sentence; `most`: the judgments of a topic."""
    own = passing.ahead
    unit = unit_for([own])
    difference = DASH if own.value is None else unit.change(own.value)
    about = {"metric": title_of(passing.metric), "baseline": title_of(passing.baseline), "most": most}
    about |= {"ahead": f"{difference} (95% {unit.interval(own.low, own.high)})", "n": passing.judgments or 0}
    if passing.judgments is not None:
        text = _(
            "From %(n)d judgments a topic on, “%(metric)s” agrees better with people than %(baseline)s; with up to "
            "%(most)d the difference is %(ahead)s."
        )
    elif own.high is not None and own.high < 0:
        text = _("With up to %(most)d judgments a topic, “%(metric)s” agrees less well than %(baseline)s: %(ahead)s.")
    else:
        text = _(
            "With up to %(most)d judgments a topic, no difference in agreement is shown between “%(metric)s” and "
            "%(baseline)s: %(ahead)s."
        )
    return text % about


def shortly(passing: Passing) -> str:
    """How the metric compares with its baseline, in a cell of a table."""
    if passing.judgments is not None:
        return _("from %(n)d") % {"n": passing.judgments}
    return _("less well") if passing.ahead.high is not None and passing.ahead.high < 0 else _("not shown")


def curves(report: Convergence) -> list[Figure]:
    """Agreement by the number of judgments, with metrics that rest on none."""
    label = _("Agreement with people against the number of judgments; the tables say the same in numbers")
    caption = _(
        "Lines: mean over topics and samples; bands: one standard deviation over samples. Dashed: metrics that rest on "
        "no judgments. The horizontal axis is logarithmic."
    )
    title = _("Agreement with human %(dimension)s by number of judgments") % {"dimension": report.dimension}
    draw = partial(curve_plot, label=label, x_title=_("judgments a topic"), y_title=_("agreement with people"))
    return figure("curves", title, caption, draw, convergence_lines(report, title_of))


def tables(report: Convergence) -> Iterator[Table]:
    """The curves in numbers, where they pass other metrics, and what each metric is."""
    yield _curves_table(report)
    if report.baselines:
        yield _passings(report)
    metrics: tuple[MetricConvergence | Baseline, ...] = (*report.metrics, *report.baselines)
    yield signatures((own.metric, own.signature) for own in metrics)


def _curves_table(report: Convergence) -> Table:
    columns = [Column("judgments", _("Judgments a topic"))]
    for metric in report.metrics:
        name = title_of(metric.metric)
        columns += [Column(metric.metric, _("Agreement"), decimals(3), name)]
        columns += [Column(f"{metric.metric} sd", _("sd"), decimals(3), name)]
    rows = [
        (size, *(cell for metric in report.metrics for cell in (metric.points[k].agreement, metric.points[k].sd)))
        for k, size in enumerate(report.sizes)
    ]
    title = _("Agreement with human %(dimension)s by number of judgments a topic") % {"dimension": report.dimension}
    return Table("agreement", title, tuple(columns), tuple(rows), note=_note(report))


def _note(report: Convergence) -> str:
    n = len(report.metrics[0].topics) if report.metrics else 0
    topics = ngettext("%(n)s topic with judgments and human scores", "%(n)s topics with judgments and human scores", n)
    sampled = _("%(topics)s, %(runs)s random samples of each size, seed %(seed)s.")
    about = {"topics": topics % {"n": n}, "runs": report.runs, "seed": report.seed}
    meant = _(
        "In each run the judgments of a topic are put in a random order, and what the first of them say is scored "
        "(Zopf 2018, figure 3). A topic with fewer judgments has all of them. With kernel smoothing, its parameters "
        "are those that the first sample of each size gives. Large samples share most of their judgments, so that "
        "their standard deviation (sd) falls to 0 with all of them: it is not the uncertainty of the agreement, which "
        "the intervals under Agreement tell."
    )
    return f"{sampled % about} {meant}"


def _passings(report: Convergence) -> Table:
    agreement = {flat.metric: flat.agreement for flat in report.baselines}
    is_early = report.basis is not None and report.basis.is_early
    by_baseline = [own for name in agreement for own in report.passings if own.baseline == name]
    unit = unit_for(own.ahead for own in by_baseline)
    return Table(
        "passings",
        _("Judgments a topic from which agreement is better than that of other metrics"),
        (
            *(Column("than"), Column("", _("Than"), as_text), Column("agreement", _("Agreement"), decimals(3))),
            *(Column("metric"), Column("", _("Metric"), as_text), Column("judgments")),
            *(Column("ahead", _("ahead by"), unit.show), Column("low"), Column("high"), Column("", _("95% interval"))),
            Column("", _("Judgments a topic"), as_text),
        ),
        tuple(
            (
                *(own.baseline, title_of(own.baseline), agreement[own.baseline]),
                *(own.metric, title_of(own.metric), own.judgments),
                *unit.bounded(own.ahead),
                DASH if is_early else shortly(own),
            )
            for own in by_baseline
        ),
        note=_(
            "Ahead by: the difference of agreement with all judgments, paired over topics; Student’s intervals hold "
            "for all rows together. “From”: with that many judgments and any more, the interval is above 0."
        ),
    )


def samples(report: Convergence) -> Table:
    """Every metric over all topics, then in each; metrics without judgments have no number of them."""
    columns = ("metric", "topic", "judgments", "agreement", "sd", "undefined")
    return Table("samples", _("Agreement in every topic"), (*map(Column, columns),), tuple(_rows(report)), folded=True)


def _rows(report: Convergence) -> Iterator[tuple[Cell, ...]]:
    for metric in report.metrics:
        for topic, points in (("", metric.points), *((own.topic, own.points) for own in metric.topics)):
            for point in points:
                yield metric.metric, topic, point.judgments, point.agreement, point.sd, point.undefined
    for flat in report.baselines:
        for topic, value in {"": flat.agreement, **flat.topics}.items():
            yield flat.metric, topic, None, value, None, None
