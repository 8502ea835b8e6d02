"""How Preferendum is cited: one source for a paper's BibTeX and for the file that code hosts read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from preferendum.about import __version__
from preferendum.show import citations

ROOT = Path(__file__).resolve().parent.parent.parent
CFF = ROOT / "CITATION.cff"


def test_the_file_for_code_hosts_is_a_citation_of_the_program_and_of_the_paper() -> None:
    command = [str(Path(sys.executable).parent / "check-jsonschema"), "--builtin-schema"]
    done = subprocess.run([*command, "vendor.citation-file-format", str(CFF)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    own = YAML(typ="safe").load(CFF.read_text())
    assert own.keys() >= {"cff-version", "message", "title", "authors", "version", "date-released", "license"}
    program, paper = citations.program(__version__).fields, citations.CITATIONS[citations.ZOPF].fields
    assert (own["version"], own["date-released"]) == (__version__, citations.RELEASED)
    assert (own["title"], own["authors"]) == (program["title"], [{"name": program["author"]}])
    [cited] = own["references"]
    assert (cited["title"], cited["collection-title"]) == (paper["title"], paper["booktitle"])
    assert [f"{author['family-names']}, {author['given-names']}" for author in cited["authors"]] == [paper["author"]]
    assert (str(cited["year"]), f"{cited['start']}--{cited['end']}") == (paper["year"], paper["pages"])


def test_a_paper_cites_the_same_authors_and_year() -> None:
    own = YAML(typ="safe").load(CFF.read_text())
    [author] = own["authors"]
    assert author["name"] in (ROOT / "LICENSE").read_text()
    entry = citations.bibtex([], __version__)
    assert f"author = {{{{{author['name']}}}}}," in entry, "BibTeX would take its last word for a family name"
    assert f"year = {{{own['date-released'][:4]}}}," in entry


def test_the_release_notes_begin_with_this_version_and_its_day_or_what_comes_next() -> None:
    sections = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    released = sections[1] if sections[0].startswith("Next\n") else sections[0]
    assert released.startswith(f"{__version__} ({citations.RELEASED})\n")


def in_small_letters(title: str) -> str:
    """What BibTeX's styles make of a title: small letters but for the first, the first after a colon, and braces."""
    shown = re.sub(r"(\{[^}]*\}|^.|(?<=: ).)|.", lambda part: part[1] or part[0].lower(), title)
    return shown.replace("{", "").replace("}", "")


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("lin-2004-rouge", "ROUGE: A package for automatic evaluation of summaries"),
        (
            "simpson-gurevych-2018-finding",
            "Finding convincing arguments using scalable Bayesian preference learning",
        ),
        (
            "zermelo-1929-berechnung",
            "Die Berechnung der Turnier-Ergebnisse als ein Maximumproblem der Wahrscheinlichkeitsrechnung",
        ),
        (
            "bradley-terry-1952-rank",
            "Rank analysis of incomplete block designs: I. The method of paired comparisons",
        ),
        (
            "luo-etal-2022-prefscore",
            "PrefScore: Pairwise preference learning for reference-free summarization quality assessment",
        ),
    ],
)
def test_names_and_german_nouns_keep_their_capitals_in_a_bibliography(key: str, shown: str) -> None:
    entry = citations.bibtex([key], __version__)
    title = re.search(r"title = \{(.*)\},\n", entry)
    assert title is not None
    assert in_small_letters(title[1]) == shown


def test_every_word_with_a_capital_inside_keeps_it_in_a_bibliography() -> None:
    for citation in [*citations.CITATIONS.values(), citations.program(__version__)]:
        words = re.sub(r"\{[^}]*\}", "", citation.fields["title"]).split()
        assert not [word for word in words if re.search(r"\w[A-Z]|^[A-Z]-", word)], citation.fields["title"]
