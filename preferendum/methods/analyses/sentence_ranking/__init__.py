"""Are the sentences themselves ranked well? `command` is `evaluate sentences`."""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.sentence_ranking import show
from preferendum.show.analyses.registry import Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="sentence-ranking",
        place=190,
        title=gettext_noop("Sentence ranking"),
        asks=gettext_noop("Are the sentences themselves ranked well?"),
        show=show.show,
        needs=gettext_noop("This needs references or a Pyramid."),
        left_out=gettext_noop(
            "The topic has no sentences, or more than 1,000. The command line (sentences) does it for any number."
        ),
        of="topic",
    )
)
work.register(
    Work(
        "sentence-ranking",
        "valued",
        work.later(f"{__name__}.compute"),
        frozenset({"topics"}),
        "rank_sentences",
        "sentence-ranking",
        claim="sentences",
    )
)
