"""How agreement with people grows with the number of judgments: load and save samples of topics, save reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, F, OuterRef, Subquery

from annotate.database.snapshot import snapshot
from annotate.models import Fit, Result, Topic
from evaluation.records.derived import keep_of_topic, note, publish
from evaluation.records.evidence import Snapshot
from evaluation.records.metrics import VERSIONS, StudyScores, load_study_scores
from preferendum.methods.meta.study_convergence import MOST_SENTENCES, Human, SampledTopic, Step, humans
from preferendum.methods.meta.study_reports import Part
from preferendum.results import Convergence, SampledAgreement, StudyConvergence, TopicSamples


@dataclass(frozen=True, slots=True)
class TopicToSample:
    """A topic with judgments and human scores; `samples`: those computed at this version."""

    topic_id: int
    name: str
    version: int
    human: Human
    samples: tuple[SampledAgreement, ...]
    judgments: Mapping[str, int]
    remaining: int | None

    @property
    def sampled(self) -> SampledTopic:
        return SampledTopic(sum(self.judgments.values()), self.samples)


@dataclass(frozen=True, slots=True)
class StudyToSample:
    """A study's scores and topics; `left_out`: the number of topics with too many sentences."""

    scores: StudyScores
    topics: tuple[TopicToSample, ...]
    left_out: int


@snapshot()
def load_to_sample(study_id: int) -> StudyToSample | None:
    """What a study's curves rest on; None if the study is gone."""
    scores = load_study_scores(study_id)
    if scores is None:
        return None
    fits = Fit.objects.newest().filter(topic=OuterRef("pk"), judgments__gt=0)
    judged = (
        Topic.objects.filter(study=study_id)
        .annotate(version=sum(map(F, VERSIONS)), judged=Subquery(fits.values("judgments")), length=Count("sentences"))
        .filter(version__isnull=False, judged__isnull=False)
        .order_by("position")
    )
    by_people = humans(scores.scores)
    kept = {row.topic_id: row for row in Result.objects.of_topics(study_id, "samples")}
    topics, left_out = [], 0
    for key, name, version, length in judged.values_list("pk", "name", "version", "length"):
        if name in by_people and length > MOST_SENTENCES:
            left_out += 1
        elif name in by_people:
            topics.append(_to_sample(key, name, version, by_people[name], kept.get(key)))
    return StudyToSample(scores, tuple(topics), left_out)


def _to_sample(key: int, name: str, version: int, human: Human, kept: Result | None) -> TopicToSample:
    samples = kept.read(TopicSamples) if kept and kept.version == version else None
    if samples is None:
        return TopicToSample(key, name, version, human, (), {}, None)
    return TopicToSample(key, name, version, human, samples.samples, samples.judgments, samples.remaining)


def save_samples(topic: TopicToSample, loaded: Snapshot, step: Step) -> None:
    """Save a topic's samples so far, if it still exists."""
    kinds = loaded.evidence.kinds
    judgments = Counter(kinds[number] for number in loaded.evidence.judgments.annotator.tolist())
    keep_of_topic(topic.topic_id, "samples", topic.version, TopicSamples(judgments, step.samples, step.remaining))


def note_sampled(study_id: int, sampled: int, to_sample: int) -> None:
    """Note the progress, for people who wait."""
    note(study_id, "convergence", record={"sampled": sampled, "to_sample": to_sample})


def save_convergence(loaded: StudyToSample, reports: Mapping[Part, Convergence]) -> None:
    """Publish the curves of this version; delete those of dimensions that no longer have any."""
    grown = {
        part: StudyConvergence(report, _judgments(loaded, part), loaded.left_out) for part, report in reports.items()
    }
    publish(loaded.scores.study_id, "convergence", loaded.scores.version, grown)


def _judgments(loaded: StudyToSample, part: Part) -> Mapping[str, int]:
    """The number of judgments of the topics in a part, by kind of annotators."""
    total = Counter[str]()
    for topic in loaded.topics:
        if topic.sampled.metrics(part):
            total.update(topic.judgments)
    return total
