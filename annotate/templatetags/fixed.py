"""What is the same on every page of a language."""

from __future__ import annotations

from django import template
from django.template.base import Parser, TextNode, Token

register = template.Library()


@register.tag
def fixed(parser: Parser, token: Token) -> TextNode:
    """Render what is inside once for each language, as the template is loaded (`annotate.server.templates`)."""
    inside = parser.parse(["endfixed"])
    parser.delete_first_token()
    return TextNode(inside.render(template.Context()))
