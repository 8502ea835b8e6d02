"""Which systems human scores and metrics tell apart: the worker's counts, as a page and a file show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import Study, StudyMetrics, SystemPairsReport
from annotate.reports import metrics
from annotate.reports.metrics import AgreementTable, name_of
from formats.results import PairCount, PairCounts
from formats.results.metrics import CountedPairs

Correction = Literal["no", "Holm", "BH"]

#: The tests as `evaluation.meta.system_pairs` names them; those that draw at random last.
TESTS = {
    "unpaired": gettext_lazy("t, unpaired"),
    "t": gettext_lazy("t, paired"),
    "wilcoxon": gettext_lazy("Wilcoxon"),
    "swap": gettext_lazy("swap, T"),
    "swap_w": gettext_lazy("swap, W"),
    "hybrid_t": gettext_lazy("hybrid, T"),
    "hybrid_w": gettext_lazy("hybrid, W"),
}
DRAWN = frozenset({"swap", "swap_w", "hybrid_t", "hybrid_w"})
KINDS: Mapping[CountedPairs, object] = {
    "all": gettext_lazy("All pairs"),
    "machines": gettext_lazy("Two machines"),
    "mixed": gettext_lazy("A machine and a person"),
}
CORRECTIONS: Mapping[Correction, object] = {
    "no": gettext_lazy("uncorrected"),
    "Holm": gettext_lazy("Holm"),
    "BH": gettext_lazy("Benjamini–Hochberg"),
}


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pairs of a kind each test tells apart, by one scorer and with one correction; None where the draws are
    too few for any to reach the level."""

    correction: Correction
    told_apart: tuple[int | None, ...]

    @property
    def name(self) -> object:
        return CORRECTIONS[self.correction]


@dataclass(frozen=True, slots=True)
class ScorerCounts:
    """One scorer's counts of one kind of pairs, a line for each correction."""

    by: str
    by_human: bool
    pairs: int
    lines: tuple[Counts, ...]

    @property
    def name(self) -> str:
        return _("People: %(dimension)s") % {"dimension": self.by} if self.by_human else name_of(self.by)


@dataclass(frozen=True, slots=True)
class KindCounts:
    """Every scorer's counts of one kind of pairs."""

    kind: CountedPairs
    scorers: tuple[ScorerCounts, ...]

    @property
    def name(self) -> object:
        return KINDS[self.kind]


@dataclass(frozen=True, slots=True)
class SystemPairsTable:
    """People in one dimension, then every metric. `table`: the study's table of metrics, for the same choice.

    `is_old`: some counts are of scores that have changed since; `is_left_out`: there are too many systems or topics.
    """

    table: AgreementTable
    human: PairCounts | None
    metrics: tuple[PairCounts, ...]
    is_old: bool
    is_left_out: bool

    @property
    def scorers(self) -> tuple[PairCounts, ...]:
        return self.metrics if self.human is None else (self.human, *self.metrics)

    @property
    def kinds(self) -> list[KindCounts]:
        present = {count.kind for record in self.scorers for count in record.counts}
        return [KindCounts(kind, tuple(self._of_kind(kind))) for kind in KINDS if kind in present]

    @property
    def lines(self) -> list[tuple[KindCounts, ScorerCounts, Counts]]:
        """Every line of every scorer, kind by kind."""
        return [(kind, scorer, line) for kind in self.kinds for scorer in kind.scorers for line in scorer.lines]

    @property
    def draws(self) -> int:
        return max((record.draws for record in self.scorers), default=0)

    @property
    def is_undrawn(self) -> bool:
        """Whether the draws are too few for Holm's correction."""
        return any(_has_few_draws(record) for record in self.scorers)

    def _of_kind(self, kind: CountedPairs) -> Iterable[ScorerCounts]:
        for record in self.scorers:
            for count in record.counts:
                if count.kind == kind:
                    yield ScorerCounts(record.by, record is self.human, count.pairs, tuple(_lines(record, count)))


def of_study(study: Study, dimension: str = "", peers: str = "") -> SystemPairsTable | None:
    """The counts for the dimension, or for the first one; None where nobody scored any summary."""
    table = metrics.of_study(study, dimension, peers)
    if table is None:
        return None
    rows = SystemPairsReport.objects.filter(study=study, peers=table.peers)
    records = {(row.by_human, row.by): row.record for row in rows}
    progress = StudyMetrics.objects.filter(study=study).first()
    is_done = progress is not None and 0 < progress.version <= progress.pairs_version
    order = [line.metric.metric for line in table.lines]
    return SystemPairsTable(
        table=table,
        human=records.get((True, table.dimension)),
        metrics=tuple(records[False, metric] for metric in order if (False, metric) in records),
        is_old=not is_done,
        is_left_out=is_done and not records,
    )


def _lines(record: PairCounts, count: PairCount) -> Iterable[Counts]:
    by_correction: Mapping[Correction, Mapping[str, int]] = {"no": count.p, "Holm": count.holm, "BH": count.bh}
    for correction, told_apart in by_correction.items():
        unknown = DRAWN if correction == "Holm" and _has_few_draws(record) else frozenset[str]()
        yield Counts(correction, tuple(None if test in unknown else told_apart[test] for test in TESTS))


def _has_few_draws(record: PairCounts) -> bool:
    """Whether the least p-value of so many draws is above the level once Holm multiplied it by the number of pairs."""
    return max((count.pairs for count in record.counts), default=0) > record.level * (1 + record.draws)
