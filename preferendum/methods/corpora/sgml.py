"""Newswire as DUC and TAC hand it out: SGML that is never quite XML. Nothing in it is expanded or fetched.

Faulty files are survived: what cannot be read is replaced or passed over, and a remark says so. Of the entities those
are known that HTML has, that the Federal Register has (TREC's disks: &hyph; &blank;), and that wires sent for print.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.checks.text import decode, replace_forbidden
from preferendum.formats.readers.sources import Source

_MARKUP = re.compile(r"<(?:DOC|TEXT|P|HTML)\b[^<>]*>|^\s*<[?!]", re.IGNORECASE)
_DOC = re.compile(r"<DOC\b([^<>]*)>", re.IGNORECASE)
# Possessive, as no stretch of spaces can be parted in more than one way: else a long one costs its cube.
_ID = re.compile(r"""\bid\s*+=\s*+["']?+([^"'<>]++)["'>]""", re.IGNORECASE)
_PARAGRAPH = re.compile(r"</?P\b[^<>]*>", re.IGNORECASE)
# Where no tag marks a paragraph, an empty line or an indented one does.
_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]{2,}\S)")
_TAG = re.compile(r"<[A-Za-z/!?][^<>]{0,1000}>")
_HEAD = 500
_TOPIC = re.compile(r"<topic\b", re.IGNORECASE)
_SUMMARY_SENTENCE = re.compile(r"<a\b[^<>]{0,200}\bid\s{0,9}=[^<>]{0,200}>([^<]*)", re.IGNORECASE)
# What HTML does not know, or not so. Most marks of newswire formats stand for no character that a reader would see.
_NEWSWIRE = {"hyph": "-", "blank": " ", "md": " – ", **dict.fromkeys(("lr", "ur", "qc", "ql", "qr", "ht", "tl"), " ")}
_OF_NEWSWIRE = re.compile(rf"&({'|'.join(_NEWSWIRE)});", re.IGNORECASE)
# Letters with an accent that HTML does not have, such as &pacute; the Federal Register writes them so.
_ACCENTS = {
    "grave": "\u0300",
    "acute": "\u0301",
    "circ": "\u0302",
    "tilde": "\u0303",
    "macr": "\u0304",
    "breve": "\u0306",
    "uml": "\u0308",
    "ring": "\u030a",
    "caron": "\u030c",
    "cedil": "\u0327",
}
_ACCENTED = re.compile(rf"&([A-Za-z])({'|'.join(_ACCENTS)});")
_UNKNOWN = re.compile(r"&[A-Za-z][A-Za-z0-9]{1,20};")
# Beyond every character there is; Python would not even read a number of thousands of digits.
_NO_CHARACTER = re.compile("&#[0-9]{8,};?")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file: its text a paragraph a line, without the headline."""

    headline: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a topic asks for. `topic`: as the file names it, such as D0901A or d301i."""

    topic: str
    title: str
    narrative: str


def lenient_text(source: Source, place: Place) -> str | None:
    """The file as text, with everything replaced that may not be kept; None if it is too large, or and a complaint."""
    if source.size > limits.TEXT:
        place.pass_over("larger than %(limit)s MB", limit=limits.TEXT // limits.MEGABYTE)
        return None
    with source.open() as file:
        text = decode(place.at(1), file.read(limits.TEXT), start=True)
    if text is None:
        return None
    text, replaced = replace_forbidden(text.replace("\r\n", "\n").replace("\r", "\n"))
    if replaced:
        place.remark("%(count)s control characters were replaced by spaces", count=replaced)
    return text


def read_document(text: str, place: Place) -> Document | None:
    """The documents of a file as one (there is one, in all that were distributed); None and a remark without text."""
    if not _MARKUP.search(text):
        return Document("", "\n".join(filter(None, map(_unescaped, _BREAK.split(text)))))
    starts = [match.end() for match in _DOC.finditer(text)] or [0]
    bodies = [_between(text[start:end], "TEXT") for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    texts = [_paragraphs(body) for body in bodies if body is not None]
    if not any(texts):
        place.pass_over("no text in it")
        return None
    whole = "\n".join(filter(None, texts))
    if unknown := _UNKNOWN.findall(whole):
        first = shown(unknown[0])
        place.remark(
            "%(count)s entities of unknown meaning stay as they are, such as %(first)s", count=len(unknown), first=first
        )
    return Document(_flat(_between(text, "HEADLINE") or ""), whole)


def read_statements(text: str) -> Iterator[Statement]:
    """The topics of a file of topic statements: TAC's XML or DUC's SGML."""
    for piece in _TOPIC.split(text)[1:]:
        head = piece[:_HEAD].partition(">")[0] + ">"
        match = _ID.search(head)
        topic = match[1].strip() if match else _flat(_between(piece, "num") or "")
        narrative = _between(piece, "narrative") or _between(piece, "narr") or ""
        yield Statement(topic, _flat(_between(piece, "title") or ""), _flat(narrative))


def read_summary(text: str) -> tuple[str | None, tuple[str, ...] | None]:
    """A summary as (text, None), or as (None, sentences) where it is HTML with numbered sentences."""
    if "<html" not in text[:1000].lower():
        return "\n".join(filter(None, (line.strip() for line in text.split("\n")))), None
    sentences = tuple(filter(None, map(_flat, _SUMMARY_SENTENCE.findall(text))))
    if sentences:
        return None, sentences
    body = _between(text, "body")
    return _paragraphs(text if body is None else body), None


def _paragraphs(text: str) -> str:
    """A paragraph a line."""
    text = text.replace("<![CDATA[", "").replace("]]>", "")
    pieces = _PARAGRAPH.split(text) if _PARAGRAPH.search(text) else _BREAK.split(text)
    return "\n".join(filter(None, map(_flat, pieces)))


def _flat(text: str) -> str:
    """The text without tags, entities and line breaks."""
    return _unescaped(_TAG.sub("", text))


def _unescaped(text: str) -> str:
    """The text without entities and line breaks."""
    text = _OF_NEWSWIRE.sub(lambda match: _NEWSWIRE[match[1].lower()], text)
    text = html.unescape(_NO_CHARACTER.sub("\ufffd", text))
    text = _ACCENTED.sub(lambda match: match[1] + _ACCENTS[match[2]], text)
    return " ".join(unicodedata.normalize("NFC", replace_forbidden(text)[0]).split())


def _between(text: str, tag: str) -> str | None:
    """The content of the first element of that name, closed or not; None where there is none."""
    start = re.search(rf"<{tag}\b[^<>]*>", text, re.IGNORECASE)
    if start is None:
        return None
    end = re.compile(rf"</{tag}\b", re.IGNORECASE).search(text, start.end())
    return text[start.end() : end.start() if end else len(text)]
