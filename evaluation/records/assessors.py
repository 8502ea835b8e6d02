"""Load the ratings by assessors."""

from __future__ import annotations

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.models import HumanScore, PyramidAnnotation, Summary
from preferendum.work.ratings import Assessed, Rating


@snapshot()
def load_assessed(study_id: int, most: int) -> Assessed | None:
    """The scores of a study's summaries by single assessors; None if there are more than `most`."""
    ratings = HumanScore.objects.ratings().filter(summary__topic__study=study_id)
    if ratings.count() > most:
        return None
    columns = ("dimension", "assessor", "summary__system__name", "summary__topic__name", "score")
    summaries = Summary.objects.filter(topic__study=study_id) if ratings.exists() else Summary.objects.none()
    texts = summaries.values_list("system__name", "topic__name", "text", "sentences")
    pyramids = PyramidAnnotation.objects.filter(topic__study=study_id).select_related("topic")
    annotations = {row.topic.name: exports.annotation_of(row) for row in pyramids}
    return Assessed(
        tuple(Rating(*row) for row in ratings.order_by("pk").values_list(*columns)),
        {
            (system, topic): text if sentences is None else " ".join(sentences)
            for system, topic, text, sentences in texts
        },
        {topic: annotation for topic, annotation in annotations.items() if annotation is not None},
    )
