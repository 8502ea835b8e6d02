"""Judgments by simulated annotators, to try a study before people judge: written by the worker, always labelled, and
counted only in studies that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotate.imports.baselines import MOST_SENTENCES
from annotate.imports.written import begin
from annotate.models import Item, PyramidAnnotation, Reference, Study, Topic, Upload
from annotate.refusal import Refusal
from annotate.server import limits
from preferendum.formats.readers.preferences import NEEDED

if TYPE_CHECKING:
    from django.contrib.auth.models import User

FILENAME = "simulated.csv"
COLUMNS = (*NEEDED, "annotator", "kind")
#: What they can be simulated from, and its table.
SOURCES = {"references": Reference.objects, "pyramid": PyramidAnnotation.objects}
#: The smallest and the largest number per topic.
PER_TOPIC = 1, 1_000
#: The maximum of one file on the website; the command line has no limit.
MOST_JUDGMENTS = 20_000
#: The smallest and the largest seed.
SEEDS = 0, 2**31 - 1


@limits.for_each_user(limits.WRITTEN)
def ask_for_simulated(study: Study, user: User, source: str, per_topic: int, seed: int) -> Upload:
    """Have so many judgments per topic simulated; returns the upload, an unfinished one if there is one.

    Raises `Refusal` where no topic has the source, for too many judgments, where the file cannot be kept; `TooOften`.
    """
    topics = topics_with(study, source).count()
    if not topics:
        message = _("No topic has references or a Pyramid, as you chose, and at most 1,000 sentences.")
        raise Refusal(message, "nothing_to_simulate")
    if topics * per_topic > MOST_JUDGMENTS:
        message = _("These would be %(asked)d judgments. Ask for at most %(most)d.")
        asked = message % {"asked": topics * per_topic, "most": MOST_JUDGMENTS}
        raise Refusal(asked, "invalid", {"per_topic": [asked]})
    written = Upload.waiting().filter(study=study, simulation__isnull=False).first()
    if written is not None:
        return written
    simulation = {"source": source, "per_topic": per_topic, "seed": seed}
    upload = Upload(study=study, user=user, filename=FILENAME, size=0, sha256="", simulation=simulation)
    return begin(upload, COLUMNS, "simulate judgments", **simulation)


def topics_with(study: Study, source: str) -> QuerySet[Topic]:
    """The topics that judgments can be simulated for from this source, in order."""
    sentences = Item.objects.filter(item_set=OuterRef("pk")).order_by()
    of_topic = {"topic": OuterRef("pk")}
    sources = SOURCES[source].filter(**of_topic)
    topics = Topic.objects.cut().filter(Exists(sentences), Exists(sources), study=study)
    return topics.exclude(Exists(sentences.filter(position__gte=MOST_SENTENCES))).order_by("position")
