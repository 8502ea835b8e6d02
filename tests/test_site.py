"""The documentation as a site: built strictly, the same pages as inside the product, nothing from other hosts."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from annotate import docs
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def words(html: str) -> str:
    """The text of a page, without white space and without the marks that lead to its headings."""
    plain = re.sub(r'<a class="headerlink".*?</a>|<[^>]+>|\s', "", html)
    return "".join(unescape(plain).split())


def test_the_menu_has_the_pages_of_the_product_in_their_order(site: Path) -> None:
    start, *sections, changes = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert (start, changes) == ("README.md", "CHANGELOG.md")
    assert sections == [
        {f"For {reader}": [f"docs/{name}.md" for name in names]} for reader, names in docs.PAGES.items()
    ]
    found = re.findall(r'<a href="([^"]+)/" class="md-nav__link"', (site / "index.html").read_text())
    assert found == [*(f"docs/{name}" for names in docs.PAGES.values() for name in names), "CHANGELOG"]


@pytest.mark.parametrize("name", sorted(docs.NAMES))
def test_a_page_of_the_site_says_what_it_says_in_the_product(site: Path, name: str) -> None:
    html = (site / "docs" / name / "index.html").read_text()
    [article] = re.findall(r"<article[^>]*>(.*)</article>", html, re.DOTALL)
    for other in docs.NAMES:  # the product shows titles
        article = article.replace(f">{other}.md</a>", f">{docs.title_of(other)}</a>")
    shown = docs.load(name).html
    assert words(article) == words(shown)
    blocks = r"<(h\d|ul|ol|li|table|tr|pre|code)\b"
    assert re.findall(blocks, article) == re.findall(blocks, shown)


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    assert len(pages) > len(docs.NAMES)
    for path, html in pages.items():
        loaded = re.findall(r'<(?!a\b)[^>]+\b(?:src|srcset|href|content)="([^"]*)"', html)
        assert not [one for one in loaded if "//" in one], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", path.read_text()), path
