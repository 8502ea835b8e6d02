"""Users' Markdown as HTML that is safe to show: no HTML of theirs, no images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import punctuation

import nh3
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LAST_HEADING = 6
MARKS = frozenset(punctuation)
#: The tags that guidelines may contain; all others are removed.
TAGS = {
    *("p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h2", "h3", "h4", "h5", "h6"),
}

#: Line breaks are kept, as in texts from before there was Markdown here.
PARSER = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable("image")
#: Texts to judge lose nothing: no white space within paragraphs, no backslashes of formulas, no definitions of links.
#: A `span` shows its text as it is.
TO_JUDGE = MarkdownIt("commonmark", {"html": False, "maxNesting": 40})
TO_JUDGE.disable(["image", "newline", "entity", "reference"])
TO_JUDGE.inline.ruler.at("escape", lambda state, _silent: _keep_backslash(state))
TO_JUDGE.add_render_rule("text", lambda _self, tokens, at, *_: f"<span>{escapeHtml(tokens[at].content)}</span>")
#: Characters of a longer conversation are shown as they are: some take Markdown's rules seconds.
LONGEST = 30_000
CLEANER = nh3.Cleaner(
    tags=TAGS | {"span"},
    attributes={"a": {"href", "title"}, "ol": {"start"}},
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
    link_rel="noopener noreferrer",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


@lru_cache(maxsize=64)
def as_html(text: str, level: int = 2) -> str:
    """A user's Markdown as HTML. Its largest headings get this level. Links open outside the page."""
    return _rendered(PARSER, PARSER.parse(text), level)


def turns_to_judge(turns: Sequence[Mapping[str, str]], level: int = 3) -> list[tuple[str, str]]:
    """The turns of a conversation as (role, HTML)."""
    as_shown = to_judge if sum(len(turn["content"]) for turn in turns) <= LONGEST else _as_it_is
    return [(turn["role"], as_shown(turn["content"], level)) for turn in turns]


@lru_cache(maxsize=256)
def to_judge(text: str, level: int = 3) -> str:
    """A text that people judge as HTML: its Markdown rendered, its largest headings of this level."""
    tokens = TO_JUDGE.parse(text)
    # Markdown passes over what is nested deeper.
    is_whole = all(token.level < TO_JUDGE.options.maxNesting - 2 for token in tokens)
    return _rendered(TO_JUDGE, tokens, level) if is_whole else _as_it_is(text)


def _as_it_is(text: str, _level: int = 0) -> str:
    return format_html("<p><span>{}</span></p>", text)


def _keep_backslash(state: StateInline) -> bool:
    """A backslash before a mark takes its meaning, and is shown as well."""
    following = state.src[state.pos + 1 : state.pos + 2]
    if state.src[state.pos] != "\\" or following not in MARKS:
        return False
    state.pending += "\\" + following
    state.pos += 1 + len(following)
    return True


def _rendered(parser: MarkdownIt, tokens: list[Token], level: int) -> str:
    lower_headings(tokens, level)
    return mark_safe(CLEANER.clean(parser.renderer.render(tokens, parser.options, {})))  # noqa: S308 (just cleaned)


def lower_headings(tokens: list[Token], level: int) -> None:
    """Give a text's largest headings this level, and the others the next ones without a gap."""
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    levels = {tag: f"h{min(level + rank, LAST_HEADING)}" for rank, tag in enumerate(sorted({t.tag for t in headings}))}
    for token in headings:
        token.tag = levels[token.tag]
