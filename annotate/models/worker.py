"""Who works on what, and how it went. Written by evaluation.worker.claims."""

from __future__ import annotations

from django.db import models


class WorkerPulse(models.Model):
    """A sign of life of one worker process, so that a page can say when none is there."""

    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()
    program_version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.name


class Claim(models.Model):
    """What a worker is at ("topic:12"), so that no other does the same, and how its attempts at it went.

    The claim was taken at `since`, and is void once `until` has passed. `attempts` counts those since the last that
    succeeded, this one included, and `retry_at` is when the next one may come (sooner, if the data are newer than the
    `version` that failed). `seconds`: how long the last attempt took; `study`: the key of the study that it was for. A
    row that is lost costs a delay: what is published is guarded by versions.
    """

    name = models.CharField(max_length=60, unique=True)
    study = models.PositiveBigIntegerField(default=0)
    token = models.UUIDField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveBigIntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True)

    def __str__(self) -> str:
        return self.name
