"""Rows that the tests of the website begin with, made by the verbs that make them in earnest."""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotate import forecasts, imports, studies
from annotate.models import Fit, Forecast, Membership, Study, Topic, Upload
from preferendum.results import Forecast as Record
from preferendum.results import ForecastPoint, to_json

Role = Membership.Role

_numbers = itertools.count(1)

TOPIC: dict[str, Any] = {
    "topic_id": "M1",
    "title": "Rain",
    "documents": [
        {"id": "d1", "sentences": ["It rained.", "Rivers rose.", "Roads closed."], "place": "Ohio"},
        {"id": "d2", "text": "Schools closed. Nobody was hurt."},
    ],
    "references": [{"id": "A", "text": "Rain closed roads and schools."}],
    "summaries": [
        {"system": "lead", "text": "It rained.", "human": {"responsiveness": 3.0}},
        {"system": "long", "sentences": ["Rivers rose.", "Roads closed."]},
    ],
    "source": "made up",
}

PYRAMID = {
    "assessor": "J",
    "models": ["A"],
    "scus": [{"uid": "1", "label": "Rain fell", "contributors": [{"model": "A", "parts": ["Rain"]}]}],
    "peers": {"lead": {"1": ["rained"]}},
}

#: The same with a person among the systems.
PEOPLE = {
    "summaries": [
        *TOPIC["summaries"],
        {
            "system": "ann",
            "text": "Rain closed roads and schools.",
            "person": True,
            "reference": "A",
            "ratings": [{"assessor": "J", "responsiveness": 4}, {"assessor": "K", "responsiveness": 5}],
        },
    ]
}


def person(name: str = "", **fields: Any) -> User:
    return User.objects.create_user(name or f"person{next(_numbers)}", password="a long enough password", **fields)


#: No pair comes twice, unless a test asks for it.
NO_CHECKS = {"shared_share": 0.0, "repeat_share": 0.0}


def study(owner: User | None = None, **fields: Any) -> Study:
    given = {"title": "Rain", "question": "Which matters more?"} | NO_CHECKS | fields
    return studies.make_study(owner or person(), **given)


def member(study: Study, role: str) -> User:
    user = person()
    Membership.objects.create(study=study, user=user, role=role)
    return user


def owner(study: Study) -> User:
    user: User = Membership.objects.get(study=study, role=Role.OWNER).user
    return user


def prolific(number: int) -> str:
    """What Prolific would call its participant of this number."""
    return f"5f0c{number:020x}"


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def receive(study: Study, content: bytes, name: str = "topics.jsonl", user: User | None = None) -> Upload:
    return imports.receive(study, user or owner(study), SimpleUploadedFile(name, content))


def take_in(study: Study, *records: dict[str, Any]) -> list[Topic]:
    """Store topics as the worker does, once somebody has confirmed them."""
    before = set(study.topics.values_list("pk", flat=True))
    store(study, lines(*(records or (TOPIC,))), "topics.jsonl")
    return list(study.topics.exclude(pk__in=before))


def store(study: Study, content: bytes, name: str) -> Upload:
    """Store a file as the worker does, once somebody has confirmed it."""
    upload = receive(study, content, name)
    imports.process(upload)
    imports.confirm(upload, owner(study))
    imports.process(upload)
    assert upload.state == Upload.State.STORED, upload.complaints
    return upload


def prepare(topic: Topic) -> None:
    """Cut a topic as the worker does."""
    imports.cut_topic(topic.pk)
    topic.refresh_from_db()


def fit(topic: Topic, **fields: Any) -> Fit:
    """One as the worker leaves it."""
    kept = {"judgments": 2, "sentences": 5, "settings": {}, "program_version": "1", "residual": 0.0, "iterations": 1}
    kept |= {"seconds": 0.1, "created_at": timezone.now(), "data_version": topic.sentence_set.tally.data_version}
    return Fit.objects.create(item_set_id=topic.pk, **kept | fields)


def forecast(study: Study) -> Forecast:
    """One that is ready, of three numbers of judgments."""
    points = tuple(ForecastPoint(size, 0.04 / size**0.5, 0.001, 1.0) for size in (10, 20, 300))
    record = Record(
        topics=2, sampled=2, runs=4, seed=0, sentences=5.0, systems=3, are_standard=False, variance=1.2, share=0.7,
        learnt_from=0, careless=0.1, ties=0.0, judgments_per_pair=1, stop_rule=False, points=points,
    )  # fmt: skip
    asked = forecasts.ask(study, owner(study))
    forecasts.finish(asked, to_json(record))
    return asked
