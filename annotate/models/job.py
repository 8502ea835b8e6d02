"""Users' jobs for the worker: each kind has its own table and writer."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.db import models
from django.utils import timezone

from annotate.models.study import Study


class Job(models.Model):
    """A user's job for the worker.

    It is in one of the states `WAITING` until it is done, or has failed for the reason `problem`; each kind defines its
    states. The number of failed attempts in a row is in its claim.
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
        """Jobs that the worker has to do."""
        return cls._default_manager.filter(state__in=cls.WAITING)

    def give_up(self, problem: str) -> None:
        """Mark the job as failed, with the reason in plain words; finished and failed ones stay as they are."""
        self.waiting().filter(pk=self.pk).update(state=self.FAILED, problem=problem, changed_at=timezone.now())
        self.refresh_from_db()
