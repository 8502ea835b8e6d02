"""Templates with everything in place that is the same on every page of a language.

What `{% translate "..." %}` and `{% static "..." %}` give for a fixed text never changes while a process lives. Put
into the template when it is loaded, once for each language, it costs nothing when a page is rendered; on the page
that annotators see most, that was a third of all the work.
"""

from __future__ import annotations

import re

from django.template.base import Origin
from django.template.loaders import cached, filesystem
from django.templatetags.static import static
from django.utils.html import escape
from django.utils.translation import get_language, gettext

TRANSLATE = re.compile(r"""\{% translate (?:"([^"{}%|]+)"|'([^'{}%|]+)') %\}""")
STATIC = re.compile(r"""\{% static (?:"([^"{}%|]+)"|'([^'{}%|]+)') %\}""")


class FoldingLoader(filesystem.Loader):
    """Reads templates and puts in place what is fixed for the active language."""

    def get_contents(self, origin: Origin) -> str:
        return fold(super().get_contents(origin))


class LanguageLoader(cached.Loader):
    """Keeps templates as they were loaded for each language."""

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        return f"{get_language()} {super().cache_key(template_name, skip)}"


def fold(source: str) -> str:
    """The template's source with fixed texts translated and the addresses of static files in place.

    As in Django, texts that stand in a template, and their translations, are ours: they are not escaped.
    """
    source = TRANSLATE.sub(lambda match: _literal(gettext(match[1] or match[2])), source)
    return STATIC.sub(lambda match: _literal(escape(static(match[1] or match[2]))), source)


def _literal(text: str) -> str:
    """As a template would have it written, should a translation ever hold what looks like a tag."""
    return f"{{% verbatim %}}{text}{{% endverbatim %}}" if "{" in text else text
