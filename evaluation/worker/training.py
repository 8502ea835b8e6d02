"""Training of metrics for a study, in turns: what was asked for in, what was learnt out."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import Any, cast

from django.db.models import Count

from annotate import training as verbs
from annotate.models import Study, Topic, TrainedMetric
from evaluation.evidence import Evidence
from evaluation.meta.assessors import without_assessors
from evaluation.meta.preference_training import PreferenceCourse
from evaluation.meta.training import PARTS, TRAINERS, Course, Training, topic_examples
from evaluation.metrics.registry import MissingEvidence
from evaluation.worker.records.metrics import load_topic
from formats.metric_names import rests_on_all_topics
from formats.results import TopicExamples, TrainingReport, from_json, to_json
from formats.results.metrics import Peers
from formats.trained_metrics import FROM_REFERENCES, LeftOut, Source, trained_metric_as_json
from formats.trained_metrics import TrainedMetric as Record

#: How many references teach at most, so that training ends within a turn.
MOST_REFERENCES = 1_000


class SourceGone(Exception):
    """The study that it was to learn from was deleted."""

    def __init__(self) -> None:
        super().__init__("The study that it was to learn from was deleted.")


def learn_from_scores(metric: TrainedMetric, seconds: float) -> None:
    """Features of the topics, then what is learnt from all of them and without each part: a turn of so many seconds.

    It goes on from where the last one stopped, and stops where nobody wants the metric any more.
    """
    until = time.perf_counter() + seconds
    if metric.source is None or (metric.first_title and metric.first is None):
        raise SourceGone
    asked, parts_of_topics = _asked(metric), (_topics_of(metric.source), _topics_of(metric.first))
    topics = list(chain.from_iterable(parts_of_topics))
    examples: dict[str, Any] = metric.parts.get("topics", {})
    steps: list[Any] = metric.parts.get("steps", [])
    unread = [topic for topic in topics if str(topic.pk) not in examples]
    read = _reading(metric, asked, parts_of_topics) if unread else None
    for topic in unread:
        assert read is not None
        examples[str(topic.pk)] = to_json(read(topic))
        is_over = time.perf_counter() > until
        parts = {"topics": examples, "steps": steps} if is_over else None
        if not verbs.note_progress(metric, len(examples), len(topics) + 1 + PARTS, parts) or is_over:
            return
    own, first = (
        tuple(from_json(TopicExamples, examples[str(topic.pk)]) for topic in some) for some in parts_of_topics
    )
    course = Course(replace(asked, features=own[0].columns if own else ()), own, first)
    course.check()
    for number in range(len(steps), course.steps):
        steps.append(to_json(course.step(number)))
        done, parts = len(topics) + len(steps), {"topics": examples, "steps": steps}
        if not verbs.note_progress(metric, done, len(topics) + course.steps, parts) or time.perf_counter() > until:
            return
    learnt = course.trained([from_json(LeftOut, step) for step in steps])
    verbs.finish(metric, trained_metric_as_json(_published(metric, learnt)), to_json(course.report(learnt)))


def _topics_of(study: Study | None) -> list[Topic]:
    return list(Topic.objects.filter(study=study).select_related("study").order_by("position")) if study else []


class _Cancelled(Exception):
    """Nobody wants the metric any more."""


def learn_from_references(metric: TrainedMetric, _seconds: float) -> None:
    """All of it in one turn: it is a matter of seconds, since no more than `MOST_REFERENCES` teach."""
    if metric.source is None:
        raise SourceGone
    topics = _topics_with_references(metric.source)

    def noted(done: int) -> None:
        if not verbs.note_progress(metric, done, 2 * len(topics)):
            raise _Cancelled

    loaded = []
    try:
        for number, topic in enumerate(topics):
            noted(number)
            loaded.append(load_topic(topic))
        course = PreferenceCourse(
            metric.source_title, progress=lambda share: noted(len(topics) + round(share * len(topics)))
        )
        learnt, pairs = course.train(loaded)
    except _Cancelled:
        return
    report = TrainingReport(None, len(learnt.left_out), {}, pairs)
    verbs.finish(metric, trained_metric_as_json(_published(metric, learnt)), to_json(report))


def _topics_with_references(study: Study) -> list[Topic]:
    """In an order drawn once and for all, as many as have the most references that may teach; one at least."""
    rows = Topic.objects.filter(study=study, documents__isnull=False, references__isnull=False)
    counted = rows.annotate(number=Count("references", distinct=True)).order_by("position")
    numbers = list(counted.values_list("pk", "number"))
    random.Random(0).shuffle(numbers)  # noqa: S311 - a sample, no secret
    before = accumulate((number for _key, number in numbers), initial=0)
    kept = [key for (key, _number), sofar in zip(numbers, before, strict=False) if sofar < MOST_REFERENCES]
    topics = Topic.objects.select_related("study").in_bulk(kept)
    return [topics[key] for key in kept if key in topics]


def _asked(metric: TrainedMetric) -> Training:
    return Training(
        metric.method,
        metric.target,
        cast(Peers, metric.peers),
        source=metric.source_title,
        chosen_by=metric.first_title,
    )


def _reading(metric: TrainedMetric, asked: Training, parts: Sequence[list[Topic]]) -> Callable[[Topic], TopicExamples]:
    """What reads the features of a topic, having seen all topics of its part if any feature rests on them.

    Where these are too few for that, it is without such features.
    """

    def load(topic: Topic) -> Evidence:
        return without_assessors([load_topic(topic)], metric.left_out)[0]

    if not any(map(rests_on_all_topics, asked.names)):
        reader = asked.reader()
        return lambda topic: topic_examples(load(topic), asked, reader)
    texts = [{topic.pk: load(topic) for topic in part} for part in parts if part]
    try:
        readers = [asked.reader().prepared(list(own.values())) for own in texts]
    except MissingEvidence:
        asked = replace(asked, features=tuple(name for name in asked.names if not rests_on_all_topics(name)))
        readers = [asked.reader() for _own in texts]
    seen = {key: (text, reader) for own, reader in zip(texts, readers, strict=True) for key, text in own.items()}
    return lambda topic: topic_examples(seen[topic.pk][0], asked, seen[topic.pk][1])


def _published(metric: TrainedMetric, learnt: Record) -> Record:
    """Without the names of topics that are another study's: whoever sees this one may not see that."""
    keys = (metric.source_id, metric.first_id)[: len(learnt.sources)]
    sources = zip(learnt.sources, keys, strict=True)
    return replace(
        learnt, sources=tuple(own if key == metric.study_id else _without_names(own) for own, key in sources)
    )


def _without_names(source: Source) -> Source:
    return replace(source, topics={str(k): own for k, own in enumerate(source.topics.values(), 1)})


#: By method: what takes a turn of training. Raises what is told whoever asked, and ends the training.
WAYS: Mapping[str, Callable[[TrainedMetric, float], None]] = {
    **dict.fromkeys(TRAINERS, learn_from_scores),
    **dict.fromkeys(FROM_REFERENCES, learn_from_references),
}
