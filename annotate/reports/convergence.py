"""How agreement with human scores grows with judgments: the worker's curves, as a page and a file show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from annotate.models import Fit, Result, Study
from annotate.reports import metrics
from annotate.reports.metrics import AgreementTable
from annotate.reports.rests_on import Judged
from formats.metric_names import title_of
from formats.results import Baseline, Convergence, ConvergencePoint, MetricConvergence, Passing, StudyConvergence

#: Which of the flat lines the page speaks of, if it is there.
LEADING = ("rouge-2", "rouge-2:jackknife")


@dataclass(frozen=True, slots=True)
class Row:
    """So many judgments a topic, and the agreement of every metric that rests on them."""

    judgments: int
    points: tuple[ConvergencePoint, ...]


@dataclass(frozen=True, slots=True)
class Crossing:
    """From where on preferences agree better than another metric, in words and in a few."""

    metric: str
    baseline: str
    passing: Passing
    most: int

    @property
    def more(self) -> int | None:
        """About how many judgments a topic are still needed, in two digits."""
        expected = self.passing.expected
        return None if expected is None else _in_two_digits(expected - self.most)

    @property
    def shortly(self) -> str:
        if self.passing.judgments is not None:
            return _("from %(n)d") % {"n": self.passing.judgments}
        return _("not in sight") if self.more is None else _("about %(n)d more") % {"n": self.more}

    @property
    def words(self) -> str:
        names = {"metric": self.metric, "baseline": self.baseline, "most": self.most}
        if self.passing.judgments is not None:
            text = _("From %(n)d judgments a topic on, “%(metric)s” agrees better with people than %(baseline)s.")
            return text % (names | {"n": self.passing.judgments})
        if self.more is None:
            text = _(
                "With up to %(most)d judgments a topic, “%(metric)s” does not agree better with people than "
                "%(baseline)s, and as its curve runs it will not with many more."
            )
            return text % names
        text = _(
            "“%(metric)s” needs about %(n)d more judgments a topic to agree better with people than %(baseline)s, if "
            "agreement goes on to grow as it did up to %(most)d."
        )
        return text % (names | {"n": self.more})


@dataclass(frozen=True, slots=True)
class Flat:
    """A metric that rests on no judgments, and where each curve passes it."""

    baseline: Baseline
    crossings: tuple[Crossing, ...]

    @property
    def name(self) -> str:
        return title_of(self.baseline.metric)


@dataclass(frozen=True, slots=True)
class ConvergenceTable:
    """The curves of one dimension. `table`: the study's table of metrics, for the same choice.

    `is_old`: something has changed since; `sampled` of `to_sample` topics are ready for the next curves. `rests_on`:
    the judgments of these curves; `left_out`: topics with too many sentences; `has_judgments`: there are fits.
    """

    table: AgreementTable
    record: Convergence | None
    rests_on: Judged
    left_out: int
    computed_at: datetime | None
    is_old: bool
    sampled: int
    to_sample: int
    has_judgments: bool
    version: str

    @property
    def curves(self) -> tuple[MetricConvergence, ...]:
        return self.record.metrics if self.record else ()

    @property
    def names(self) -> list[str]:
        return [title_of(curve.metric) for curve in self.curves]

    @property
    def topics(self) -> int:
        return len(self.curves[0].topics) if self.curves else 0

    @property
    def rows(self) -> list[Row]:
        columns = zip(*(curve.points for curve in self.curves), strict=True)
        return [Row(points[0].judgments, points) for points in columns]

    @property
    def flat(self) -> list[Flat]:
        baselines = self.record.baselines if self.record else ()
        return [Flat(own, tuple(self._crossings(own.metric))) for own in baselines]

    @property
    def leading(self) -> tuple[Crossing, ...]:
        """Where ROUGE-2, or without it the metric that agrees best, is passed."""
        defined = [flat for flat in self.flat if flat.baseline.agreement is not None]
        chosen = [flat for flat in defined if flat.baseline.metric in LEADING] or sorted(
            defined, key=lambda flat: flat.baseline.agreement or 0.0, reverse=True
        )
        return chosen[0].crossings if chosen else ()

    def _crossings(self, baseline: str) -> Iterator[Crossing]:
        for passing in self.record.passings if self.record else ():
            if passing.baseline == baseline:
                most = self.record.sizes[-1] if self.record else 0
                yield Crossing(title_of(passing.metric), title_of(baseline), passing, most)


def of_study(study: Study, dimension: str = "", peers: str = "") -> ConvergenceTable | None:
    """The curves for the dimension, or for the first one; None where nobody scored any summary."""
    table = metrics.of_study(study, dimension, peers)
    if table is None:
        return None
    row = Result.objects.by_keys(study, "convergence").get((table.peers, table.dimension))
    grown = row.read(StudyConvergence) if row else None
    head, metrics_version = _progress(study)
    note = head.record or {}
    return ConvergenceTable(
        table=table,
        record=grown.curves if grown else None,
        rests_on=Judged(**grown.judgments) if grown else Judged(),
        left_out=grown.left_out if grown else 0,
        computed_at=row.computed_at if row else None,
        is_old=head.version < metrics_version or not metrics_version,
        sampled=note.get("sampled", 0),
        to_sample=note.get("to_sample", 0),
        has_judgments=row is not None or Fit.objects.newest().filter(topic__study=study, judgments__gt=0).exists(),
        version=version_of(study),
    )


def version_of(study: Study) -> str:
    """What the page of the curves shows, before it is read."""
    head, metrics_version = _progress(study)
    return f"{head.version}-{head.version < metrics_version}-{head.record}-{head.problem}"


def _progress(study: Study) -> tuple[Result, int]:
    """How far the curves are, and the version that they are to rest on."""
    return Result.objects.head(study, "convergence"), Result.objects.head(study, "metrics").version


def _in_two_digits(number: int) -> int:
    """As much as an extrapolation can say; never less than the number."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step
