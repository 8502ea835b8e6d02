"""What a person asks of the worker: each kind has a table and a writer of its own."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.db import models
from django.utils import timezone

from annotate.models.study import Study


class Job(models.Model):
    """Something that a person asked for and the worker does.

    It is in one of the states `WAITING` until it is done, or has failed for the reason `problem`; each kind says which
    states there are. How often in a row the worker tried in vain stands with its claim.
    """

    WAITING: ClassVar[tuple[str, ...]] = ("waiting",)
    FAILED: ClassVar[str] = "failed"

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="%(class)ss")
    state = models.CharField(max_length=10, default="waiting")
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    @classmethod
    def waiting(cls) -> models.QuerySet[Self]:
        """Those that the worker has something to do for."""
        return cls._default_manager.filter(state__in=cls.WAITING)

    def give_up(self, problem: str) -> None:
        """Try no longer, and say why in plain words; what is done or given up already stays as it is."""
        self.waiting().filter(pk=self.pk).update(state=self.FAILED, problem=problem, changed_at=timezone.now())
        self.refresh_from_db()
