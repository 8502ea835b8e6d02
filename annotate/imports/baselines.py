"""Summaries by standard summarizers, for studies that begin with documents only, written by the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotate.imports.written import begin
from annotate.models import Item, Study, Summary, Topic, Upload
from annotate.refusal import Refusal
from annotate.server import limits
from preferendum.formats.readers.late import BASELINE, SUMMARIES

if TYPE_CHECKING:
    from django.contrib.auth.models import User

FILENAME = "baselines.csv"
#: The shortest and the longest summary that may be requested.
WORDS = 10, 1_000
#: For more sentences, summarizers, which compare every two, would take minutes.
MOST_SENTENCES = 1_000


@limits.for_each_user(limits.WRITTEN)
def ask_for_baselines(study: Study, user: User, words: int) -> Upload:
    """Have summaries of at most so many words written; returns the upload, an unfinished one if there is one.

    Raises `Refusal` where nothing is to be summarized, and where the file cannot be kept; `TooOften`.
    """
    if not topics_without_baselines(study).exists():
        message = _("All topics have baseline summaries, or no documents, or more than 1,000 sentences.")
        raise Refusal(message, "nothing_to_summarize")
    written = Upload.waiting().filter(study=study, baseline_words__isnull=False).first()
    if written is not None:
        return written
    upload = Upload(study=study, user=user, filename=FILENAME, size=0, sha256="", baseline_words=words)
    return begin(upload, SUMMARIES.needed, "make baselines", words=words)


def topics_without_baselines(study: Study) -> QuerySet[Topic]:
    """The topics that summarizers can summarize, in order."""
    topics = Topic.objects.cut().filter(study=study).order_by("position")
    sentences = Item.objects.filter(item_set=OuterRef("pk")).order_by()
    own = Summary.objects.filter(topic=OuterRef("pk"), system__name__startswith=BASELINE)
    too_many = Exists(sentences.filter(position__gte=MOST_SENTENCES))
    return topics.filter(Exists(sentences), ~Exists(own), ~too_many)
