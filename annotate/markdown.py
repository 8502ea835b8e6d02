"""Researchers' Markdown as HTML that is safe to show: no HTML of theirs, no images."""

from __future__ import annotations

from functools import lru_cache

import nh3
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

LAST_HEADING = 6
#: The tags that guidelines may contain; all others are removed.
TAGS = {
    *("p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h2", "h3", "h4", "h5", "h6"),
}

#: Line breaks are kept, as in texts from before there was Markdown here.
PARSER = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable("image")
CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes={"a": {"href", "title"}, "ol": {"start"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


@lru_cache(maxsize=64)
def as_html(text: str, level: int = 2) -> str:
    """A user's Markdown as HTML. Its largest headings get this level. Links open outside the page."""
    tokens = PARSER.parse(text)
    lower_headings(tokens, level)
    return mark_safe(CLEANER.clean(PARSER.renderer.render(tokens, PARSER.options, {})))  # noqa: S308 (just cleaned)


def lower_headings(tokens: list[Token], level: int) -> None:
    """Give a text's largest headings this level, and the others the next ones without a gap."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    levels = {tag: f"h{min(level + rank, LAST_HEADING)}" for rank, tag in enumerate(sorted({t.tag for t in headings}))}
    for token in headings:
        token.tag = levels[token.tag]
