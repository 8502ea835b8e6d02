"""Rows that the tests of the website begin with, made by the verbs that make them in earnest."""

from __future__ import annotations

import itertools
import json
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from annotate import imports, studies
from annotate.models import Membership, Sentence, Study, Topic, TopicProgress, Upload

Role = Membership.Role

_numbers = itertools.count(1)

TOPIC = {
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


def person(name: str = "", **fields: Any) -> User:
    return User.objects.create_user(name or f"person{next(_numbers)}", password="a long enough password", **fields)


def study(owner: User | None = None, **fields: Any) -> Study:
    return studies.make_study(owner or person(), **{"title": "Rain", "question": "Which matters more?"} | fields)


def member(study: Study, role: str) -> User:
    user = person()
    Membership.objects.create(study=study, user=user, role=role)
    return user


def owner(study: Study) -> User:
    user: User = Membership.objects.get(study=study, role=Role.OWNER).user
    return user


def cut(text: str, language: str) -> int:
    """Sentences of the tests end in a full stop."""
    return sum(1 for part in text.split(".") if part.strip())


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def receive(study: Study, content: bytes, name: str = "topics.jsonl", user: User | None = None) -> Upload:
    return imports.receive(study, user or owner(study), SimpleUploadedFile(name, content))


def take_in(study: Study, *records: dict[str, Any]) -> list[Topic]:
    """Store topics as the worker does, but for the cutting."""
    upload = receive(study, lines(*(records or (TOPIC,))))
    bundle = imports.read_upload(upload, cut)
    assert bundle is not None, upload.complaints
    with transaction.atomic():
        return imports.store_texts(study, bundle)


def prepare(topic: Topic) -> None:
    """Cut a topic as the worker would, in sentences that end in a full stop."""
    topic.refresh_from_db()
    Sentence.objects.filter(topic=topic).delete()
    position = 0
    for document in topic.documents.all():
        given = document.mended or document.sentences
        sentences = given or [f"{part.strip()}." for part in document.text.split(".") if part.strip()]
        for index, text in enumerate(sentences):
            Sentence.objects.create(topic=topic, document=document, index=index, position=position, text=text)
            position += 1
    TopicProgress.objects.update_or_create(topic=topic, defaults={"prepared_version": topic.text_version})
