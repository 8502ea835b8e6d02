"""Converters of addresses."""

from __future__ import annotations

from django.urls.converters import IntConverter


class Id(IntConverter):
    """A possible key of the database: longer numbers lead nowhere instead of overflowing."""

    regex = "[0-9]{1,18}"
