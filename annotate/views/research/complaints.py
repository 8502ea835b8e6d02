"""What readers of files say of them, in the language of whoever looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _


def in_words(complaint: Mapping[str, Any]) -> dict[str, Any]:
    """A complaint with its templates filled in."""
    params = complaint["params"]
    return {
        **complaint,
        "found": filled(complaint["found"], params),
        "expected": filled(complaint["expected"], params),
    }


def filled(template: str, params: Mapping[str, Any]) -> str:
    """What a template says, translated where we have it in the reader's language."""
    # An empty text would be answered with the translation file's header.
    return _(template) % params if template else ""
