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


def test_the_file_for_code_hosts_is_what_the_program_writes() -> None:
    write = "from formats.citations import cff; from preferendum import __version__; print(cff(__version__), end='')"
    assert CFF.read_text() == citations.cff(__version__), f'python -c "{write}" > CITATION.cff'


def test_it_is_a_citation_file_that_names_the_program_and_the_paper() -> None:
    command = [str(Path(sys.executable).parent / "check-jsonschema"), "--builtin-schema"]
    done = subprocess.run([*command, "vendor.citation-file-format", str(CFF)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    own = YAML(typ="safe").load(CFF.read_text())
    assert own.keys() >= {"cff-version", "message", "title", "authors", "version", "date-released", "license"}
    assert own["references"][0]["authors"] == [{"family-names": "Zopf", "given-names": "Markus"}]


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
