"""Corpora in the folders that they were distributed in; the plug-in has their readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from preferendum import plugin
from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.sources import Source


@dataclass(frozen=True, slots=True)
class Corpus:
    """A kind of corpus: whether files are (a part of) one, and what adds its topics to a draft."""

    recognises: Callable[[list[Source]], bool]
    read: Callable[[list[Source], Place, Draft], None]


_corpora: list[Corpus] = []


def register(corpus: Corpus) -> None:
    """Make corpora of this kind readable."""
    _corpora.append(corpus)


def corpus_of(sources: list[Source]) -> Corpus | None:
    """The kind of corpus that the files are; None where they are none."""
    plugin.load()
    return next((corpus for corpus in _corpora if corpus.recognises(sources)), None)
