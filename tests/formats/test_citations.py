"""How Preferendum is cited: one source for a paper's BibTeX and for the file that code hosts read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

from formats import citations
from preferendum import __version__

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


def test_the_release_notes_begin_with_this_version_and_its_day() -> None:
    notes = (ROOT / "CHANGELOG.md").read_text()
    assert notes.partition("\n## ")[2].startswith(f"{__version__} ({citations.RELEASED})\n")
