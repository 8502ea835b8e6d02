"""Scores in templates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django import template

from preferendum.show.plots import decimals
from preferendum.show.points import Unit, what_a_point_is, what_a_win_rate_is
from preferendum.show.shown import DASH

register = template.Library()
register.simple_tag(what_a_point_is)
register.simple_tag(what_a_win_rate_is)


@register.filter
def in_unit(score: float | None, unit: Unit) -> str:
    """A score as people read it."""
    return unit.show(score)


@register.filter
def interval_in(own: Any, unit: Unit) -> str:
    """The interval of a result as people read it; a dash where there is none, or no result."""
    return DASH if own is None else unit.interval(own.low, own.high)


@register.filter
def as_term(score: float, unit: Unit) -> str:
    """What one of many terms adds to a score: with two more decimals."""
    return replace(unit, decimals=unit.decimals + 2).show(score)


@register.filter
def as_change(score: float, unit: Unit) -> str:
    """What one of many terms adds to a score, or takes from it, with sign and unit."""
    finer = replace(unit, decimals=unit.decimals + 2)
    return finer.with_unit(finer.change(score))


@register.filter
def thousands(number: int) -> str:
    """A count as sentences have it."""
    return f"{number:,}"


@register.filter
def four_digits(number: float) -> str:
    """A factor of a score."""
    return f"{number:.{decimals([number])}f}"
