"""The documentation inside the site: every page is there, every link in it leads somewhere, every help link, too."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse

from annotate import docs
from annotate.views.research import menu

pytestmark = pytest.mark.django_db
HELP = re.compile(r'include "parts/help.html" with doc="([a-z-]+)"(?: anchor="([^"]+)")?')


def anchors(name: str) -> set[str]:
    return set(re.findall(r' id="([^"]+)"', docs.load(name).html))


def test_every_file_of_the_documentation_is_a_page() -> None:
    assert {path.stem for path in Path(settings.BASE_DIR, "docs").glob("*.md")} == docs.NAMES


def test_the_index_says_in_a_sentence_what_each_page_is_for(client) -> None:
    index = unescape(client.get(reverse("docs")).content.decode())
    for name in docs.NAMES:
        assert re.fullmatch(r"[A-Z][^`*\[]{30,130}\.", docs.load(name).about), name
        assert f"{docs.load(name).title}</a>: {docs.load(name).about}<" in index


@pytest.mark.parametrize("name", sorted(docs.NAMES))
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    html = docs.load(name).html
    links = [unescape(link) for link in re.findall(r'href="([^"]+)"', html)]
    for link in links:
        address, _, anchor = link.partition("#")
        if not address.startswith(("http", "mailto:")):
            page = address.split("/")[2] if address else name
            assert not anchor or anchor in anchors(page), (name, link)
            assert not address or Client().get(address).status_code == 200
    assert not re.search(r'href="(?!/docs/|#|https?:|mailto:)', html)
    assert "](" not in re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL), "a link that was not read as one"


def test_every_page_has_headings_to_go_to_and_tables_that_say_what_stands_below(client) -> None:
    html = client.get(reverse("doc", args=["researchers"])).content.decode()
    assert '<h2 id="2-upload">2. Upload</h2>' in html
    assert '<a href="#2-upload">2. Upload</a>' in html
    assert '<th scope="col">Setting</th>' in html
    assert 'href="/docs/model/#which-pair-next"' in html
    assert [name for name in docs.NAMES if not docs.load(name).headings] == []
    assert "<kbd>U</kbd>" in client.get(reverse("doc", args=["annotators"])).content.decode()


def test_what_is_no_page_is_not_found(client) -> None:
    for name in ("x", "images", "../README", "researchers.md"):
        assert client.get(f"/docs/{name}/").status_code == 404
    assert all(f'href="/docs/{name}/"' in client.get(reverse("docs")).content.decode() for name in docs.NAMES)


def test_every_help_link_leads_to_a_heading() -> None:
    found = [
        link for path in Path(settings.BASE_DIR, "templates").rglob("*.html") for link in HELP.findall(path.read_text())
    ]
    of_menu = [place.partition("#")[::2] for place in menu.HELP.values()]
    assert len(of_menu) >= 10
    for name, anchor in found + of_menu:
        assert name in docs.NAMES
        assert not anchor or anchor in anchors(name), (name, anchor)


def test_pictures_are_described_static_files() -> None:
    pictures = [picture for name in docs.NAMES for picture in re.findall(r"<img [^>]+>", docs.load(name).html)]
    assert len(pictures) >= 3
    for picture in pictures:
        assert re.search(r' alt="[^"]+"', picture), picture
        found = re.search(r' src="/static/([^"]+)"', picture)
        assert found, picture
        assert finders.find(found[1]), picture
