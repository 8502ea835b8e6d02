"""Requests of programs and their answers. Written by annotate.server.idempotency."""

from __future__ import annotations

from django.db import models


class AnsweredRequest(models.Model):
    """The answer to a request with an `Idempotency-Key`, so that nothing is done twice. It has no secrets.

    `key` and `fingerprint` are digests: of the key and its sender, and of what was sent.
    """

    key = models.CharField(max_length=64, primary_key=True)
    fingerprint = models.CharField(max_length=64)
    study = models.ForeignKey("annotate.Study", on_delete=models.CASCADE, null=True, related_name="+")
    status = models.PositiveSmallIntegerField(default=0)
    answer = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.key
