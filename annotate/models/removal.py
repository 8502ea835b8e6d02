"""What was removed from a study. Written by annotate.imports."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study


class RemovalQuerySet(models.QuerySet["Removal"]):
    def expired(self) -> RemovalQuerySet:
        """Removals that can no longer be restored."""
        return self.filter(removed_at__lt=timezone.now() - Removal.KEPT)


class Removal(models.Model):
    """Something that a user removed from a study, and may restore for a day.

    `rows`: what was deleted, as Django's serializers write it; empty once that is restored, or the day is over. A topic
    itself stays, with its documents, sentences and judgments (`Topic.removal`); what else it had is in `rows`.
    `counts`: how many summaries, judgments and so on were removed with it.
    """

    KEPT = timedelta(days=1)

    class Kind(models.TextChoices):
        TOPIC = "topic", _("topic")
        SYSTEM = "system", _("system")
        SUMMARY = "summary", _("summary")
        REFERENCE = "reference", _("reference")
        HUMAN_SCORES = "human_scores", _("human scores")
        #: Replaced by an upload, whose name this has: the rows are as they were before.
        REPLACED = "replaced", _("earlier versions")
        #: History in an archive of the study: it was removed elsewhere, and is not restored here.
        ARCHIVED = "archived", _("history")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="removals")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    name = models.CharField(max_length=300)
    topic_name = models.CharField(max_length=200, blank=True)
    counts = models.JSONField(default=dict)
    rows = models.TextField(blank=True)
    removed_at = models.DateTimeField(auto_now_add=True)
    restored_at = models.DateTimeField(null=True, blank=True)

    objects = RemovalQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.name}"

    @property
    def restorable_until(self) -> Any:
        """Until when it can be restored; None if it is restored, or the time is over."""
        until = self.removed_at + self.KEPT
        is_open = self.restored_at is None and self.kind != Removal.Kind.ARCHIVED and timezone.now() <= until
        return until if is_open else None
