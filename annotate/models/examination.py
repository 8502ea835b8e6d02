"""What the scores rest on, looked at closely. Written by evaluation.worker.records. All of it can be computed again."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Topic
from annotate.models.study import Study
from formats.results import Influence, SmallestSet, from_json


class TopicExamination(models.Model):
    """How well one topic is covered, which of its sentences fit badly, and what single annotators move there.

    `version`: the topic's fitted version that it rests on; `figures`: the record `TopicDiagnostics` of
    `formats.results`.
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="examination")
    version = models.PositiveBigIntegerField(default=0)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.topic} at {self.version}"


class Examination(models.Model):
    """What leaving out any one annotator does to a study's ranking. `version`: the sum of its topics'.

    `smallest_set`: the record of that name; empty where none was found, or before `searched_version` it was sought.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="examination")
    version = models.PositiveBigIntegerField(default=0)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField()
    searched_version = models.PositiveBigIntegerField(default=0)
    smallest_set = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.study} at {self.version}"

    @property
    def record(self) -> Influence | None:
        """None before anything was worked out."""
        return from_json(Influence, self.figures) if self.figures else None

    @property
    def set_record(self) -> SmallestSet | None:
        """None where none was found."""
        return from_json(SmallestSet, self.smallest_set) if self.smallest_set else None
