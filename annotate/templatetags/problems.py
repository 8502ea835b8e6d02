"""What the worker says in templates."""

from __future__ import annotations

from django import template

from annotate.reports.study import is_busy

register = template.Library()


@register.filter
def tone(problem: str) -> str:
    """The class of a notice: red is for faults of the data, amber where the worker was busy."""
    return "warning" if is_busy(problem) else "error"
