"""Which systems do human scores and metrics tell apart?"""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.system_pairs import show
from preferendum.show.analyses.registry import HUMAN_SCORES, Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="pairs-of-systems",
        place=40,
        title=gettext_noop("Pairs of systems"),
        asks=gettext_noop("Which systems do human scores and metrics tell apart?"),
        keys=("peers",),
        show=show.show,
        needs=HUMAN_SCORES,
        left_out=gettext_noop(
            "This needs at least two systems with human scores. With more than 200 systems, or many systems and many "
            "topics, the tests take too long for a page; use the command line (agree --pairs-of-systems)."
        ),
    )
)
work.register(
    Work(
        "pairs-of-systems",
        "bounded",
        work.later(f"{__name__}.compute"),
        task="count_pairs",
        turns=True,
        claim="system_pairs",
    )
)
