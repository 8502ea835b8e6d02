"""How many judgments a study needs, as the worker has simulated it. Written by annotate.forecasts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.job import Job
from annotate.models.study import SHARE
from preferendum.results import Forecast as Record
from preferendum.results import from_json


class Forecast(Job):
    """The expected outcome of a study, by number of judgments per topic.

    `careless`: the share of random answers; None for the usual one, or an estimate from existing judgments. `done` of
    `steps` simulations are finished; `parts`: their results. `figures`: the record `Forecast` of
    `preferendum.results`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("being simulated")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    careless = models.FloatField(null=True, blank=True, validators=SHARE)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=dict, blank=True)
    figures = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [models.Index(fields=["id"], name="forecast_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return f"{self.study} · {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def record(self) -> Record | None:
        """The forecast; None before it is computed."""
        return from_json(Record, self.figures) if self.figures else None
