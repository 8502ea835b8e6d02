"""What the scores rest on, looked at closely. Written by evaluation.worker.records. All of it can be computed again."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Topic
from annotate.models.study import Study
from formats.results import Influence, from_json


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
    """What leaving out any one annotator does to a study's ranking. `version`: the sum of its topics'."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="examination")
    version = models.PositiveBigIntegerField(default=0)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.study} at {self.version}"

    @property
    def record(self) -> Influence | None:
        """None before anything was worked out."""
        return from_json(Influence, self.figures) if self.figures else None
