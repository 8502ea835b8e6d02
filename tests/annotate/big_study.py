"""A study of a thousand annotators and a hundred thousand judgments, made up in bulk, as the worker would leave it."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from django.utils import timezone

from annotate.models import (
    Annotator,
    AnnotatorReport,
    Assignment,
    Judgment,
    Pair,
    Result,
    Study,
    Topic,
)
from tests.annotate.judging_study import ready_study

BATCH = 2_000
FIGURES = (
    *("answers", "seconds", "speed", "left", "longer", "ties", "alternation", "repeats", "gold", "circles", "fit", "e"),
)


def big_study(annotators: int = 1_000, judgments: int = 100_000, topics: int = 10, sentences: int = 60) -> Study:
    """Everybody judges as often; pairs, answers and times by lot, the same at each call."""
    chance = random.Random(0)
    study = ready_study(sentences=sentences, topics=topics, judgments_per_pair=100)
    people = Annotator.objects.bulk_create(
        [Annotator(study=study, pseudonym=f"judge-{k:04}", judged=judgments // annotators) for k in range(annotators)],
        BATCH,
    )
    pairs: list[Pair] = []
    for topic in study.topics.all():
        keys = list(topic.sentence_set.items.values_list("pk", flat=True))
        drawn = {tuple(sorted(chance.sample(keys, 2))) for _ in range(judgments // topics // 8)}
        pairs += [Pair(item_set_id=topic.pk, first_id=a, second_id=b, need=0) for a, b in sorted(drawn)]
    pairs = Pair.objects.bulk_create(pairs, BATCH)
    now = timezone.now()
    assignments = []
    for person in people:
        for pair in chance.sample(pairs, judgments // annotators):
            assignments.append(
                Assignment(
                    item_set_id=pair.item_set_id,
                    annotator=person,
                    pair=pair,
                    swapped=chance.random() < 0.5,
                    state=Assignment.State.JUDGED,
                    revision=1,
                    created_at=now,
                    closed_at=now - timedelta(seconds=chance.random() * 1e6),
                )
            )
    assignments = Assignment.objects.bulk_create(assignments, BATCH)
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=one,
                item_set_id=one.item_set_id,
                answer=chance.choice(["left", "right"]),
                seconds=2 + 10 * chance.random(),
                at=now,
            )
            for one in assignments
        ),
        BATCH,
    )
    report(study, people, pairs, chance)
    return study


def report(study: Study, people: list[Annotator], pairs: list[Pair], chance: random.Random) -> None:
    """What the worker would store, in size and shape."""
    now = timezone.now()

    def figure() -> dict[str, Any]:
        value = chance.random()
        return {"value": value, "n": 100, "low": value - 0.1, "high": value + 0.1, "p": 0.5, "chance": 0.5}

    AnnotatorReport.objects.bulk_create(
        [
            AnnotatorReport(
                annotator=one,
                version=1,
                figures={name: figure() for name in FIGURES},
                flags=["coin"] if chance.random() < 0.05 else [],
                computed_at=now,
            )
            for one in people
        ],
        BATCH,
    )
    bounded = {"value": 0.4, "low": 0.3, "high": 0.5}
    agreement = {"judgments": 100, "pairs": 90, "comparisons": 300, "why": ""} | dict.fromkeys(
        ("percent", "alpha", "kappa"), bounded
    )
    forty = people[:40]
    Result.objects.create(
        study=study,
        analysis="annotators",
        version=1,
        computed_at=now,
        record={
            "study": agreement,
            "topics": [{"topic": topic.pk, **agreement} for topic in study.topics.all()],
            "time": [{"judgments": 1000 * k, "alpha": 0.3 + k / 100} for k in range(1, 11)],
            "table": {
                "annotators": [one.pk for one in forty],
                "shared": [[20] * len(forty)] * len(forty),
                "alike": [[13] * len(forty)] * len(forty),
            },
            "disputed": [{"pair": pair.pk, "first": 4, "second": 4, "ties": 0} for pair in pairs[:30]],
        },
    )
    for topic in Topic.objects.filter(study=study):
        sentences = list(topic.sentence_set.items.values_list("pk", flat=True))
        misfit = {"z": 2.5, "wins": 9.0, "expected": 5.5, "judgments": 12}
        Result.objects.create(
            topic=topic,
            analysis="diagnostics",
            version=1,
            computed_at=now,
            record={
                "coverage": {
                    "sentences": len(sentences),
                    "judgments": [3, 10, 20, 27],
                    "pairs": 900,
                    "parts": [57],
                    "circuits": [50, 7],
                },
                "misfits": [misfit | {"sentence": key} for key in sentences[:20]],
                "systems": [f"system {k}" for k in range(20)],
                "scores": [0.5] * 20,
                "people": [one.pk for one in people],
                "without": [[0.123456] * 20] * len(people),
            },
        )
    steady = {"rank": 1, "rank_low": 1, "rank_high": 2, "change": 0.01}
    Result.objects.create(
        study=study,
        analysis="influence",
        version=1,
        computed_at=now,
        record={
            "people": len(people),
            "unknown": 0,
            "first": "system 0",
            "takers": [],
            "systems": [
                steady | {"system": f"system {k}", "person": people[k].pk} for k in range(min(20, len(people)))
            ],
        },
    )
