"""Systems by answers about whole summaries and by answers about sentences, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.metrics.names import WIN_RATE
from preferendum.results import LeaderboardRow, Scatter, ScatterPoint
from preferendum.results.statistics import Z95
from preferendum.show.plots import scatter_plot
from preferendum.show.points import unit_of
from preferendum.show.shown import Column, Figure, Shown, Table, as_text, figure


@dataclass(frozen=True)
class BothQuestions:
    """The systems that both boards have, by win rate and as ranked by the `score` of sentences."""

    score: str
    systems: tuple[tuple[LeaderboardRow, LeaderboardRow], ...]

    @classmethod
    def of(
        cls, score: str, by_summaries: Sequence[LeaderboardRow], by_sentences: Sequence[LeaderboardRow]
    ) -> BothQuestions:
        """Compare the rows of the two boards; systems that one of them lacks are left out."""
        others = {row.system: row for row in by_sentences}
        return cls(score, tuple((row, others[row.system]) for row in by_summaries if row.system in others))

    @cached_property
    def tau(self) -> float | None:
        """Kendall's tau-b (1945) of the two orders; None where one of them has no order."""
        pairs = [(a[0].score - b[0].score, a[1].score - b[1].score) for a, b in combinations(self.systems, 2)]
        alike = sum((x > 0) - (x < 0) if y > 0 else (x < 0) - (x > 0) for x, y in pairs if y)
        ordered = sum(x != 0 for x, _y in pairs) * sum(y != 0 for _x, y in pairs)
        return alike / math.sqrt(ordered) if ordered else None

    @property
    def by_chance(self) -> float:
        """Orders at random have a tau between this and minus this in 95% of cases (normal approximation)."""
        n = len(self.systems)
        return min(1.0, Z95 * math.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))) if n > 1 else 1.0


#: Of fewer systems than this, even two equal orders may be chance.
FEWEST = 5


def show(both: BothQuestions, _asked: Mapping[str, str]) -> Shown:
    """Both scores of each system, with their intervals; no score of both in one."""
    of_topics = [max((own[k].topics for own in both.systems), default=0) for k in range(2)]
    notes = [_("Topics: %d of win rates, %d of scores by sentences.") % tuple(of_topics)]
    return Shown(verdict(both), [_table(both), *_figure(both)], notes=notes)


def verdict(both: BothQuestions) -> str:
    """Say how alike the two orders are, and how alike orders at random would be."""
    if both.tau is None:
        return _("One of the two questions does not order the systems yet.")
    if len(both.systems) < FEWEST:
        few = ngettext(
            "%(n)d system is too few to say whether both questions order them alike.",
            "%(n)d systems are too few to say whether both questions order them alike.",
            len(both.systems),
        )
        return few % {"n": len(both.systems)}
    sentence = _(
        "Kendall’s tau of the order of %(n)d systems by whole summaries with that by sentences is %(tau).2f; orders at "
        "random have one between -%(chance).2f and %(chance).2f in 95%% of cases."
    )
    return sentence % {"n": len(both.systems), "tau": both.tau, "chance": both.by_chance}


def _table(both: BothQuestions) -> Table:
    rates, scores = (unit_of(*own) for own in _figures(both))
    return Table(
        "systems",
        _("Systems by both questions"),
        (
            Column("system", _("System"), as_text),
            Column("win_rate", rates.named(_("Win rate")), rates.show),
            *(Column("win_rate_low"), Column("win_rate_high"), Column("", _("95% interval"))),
            Column("score", scores.named(_score(both)), scores.show),
            *(Column("score_low"), Column("score_high"), Column("", _("95% interval"))),
        ),
        tuple(
            (
                *(own.system, own.score, own.low, own.high, rates.interval(own.low, own.high)),
                *(other.score, other.low, other.high, scores.interval(other.low, other.high)),
            )
            for own, other in both.systems
        ),
    )


def _figures(both: BothQuestions) -> list[tuple[str, list[tuple[float, float | None, float | None]]]]:
    kinds = (WIN_RATE, both.score)
    return [(kind, [(two[k].score, two[k].low, two[k].high) for two in both.systems]) for k, kind in enumerate(kinds)]


def _score(both: BothQuestions) -> str:
    names = {"importance": _("Importance"), "combined": _("Combined"), "coverage": _("Coverage")}
    return names.get(both.score, _("Score as published"))


def _figure(both: BothQuestions) -> list[Figure]:
    rates, scores = (unit_of(*own) for own in _figures(both))
    points = tuple(
        ScatterPoint(own.system, not own.person, scores.times * other.score, rates.times * own.score)
        for own, other in both.systems
    )
    title = _("Systems by both questions")
    label = _("Each system by answers about sentences and about whole summaries; the table has the numbers")
    draw = partial(scatter_plot, label=label, x_title=scores.named(_score(both)), y_title=rates.named(_("Win rate")))
    return figure("both-questions", title, "", draw, Scatter("", "", points))
