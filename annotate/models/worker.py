"""Workers' heartbeats and claims. Written by evaluation.claims."""

from __future__ import annotations

from typing import Self

from django.db import models


class WorkerPulse(models.Model):
    """The heartbeat of one worker process, so that a page can say when none is running."""

    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()
    program_version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.name


class ClaimQuerySet(models.QuerySet["Claim"]):
    def of_failed_looks(self) -> Self:
        """The claims on looks at studies whose work the worker could not read."""
        return self.filter(name__startswith=f"{Claim.LOOK}:", attempts__gt=0)


class Claim(models.Model):
    """Work claimed by a worker ("topic:12"), so that no other does the same, and how its attempts went.

    The claim was taken at `since` and is void after `until`. `attempts` counts those since the last success, this one
    included; `retry_at` is when the next may start (sooner, if the data are newer than the `version` that failed).
    `seconds`: the duration of the last attempt; `study`: the key of its study. A lost row costs only a delay, because
    versions guard what is published.
    """

    #: The prefix of claims of looks at a study's work. If one fails, the study has none until the next attempt.
    LOOK = "look"

    name = models.CharField(max_length=60, unique=True)
    study = models.PositiveBigIntegerField(default=0)
    token = models.UUIDField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveBigIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True)

    objects = ClaimQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
