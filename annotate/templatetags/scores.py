"""Scores in templates."""

from __future__ import annotations

from dataclasses import replace

from django import template

from formats.plots import decimals
from formats.points import Unit, what_a_point_is

register = template.Library()
register.simple_tag(what_a_point_is)


@register.filter
def in_unit(score: float | None, unit: Unit) -> str:
    """A score as people read it."""
    return unit.show(score)


@register.filter
def as_term(score: float, unit: Unit) -> str:
    """What one of many terms adds to a score: with two more decimals."""
    return replace(unit, decimals=unit.decimals + 2).show(score)


@register.filter
def four_digits(number: float) -> str:
    """A factor of a score."""
    return f"{number:.{decimals([number])}f}"
