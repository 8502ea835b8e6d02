"""What is the same on every page of a language is in the template already, in that language alone."""

from __future__ import annotations

from django.template.base import TextNode
from django.template.loader import get_template
from django.template.loader_tags import IncludeNode
from django.utils.translation import override


def texts(name: str, language: str) -> str:
    """The text of a template that stands in it without rendering."""
    with override(language):
        nodes = get_template(name).template.nodelist.get_nodes_by_type(TextNode)
    return "".join(node.s for node in nodes)


def test_texts_addresses_and_what_is_called_fixed_are_in_place_in_each_language():
    for language, skip in (("en", "Skip to content"), ("de", "Zum Inhalt springen"), ("en", "Skip to content")):
        found = texts("judge/base.html", language) + texts("base.html", language)
        assert f'<html lang="{language}" dir="ltr">' in found
        assert skip in found
        assert f'<option value="{language}" lang="{language}" selected>' in found
        assert "/static/judge-keys" in found
        assert 'href="/judging/"' in found


def test_parts_that_get_no_values_of_their_own_are_in_place():
    parts = get_template("judge/pair.html").template.nodelist.get_nodes_by_type(IncludeNode)
    assert all(part.extra_context for part in parts)
    assert "Why can’t you judge this pair?" in texts("judge/pair.html", "en")
