"""Readers' complaints about files, in the language of the visitor."""

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
    """A template filled in, translated if the visitor's language has it."""
    # gettext answers an empty text with the translation file's header.
    return _(template) % params if template else ""
