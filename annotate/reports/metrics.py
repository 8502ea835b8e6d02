"""How a study's metrics agree with people: the worker's figures, as a page and a file show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import HumanScore, Result, Study, TopicMetrics
from annotate.reports import minutes
from formats.metric_names import title_of
from formats.results import Bounded, Correlation, DimensionAgreement, MetricAgreement, MetricDifference, Tested
from formats.results.metrics import Level, Peers
from formats.results.scores import MIXED, PREFERENCES

#: What correlations are between, in the order in which they are shown.
LEVELS: dict[Level, object] = {
    "system": gettext_lazy("Systems"),
    "summary": gettext_lazy("Summaries of a topic"),
    "global": gettext_lazy("All summaries"),
}
#: So many topics are named; the rest are counted.
SHOWN = 8
COEFFICIENTS = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}
#: What a topic may lack for a metric (`evaluation.metrics.registry.Need`).
_LACKING = {
    "documents": gettext_lazy("%(metric)s needs documents. Topics without any: %(topics)s."),
    "references": gettext_lazy("%(metric)s needs references. Topics without any: %(topics)s."),
    "pyramids": gettext_lazy("%(metric)s needs Pyramids. Topics without one: %(topics)s."),
    "references of an earlier set": gettext_lazy(
        "%(metric)s needs the references of an earlier set. Topics without any: %(topics)s."
    ),
    "other topics": gettext_lazy("%(metric)s needs six topics or more with documents of their own."),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One metric: its figures as they are now, with intervals once they are worked out, and its difference from the
    first metric."""

    metric: MetricAgreement
    bounded: MetricAgreement | None
    difference: MetricDifference | None

    @property
    def name(self) -> str:
        return title_of(self.metric.metric)

    @property
    def is_preference(self) -> bool:
        return self.metric.metric.startswith(PREFERENCES)

    @property
    def with_intervals(self) -> MetricAgreement:
        """The newest figures, with intervals where they were worked out for these very ones."""
        bounded = self.bounded
        return bounded if bounded is not None and bounded.is_of_same_scores(self.metric) else self.metric

    @property
    def agreement(self) -> Bounded:
        return self.with_intervals.agreement

    @property
    def tested(self) -> Tested | None:
        """By how much the first metric agrees more."""
        return self.difference.agreement if self.difference else None

    @property
    def correlations(self) -> list[Correlation]:
        """Of every level and coefficient, in their order."""
        return [self.metric.correlations[level][kind] for level in LEVELS for kind in COEFFICIENTS]

    @property
    def significant(self) -> list[float | None]:
        """In how many of 100 topics each coefficient is significant."""
        shares = (self.metric.significant[kind].share for kind in COEFFICIENTS)
        return [None if share is None else 100 * share for share in shares]


@dataclass(frozen=True, slots=True)
class AgreementTable:
    """How the metrics of a study agree with people in one dimension.

    `dimensions`: all that there are. `with_human_peers`: people are among the systems, so that `peers` can be chosen.
    `is_old`: intervals and tests are of scores that have changed since; `is_mixed_old`: the judgments that simulated
    ones are mixed with have. `minutes`: how long the judgments that count took, by topic, where that is known and asked
    for.
    """

    dimension: str
    dimensions: tuple[str, ...]
    peers: Peers
    with_human_peers: bool
    record: DimensionAgreement | None
    lines: tuple[Line, ...]
    absent: tuple[str, ...]
    problem: str
    is_old: bool
    is_mixed_old: bool
    minutes: Mapping[str, float]
    computed_at: datetime | None
    version: str

    @property
    def mean_minutes(self) -> float | None:
        """How long a topic took on average."""
        return sum(self.minutes.values()) / len(self.minutes) if self.minutes else None

    @property
    def has_mixed(self) -> bool:
        """Whether simulated judgments are mixed with people's in some rows."""
        return any(MIXED in line.metric.metric for line in self.lines)

    @property
    def agreement(self) -> DimensionAgreement | None:
        """The newest figures, each with the intervals that were worked out for it, and the differences."""
        if self.record is None:
            return None
        metrics = tuple(line.with_intervals for line in self.lines)
        return replace(self.record, metrics=metrics, differences=tuple(self._differences))

    @property
    def _differences(self) -> Iterable[MetricDifference]:
        return (line.difference for line in self.lines if line.difference is not None)

    @property
    def first(self) -> str:
        return self.lines[0].name if self.lines else ""


def of_study(study: Study, dimension: str = "", peers: str = "", *, timed: bool = False) -> AgreementTable | None:
    """The table of the dimension, or of the first one; None where nobody scored any summary.

    `timed`: with how long the judgments took.
    """
    progress, intervals, mixed = (Result.objects.head(study, name) for name in ("metrics", "intervals", "mixtures"))
    rows = Result.objects.by_keys(study, "metrics")
    dimensions = tuple(sorted({dimension for _peers, dimension in rows})) or _dimensions(study)
    if not dimensions:
        return None
    dimension = dimension if dimension in dimensions else dimensions[0]
    whose = _among([who for who, about in rows if about == dimension], peers)
    lacking = TopicMetrics.objects.filter(topic__study=study).exclude(absent={}).order_by("topic__position")
    record = rows[whose, dimension].read(DimensionAgreement) if (whose, dimension) in rows else None
    bounded = Result.objects.by_keys(study, "intervals").get((whose, dimension))
    return AgreementTable(
        dimension=dimension,
        dimensions=dimensions,
        peers=whose,
        with_human_peers=any(who == "all" for who, _dimension in rows),
        record=record,
        lines=_lines(record, bounded.read(DimensionAgreement) if bounded else None) if record else (),
        absent=tuple(why_absent(lacking.select_related("topic"))),
        problem=progress.problem or intervals.problem,
        is_old=intervals.version < progress.version,
        is_mixed_old=mixed.version < progress.version - mixed.turns,
        minutes=minutes.by_topic(study) if timed else {},
        computed_at=progress.computed_at,
        version=version_of(study),
    )


def _among(there_are: Collection[str], asked: str) -> Peers:
    """Whose summaries are compared in a dimension: people alone may have scores in it."""
    return "all" if "all" in there_are and (asked == "all" or "machines" not in there_are) else "machines"


def version_of(study: Study) -> str:
    """What the page of the table shows, before it is read."""
    progress, intervals = (Result.objects.head(study, name) for name in ("metrics", "intervals"))
    return f"{progress.version}-{intervals.turns}-{progress.problem}{intervals.problem}"


def _dimensions(study: Study) -> tuple[str, ...]:
    rows = HumanScore.objects.filter(summary__topic__study=study).order_by("dimension")
    return tuple(rows.values_list("dimension", flat=True).distinct())


def _lines(values: DimensionAgreement, bounded: DimensionAgreement | None) -> tuple[Line, ...]:
    with_intervals = {metric.metric: metric for metric in bounded.metrics} if bounded else {}
    differences = {difference.second: difference for difference in bounded.differences} if bounded else {}
    return tuple(
        Line(metric, with_intervals.get(metric.metric), differences.get(metric.metric)) for metric in values.metrics
    )


def why_absent(rows: Iterable[TopicMetrics]) -> Iterable[str]:
    """Why a metric is not there, or not for every topic of these; with options it lacks what it lacks without them."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for metric, need in row.absent.items():
            if (plain := metric.partition(":")[0]) == metric or plain not in row.absent:
                lacking.setdefault((metric, need), []).append(row.topic.name)
    for (metric, need), topics in lacking.items():
        yield str(_LACKING[need]) % {"metric": title_of(metric), "topics": _listed(topics)}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    more = len(names) - SHOWN
    return _("%(names)s and %(more)d more") % {"names": shown, "more": more} if more > 0 else shown
