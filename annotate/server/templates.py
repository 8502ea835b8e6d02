"""Templates with everything in place that is the same on every page of a language.

Rendering that each time took a third of the page that annotators see most."""

from __future__ import annotations

import re

from django.template.base import Origin
from django.template.loaders import cached
from django.templatetags.static import static
from django.utils.html import escape
from django.utils.translation import get_language, gettext

FIXED = re.compile(r"""\{% (translate|static) (?:"([^"{}%]+)"|'([^'{}%]+)') %\}""")


class Loader(cached.Loader):
    """Keeps each template as it was loaded for each language, its fixed texts translated."""

    def get_contents(self, origin: Origin) -> str:
        return FIXED.sub(_in_place, super().get_contents(origin))

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        return f"{get_language()} {super().cache_key(template_name, skip)}"


def _in_place(tag: re.Match[str]) -> str:
    """The text or the address that stands for a tag; a text that looks like a tag is left to Django."""
    text = tag[2] or tag[3]
    text = gettext(text) if tag[1] == "translate" else escape(static(text))
    return tag[0] if "{" in text else text
