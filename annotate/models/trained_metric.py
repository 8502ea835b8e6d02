"""Metrics that a study was given by training. Written by annotate.training."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.job import Job
from annotate.models.study import Study
from formats.results import TrainingReport, from_json
from formats.trained_metrics import NAME, metric_of
from formats.trained_metrics import TrainedMetric as Record

#: Before the names of trained metrics in scores and reports.
TRAINED = "trained:"


class TrainedMetric(Job):
    """A metric that the worker learns from the human scores of `source`, a study that may be another one.

    `target`: the dimension that it predicts; `peers`: whose summaries teach (`formats.results.metrics.Peers`); both are
    empty for one that learns from references. `first`: another study, on which features are fitted before those of
    `source` choose among them; without it halves of `source` do both. `left_out`: assessors whose ratings teach
    nothing; the titles say so behind the names. `done` of `steps` are taken; `parts`: what they gave so far. `model` is
    a `formats.trained_metrics.TrainedMetric`, `report` a `TrainingReport`; both are empty before. `used`: the study's
    summaries are scored with it.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("being trained")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    name = models.CharField(
        _("name"),
        max_length=60,
        validators=[RegexValidator(rf"\A{NAME.pattern}\Z", _("Use letters, digits, spaces, - . and _ only."))],
    )
    method = models.CharField(max_length=20)
    target = models.CharField(max_length=200, blank=True)
    peers = models.CharField(max_length=10, blank=True)
    source = models.ForeignKey(Study, on_delete=models.SET_NULL, null=True, related_name="+")
    source_title = models.CharField(max_length=200)
    left_out = models.JSONField(default=list, blank=True)
    first = models.ForeignKey(Study, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    first_title = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=dict, blank=True)
    model = models.JSONField(default=dict, blank=True)
    report = models.JSONField(default=dict, blank=True)
    used = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="trained_metric_once_a_name")]
        indexes = [models.Index(fields=["id"], name="training_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return self.name

    @property
    def metric(self) -> str:
        """What it is called in scores and reports."""
        return f"{TRAINED}{self.name}"

    @property
    def record(self) -> Record | None:
        """What was learnt; None before."""
        return metric_of(self.model) if self.model else None

    @property
    def report_record(self) -> TrainingReport | None:
        """How well it does; None before, and where that was never worked out."""
        return from_json(TrainingReport, self.report) if self.report else None
