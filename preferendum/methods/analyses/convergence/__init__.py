"""How many judgments does agreement with human scores take? `command` is `evaluate converge`."""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.convergence import show
from preferendum.show.analyses.registry import Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="convergence",
        place=20,
        title=gettext_noop("Convergence"),
        asks=gettext_noop("How many judgments does agreement with human scores take?"),
        keys=("dimension", "peers"),
        show=show.show,
        needs=gettext_noop("This needs judgments of a topic with human scores."),
        left_out=gettext_noop(
            "No topic of at most 1,000 sentences has both judgments and human scores. The command line (converge) "
            "works with topics of any length."
        ),
    )
)
work.register(
    Work(
        "convergence",
        "at rest",
        work.later(f"{__name__}.compute"),
        frozenset({"scores", "topics"}),
        "converge",
        "samples",
        turns=True,
    )
)
