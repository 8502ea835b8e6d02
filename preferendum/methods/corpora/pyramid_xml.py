"""Reading Pyramid annotations as DUCView writes them: .pyr (the model summaries) and .pan (one summary against them).

Offsets in real files are often wrong: a stretch is where its words are. Faults do not stop reading: remarks name them,
and the rest is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Complaints, Place, shown
from preferendum.formats.checks.text import clean, decode, replace_forbidden
from preferendum.formats.pyramid import AnnotatedText, Contributor, Part, Peer, Pyramid, Scu

# Its own declaration, or the mark of UTF-16, says how the file is to be read.
_OTHERWISE_ENCODED = re.compile(
    rb"\xff\xfe|\xfe\xff|(?:\xef\xbb\xbf)?<\?xml\b[^>]*\bencoding\s*=\s*[\"'](?!utf-?8[\"'])", re.IGNORECASE
)
_BARE_AMPERSAND = re.compile(r"&(?!#?\w+;)")
_WEIGHT = re.compile(r"^\s*\(\d+\)\s*")
# "D0901-A.M.100.A.C", "D301.M.250.I.A": the name of a summary as DUC and TAC give it, which opens it in the text.
_NAME = re.compile(r"\bD\d+\w*(?:-[A-Z])?\.[MP]\.\d+\.\w+\.(\w+)\b")
# A file's own pattern is tried on short lines only, and only if it cannot take long: it takes up to the length of a
# line to the power of its repeats. It may have three repeats on lines that are shorter still.
_HEADER_CHARACTERS = 100
_MOST_REPEATS = 3
_REPEATED_CHARACTERS = 30
_REPEATS = re.compile(r"\\.|([*+?{])", re.DOTALL)
_CHOICES = re.compile(r"\)[*+?{]|\(\?|\\\d|\|")


def read_pyramid(data: bytes, place: Place) -> Pyramid | None:
    """The pyramid in a .pyr file, or in a .pan file that carries one; None and a remark where there is none."""
    root = _parse(data, place)
    if root is None:
        return None
    pyramid = root if root.tag == "pyramid" else root.find("pyramid")
    if pyramid is None:
        place.pass_over("no pyramid in it")
        return None
    text = _text(pyramid)
    models, borders = _models(text.text, pyramid.findtext("startDocumentRegEx") or "", place)
    scus = [
        Scu(uid, _label(scu), tuple(_contributors(scu, text, borders, place)))
        for uid, scu in _distinct(pyramid.iterfind("scu"), place)
    ]
    return Pyramid(text.text, tuple(scus), models, borders)


def read_peer(data: bytes, pyramid: Pyramid, place: Place) -> Peer | None:
    """The annotation in a .pan file against its topic's pyramid; None and a remark where there is none.

    What is matched with an SCU that the pyramid does not have counts as matching none, with a remark.
    """
    root = _parse(data, place)
    if root is None:
        return None
    annotation = root.find("annotation")
    if annotation is None:
        place.pass_over("no annotated summary in it")
        return None
    text = _text(annotation)
    uids = {scu.uid for scu in pyramid.scus}
    matched: dict[str, tuple[Contributor, ...]] = {}
    unmatched: list[Contributor] = []
    for uid, scu in _distinct(annotation.iterfind("peerscu"), place):
        contributors = tuple(_contributors(scu, text, (), place))
        if uid in uids:
            if contributors:
                matched[uid] = contributors
            continue
        if uid != "0" and contributors:
            place.remark("the SCU %(uid)s is not in the pyramid; counted as matching none", uid=shown(uid))
        unmatched += contributors
    return Peer(text.text, matched, tuple(unmatched))


def _text(element: Element) -> AnnotatedText:
    # The offsets in the file count over its lines, joined by a newline.
    return AnnotatedText(_taken("\n".join(line.text or "" for line in element.iterfind("text/line"))))


def _taken(text: str) -> str:
    """The text as it is stored; nothing of one that cannot be."""
    return clean(Place(Complaints(), ""), replace_forbidden(text)[0]) or ""


def _parse(data: bytes, place: Place) -> Element | None:
    """The root element; entities and external references are refused, whatever they say, and so is what is endless."""
    quiet = Place(Complaints(), place.file, 1)
    text = decode(quiet, data, start=True) if not _OTHERWISE_ENCODED.match(data) else ""
    if text is None:
        fault = quiet.complaints.collected[0]
        place.at(fault.line).pass_over("found " + fault.found + "; expected " + fault.expected, **fault.params)
        return None
    text, replaced = replace_forbidden(text.replace("\r\n", "\n").replace("\r", "\n"))
    if replaced:
        quiet.remark("%(count)s control characters were replaced by spaces", count=replaced)
    # A .pan file may be read twice, for its Pyramid and for its summary.
    place.complaints.remarks.extend(note for note in quiet.complaints.remarks if note not in place.complaints.remarks)
    try:
        root = _root(text) if text else fromstring(data)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        place.pass_over("not well-formed XML (%(why)s)", why=shown(str(error) or type(error).__name__))
        return None
    characters = sum(len(line.text or "") for line in root.iter("line"))
    parts = sum(1 for _ in root.iter("part"))
    if characters > limits.ANNOTATED_CHARACTERS:
        place.pass_over("more than %(limit)s characters", limit=limits.ANNOTATED_CHARACTERS)
        return None
    if parts > limits.ANNOTATED_STRETCHES:
        place.pass_over("more than %(limit)s parts of the text", limit=limits.ANNOTATED_STRETCHES)
        return None
    if characters * parts > limits.ANNOTATED_SEARCHES:
        place.pass_over("%(parts)s parts in a text of %(characters)s characters", parts=parts, characters=characters)
        return None
    return root


def _root(text: str) -> Element:
    """The root element, with ampersands as themselves where they begin no entity."""
    try:
        return fromstring(text)  # type: ignore[no-any-return]
    except ParseError:
        if (escaped := _BARE_AMPERSAND.sub("&amp;", text)) == text:
            raise
        return fromstring(escaped)  # type: ignore[no-any-return]


def _distinct(elements: Iterator[Element], place: Place) -> Iterator[tuple[str, Element]]:
    """Each SCU with its uid; a uid that was there already is passed over."""
    seen: set[str] = set()
    for element in elements:
        uid = element.get("uid", "").strip()
        if not uid or uid in seen:
            place.remark("ignored: an SCU without its own uid: %(label)s", label=shown(_label(element)))
            continue
        seen.add(uid)
        yield uid, element


def _label(element: Element) -> str:
    return _WEIGHT.sub("", _taken(element.get("label", "")))


def _models(text: str, pattern: str, place: Place) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and beginnings of the model summaries: where their names are, else where the file's pattern matches."""
    for named in (_name_of, _by_pattern(pattern)):
        starts: dict[str, int] = {}
        offset = 0
        for line in text.split("\n"):
            name = named(line) if len(line) <= _HEADER_CHARACTERS else None
            if name is not None:
                starts.setdefault(name, offset)
            offset += len(line) + 1
        if starts:
            return tuple(starts), tuple(starts.values())
    place.remark("the model summaries are not separated; each contributor counts as one model")
    return (), ()


def _name_of(line: str) -> str | None:
    match = _NAME.search(line)
    return match[1] if match else None


def _by_pattern(pattern: str) -> Callable[[str], str | None]:
    """Recognise a header by the file's own expression, if that is one that every engine finishes quickly."""
    pattern = pattern.strip().removeprefix("[\\n]").removeprefix("\\n")
    try:
        repeats = sum(map(bool, _REPEATS.findall(pattern)))
        if not pattern or len(pattern) > 200 or repeats > _MOST_REPEATS or _CHOICES.search(pattern):
            return lambda line: None
        compiled = re.compile(pattern)
    except (re.error, FutureWarning, OverflowError, RecursionError):
        return lambda line: None
    longest = _REPEATED_CHARACTERS if repeats == _MOST_REPEATS else _HEADER_CHARACTERS
    return lambda line: line.strip() if len(line) <= longest and compiled.match(line) else None


def _contributors(scu: Element, text: AnnotatedText, borders: tuple[int, ...], place: Place) -> Iterator[Contributor]:
    for element in scu.iterfind("contributor"):
        parts = tuple(_part(part, text, place) for part in element.iterfind("part"))
        spans = [part.span for part in parts if part.span]
        model = sum(border <= spans[0][0] for border in borders) - 1 if spans and borders else -1
        yield Contributor(parts, model if model >= 0 else None)


def _part(element: Element, text: AnnotatedText, place: Place) -> Part:
    label = _taken(element.get("label", ""))
    span = text.find(label, _offset(element.get("start")))
    if span is None:
        place.remark("not found in the text: %(label)s", label=shown(label))
    return Part(label, span)


def _offset(given: str | None) -> int:
    return int(given) if given and given.isascii() and given.isdecimal() and len(given) < 10 else 0
