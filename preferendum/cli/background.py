"""`background`: count the words of a collection, which metrics hold the words of a topic against."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from preferendum.cli import common
from preferendum.cli.common import Command, InputError
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.checks.text import decode
from preferendum.formats.readers.topics import LANGUAGE
from preferendum.formats.readers.word_counts import written_word_counts
from preferendum.vocabulary.background import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="FOLDER", type=Path, help="the collection: every .txt file in it or below is a document"
    )
    parser.add_argument_group("words").add_argument(
        "--language", metavar="TAG", type=_language, default="en", help="the language of the documents (default: en)"
    )


def run(options: argparse.Namespace) -> str:
    paths = sorted(options.folder.rglob("*.txt"))
    if not paths:
        raise InputError(f"{options.folder}: there is no .txt file in it")
    word_counts = counted(_documents(paths), options.language)
    if not word_counts.counts:
        raise InputError(f"{options.folder}: there are no words in it")
    return written_word_counts(word_counts)


COMMAND = Command(
    name="background",
    help="count the words of a collection, for metrics that tell a topic's own words from everybody's",
    description="Writes how often each word occurs in a folder of texts, and how many of them have it: a file for "
    "cosine:background=FILE and its like.",
    add_arguments=add_arguments,
    run=run,
    takes="FOLDER",
    makes_file=True,
)


def _documents(paths: Sequence[Path]) -> Iterator[Sequence[str]]:
    complaints = Complaints()
    for path in common.progress(paths, "counting words: document"):
        text = decode(Place(complaints, path.name, 1), path.read_bytes(), start=True)
        yield [text or ""]
    complaints.raise_if_any()


def _language(text: str) -> str:
    if LANGUAGE.fullmatch(text):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not a language tag, such as en or pt-BR")
