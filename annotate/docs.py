"""The documentation as pages of the site: the same files, with links and headings that work there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import count, pairwise

import nh3
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from annotate import markdown
from preferendum.about import FILES

FOLDER = FILES / "docs"
#: The files that are pages, by audience, in order. Their first heading is their title.
PAGES = {
    "annotators": ("annotators",),
    "researchers": (
        "first-study",
        "researchers",
        "formats",
        "metrics",
        "model",
        "papers",
        "results",
        "python",
        "api",
        "agents",
        "not-done",
    ),
    "admins": ("admins", "annotator-figures"),
    "operators": ("operators", "signing-in", "capacity", "reliability"),
}
NAMES = frozenset(name for names in PAGES.values() for name in names)

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
CLEANER = nh3.Cleaner(
    tags={*markdown.TAGS, "h1", "img", "kbd", "table", "thead", "tbody", "tr", "th", "td"},
    attributes={
        "a": {"href", "title"},
        "img": {"alt", "src"},
        "ol": {"start"},
        **{f"h{level}": {"id"} for level in range(1, 7)},
    },
    url_schemes={"http", "https", "mailto"},
    link_rel=None,
)
#: A link from one file to another, and to a heading there.
TO_FILE = re.compile(r"([a-z-]+)\.md(#.*)?")


@dataclass(frozen=True)
class Heading:
    """A heading of a page; `anchor` is its address there."""

    text: str
    anchor: str
    level: int


@dataclass(frozen=True)
class Doc:
    """A file of the documentation, ready to be shown; `about`: its first sentence, which says what it is for."""

    name: str
    title: str
    about: str
    headings: tuple[Heading, ...]
    html: str


@cache
def load(name: str) -> Doc:
    """Read a page, once a process, since our files change only with the program. Raises KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    tokens = PARSER.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    headings = _give_anchors(tokens)
    for token in tokens:
        token.children = _lead_within_the_site(token.children or []) or None
    html = CLEANER.clean(PARSER.renderer.render(tokens, PARSER.options, {}))
    _title, first = [token for token in tokens if token.type == "inline"][:2]
    about = re.split(r"(?<=\.)\s", first.content, maxsplit=1)[0]
    return Doc(name, headings[0].text, about, tuple(headings[1:]), mark_safe(_let_wide_things_scroll(html)))  # noqa: S308


def contents() -> dict[str, list[Doc]]:
    """All pages, by audience."""
    return {reader: [load(name) for name in names] for reader, names in PAGES.items()}


def _give_anchors(tokens: list[Token]) -> list[Heading]:
    """Headings with the anchors that the files' links expect; repeated names get numbers."""
    headings: list[Heading] = []
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(child.content for child in inline.children or [])
            plain = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            number = sum(
                re.fullmatch(rf"{re.escape(plain)}(-\d+)?", earlier.anchor) is not None for earlier in headings
            )
            anchor = f"{plain}-{number}" if number else plain
            token.attrSet("id", anchor)
            headings.append(Heading(text, anchor, int(token.tag[1])))
    return headings


def _lead_within_the_site(children: list[Token]) -> list[Token]:
    """Links to other files lead to their pages, under their titles; links to files without a page become text. Pictures
    are static files."""
    kept: list[Token] = []
    is_left_out = False
    for token in children:
        if token.type == "link_open":
            address = address_of(str(token.attrGet("href")))
            is_left_out = address is None
            if address is not None:
                token.attrSet("href", address)
        if token.type == "image":
            token.attrSet("src", static("docs/" + str(token.attrGet("src")).removeprefix("images/")))
        if token.type == "text" and (match := TO_FILE.fullmatch(token.content)) and match[1] in NAMES:
            token.content = title_of(match[1])
        if not (is_left_out and token.type in ("link_open", "link_close")):
            kept.append(token)
    return kept


def title_of(name: str) -> str:
    """The first heading of a file."""
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


def address_of(link: str) -> str | None:
    """The address of a file's link on the site; None if its file is no page of the site."""
    if link.startswith(("#", "https://", "http://", "mailto:")):
        return link
    match = TO_FILE.fullmatch(link)
    if match is None or match[1] not in NAMES:
        return None
    return reverse("doc", args=[match[1]]) + (match[2] or "")


def _let_wide_things_scroll(html: str) -> str:
    """Tables and code scroll by themselves, with keys, too; a table's first row is its heading."""
    numbers = count(1)

    def opened(_match: re.Match[str]) -> str:
        label = escape(f"Table {next(numbers)}")
        return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'

    html = re.sub("<table>", opened, html).replace("</table>", "</table></div>")
    return html.replace("<th>", '<th scope="col">').replace("<pre>", '<pre tabindex="0">')
