"""The texts of an exported study, taken back."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import formats
from annotate import studies
from annotate.imports.store import store_texts
from annotate.models import SourceDocument, Study
from formats.study import StudyArchive

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def restore_texts(archive: StudyArchive, owner: User, *, title: str = "") -> Study:
    """The study with its settings, topics and texts, owned by `owner`, in the caller's transaction.

    Its sentences, judgments and fits are restored by those who write those tables. Where nobody has judged a topic yet
    its texts might be cut anew some day: there the archive's cutting is kept as if a person had said so.
    """
    fields = dataclasses.asdict(archive.settings)
    study = studies.make_study(owner, **fields | ({"title": title} if title else {}))
    store_texts(study, formats.Bundle(topics=tuple(archive.topics)))
    _keep_cutting(study, archive)
    return study


def _keep_cutting(study: Study, archive: StudyArchive) -> None:
    topics = {assignment.key: assignment.topic for assignment in archive.assignments}
    judged = {topics[judgment.assignment] for judgment in archive.judgments}
    cut: dict[tuple[str, str], list[str]] = {}
    for sentence in archive.sentences:
        if sentence.topic not in judged:
            cut.setdefault((sentence.topic, sentence.document), []).append(sentence.text)
    documents = SourceDocument.objects.filter(topic__study=study).select_related("topic")
    changed = []
    for document in documents:
        sentences = cut.get((document.topic.name, document.name))
        if sentences is not None and sentences != document.sentences:
            document.mended = sentences
            changed.append(document)
    SourceDocument.objects.bulk_update(changed, ["mended"], 500)
