"""Templates with everything in place that is the same on every page of a language, and the parts that they include.

Rendering that each time took half of the page that annotators see most."""

from __future__ import annotations

import re
from contextlib import suppress

from django.template.base import Origin
from django.template.exceptions import TemplateDoesNotExist
from django.template.loaders import cached
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import escape
from django.utils.translation import get_language, gettext

FIXED = re.compile(r"""\{% (translate|static|url) (?:"([^"{}%]+)"|'([^'{}%]+)') %\}""")
#: A part that gets no values of its own. It may not include itself.
PART = re.compile(r'\{% include "([^"{}%]+)" %\}')


class Loader(cached.Loader):
    """Keeps each template as it was loaded for each language, its fixed texts translated."""

    def get_contents(self, origin: Origin) -> str:
        return PART.sub(self._included, FIXED.sub(_in_place, super().get_contents(origin)))

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        return f"{get_language()} {super().cache_key(template_name, skip)}"

    def _included(self, tag: re.Match[str]) -> str:
        for origin in self.get_template_sources(tag[1]):
            with suppress(TemplateDoesNotExist):
                return self.get_contents(origin)
        return tag[0]


def _in_place(tag: re.Match[str]) -> str:
    """The text or the address that stands for a tag; a text that looks like a tag is left to Django."""
    text = tag[2] or tag[3]
    text = gettext(text) if tag[1] == "translate" else escape((static if tag[1] == "static" else reverse)(text))
    return tag[0] if "{" in text else text
