"""What the worker keeps of its analyses."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from annotate.models import Result
from annotate.models.analysis import choice_of


def heads(analysis: str, **whose: Any) -> QuerySet[Result]:
    """How far the worker is with an analysis, and its record where it has no keys."""
    return Result.objects.filter(analysis=analysis, choice="", **whose)


def rows(analysis: str, *keys: str, **whose: Any) -> QuerySet[Result]:
    """What is kept of an analysis under keys, or under these."""
    own = Result.objects.filter(analysis=analysis, **whose)
    return own.filter(choice=choice_of(keys)) if keys else own.exclude(choice="")
