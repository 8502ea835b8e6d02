"""What would change if some annotators were left out or taken back in, or if only one kind counted.

Written by annotate.judging.what_if.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.job import Job
from annotate.models.judging import Annotator
from preferendum.results import WhatIf, from_json


class WhatIfQuestion(Job):
    """A question to the worker: the leaderboard and the agreement without some annotators, or with them again, or from
    one kind of annotators alone.

    `annotators`: primary keys; `leave_out`: whether they are left out, or taken back in. `kind`: the only kind whose
    judgments count, or empty; such a question is about no annotators. `parts`: what is computed so far, by topic, so
    that a long one can be continued; `done` of `topics` are computed. `version`: the sum of the topics' data versions
    that it rests on. `figures`: the record `WhatIf` of `preferendum.results`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("being computed")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    annotators = models.JSONField(default=list)
    leave_out = models.BooleanField(default=True)
    kind = models.CharField(max_length=10, blank=True, default="", choices=Annotator.Kind.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    version = models.PositiveBigIntegerField(default=0)
    topics = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["id"], name="what_if_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return f"{self.study} · {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def record(self) -> WhatIf | None:
        """The answer; None before it is computed."""
        return from_json(WhatIf, self.figures) if self.figures else None
