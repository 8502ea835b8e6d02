"""What stands in addresses."""

from __future__ import annotations

from django.urls.converters import IntConverter


class Id(IntConverter):
    """A key that a database could have: a longer number leads nowhere instead of overflowing somewhere."""

    regex = "[0-9]{1,18}"
