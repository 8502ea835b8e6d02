"""Requested exports. Written by annotate.exports."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from annotate.models.job import Job


class Export(Job):
    """A study as a file: written by the worker, fetched by the user who requested it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("being written")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    file = models.FileField(upload_to="exports", max_length=200, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [models.Index(fields=["id"], name="export_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return f"{self.study} · {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def filename(self) -> str:
        """Under which a browser saves it; exports of one day differ by their time."""
        return f"{slugify(self.study.title) or 'study'}-{self.created_at:%Y-%m-%d-%H%M}.zip"

    @property
    def size(self) -> int | None:
        """Its bytes; None if there is no file."""
        return self.file.size if self.file.name and self.file.storage.exists(self.file.name) else None
