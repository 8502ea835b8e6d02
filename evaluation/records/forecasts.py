"""Load what a forecast of a study rests on: a sample of its topics."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2s

from django.db.models import Count

from annotate.models import Forecast, Item
from evaluation.records.evidence import Snapshot, Split, load_evidence
from preferendum.scoring import planning


@dataclass(frozen=True, slots=True)
class StudyToForecast:
    """`topics`: a sample that stands for all, as they are now; `lengths`: the numbers of sentences of all topics."""

    topics: tuple[Snapshot, ...]
    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    judgments_per_pair: int
    random_share: float
    stop_rule: bool
    ties_allowed: bool

    @property
    def version(self) -> str:
        """Changes with everything that its simulations rest on, except judgments."""
        texts = [(topic.topic_id, topic.cut_version, topic.summary_keys) for topic in self.topics]
        return blake2s(
            repr((texts, self.lengths, self.sizes, self.judgments_per_pair, self.random_share)).encode(), digest_size=8
        ).hexdigest()


def load_to_forecast(forecast: Forecast, split: Split) -> StudyToForecast | None:
    """None if no topic has two sentences left to judge."""
    study = forecast.study
    judged = Item.objects.to_judge().of_sources(study).filter(item_set__topic__cut_version__gt=0)
    counted = list(judged.order_by("item_set").values_list("item_set").annotate(Count("pk")))
    lengths = tuple(sentences for _topic, sentences in counted)
    loaded = [load_evidence(counted[place][0], split) for place in planning.sample(lengths)]
    topics = tuple(topic for topic in loaded if topic is not None)
    if not topics:
        return None
    sizes = planning.usual_sizes(lengths, study.judgments_per_topic)
    return StudyToForecast(
        topics, lengths, sizes, study.judgments_per_pair, study.random_share, study.stop_rule, not study.must_prefer
    )
