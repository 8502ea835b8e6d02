"""Studies as the worker meets them, made by the verbs that make them in earnest."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from annotate import imports, judging, studies
from annotate.models import Annotator, Assignment, ScoredBy, Study, Topic, Upload
from evaluation import tasks
from evaluation.agenda import look
from evaluation.records import load_evidence
from preferendum import formats
from preferendum.evidence import AS_PUBLISHED
from preferendum.scoring.evaluate import TopicResult, evaluate

EXAMPLE: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "model_example.json").read_text())

#: The score that the worked example was calculated with.
PAPER: dict[str, Any] = {"score": "published"}

_numbers = itertools.count(1)


def person() -> User:
    return User.objects.create_user(f"researcher{next(_numbers)}", password="a long enough password")


def study(**settings: Any) -> Study:
    off = {"shared_share": 0.0, "repeat_share": 0.0}
    return studies.make_study(person(), **{"title": "News", "question": "Which matters more?"} | off | settings)


def example_bundle(topic: str = "ohio") -> formats.Bundle:
    """The worked example: four sentences, three judgments, four summaries."""
    return formats.Bundle(
        topics=(
            formats.Topic(
                topic,
                documents=(formats.Text("d1", sentences=tuple(EXAMPLE["sentences"])),),
                summaries=tuple(
                    formats.Summary(system, sentences=tuple(sentences))
                    for system, sentences in EXAMPLE["summaries"].items()
                ),
            ),
        ),
        preferences=tuple(
            formats.Preference(topic, f"d1:{winner}", f"d1:{loser}", "a", annotator="w1")
            for winner, loser in EXAMPLE["judgments"]
        ),
    )


def example_study(**settings: Any) -> tuple[Study, Topic]:
    """A study of the worked example's topic alone, with its judgments and settings."""
    made = study(**PAPER | settings)
    (topic,) = imports.store(made, example_bundle())
    return made, topic


def wide_topic(made: Study, sentences: int, name: str = "wide", systems: int = 3) -> Topic:
    """A topic of made-up sentences that share some of their words."""
    rng = np.random.default_rng(sentences)
    texts = [" ".join(f"word{i}" for i in rng.integers(60, size=8)) for _ in range(sentences)]
    summaries = tuple(
        formats.Summary(f"system{k}", sentences=tuple(texts[k :: sentences // 3][:3])) for k in range(systems)
    )
    topic = formats.Topic(name, documents=(formats.Text("d1", sentences=tuple(texts)),), summaries=summaries)
    (stored,) = imports.store(made, formats.Bundle(topics=(topic,)))
    return stored


def receive(made: Study, content: bytes, name: str = "topics.jsonl") -> Upload:
    """A file on its way into a study, from its owner."""
    return imports.receive(made, made.created_by, SimpleUploadedFile(name, content))


def judge(annotator: Annotator, answer: str = "left") -> Assignment:
    """One click."""
    assignment = judging.draw(annotator)
    assert isinstance(assignment, Assignment), assignment
    judging.record_judgment(assignment, 1, answer, 3.0)
    return assignment


#: What comes after everything else.
AFTER = {
    "score_with_metrics",
    "compare_metrics",
    "document-sets",
    "bound_metrics",
    "count_pairs",
    "mix_judgments",
    "converge",
    "rank_sentences",
    "report_annotators",
    "compare_groups",
    "examine_topic",
    "examine_study",
    "find_smallest_set",
}


def to_do() -> list[tuple[str, int]]:
    """What is behind, but for metrics, reports on people and closer looks, which come after everything else."""
    return [(work.task, work.key) for work in look().waiting if work.task not in AFTER]


def from_scratch(topic: Topic) -> dict[ScoredBy, TopicResult]:
    """What the topic's judgments come to in both ways of scoring, computed here and now."""
    snapshot = load_evidence(topic.pk, tasks.split)
    assert snapshot is not None
    return {
        ScoredBy.RECOMMENDED: evaluate(snapshot.evidence, snapshot.settings),
        ScoredBy.PUBLISHED: evaluate(snapshot.evidence, AS_PUBLISHED),
    }
