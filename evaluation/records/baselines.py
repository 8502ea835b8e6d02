"""Load texts for the standard summarizers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from annotate import exports
from annotate.database.snapshot import snapshot
from annotate.imports import baselines
from annotate.imports.written import written_topics
from annotate.models import Topic, Upload
from preferendum.evidence import Evidence, evidence


@dataclass(frozen=True, slots=True)
class Unsummarized:
    """All topics of a study; by name, those whose baseline summaries are written, and those that wait for them."""

    topics: tuple[Evidence, ...]
    written: frozenset[str]
    waiting: frozenset[str]


@snapshot()
def load_unsummarized(upload: Upload) -> Unsummarized:
    """Raises `OSError` if the file of the summaries is gone."""
    records = exports.topic_records(Topic.objects.filter(study=upload.study_id))
    language = upload.study.language
    wanted = set(baselines.topics_without_baselines(upload.study).values_list("name", flat=True))
    written = written_topics(upload)
    return Unsummarized(
        tuple(evidence(replace(record, language=record.language or language)) for record in records),
        frozenset(written),
        frozenset(wanted - written),
    )
