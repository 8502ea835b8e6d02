"""Rate limits per visitor. Written by annotate.server.limits."""

from __future__ import annotations

from django.db import models


class Allowance(models.Model):
    """How much of one limit one visitor has used; `key` reveals neither the visitor nor what they did."""

    key = models.CharField(max_length=64, primary_key=True)
    used = models.PositiveIntegerField()
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.key
