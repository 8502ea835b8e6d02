"""Markdown in templates."""

from __future__ import annotations

from django import template

from annotate.markdown import as_html, turns_to_judge

register = template.Library()
register.filter(turns_to_judge)


@register.filter
def markdown(text: str, level: int = 2) -> str:
    """A user's text as HTML, its largest headings at this level."""
    return as_html(text, level)
