"""How agreement with people grows with the number of judgments, on its way from samples of topics to the reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotate.database.snapshot import snapshot
from annotate.models import ConvergenceReport, Fit, Study, StudyMetrics, Topic, TopicSamples
from evaluation.meta.study_convergence import MOST_SENTENCES, Human, SampledTopic, Step, humans
from evaluation.meta.study_reports import Part
from evaluation.worker.records.evidence import Snapshot
from evaluation.worker.records.metrics import VERSIONS, StudyScores, load_study_scores
from formats.results import Convergence, SampledAgreement, to_json

#: Hundreds of fits rest on all that people judged: they are not begun while somebody is judging, or uploading.
QUIET = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class TopicToSample:
    """A topic with judgments and human scores; `samples`: what is worked out of it at this version."""

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
    """A study's scores, and its topics; `left_out`: how many have too many sentences."""

    scores: StudyScores
    topics: tuple[TopicToSample, ...]
    left_out: int


def studies_unconverged() -> QuerySet[Study]:
    """Those with intervals of their agreement, where nothing has changed for a while. Adds the `wanted` version."""
    now = timezone.now()
    behind = Study.objects.filter(
        metrics__version__gt=F("metrics__converged_version"), metrics__bounded_version__gte=F("metrics__version")
    )
    return behind.exclude(metrics__computed_at__range=(now - QUIET, now)).annotate(wanted=F("metrics__version"))


@snapshot()
def load_to_sample(study_id: int) -> StudyToSample | None:
    """What a study's curves rest on; None where the study is gone."""
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
    kept = {row.topic_id: row for row in TopicSamples.objects.filter(topic__study=study_id)}
    topics, left_out = [], 0
    for key, name, version, length in judged.values_list("pk", "name", "version", "length"):
        if name in by_people and length > MOST_SENTENCES:
            left_out += 1
        elif name in by_people:
            topics.append(_to_sample(key, name, version, by_people[name], kept.get(key)))
    return StudyToSample(scores, tuple(topics), left_out)


def _to_sample(key: int, name: str, version: int, human: Human, kept: TopicSamples | None) -> TopicToSample:
    if kept is None or kept.version != version:
        return TopicToSample(key, name, version, human, (), {}, None)
    return TopicToSample(key, name, version, human, kept.records, kept.judgments, kept.remaining)


@transaction.atomic
def save_samples(topic: TopicToSample, loaded: Snapshot, step: Step) -> None:
    """Keep what is worked out of a topic by now, if it is still there."""
    if not Topic.objects.select_for_update(no_key=True).filter(pk=topic.topic_id).values_list("pk"):
        return
    kinds = loaded.evidence.kinds
    values = {
        "version": topic.version,
        "judgments": Counter(kinds[number] for number in loaded.evidence.judgments.annotator.tolist()),
        "figures": to_json(step.samples),
        "remaining": step.remaining,
    }
    TopicSamples.objects.update_or_create(topic_id=topic.topic_id, defaults=values)


def note_sampled(study_id: int, sampled: int, to_sample: int) -> None:
    """Say how far it is, for who waits."""
    StudyMetrics.objects.filter(study=study_id).update(sampled=sampled, to_sample=to_sample)


@transaction.atomic
def save_convergence(loaded: StudyToSample, reports: Mapping[Part, Convergence]) -> None:
    """Publish the curves of this version; dimensions that have none any more are forgotten."""
    study_id = loaded.scores.study_id
    if not Study.objects.select_for_update(no_key=True).filter(pk=study_id).values_list("pk"):
        return
    rows = ConvergenceReport.objects.filter(study=study_id)
    for row in rows.defer("figures"):
        if (row.peers, row.dimension) not in reports:
            row.delete()
    for (peers, dimension), report in reports.items():
        values = {
            "figures": to_json(report),
            "judgments": _judgments(loaded, (peers, dimension)),
            "left_out": loaded.left_out,
            "computed_at": timezone.now(),
        }
        rows.update_or_create(study_id=study_id, peers=peers, dimension=dimension, defaults=values)
    done = {"converged_version": loaded.scores.version, "sampled": 0, "to_sample": 0, "problem": ""}
    StudyMetrics.objects.filter(study=study_id).update(**done)


def _judgments(loaded: StudyToSample, part: Part) -> Mapping[str, int]:
    """Of the topics in a part, by kind of annotators."""
    total = Counter[str]()
    for topic in loaded.topics:
        if topic.sampled.metrics(part):
            total.update(topic.judgments)
    return total
