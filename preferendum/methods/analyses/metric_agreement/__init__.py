"""Do metrics agree with human scores? `show` and `compute` are of one dimension; `command` is `evaluate agree`."""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.metric_agreement import show
from preferendum.show.analyses.registry import HUMAN_SCORES, Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="metric-agreement",
        place=10,
        title=gettext_noop("Metrics"),
        asks=gettext_noop("Do metrics agree with human scores?"),
        keys=("dimension", "peers"),
        show=show.show,
        needs=HUMAN_SCORES,
        left_out=gettext_noop("No summary has both a human score and a score by a metric."),
    )
)
work.register(
    Work(
        "metrics", "scored", work.later(f"{__name__}.compute"), task="compare_metrics", patience=2.0, claim="agreement"
    )
)
work.register(
    Work(
        "intervals",
        "compared",
        work.later(f"{__name__}.compute", "compute_intervals"),
        frozenset({"scores", "annotators"}),
        "bound_metrics",
        turns=True,
        claim="bounds",
    )
)
