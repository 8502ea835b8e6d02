"""The worker's results of the analyses of a study or a topic. Written by evaluation.records.derived.

All of it can be thrown away and computed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self, TypeVar

from django.db import models
from django.db.models import F, OuterRef, Subquery, Sum, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce

from annotate.models.corpus import Topic
from annotate.models.study import Study
from preferendum.results import from_json

Record = TypeVar("Record")


class ResultQuerySet(models.QuerySet["Result"]):
    def of_study(self, study: Study | int, analysis: str) -> Self:
        """The head first, then the records under keys."""
        return self.filter(study=study, analysis=analysis).order_by("pk")

    def of_topics(self, study: Study | int, analysis: str) -> Self:
        """The records of the study's topics, in topic order; a removed topic has none."""
        rows = self.filter(topic__study=study, analysis=analysis, choice="")
        return rows.order_by("topic__position")

    def head(self, study: Study | int, analysis: str) -> Result:
        """The head, which says how far the analysis is; an unsaved one at version 0 before the analysis began."""
        row = self.select_related("study").filter(study=study, analysis=analysis, choice="").first()
        return row or Result(study_id=study if isinstance(study, int) else study.pk, analysis=analysis)

    def by_keys(self, study: Study | int, analysis: str) -> dict[tuple[str, ...], Result]:
        """The records under keys, by their keys."""
        return {row.keys: row for row in self.of_study(study, analysis).exclude(choice="")}


class Result(models.Model):
    """One record of `preferendum.results` for an analysis of a study or a topic.

    `choice`: the keys it is kept under, such as a dimension of human scores, as a list in JSON; empty for the head,
    which says how far the whole analysis is: `version`, of the data that it rests on; `turns`, how often any of it was
    saved; `problem`, why the last attempt failed. Without keys, the head has the record. With keys, the head's `record`
    holds the worker's notes for itself and for people who wait.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, related_name="results")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, null=True, related_name="results")
    analysis = models.CharField(max_length=40)
    choice = models.CharField(max_length=1000, blank=True, default="")
    version = models.PositiveBigIntegerField(default=0)
    turns = models.PositiveBigIntegerField(default=0)
    record: models.JSONField[Any, Any] = models.JSONField(null=True)
    problem = models.TextField(blank=True)
    computed_at = models.DateTimeField()

    objects = ResultQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "analysis", "choice"], name="result_once_a_study"),
            models.UniqueConstraint(fields=["topic", "analysis", "choice"], name="result_once_a_topic"),
            models.CheckConstraint(
                condition=models.Q(study__isnull=True) ^ models.Q(topic__isnull=True), name="result_of_one"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study or self.topic}: {self.analysis} at {self.version}"

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(json.loads(self.choice)) if self.choice else ()

    def read(self, kind: type[Record]) -> Record | None:
        """The record; None if there is none."""
        return from_json(kind, self.record) if self.record else None


def choice_of(keys: Sequence[str]) -> str:
    return json.dumps(list(keys), ensure_ascii=False) if keys else ""


def of_head(analysis: str, column: str = "version", study: str = "pk") -> Any:
    """A column of the head of an analysis, for each study of a query; 0 without a head."""
    heads = Result.objects.filter(study=OuterRef(study), analysis=analysis, choice="")
    return Coalesce(Subquery(heads.values(column)[:1]), Value(0))


def version_of_examinations() -> Combinable:
    """The version of the diagnostics of a study's topics, which never falls, for each study of a query."""
    of_topic = Result.objects.filter(topic=OuterRef("item_sets__pk"), analysis="diagnostics", choice="")
    examined = Sum(Coalesce(Subquery(of_topic.values("version")), F("item_sets__last_data_version")))
    return examined + F("removed_version")
