"""What would change if some annotators were left out, or taken back in. Written by annotate.previews."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study


class Preview(models.Model):
    """A question to the worker: the leaderboard and the agreement without some annotators, or with them again.

    `annotators`: primary keys; `leave_out`: whether they are left out, or taken back in. `parts`: what is worked out
    so far, by topic, so that a long one is gone on with; `done` of `topics` tell how far it is. `version`: the sum of
    the topics' data versions that it rests on. `figures`: {"systems": [...], "agreement": {...}}, see
    evaluation.removal.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("being worked out")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="previews")
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    annotators = models.JSONField(default=list)
    leave_out = models.BooleanField(default=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    version = models.PositiveBigIntegerField(default=0)
    topics = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    parts = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["id"], name="preview_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return f"{self.study} · {self.created_at:%Y-%m-%d %H:%M}"
