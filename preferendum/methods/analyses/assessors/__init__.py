"""How consistent are those who score summaries? `command` is `evaluate assessors`."""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.assessors import show
from preferendum.results import AssessorsReport
from preferendum.show.analyses.registry import HUMAN_SCORES, Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="assessors",
        place=60,
        record=AssessorsReport,
        title=gettext_noop("Raters of summaries"),
        asks=gettext_noop("How consistent are assessors, and what changes without the worst?"),
        keys=("peers",),
        show=show.show,
        needs=HUMAN_SCORES,
        left_out=gettext_noop(
            "With more than 100,000 ratings, or pairs of identical summaries, this takes too long for a page; use the "
            "command line (assessors)."
        ),
        ability="annotators",
    )
)
work.register(
    Work(
        "assessors",
        "compared",
        work.later(f"{__name__}.compute"),
        frozenset({"scores", "ratings"}),
        patience=10.0,
        most_ratings=100_000,
    )
)
