"""A dataset described in Croissant 1.1, the vocabulary in which datasets are found and loaded (mlcommons.org)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotate.models import Study
from preferendum.about import __version__
from preferendum.formats.readers.lines import Sink
from preferendum.show import citations

VERSION = "http://mlcommons.org/croissant/1.1"
#: Terms of Croissant that stand without their prefix, as its specification lists them.
_TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject",
    "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
    "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
    "source", "subField", "transform",
)  # fmt: skip
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS},
}
#: The types of columns that are no text.
_TYPES = {"seconds": "sc:Float", "design_weight": "sc:Float", "at": "sc:DateTime"}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of JSON Lines: its name, that of its records, its columns with their meaning, and what writes it."""

    name: str
    records: str
    columns: Mapping[str, str]
    write: Callable[[Sink], object]


class Digest:
    """The size and the SHA-256 of what is written, on its way to a file if there is one."""

    def __init__(self, file: Sink | None = None) -> None:
        self.size, self.sha256, self._file = 0, hashlib.sha256(), file

    def writelines(self, lines: Iterable[bytes], /) -> None:
        for line in lines:
            self.size += len(line)
            self.sha256.update(line)
            if self._file is not None:
                self._file.writelines([line])


def describe(study: Study, files: Sequence[tuple[DataFile, Digest]]) -> dict[str, Any]:
    """The description of a study's dataset. The publisher adds its licence, address and maker."""
    today = timezone.now().date()
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": study.title,
        "description": "Judgments of annotators about pairs of texts. README.md says how they were made.",
        "inLanguage": study.language,
        "keywords": ["pairwise preferences", "human evaluation", "summarization"],
        "datePublished": today.isoformat(),
        "version": f"{today.year}.{today.month}.{today.day}",
        "citeAs": citations.bibtex([citations.ZOPF], __version__),
        "rai:dataAnnotationPlatform": f"Preferendum {__version__}",
        "rai:personalSensitiveInformation": "Annotators are pseudonyms; their notes are in their own words.",
        "distribution": [_file(file, digest) for file, digest in files],
        "recordSet": [_records(file) for file, _digest in files],
    }


def _file(file: DataFile, digest: Digest) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{digest.size} B",
        "encodingFormat": "application/jsonlines",
        "sha256": digest.sha256.hexdigest(),
    }


def _records(file: DataFile) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{file.records}/{column}",
            "name": column,
            "description": meaning,
            "dataType": _TYPES.get(column, "sc:Text"),
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": column}},
        }
        for column, meaning in file.columns.items()
    ]
    return {"@type": "cr:RecordSet", "@id": file.records, "name": file.records, "field": fields}
