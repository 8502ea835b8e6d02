"""Do scores depend on the topic? `command` is `evaluate sets`."""

from preferendum import work
from preferendum.formats.words import gettext_noop
from preferendum.methods.analyses.document_sets import show
from preferendum.results import DocumentSetsReport
from preferendum.show.analyses.registry import HUMAN_SCORES, Analysis, register
from preferendum.work import Work

register(
    Analysis(
        name="document-sets",
        place=50,
        record=DocumentSetsReport,
        title=gettext_noop("Document sets"),
        asks=gettext_noop("Do scores depend on the topic?"),
        keys=("peers",),
        show=show.show,
        needs=HUMAN_SCORES,
        left_out=gettext_noop(
            "With more than 200 topics, or 10,000 scores by a metric, this takes too long for a page; use the command "
            "line (sets)."
        ),
    )
)
work.register(Work("document-sets", "compared", work.later(f"{__name__}.compute"), patience=10.0))
