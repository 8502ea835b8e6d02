"""What a paper about a study should cite: the sources of its scores, figures and metrics, as BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from preferendum.metrics.registry import family_of

ZOPF = "zopf-2018-estimating"
PROGRAM = "preferendum"
#: The day on which the version of `preferendum/__init__.py` was released.
RELEASED = "2026-11-25"


@dataclass(frozen=True, slots=True)
class Citation:
    """A publication, as its entry in BibTeX.

    Braces within a title keep the capitals of names, which BibTeX's styles make small letters. An author in braces is a
    group, whose name is not split.
    """

    bibtex: str

    @property
    def fields(self) -> dict[str, str]:
        """The values of the entry by name; a group without its braces."""
        values = dict(re.findall(r"^  (\w+) = \{(.*)\},$", self.bibtex, re.MULTILINE))
        return values | {"author": values["author"].strip("{}")}

    @property
    def short(self) -> str:
        """The family names and the year, as a text names it."""
        first, *others = [name.partition(",")[0] for name in self.fields["author"].split(" and ")]
        names = f"{first} et al." if len(others) > 1 else " and ".join([first, *others])
        return f"{names} {self.fields['year']}"


def _key(entry: str) -> str:
    return entry.partition("{")[2].partition(",")[0]


_ENTRIES = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8").strip().split("\n\n")
CITATIONS: Mapping[str, Citation] = {_key(entry): Citation(entry) for entry in _ENTRIES}


def of_metric(name: str) -> str | None:
    """The key of the paper of a metric, if we know it."""
    family = family_of(name.partition(":")[0])
    return family.cites or None if family else None


def program(version: str) -> Citation:
    """The program itself."""
    return Citation(
        f"@misc{{{PROGRAM},\n"
        "  author = {{The Preferendum authors}},\n"
        "  title = {Preferendum: Ranking Text Summarizers by Pairwise Preferences},\n"
        f"  year = {{{RELEASED[:4]}}},\n"
        f"  note = {{Version {version}}},\n"
        "}"
    )


def bibtex(keys: Iterable[str], version: str) -> str:
    """A file of these publications, and of the program, each once."""
    cited = [CITATIONS[key] for key in dict.fromkeys(keys) if key != PROGRAM]
    return "\n\n".join(citation.bibtex for citation in (*cited, program(version))) + "\n"
