"""Assessors of summaries: how consistent each is, and what changes without the worst of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop, ngettext
from preferendum.metrics.names import title_of
from preferendum.results import AssessedDimension, AssessorRanking, AssessorsReport, Figure
from preferendum.results.assessors import Basis
from preferendum.show.points import Unit, unit_for
from preferendum.show.shown import Cell, Choice, Column, Shown, Table, as_text, decimals

BASES: Mapping[Basis, str] = {
    "consistency": gettext_noop("Consistency"),
    "agreement": gettext_noop("Agreement"),
    "auto_pyramid": gettext_noop("Pyramid, manual less automatic"),
}
_FILED = (Column("dimension"), Column("by_pyramid"), Column("figure"))


def show(report: AssessorsReport, asked: Mapping[str, str]) -> Shown:
    """Every assessor and the ranking without the worst; of the chosen dimension, metrics without the worst."""
    told = [own for own in report.dimensions if own.rankings]
    notes = [*_unattributed(report), *_why_not(report)]
    if not any(own.assessors for own in report.dimensions):
        return Shown(_("The human scores do not say who gave them."), (), notes=[_upload()])
    if not told:
        return Shown(_("Nothing can be said of these assessors."), (), notes=notes)
    names = [(_asked_for(own), _name(own)) for own in told]
    choice = Choice.of("scores", _("Metrics beside the scores for"), names, asked)
    chosen = next(own for own in told if _asked_for(own) == choice.chosen)
    beside = metrics(chosen)
    return Shown(
        _verdict(chosen),
        [figures(report), ranks(report), *([beside] if beside.rows else ())],
        choices=[choice],
        notes=notes,
    )


def _asked_for(dimension: AssessedDimension) -> str:
    """What the address says to choose it; a dimension of the human scores may have any name."""
    return "pyramids" if dimension.by_pyramid else f"human:{dimension.dimension}"


def _name(dimension: AssessedDimension) -> str:
    return _("Pyramids") if dimension.by_pyramid else dimension.dimension


def _upload() -> str:
    return _(
        "Upload the ratings of each assessor: with a summary in JSON Lines (“ratings”), or in a CSV of scores with the "
        "column “assessor”."
    )


def _verdict(dimension: AssessedDimension) -> str:
    """The best and the worst by the first known figure, and what the worst one changes."""
    ranking = dimension.rankings[0]
    ranked = [figure for figure in ranking.assessors if figure.is_ranked]
    if len(ranked) < 2:
        return _("Too little is known of the assessors of %(name)s to call one worse than another.") % {
            "name": _name(dimension)
        }
    best, worst = ranked[0], ranked[-1]
    about = {
        "name": _name(dimension),
        "figure": _(BASES[ranking.basis]),
        "n": str(len(ranked)),
        "best": best.assessor,
        "highest": _printed(best.value),
        "worst": worst.assessor,
        "lowest": _printed(worst.value),
    }
    sentence = _(
        "%(figure)s, %(name)s, %(n)s assessors: highest for %(best)s, %(highest)s, lowest for %(worst)s, %(lowest)s"
    )
    return f"{sentence % about}{_without(ranking)}."


def _printed(figure: Figure) -> str:
    unit = unit_for([figure])
    return unit.with_interval(unit.show(figure.value), figure.low, figure.high)


def _without(ranking: AssessorRanking) -> str:
    row = ranking.without[1] if len(ranking.without) > 1 else None
    if row is None or row.pearson is None:
        return ""
    about = {"names": ", ".join(row.left_out), "r": f"{row.pearson:.3f}"}
    return _("; without %(names)s, systems’ means correlate with those of all scores by r = %(r)s") % about


def figures(report: AssessorsReport) -> Table:
    """Every assessor by each figure in every dimension, the best first."""
    every = [own for dimension in report.dimensions for ranking in dimension.rankings for own in ranking.assessors]
    unit = unit_for(own.value for own in every)
    apart = unit_for(own.difference for own in every if own.difference)
    return Table(
        "figures",
        _("Consistency and agreement of assessors"),
        (
            *_FILED,
            Column("", _("Scores"), as_text),
            Column("", _("By"), as_text),
            Column("", _("Rank")),
            Column("assessor", _("Assessor"), as_text),
            Column("ranked"),
            Column("value", _("Value"), unit.show),
            Column("low"),
            Column("high"),
            Column("", _("95% interval")),
            Column("n", "n"),
            Column("distance", _("Apart"), apart.show),
        ),
        tuple(
            (
                *_of(dimension, ranking),
                *(place if figure.is_ranked else None, figure.assessor, int(figure.is_ranked)),
                *unit.bounded(figure.value),
                *(figure.value.n, figure.difference.value if figure.difference else None),
            )
            for dimension in report.dimensions
            for ranking in dimension.rankings
            for place, figure in enumerate(ranking.assessors, 1)
        ),
        note=" ".join(_about_figures(report)),
    )


def _of(dimension: AssessedDimension, ranking: AssessorRanking) -> tuple[Cell, ...]:
    own = dimension.dimension, int(dimension.by_pyramid), ranking.basis
    return *own, _name(dimension), _(BASES[ranking.basis])


def _about_figures(report: AssessorsReport) -> Iterator[str]:
    told = {ranking.basis for dimension in report.dimensions for ranking in dimension.rankings}
    if "consistency" in told:
        yield _(
            "Consistency: Krippendorff’s alpha (interval) of the two scores that an assessor gave identical summaries "
            "of a topic, n pairs; 1 is always the same score, 0 what chance gives."
        )
    if "agreement" in told:
        yield _(
            "Agreement: Krippendorff’s alpha (interval) of an assessor’s score and the mean of the others’ of the same "
            "summary, n summaries. It tells who is far from the others, not who is inconsistent."
        )
    if "auto_pyramid" in told:
        yield _(
            "Pyramid: scores as annotated, less those by the content units whose words were annotated in other "
            "summaries of the topic; means over an assessor’s n topics. Below 0, content was overlooked, or annotated "
            "elsewhere by accident."
        )
    yield _(
        "Apart: how far the two scores are apart on average. No rank: fewer than five pairs, or all scores alike; too "
        "little to call anybody worse than another."
    )


def ranks(report: AssessorsReport) -> Table:
    """Systems' means without the worst assessors by each figure, against those of all scores."""
    return Table(
        "ranks",
        _("The ranking of systems without the worst assessors"),
        (
            *_FILED,
            Column("", _("Scores"), as_text),
            Column("", _("By"), as_text),
            Column("without"),
            Column("", _("Left out"), as_text),
            Column("topics", _("Topics")),
            Column("ratings", _("Ratings")),
            Column("pearson", "r", decimals(3)),
            Column("spearman", "ρ", decimals(3)),
        ),
        tuple(
            (*_of(dimension, ranking), *_left_out(row.left_out), row.topics, row.ratings, row.pearson, row.spearman)
            for dimension in report.dimensions
            for ranking in dimension.rankings
            for row in ranking.without
        ),
        note=_(
            "Correlations of the systems’ mean scores with those of all assessors: Pearson’s r, Spearman’s ρ. Where "
            "one assessor scores a topic, the topic is left out; where several do, their ratings are. A worst assessor "
            "stays if too little would be known of all others. This only shows what would change; nothing is deleted."
        ),
    )


def _left_out(names: tuple[str, ...]) -> tuple[str, str]:
    return "; ".join(names), ", ".join(names) or _("nobody")


def metrics(dimension: AssessedDimension) -> Table:
    """Correlation of metrics with one dimension's scores, of all assessors and without the worst."""
    means, summaries = _("Systems’ means"), _("An assessor’s summaries")
    every = [own for ranking in dimension.rankings for row in ranking.without for own in row.metrics]
    of_means, of_summaries = unit_for(own.systems for own in every), unit_for(own.summaries for own in every)
    return Table(
        "metrics",
        _("Metrics without the worst assessors: %(name)s") % {"name": _name(dimension)},
        (
            *_FILED,
            Column("", _("By"), as_text),
            Column("", _("Metric"), as_text),
            Column("without"),
            Column("", _("Left out"), as_text),
            Column("metric"),
            Column("systems_r", "r", of_means.show, means),
            Column("systems_low"),
            Column("systems_high"),
            Column("", _("95% interval"), group=means),
            Column("systems_n", "n", group=means),
            Column("summaries_r", "r", of_summaries.show, summaries),
            Column("summaries_low"),
            Column("summaries_high"),
            Column("", _("95% interval"), group=summaries),
            Column("summaries_n", "n", group=summaries),
        ),
        tuple(_beside(dimension, of_means, of_summaries)),
        note=_(
            "Pearson’s r of metric and human scores, with its 95% interval: of the systems’ means (Fisher’s interval), "
            "and of all summaries that an assessor scored, the mean over assessors."
        ),
    )


def _beside(dimension: AssessedDimension, means: Unit, summaries: Unit) -> Iterator[tuple[Cell, ...]]:
    for ranking in dimension.rankings:
        *of_ranking, _scores, basis = _of(dimension, ranking)
        for several in zip(*(row.metrics for row in ranking.without), strict=True):
            for row, own in zip(ranking.without, several, strict=True):
                yield (
                    *(*of_ranking, basis, title_of(own.metric), *_left_out(row.left_out), own.metric),
                    *(*means.bounded(own.systems), own.systems.n),
                    *(*summaries.bounded(own.summaries), own.summaries.n),
                )


def _unattributed(report: AssessorsReport) -> Iterator[str]:
    for own in report.dimensions:
        if own.assessors and own.unattributed:
            sentence = ngettext(
                "%(n)s score for %(name)s names no assessor.",
                "%(n)s scores for %(name)s name no assessor.",
                own.unattributed,
            )
            yield sentence % {"n": own.unattributed, "name": _name(own)}


def _why_not(report: AssessorsReport) -> Iterator[str]:
    """Why a figure is missing."""
    told = {ranking.basis for dimension in report.dimensions for ranking in dimension.rankings}
    if "consistency" not in told:
        yield _("Nobody scored two summaries of a topic that have the same text: there is no figure of consistency.")
    if "agreement" not in told:
        yield _("No summary was scored by two assessors in the same dimension: there is no figure of agreement.")
    if "auto_pyramid" not in told:
        has_pyramids = any(own.by_pyramid for own in report.dimensions)
        yield (
            _("The Pyramids do not say who annotated them (“assessor”).")
            if has_pyramids
            else _("No summary was annotated with a Pyramid.")
        )
