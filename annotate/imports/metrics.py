"""Scores by metrics that were computed elsewhere: stored with the summaries, as `given:NAME`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any, cast

from django.db import transaction

from annotate.audit_log import note
from annotate.database.rows import add
from annotate.models import MetricScore, Study, Summary, Topic
from annotate.models.metric import GIVEN
from preferendum import formats

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: The topic's key, the system, the metric's own name, the score.
ScoreRow = tuple[int, str, str, float]


@transaction.atomic
def put_metric_scores(study: Study, user: User, file: IO[Any], name: str) -> dict[str, int]:
    """Store a table of scores (topic,system,metric,score) in place of all its metrics' scores in this study.

    Returns the number of scores by metric. Raises `formats.Refused` with every complaint; then nothing is changed.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    topics = Topic.objects.filter(study=study)
    keys = dict(topics.values_list("name", "pk"))
    scores = formats.read_metric_scores(cast(Any, file), _existing(study), name=name)
    counts = Counter(GIVEN + score.metric for score in scores)
    MetricScore.objects.filter(summary__topic__in=topics, metric__in=list(counts)).delete()
    store_metric_scores((keys[score.topic], score.system, score.metric, score.score) for score in scores)
    topics.score_anew()
    note(study, user, "put metric scores", metrics=", ".join(sorted(counts)), scores=len(scores))
    return dict(sorted(counts.items()))


def store_metric_scores(scores: Iterable[ScoreRow]) -> None:
    """Store the scores in place of existing ones, in the caller's transaction."""
    rows = list(scores)
    summaries = Summary.keys_of({topic_id for topic_id, *_rest in rows})
    given = (
        {"summary_id": summaries[topic_id, system], "metric": GIVEN + metric, "score": score, "version": 0}
        for topic_id, system, metric, score in rows
    )
    add(MetricScore, given, unique=("summary_id", "metric"))


def _existing(study: Study) -> formats.Existing:
    """The study's topics and their systems: all that such a table is compared with."""
    systems: dict[str, set[str]] = {
        name: set() for name in Topic.objects.filter(study=study).values_list("name", flat=True)
    }
    rows = Summary.objects.filter(topic__in=Topic.objects.filter(study=study))
    for topic, system in rows.values_list("topic__name", "system__name"):
        systems[topic].add(system)
    return formats.Existing({name: formats.ExistingTopic({}, frozenset(own)) for name, own in systems.items()})
