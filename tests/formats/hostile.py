"""Files made to do harm or to be misread, by kind of file, each with what must become of it.

Not a test itself: `test_hostile` reads them, `tests.annotate.test_hostile_uploads` sends them to the website.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True)
class Exact:
    """Taken; this text stands somewhere in what is read, character by character as it was sent."""

    kept: str


@dataclass(frozen=True)
class Normalized:
    """Taken; this text stands there instead of what was sent. `gone`: what must stand nowhere."""

    kept: str
    gone: str = ""


@dataclass(frozen=True)
class Refused:
    """Not taken; some complaint names this place (file:line: field, from its beginning) and says these words."""

    place: str
    words: str
    #: There is no other complaint.
    alone: bool = False


@dataclass(frozen=True)
class Case:
    kind: str
    name: str
    file: str
    content: Callable[[], bytes]
    becomes: Exact | Normalized | Refused

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


Files = Mapping[str, str | bytes]


def raw(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, raw(content))
    return file.getvalue()


def topic(**keys: Any) -> str:
    return json.dumps({"topic_id": "T", "documents": [{"id": "d", "text": "Rain fell. Rivers rose."}]} | keys)


def words(count: int) -> str:
    """Words that no packer makes small."""
    return " ".join(f"{number:x}" for number in random.Random(1).choices(range(1 << 40), k=count))


def whole(line: str, **keys: Any) -> str:
    """A topic with something put into it that `json` would not write."""
    return topic(**keys)[:-1] + ", " + line + "}"


PYRAMID: dict[str, Any] = {"scus": [{"uid": "1", "contributors": [{"parts": ["rain"]}]}], "peers": {"s": {"1": ["x"]}}}

#: Seconds of processor time after which nobody waits any longer. The largest file takes some five of them: this finds
#: what grows with a file's square, on a machine however slow.
ENDLESS = 60.0

# Texts, in every place where a text may stand

MARKS = "\u0301\u0323"
HIGH = "q" + "\u0334" * 31
TAKEN = {
    "a script": "</script><script>alert(1)</script>",
    "an element that loads": "<div hx-get=/studies/ hx-trigger=load>x</div>",
    "values in JavaScript": "<b hx-vals='js:{a: document.cookie}'>x</b>",
    "a template": "{{ settings.SECRET_KEY }}{% debug %}",
    "a form that hides another": "<form id=body><input name=parentNode></form>",
    "a line separator": "one\u2028two",
    "an override of direction": "a\u202etxt.exe",
    "200 embeddings of direction": "\u202a" * 199 + "a",
    "a joined emoji": "\U0001f469\u200d\U0001f680 x",
    "a character for private use": "a\ue000b",
    "characters of tags": "a\U000e0041\U000e007f",
    "letters that look like others": "\u0430dmin",
    "a zero-width no-break space inside": "a\ufeffb",
    "30 marks in a row": "q" + "\u0334" * 30,
    "a formula": "=cmd|' /C calc'!A0",
    "a formula in full width": "＝1+1",
    "a formula after a tab": "x\t=1+1",
    "a name of an address": "//evil.test/x",
    "a question to the tables": "user__password__startswith",
    "places of a format": "%s%n%(title)s{0}{x!r}",
    "half of a quoted text": 'so "said',
    "a comment of SQL": "'; DROP TABLE annotate_topic; --",
}
LONG = {
    "10,000 characters": "x" * 10_000,
    "2,500 abbreviations": "Mr. " * 2_500 + "x",
    "5,000 brackets": "(" * 5_000,
    "131,073 characters": "y" * 131_073,
}
CHANGED = {
    "a letter and its accent": ("cafe\u0301", "café"),
    "syllables in parts": ("\u1100\u1161\u11a8", "\uac01"),
    "lines of Windows": ("x\r\nSet-Cookie: a=b", "x\nSet-Cookie: a=b"),
    "a quote of Windows": ("it\x92s", "it’s"),
}
LEFT = {
    "NUL": ("a\0b", "NUL"),
    "half of a pair": ("a\ud800b", ""),
    "what is no character": ("a\ufffeb", "not a character"),
    "the last code of a plane": ("a\U0010ffffb", "not a character"),
    "31 marks in a row": ("q" + "\u0334" * 31, "combining marks"),
    "20,000 marks by turns": ("a" + MARKS * 10_000, "combining marks"),
    "only soft hyphens": ("\u00ad\u00ad", "invisible characters"),
    "only zero-width spaces": ("\u200b", "invisible characters"),
    "only Braille's blank": ("\u2800", "invisible characters"),
    "only Hangul's fillers": ("\u115f\u1160\u3164\uffa0", "invisible characters"),
    "a vertical tab": ("a\x0bb", "a vertical tab"),
    "a form feed": ("a\x0cb", "a form feed"),
    "a file separator": ("a\x1cb", "U+001C"),
    "Ctrl-Z": ("ab\x1a", "Ctrl-Z"),
    "escape": ("a\x1b[31mb", "escape"),
    "delete": ("a\x7fb", "delete"),
    "a line end of old Macs": ("one\rtwo", "carriage return"),
}


#: A stray one in a crawled text becomes a space; in a name, a title or a key it is a fault.
CRAWLED = {"an old line end": "a\x85b", "a control character of ISO 6429": "a\x8db"}
CRAWLED_LINES = {"an old line end": ("a\x85b", "NEL"), "a control character of ISO 6429": ("a\x8db", "U+008D")}


@dataclass(frozen=True)
class Carrier:
    """A place where a text may stand: a file around the text, and what its complaints begin with."""

    kind: str
    file: str
    around: Callable[[str], bytes]
    place: str
    #: Long texts may stand there.
    is_text: bool = True
    #: It may be empty, and so it may hold nothing that can be seen.
    empty: bool = False


CARRIERS = [
    Carrier(
        "JSON lines, a document",
        "t.jsonl",
        lambda text: topic(documents=[{"id": "d", "text": text}]).encode(),
        "t.jsonl:1: documents[0].text",
    ),
    Carrier(
        "JSON lines, a sentence",
        "t.jsonl",
        lambda text: raw(topic(documents=[{"id": "d", "sentences": ["One.", text]}])),
        "t.jsonl:1: documents[0].sentences[1]",
        is_text=False,
    ),
    Carrier(
        "JSON lines, a summary, unescaped",
        "t.jsonl",
        lambda text: raw(json.dumps(json.loads(topic(summaries=[{"system": "s", "text": text}])), ensure_ascii=False)),
        "t.jsonl:1",
        empty=True,
    ),
    Carrier("JSON lines, a name", "t.jsonl", lambda text: topic(topic_id=text).encode(), "t.jsonl:1: topic_id", False),
    Carrier("JSON lines, a title", "t.jsonl", lambda text: topic(title=text).encode(), "t.jsonl:1: title", False),
    Carrier(
        "JSON lines, a key", "t.jsonl", lambda text: topic(mine={text: 1}).encode(), "t.jsonl:1: mine", False, True
    ),
    Carrier(
        "JSON lines, a Pyramid, a title",
        "t.jsonl",
        lambda text: topic(pyramid=PYRAMID | {"scus": [{"uid": "1", "label": text}]}).encode(),
        "t.jsonl:1: pyramid.scus[0].label",
        is_text=False,
        empty=True,
    ),
    Carrier(
        "a table, a summary",
        "s.csv",
        lambda text: b'topic,system,text\r\nM1,other,"' + raw(text.replace('"', '""')) + b'"\r\n',
        "s.csv:2",
        empty=True,
    ),
    Carrier(
        "a table, a metric, a name",
        "s.csv",
        lambda text: b'topic,system,metric,score\r\nM1,lead,"' + raw(text.replace('"', '""')) + b'",1\r\n',
        "s.csv:2",
        is_text=False,
    ),
    Carrier(
        "plain text, a document",
        "z.zip",
        lambda text: zipped({"topics/T/documents/d.txt": text}),
        "z.zip/topics/T/documents/d.txt",
    ),
    Carrier(
        "plain text, a summary",
        "z.zip",
        lambda text: zipped({"topics/T/documents/d.txt": "One.", "topics/T/summaries/s.txt": text}),
        "z.zip/topics/T/summaries/s.txt",
        empty=True,
    ),
]


def texts() -> Iterator[Case]:
    """Every text in every place, but where its form or its length has no place there."""
    for carrier in CARRIERS:

        def case(name: str, text: str, becomes: Exact | Normalized | Refused, carrier: Carrier = carrier) -> Case:
            return Case(carrier.kind, name, carrier.file, lambda: carrier.around(text), becomes)

        one_line = carrier.kind.endswith("a name")
        for name, text in TAKEN.items():
            if "metric" in carrier.kind and (len(text) > 100 or not {":", ","}.isdisjoint(text)):
                continue  # its name is short, and these separate metrics
            if not (one_line and "\t" in text) and not (carrier.file == "z.zip" and text != text.strip()):
                yield case(name, text, Exact(text))
        for name, text in LONG.items() if carrier.is_text else ():
            yield case(name, text, Exact(text))
        for name, (text, kept) in CHANGED.items():
            if not (one_line and "\n" in kept):
                yield case(name, text, Normalized(kept, gone=text))
        is_line = carrier.kind.endswith(("a name", "a title", "a key"))
        for name, text in {} if is_line else CRAWLED.items():
            yield case(name, text, Normalized("a b", gone=text))
        for name, (text, said) in (LEFT | CRAWLED_LINES if is_line else LEFT).items():
            if not (carrier.empty and name.startswith("only")) and (carrier.is_text or len(text) < 500):
                yield case(name, text, Refused(carrier.place, said))


# JSON lines


def lines() -> Iterator[Case]:
    def case(name: str, content: str | bytes | Callable[[], bytes], becomes: Exact | Normalized | Refused) -> Case:
        return Case("JSON lines", name, "t.jsonl", content if callable(content) else lambda: raw(content), becomes)

    good, rain = topic(), Exact("Rain fell. Rivers rose.")
    yield case("no newline at the end", good, rain)
    yield case("a byte order mark", "\ufeff" + good, rain)
    yield case("lines of Windows", good + "\r\n" + topic(topic_id="U") + "\r\n", Exact("U"))
    yield case("empty lines", "\n\n" + good + "\n \n", rain)
    yield case("white space around", "   " + good + "  \t", rain)
    yield case("UTF-7, which is ASCII", topic(title="+AGEAYgBj-"), Exact("+AGEAYgBj-"))
    yield case("a separator of lines, unescaped", raw(whole('"title": "a\u2028b"')), Exact("a\u2028b"))
    for key in ("is_gold", "owner", "id", "study", "__proto__", "__class__", "url", "state", "password"):
        yield case(f"the unknown key {key}", topic(**{key: "file:///etc/passwd"}), Exact("file:///etc/passwd"))
    yield case("an address in an unknown key", topic(image="http://203.0.113.9/x"), Exact("http://203.0.113.9/x"))
    yield case("a whole number of 19 digits", whole('"x": 9223372036854775807'), rain)
    yield case("minus nothing", whole('"x": -0.0'), rain)
    yield case("a number too small to tell from 0", whole('"x": 1e-999'), rain)
    yield case("a name of 200 characters", topic(topic_id="T" * 200), Exact("T" * 200))
    yield case("a name of 201 characters", topic(topic_id="T" * 201), Refused("t.jsonl:1: topic_id", "201 characters"))
    yield case("a line that breaks off", good + "\n" + good[:-9], Refused("t.jsonl:2", "JSON"))
    yield case("the whole as an array", f"[{good}]", rain)
    yield case("an array over many lines", f"[\n{good}\n]", rain)
    yield case("an array a million deep", "[" * 1_000_000, Refused("t.jsonl:1", "nesting"))
    yield case("a number as a line", f"{good}\n3", Refused("t.jsonl:2", "the number 3"))
    yield case("a text as a line", f'{good}\n"x"', Refused("t.jsonl:2", 'the text "x"'))
    yield case("null as a line", f"{good}\nnull", Refused("t.jsonl:2", "null"))
    yield case("an empty object", "{}", Refused("t.jsonl:1", ""))
    yield case("two objects on a line", good + good, Refused("t.jsonl:1", "no JSON at column"))
    yield case("a comment", f"// topics\n{good}", Refused("t.jsonl:1", "no JSON at column"))
    yield case("a comma at the end", good[:-1] + ",}", Refused("t.jsonl:1", ""))
    yield case("single quotes", good.replace('"', "'"), Refused("t.jsonl:1", "no JSON"))
    yield case("a key twice", whole('"topic_id": "U"'), Refused("t.jsonl:1", '"topic_id" twice'))
    yield case("a key twice, once escaped", whole('"topic\\u005fid": "U"'), Refused("t.jsonl:1", "twice"))
    for number in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9223372036854775808"):
        yield case(f"the number {number}", whole(f'"x": {number}'), Refused("t.jsonl:1", number))
    yield case("5,000 digits", whole('"x": ' + "9" * 5_000), Refused("t.jsonl:1", "whole number"))
    yield case("4,000,000 digits", lambda: raw(whole('"x": ' + "9" * 4_000_000)), Refused("t.jsonl:1", ""))
    for number in ("01", "+1", ".5", "1.", "0x10", "1_000", "٣"):
        yield case(f"the number {number}", whole(f'"x": {number}'), Refused("t.jsonl:1", ""))
    yield case("500 lists in each other", whole('"x": ' + "[" * 500 + "]" * 500), Refused("t.jsonl:1", "nesting"))
    yield case("100,000 lists in each other", whole('"x": ' + "[" * 100_000), Refused("t.jsonl:1", "nesting"))
    yield case("100,000 objects in each other", '{"a":' * 100_000, Refused("t.jsonl:1", "nesting"))
    yield case("half of a pair, escaped", whole('"title": "\\ud800"'), Refused("t.jsonl:1: title", "surrogate"))
    yield case("a pair the wrong way round", whole('"title": "\\udc00\\ud800"'), Refused("t.jsonl:1: title", "surro"))
    yield case("NUL, escaped, in a key", whole('"a\\u0000": 1'), Refused("t.jsonl:1: a\\u{0000}", "NUL"))
    yield case("NUL, unescaped", whole('"title": "a\0b"'), Refused("t.jsonl:1", ""))
    yield case("an unknown escape", whole('"title": "\\x41"'), Refused("t.jsonl:1", ""))
    yield case("a byte that is not UTF-8", raw(good) + b"\n\xff", Refused("t.jsonl:2", "0xFF"))
    yield case(
        "a character in more bytes than it needs", raw(good) + b'\n{"x": "\xc0\x80"}', Refused("t.jsonl:2", "0xC0")
    )
    yield case("Latin-1", good.replace("Rain", "Señor").encode("latin-1"), Refused("t.jsonl:1", ""))
    yield case("Latin-1, unescaped", whole('"title": "Señor"').encode("latin-1"), Refused("t.jsonl:1", "0xF1"))
    yield case("Latin-1 without doubt", whole('"title": "Glück"').encode("latin-1"), Normalized("Glück"))
    yield case("UTF-16", good.encode("utf-16"), Refused("t.jsonl:1", "UTF-16"))
    yield case("UTF-16 without a mark", good.encode("utf-16-le"), Refused("t.jsonl:1", ""))
    yield case("UTF-32", good.encode("utf-32"), Refused("t.jsonl:1", ""))
    yield case("EBCDIC", good.encode("cp500"), Refused("t.jsonl", ""))
    yield case("lines of old Macs", f"{good}\r{good}\r", Refused("t.jsonl:1", "carriage return"))
    yield case("a line of 17 MB", lambda: raw(topic(x="x" * 17_000_000)), Refused("t.jsonl:1", "longer than 16 MB"))
    yield case(
        "a file of 49 MB without an end", lambda: b'{"topic_id": "' + b"x" * 49_000_000, Refused("t.jsonl:1", "16")
    )
    yield case("200,001 values", whole('"x": [' + "1," * 200_000 + "1]"), Refused("t.jsonl:1", "values"))
    yield case("200,000 keys", whole(",".join(f'"{n}": 1' for n in range(200_001))), Refused("t.jsonl:1", "values"))
    yield case(
        "2,001 topics",
        lambda: raw("\n".join(topic(topic_id=f"T{number}") for number in range(2_001))),
        Refused("t.jsonl:2001", "more than 2000"),
    )
    yield case(
        "200,001 judgments",
        lambda: b'{"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a"}\n' * 200_001,
        Refused("t.jsonl:200001", "more than 200000"),
    )
    yield case("a topic twice", f"{good}\n{good}", Refused("t.jsonl:2: topic_id", "second time"))
    yield case(
        "a topic twice, composed and not",
        topic(topic_id="é") + "\n" + topic(topic_id="e\u0301"),
        Refused("t.jsonl:2: topic_id", "second time"),
    )
    yield case(
        "a system twice",
        topic(summaries=[{"system": "s", "text": "One."}, {"system": "s", "text": "Two."}]),
        Refused("t.jsonl:1: summaries[1].system", "second time"),
    )
    for key, wrong in {
        "topic_id": [],
        "documents": "text",
        "summaries": {},
        "references": 3,
        "title": {"a": 1},
        "language": 7,
    }.items():
        yield case(f"{key} of another kind", topic(**{key: wrong}), Refused(f"t.jsonl:1: {key}", ""))
    yield case(
        "a text and its sentences",
        topic(documents=[{"id": "d", "text": "x", "sentences": ["x"]}]),
        Refused("t.jsonl:1: documents[0]", "both"),
    )
    yield case(
        "a text of 1 MB and one byte",
        topic(documents=[{"id": "d", "text": "x" * 1_000_001}]),
        Refused("t.jsonl:1: documents[0].text", "1 MB"),
    )
    yield case(
        "a text of 1 MB", topic(documents=[{"id": "d", "text": "It rained. " * 90_000}]), Exact("It rained. " * 50)
    )
    rain_fell = PYRAMID | {"text": "Rain fell. " * 18_000}
    many = [{"uid": str(number), "contributors": [{"parts": ["fell. Rain"] * 9}]} for number in range(25)]
    yield case("a Pyramid that takes long", topic(pyramid=rain_fell | {"scus": many}), Exact("fell. Rain"))
    yield case(
        "a Pyramid that takes for ever",
        topic(pyramid=rain_fell | {"scus": [{"uid": "x", "contributors": [{"parts": ["a"] * 60_000}]}]}),
        Refused("t.jsonl:1: pyramid.scus", "a span for each part"),
    )
    for key, wrong in {"scus": {}, "peers": [], "texts": {"s": 1}, "unmatched": {"x": []}, "models": [1, 1]}.items():
        yield case(f"a Pyramid with other {key}", topic(pyramid=PYRAMID | {key: wrong}), Refused("t.jsonl:1: pyr", ""))
    twice = [{"assessor": "é", "r": 1}, {"assessor": "e\u0301", "r": 2}]
    large = [{"assessor": "A", "r": 1e16}]
    for said, wrong in {"twice": twice, "of nobody": [{"r": 1}], "of lists": [[]], "too large": large}.items():
        rated = topic(summaries=[{"system": "s", "text": "x", "ratings": wrong}])
        yield case(f"ratings {said}", rated, Refused("t.jsonl:1: summaries[0].ratings", ""))
    yield case(
        "a judgment of what is not there",
        '{"topic": "M1", "a": "d1:0", "b": "d1:99999999999999999999", "winner": "a"}',
        Refused("t.jsonl:1: b", ""),
    )
    yield case(
        "a judgment by a machine that says it is a person",
        '{"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a", "kind": ["human"], "weight": 1e308}',
        Refused("t.jsonl:1: kind", ""),
    )
    of_summaries = '{"topic": "M1", "of": "summaries", "a": "lead", "b": "long", "winner": "a"}'
    for said, line in {
        "an unknown system": of_summaries.replace("long", "lang"),
        "one system twice": of_summaries.replace("long", "lead"),
        "a sentence": of_summaries.replace("long", "d1:0"),
        "100,000 characters": of_summaries.replace("long", "l" * 100_000),
    }.items():
        yield case(f"a judgment between summaries with {said}", line, Refused("t.jsonl:1: b", ""))
    for said in ('{"summaries": 1}', "[]", "true", "1e308", '"sentence"'):
        yield case(f"a judgment of {said}", of_summaries.replace('"summaries"', said), Refused("t.jsonl:1: of", ""))
    yield case(
        "a moment beyond all calendars",
        '{"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a", "at": "9999-12-31T23:59:59-14:00"}',
        Refused("t.jsonl:1: at", ""),
    )


# Tables


def tables() -> Iterator[Case]:
    def case(name: str, content: str | bytes | Callable[[], bytes], becomes: Exact | Normalized | Refused) -> Case:
        return Case("a table", name, "s.csv", content if callable(content) else lambda: raw(content), becomes)

    head, row = "topic,system,text\n", "M1,other,Rain fell.\n"
    rain = Exact("Rain fell.")
    scores = "topic,system,dimension,score\nM1,lead,quality,"
    yield case("a byte order mark", "\ufeff" + head + row, rain)
    yield case("lines of Windows", (head + row).replace("\n", "\r\n"), rain)
    yield case("no newline at the end", head + row.strip(), rain)
    yield case("empty lines", head + "\n\n" + row + "\n", rain)
    yield case("a newline in quotes", head + 'M1,other,"Rain\nfell."\n', Exact("Rain\nfell."))
    yield case(
        "4,000,000 newlines in quotes",
        lambda: raw(head + 'M1,other,"Rain' + "\n" * 4_000_000 + 'fell."\n'),
        Refused("s.csv:2", ""),
    )
    yield case("a field of 131,073 characters", head + "M1,other," + "z" * 131_073, Exact("z" * 131_073))
    yield case("formulas as names", head + "M1,=1+1,x\n", Exact("=1+1"))
    yield case("columns in another order", "text,topic,system\nRain fell.,M1,other\n", rain)
    yield case("semicolons", (head + row).replace(",", ";"), rain)
    yield case("tabs", (head + row).replace(",", "\t"), rain)
    yield case("vertical bars", (head + row).replace(",", "|"), rain)
    yield case("a line about the separator", "sep=,\n" + head + row, rain)
    yield case("a quote that is never closed", head + 'M1,other,"Rain\n' + row * 3, Refused("s.csv:2", "never closed"))
    yield case("a quote in the middle", head + 'M1,other,so "he" said\n', Refused("s.csv:2", "a stray double quote"))
    yield case("200,000 quotes that open", head + '"\n' * 200_001, Refused("s.csv", ""))
    yield case("NUL", head + "M1,other,a\0b\n", Refused("s.csv:2: text", "NUL"))
    yield case("lines of old Macs", (head + row).replace("\n", "\r"), Refused("s.csv:1", "carriage return"))
    yield case("a row too short", head + "M1,other\n", Refused("s.csv:2", "2 values"))
    yield case("a row too long", head + "M1,other,x,y\n", Refused("s.csv:2", "4 values"))
    yield case("a column twice", "topic,system,text,text\nM1,other,x,y\n", Refused("s.csv:1", "twice"))
    yield case("a column without a name", "topic,system,text,\nM1,other,x,\n", Exact("x"))
    yield case("a column nobody knows", "topic,system,text,is_gold\nM1,other,x,yes\n", Exact("is_gold"))
    yield case("columns in capitals", "Topic,System,Text\n" + row, rain)
    yield case("spaces after the commas", "topic, system, text\n" + row, rain)
    yield case("no header", row * 3, Refused("s.csv:1", ""))
    yield case("nothing at all", "", Refused("s.csv", "empty"))
    yield case("20,000 columns", head.strip() + "," * 20_000 + "\n", Refused("s.csv:1", "more than 100 columns"))
    yield case("4,000,000 commas", lambda: raw(head) + b"," * 4_000_000, Refused("s.csv:2", "more than 100 columns"))
    yield case("Windows-1252", head.encode() + b"M1,other,\x93Rain\x94\n", Normalized("“Rain”"))
    yield case("Shift-JIS", (head + "M1,other,雨が降った\n").encode("shift-jis"), Refused("s.csv:2", "0x89"))
    yield case("UTF-16", (head + row).encode("utf-16"), Refused("s.csv:1", "UTF-16"))
    yield case("UTF-16, big end first", b"\xfe\xff" + (head + row).encode("utf-16-be"), Refused("s.csv:1", "UTF-16"))
    yield case("UTF-16 without a mark", (head + row).encode("utf-16-le"), Refused("s.csv", ""))
    yield case(
        "an old spreadsheet", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), Refused("s.csv", "an old Office")
    )
    yield case(
        "a spreadsheet",
        zipped({"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<x/>"}),
        Refused("s.csv", "a spreadsheet that cannot be read"),
    )
    yield case("a page of the web", "<!DOCTYPE html><table><tr><td>topic", Refused("s.csv", "a web page"))
    yield case("a topic nobody has", head + "M9,other,x\n", Refused("s.csv:2: topic", "unknown"))
    yield case("a summary twice", head + row * 2, Refused("s.csv:3: system", "a second summary"))
    for score in ("nan", "inf", "-inf", "1e999", "0x10", "1_0", "٣", "３", '"3,5"', "--3", "3 ", "", "TRUE", "=3"):
        yield case(f"the score {score}", scores + score + "\n", Refused("s.csv:2: score", ""))
    yield case("the score 1e308", scores + "1e308\n", Exact("quality"))
    yield case("a score of a million digits", scores + "9" * 1_000_000 + "\n", Refused("s.csv:2: score", "too large"))
    yield case("a score of a million decimals", scores + "3." + "1" * 1_000_000 + "\n", Exact("quality"))
    yield case(
        "200,001 rows",
        lambda: raw(head) + b"".join(b"M1,s%d,x\n" % n for n in range(200_001)),
        Refused("s.csv", "200000"),
    )


# Zips

GOOD = {"topics/T/documents/d.txt": "Rain fell. Rivers rose."}


def tools() -> Iterator[Case]:
    def case(name: str, content: str | Callable[[], str], becomes: Exact | Normalized | Refused) -> Case:
        made = (lambda: raw(content())) if callable(content) else (lambda: raw(content))
        return Case("a table", f"of another tool, {name}", "tool.json", made, becomes)

    scores = (
        '{"annotation": [{"lead": {"score": %s}}], "item": [{"item_id": "M1", "tgt": {}}], "user_id": "u", "item_i": 0}'
    )
    state = '{"user_id": "u", "instance_id_to_label_to_value": {"i": %s}}'
    line = "u,lead,M1,TGT,eng,deu,%s,1700000000.5,1700000001.5\n"
    errors = '{"source": "x", "hypothesis": "Rain fell.", "system_id": "other", "segment_id": 5, "errors": %s}\n'
    yield case("a score of 1e999", '{"c": [' + scores % "1e999" + "]}", Refused("tool.json:1", "1e999"))
    yield case("a score of 1e300", scores % "1e300", Refused("tool.json:1: score", "1e+300"))
    yield case("a score by formula", line % "=1+1", Refused("tool.json:1: score", "=1+1"))
    yield case(
        "a campaign that is never closed", '{"c": [' + scores % 1 + ", {", Refused("tool.json:1", "incomplete JSON")
    )
    yield case("a campaign without a name", '{"c": [' + scores % 1 + "], [1]}", Refused("tool.json:1", "without a key"))
    deep = Refused("tool.json:1", "")
    yield case("a campaign of 1,000,000 brackets", lambda: '{"c": [' + scores % 1 + "," + "[" * 1_000_000, deep)
    yield case(
        "a state of 1,000,000 brackets", lambda: state % '[[{"schema": "s"}, "A"]], "x": ' + "[" * 1_000_000, deep
    )
    yield case("a state with 3,000,000 clicks", lambda: state % ("1" + ",0" * 3_000_000), Refused("tool.json", ""))
    yield case("a state of labels in no pairs", state % "[[[[1]]]]", Refused("tool.json", "the columns are"))
    yield case("errors of no severity", errors % "[{}]", Refused("tool.json", "0 scores, 1 with a severity"))
    yield case("errors in words", errors % '"major"', Refused("tool.json:1: errors", 'the text "major"'))
    yield case("a text of two directions", errors.replace("fell", "\u202bfell") % "[]", Exact("Rain \u202bfell."))


def entry(name: str, mode: int = 0o100644, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = method
    return info


def with_entries(*more: tuple[zipfile.ZipInfo, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in GOOD.items():
            archive.writestr(name, content)
        for info, content in more:
            archive.writestr(info, raw(content))
    return file.getvalue()


def with_name(name: str | bytes) -> bytes:
    """A zip with an entry of that name, whatever `zipfile` thinks of it."""
    wanted = raw(name)
    made = with_entries((entry("Q" * len(wanted)), "x"))
    return made.replace(b"Q" * len(wanted), wanted)


def patched(data: bytes, magic: bytes, offset: int, value: bytes, last: bool = False) -> bytes:
    """With other bytes so far into the first (or last) record of a kind."""
    start = (data.rindex(magic) if last else data.index(magic)) + offset
    return data[:start] + value + data[start + len(value) :]


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def overlapping() -> bytes:
    """200 names for the one entry whose bytes they all share: 11 kB that unpack to 200 MB."""
    data = zipped({"topics/T/documents/000.txt": "word " * 200_000})
    start, end = data.index(CENTRAL), data.index(END)
    records = b"".join(data[start:end].replace(b"000.txt", b"%03d.txt" % number) for number in range(200))
    return data[:start] + records + struct.pack("<4s4H2LH", END, 0, 0, 200, 200, len(records), start, 0)


def nested(depth: int) -> bytes:
    data = zipped(GOOD)
    for _ in range(depth):
        data = zipped({"more.txt": data})
    return data


def lying() -> bytes:
    """An entry of 900 kB that says it has 100 bytes, in both of its headers."""
    data = with_entries((entry("topics/T/documents/e.txt"), words(90_000)))
    for magic, offset in ((LOCAL, 22), (CENTRAL, 24)):
        data = patched(data, magic, offset, struct.pack("<L", 100), last=True)
    return data


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("topics/T/documents/d.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"One."))
    return file.getvalue()


def many_entries(count: int) -> bytes:
    return zipped({f"{number}": "" for number in range(count)}, zipfile.ZIP_STORED)


def archives() -> Iterator[Case]:
    def case(name: str, content: Callable[[], bytes], becomes: Exact | Normalized | Refused) -> Case:
        return Case("a zip", name, "z.zip", content, becomes)

    rain, here = Exact("Rain fell. Rivers rose."), "z.zip/"
    no, inside = partial(Refused, "z.zip"), partial(Refused, here)
    at_e = partial(Refused, here + "topics/T/documents/e.txt: ")
    for name, said in {
        "../evil.txt": "out of the ZIP file",
        "topics/../../evil.txt": "out of the ZIP file",
        "topics/T/documents/..": "out of the ZIP file",
        "/etc/passwd": "an absolute path",
        "C:/evil.txt": "an absolute path",
        "c:evil.txt": "an absolute path",
        "//host/share/x": "an absolute path",
        "C:\\evil.txt": "a backslash",
        "..\\evil.txt": "a backslash",
        "\\\\host\\share": "a backslash",
        "topics\\..\\x": "a backslash",
        "a//b.txt": "an empty part",
        "./b.txt": "an empty part",
        "topics/./b.txt": "an empty part",
        "x" * 300: "300 bytes",
        "é" * 130: "260 bytes",
        "d/" * 100 + "x": "100 folders deep",
        "d/" * 200 + "x": "401 bytes",
        "a\nb.txt": "",
        "a\x1b[2Jb.txt": "escape",
        "a\u202etxt.exe": "",
    }.items():
        yield case(f"the name {name[:20]!r} of {len(name)} letters", lambda name=name: with_name(name), no(said))
    yield case("NUL in a name", lambda: with_name(b"topics/a\0b.txt"), no("U+0000 (NUL)"))
    yield case("a name in Latin-1", lambda: with_name(b"topics/T/documents/\xe9.txt"), no("name is not UTF-8"))
    marked = with_entries((entry("topics/é.txt"), "x")).replace("é.txt".encode(), b"\xff\xfe.txt")
    yield case("a name that is not what it is marked as", lambda: marked, no("marked as UTF-8 but is not"))
    for called, kind in {
        "a link": stat.S_IFLNK,
        "a pipe": stat.S_IFIFO,
        "a device": stat.S_IFCHR,
        "a disk": stat.S_IFBLK,
        "a socket": stat.S_IFSOCK,
    }.items():
        info = entry("topics/T/documents/e.txt", kind | 0o777)
        yield case(called, lambda info=info: with_entries((info, "/etc/passwd")), at_e("a link or a device"))
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        info = entry("topics/T/documents/e.txt", method=method)
        yield case(
            f"packed by method {method}", lambda info=info: with_entries((info, "x")), inside("the compression method")
        )
    yield case("packed by method 99", lambda: patched(zipped(GOOD), CENTRAL, 10, b"\x63\0"), no(""))
    half = patched(zipped(GOOD), LOCAL, 6, b"\1")
    yield case("a password", lambda: patched(half, CENTRAL, 8, b"\1"), inside("an encrypted entry"))
    yield case("a password told in one place", lambda: half, inside("an encrypted entry"))
    for other in ("topics/T/documents/D.txt", "topics/t/documents/d.txt", "topics/T/Documents/d.txt"):
        yield case(f"{other} too", lambda other=other: with_entries((entry(other), "x")), inside("in more than case"))
    yield case(
        "names composed and not",
        lambda: with_entries((entry("topics/T/documents/é.txt"), "x"), (entry("topics/T/documents/e\u0301.txt"), "x")),
        inside("the same name as"),
    )
    yield case("a name twice", lambda: with_name("topics/T/documents/d.txt"), inside("the same name as"))
    yield case(
        "a file that is a folder",
        lambda: with_entries((entry("topics/T"), "x")),
        inside("a file that is also a folder"),
    )
    yield case(
        "a bomb",
        lambda: with_entries((entry("topics/T/documents/e.txt"), b"a" * 19_000_000)),
        at_e("a file compressed more than 100-fold", alone=True),
    )
    yield case(
        "a bomb of 64 MB",
        lambda: with_entries((entry("x.csv"), bytes(64_000_000))),
        inside("64 MB when unpacked; expected at most 20 MB"),
    )
    yield case("200 entries that share their bytes", overlapping, no("found entries that overlap", alone=True))
    yield case("an entry longer than it says", lying, no("cannot be"))
    yield case(
        "a zip in a zip",
        lambda: nested(1),
        Refused(here + "more.txt", "found a zip; expected one ZIP file", alone=True),
    )
    yield case("five zips in each other", lambda: nested(5), inside("a zip"))
    yield case("5,001 entries", lambda: many_entries(5_001), no("5001 entries", alone=True))
    counted = patched(many_entries(5_001), END, 8, struct.pack("<2H", 3, 3))
    yield case("5,001 entries that say they are 3", lambda: counted, no("5001 entries", alone=True))
    yield case("70,000 entries", lambda: many_entries(70_000), no("a Zip64 archive"))
    damaged = Refused("z.zip: ", "a damaged or incomplete ZIP file; expected a complete ZIP file", alone=True)
    for cut in (10, 40, 50, 100, -1, -30):
        yield case(f"cut off at {cut}", lambda cut=cut: zipped(GOOD)[:cut], damaged)
    yield case("bytes after the end", lambda: zipped(GOOD) + b"<script>", damaged)
    yield case("a picture before it", lambda: b"GIF89a" + zipped(GOOD), no(""))
    yield case("a page of the web before it", lambda: b"<html><script>1</script>" + zipped(GOOD), no(""))
    wrong, table = patched(zipped(GOOD), CENTRAL, 16, b"\0\0\0\0"), zipped({**GOOD, "s.csv": "topic,system,text\n"})
    unread = Refused("z.zip: ", "a file that cannot be read (BadZipFile); expected a complete file", alone=True)
    yield case("a wrong checksum", lambda: wrong, unread)
    summed = patched(table, CENTRAL, 16, b"\0\0\0\0", last=True)
    yield case("a table with a wrong checksum", lambda: summed, inside("cannot be decompressed"))
    for said, at, value in (
        ("place", 42, b"\1\0\0\0"),
        ("place", 42, b"\xff\xff\xff\x7f"),
        ("size", 20, b"\xff\xff\xff\0"),
    ):
        there = patched(zipped(GOOD), CENTRAL, at, value)
        yield case(f"the {said} {value.hex()} of an entry", lambda there=there: there, damaged)
    yield case("a directory beyond the end", lambda: patched(zipped(GOOD), END, 16, b"\xff\xff\xff\x7f"), no(""))
    yield case(
        "one part of several",
        lambda: patched(zipped(GOOD), END, 4, b"\1\0"),
        no("one part of a ZIP file in several parts"),
    )
    yield case("no entries", lambda: zipped({}), no("nothing that can be read; expected topics (.jsonl"))
    yield case("only folders", lambda: zipped({"topics/": "", "topics/T/": ""}), no("nothing that can be read"))
    for called, content in {
        "a tar archive": tarred(),
        "a gzip archive": gzip.compress(tarred()),
        "a bzip2 archive": bz2.compress(tarred()),
        "an xz archive": lzma.compress(tarred()),
        "a 7z archive": b"7z\xbc\xaf\x27\x1c" + bytes(100),
        "a rar archive": b"Rar!\x1a\x07\x01" + bytes(100),
        "a zstd archive": b"(\xb5/\xfd" + bytes(100),
    }.items():
        yield case(f"{called} called a zip", lambda content=content: content, no(called))
        yield case(
            f"{called} in a zip",
            lambda content=content: zipped({**GOOD, "x.csv": content}),
            Refused("z.zip/x.csv", called),
        )
    yield case(
        "a page of the web in it", lambda: zipped({**GOOD, "x.html": "<html>"}), Refused("z.zip/x.html", "a web page")
    )
    yield case(
        "a program in it",
        lambda: zipped({**GOOD, "x.csv": b"\x7fELF" + bytes(99)}),
        Refused(here + "x.csv", "a program"),
    )
    yield case("a whole study", lambda: zipped({"study.json": "{}", "MANIFEST": ""}), no("whole study"))
    yield case("what macOS adds", lambda: zipped({**GOOD, "__MACOSX/topics/._d.txt": b"\0\5\x16\7"}), rain)
    yield case(
        "what editors leave", lambda: zipped({**GOOD, "topics/T/documents/d.txt~": "old", ".x.swp": b"\0"}), rain
    )
    yield case("what Windows leaves", lambda: zipped({**GOOD, "Thumbs.db": b"\xd0\xcf", "desktop.ini": "x"}), rain)
    yield case("one folder around all", lambda: zipped({"my study/" + name: text for name, text in GOOD.items()}), rain)
    yield case("a name that says what not to do", lambda: with_name("topics/T/documents/-rf.txt"), rain)


# Plain texts in their folders


def plain() -> Iterator[Case]:
    def case(name: str, content: str | bytes, becomes: Exact | Normalized | Refused, path: str = "") -> Case:
        path = path or "topics/T/documents/d.txt"
        return Case("plain text", name, "z.zip", lambda: zipped({path: content}, zipfile.ZIP_STORED), becomes)

    where = "z.zip/topics/T/documents/d.txt"
    yield case("a byte order mark", "\ufeffRain fell.", Normalized("Rain fell.", gone="\ufeff"))
    yield case("lines of Windows", "Rain\r\nfell.", Normalized("Rain\nfell.", gone="\r"))
    yield case("no newline at the end", "Rain fell.", Exact("Rain fell."))
    yield case("one line of 999,999 bytes", "x" * 999_999, Exact("x" * 999_999))
    yield case("200,000 empty lines", "Rain." + "\n" * 200_000 + "Snow.", Exact("Snow."))
    yield case("an ending in capitals", "Rain fell.", Exact("Rain fell."), "topics/T/documents/d.TXT")
    yield case("one byte too much", "x" * 1_000_001, Refused(where, "1 MB"))
    yield case("nothing", "", Refused(where, "an empty text"))
    yield case("nothing to be seen", " \n\t\u200b\n", Refused(where, ""))
    yield case("Latin-1", "Señor".encode("latin-1"), Refused(where + ":1", "0xF1"))
    yield case("Latin-1 on the third line", "a\nb\nSeñor".encode("latin-1"), Refused(where + ":3", "0xF1"))
    yield case("Latin-1 without doubt", "Glück".encode("latin-1"), Normalized("Glück"))
    yield case("Windows-1252", "a\n“Rain”".encode("cp1252"), Normalized("a\n“Rain”"))
    yield case("GB18030", "下雨了。".encode("gb18030"), Refused(where + ":1", "0xCF"))
    yield case("UTF-16", "Rain fell.".encode("utf-16"), Refused(where + ":1", "UTF-16"))
    yield case("UTF-16 without a mark", "Rain fell.".encode("utf-16-le"), Refused(where + ":1", "NUL"))
    yield case("NUL on the second line", "a\nb\0", Refused(where + ":2", "NUL"))
    yield case("Ctrl-Z at the end", "Rain fell.\n\x1a", Refused(where + ":2", "Ctrl-Z"))
    yield case("a form feed between pages", "Rain.\n\x0cSnow.", Refused(where + ":2", "a form feed"))
    yield case("another ending", "Rain.", Refused("z.zip/topics/T/documents/d.md", ".txt"), "topics/T/documents/d.md")
    yield case(
        "a page of the web",
        "<html>Rain.",
        Refused("z.zip/topics/T/documents/d.html", ".txt"),
        "topics/T/documents/d.html",
    )
    yield case(
        "at no known place", "Rain.", Refused("z.zip/topics/T/other/d.txt", "an unknown place"), "topics/T/other/d.txt"
    )
    yield case(
        "too deep",
        "Rain.",
        Refused("z.zip/topics/T/documents/x/d.txt", "an unknown place"),
        "topics/T/documents/x/d.txt",
    )
    yield case("a summary of nothing", "Rain.", Refused("z.zip/topics/T", "no documents"), "topics/T/summaries/s.txt")
    yield case(
        "a name of invisible characters", "Rain.", Refused("z.zip", "invisible"), "topics/\u200b/documents/d.txt"
    )
    yield case("a name with a space at its end", "Rain.", Refused("z.zip", "space"), "topics/T /documents/d.txt")


# DUC and TAC: newswire and annotations, whose faults are survived

STORY = "<DOC><HEADLINE>Ferry</HEADLINE><TEXT><P>Rain fell here. Rivers rose.</P></TEXT></DOC>"
FIRST = "docs/D0801A/D0801A-A/A1"
SECOND = "docs/D0801A/D0801A-A/A2"
PYR = "manual/pyramids/D0801-A.pyr"


def story(text: str) -> str:
    return f"<DOC><TEXT>{text}</TEXT></DOC>"


def pyramid(text: str, scus: str = "", before: str = "", pattern: str = "") -> str:
    regex = f"<startDocumentRegEx><![CDATA[{pattern}]]></startDocumentRegEx>" if pattern else ""
    return f"{before}<pyramid>{regex}<text><line>{text}</line></text>{scus}</pyramid>"


def scu(uid: str, *labels: str) -> str:
    parts = "".join(f'<part label="{label}" start="0" end="1"/>' for label in labels)
    return f'<scu uid="{uid}" label="x"><contributor label="x">{parts}</contributor></scu>'


def laughs() -> str:
    entities = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    return pyramid("&a11;", before=f'<!DOCTYPE l [<!ENTITY a0 "ha">{entities}]>')


def corpora() -> Iterator[Case]:
    def case(name: str, files: Callable[[], Files], becomes: Exact | Normalized | Refused) -> Case:
        # Stored, so that nothing is refused for being packed well before its reader sees it.
        return Case(
            "DUC and TAC", name, "c.zip", lambda: zipped({FIRST: STORY} | dict(files()), zipfile.ZIP_STORED), becomes
        )

    rain = Exact("Rain fell here. Rivers rose.")

    # Documents
    def document(name: str, content: str | bytes, becomes: Exact | Normalized | Refused) -> Case:
        return case(f"a document: {name}", lambda: {SECOND: content}, becomes)

    passwd = '<!DOCTYPE d [<!ENTITY b SYSTEM "file:///etc/passwd">]>'
    yield document("an entity of a file", passwd + story("Snow &b; fell."), Exact("Snow &b; fell."))
    yield document(
        "an entity of entities", '<!DOCTYPE d [<!ENTITY b "&c;&c;">]>' + story("Snow &b;."), Exact("Snow &b;.")
    )
    yield document(
        "a definition elsewhere", '<!DOCTYPE d SYSTEM "http://203.0.113.9/d.dtd">' + story("Snow."), Exact("Snow.")
    )
    yield document(
        "a script", story("<P>Snow <script>alert(1)</script> fell.</P>"), Normalized("Snow alert(1) fell.", "<script")
    )
    yield document(
        "a script in entities",
        story("Snow &lt;script&gt;1&lt;/script&gt;."),
        Normalized("Snow <script>1</script>.", "&lt;"),
    )
    yield document("CDATA", story("<![CDATA[Snow & <b>ice</b>.]]>"), Normalized("Snow & ice.", "CDATA"))
    yield document("Ctrl-Z", story("Snow fell.\x1a"), Normalized("Snow fell.", "\x1a"))
    yield document("form feeds", story("Snow\x0cfell."), Normalized("Snow fell.", "\x0c"))
    yield document("NUL", story("Snow\0fell."), Normalized("Snow fell.", "\0"))
    yield document("NUL as a number", story("Snow &#0; fell."), Normalized("fell.", "\0"))
    yield document("escape as a number", story("Snow &#27;[31m fell."), Normalized("fell.", "\x1b"))
    yield document("half of a pair as a number", story("Snow &#xD800; fell."), Normalized("fell.", "\ud800"))
    yield document("an old line end as a number", story("Snow &#x85; fell."), Normalized("fell.", "\x85"))
    yield document(
        "a number of 5,000 digits", story("Snow &#" + "9" * 5_000 + "; fell."), Normalized("Snow \ufffd fell.", "999")
    )
    yield document(
        "a number of 900,000 digits",
        story("Snow &#x" + "9" * 900_000 + "; fell."),
        Normalized("Snow \ufffd fell.", "999"),
    )
    yield document("Latin-1", story("Gl\xfcck.").encode("latin-1"), Normalized("Glück."))
    yield document("Latin-1 in doubt", story("Se\xf1or.").encode("latin-1"), rain)
    yield document("UTF-16", story("Snow.").encode("utf-16"), rain)
    yield document("31 marks in a row", story("Snow q" + "\u0334" * 31), Normalized("Rivers rose.", "\u0334"))
    yield document(
        "20,000 marks in a headline",
        f"<DOC><HEADLINE>q{MARKS * 10_000}</HEADLINE><TEXT>Snow.</TEXT></DOC>",
        Normalized("Snow.", MARKS),
    )
    yield document("a letter and its accent", story("Cafe\u0301s."), Normalized("Cafés.", "e\u0301"))
    yield document(
        "a headline with an accent",
        f"<DOC><HEADLINE>Cafe\u0301</HEADLINE>{story('Snow.')}</DOC>",
        Normalized("Café", "e\u0301"),
    )
    yield document("100,000 elements in each other", "<DOC><TEXT>" + "<P>" * 100_000 + "Snow.", Exact("Snow."))
    yield document("160,000 documents that never end", "<DOC>" * 160_000, rain)
    yield document("300,000 tags that never end", "<DOC><TEXT>" + "<a " * 300_000, rain)
    yield document("300,000 ampersands", story("&" * 300_000), Exact("&" * 300_000))
    yield document("a tag of 900,000 characters", "<DOC><TEXT" + "x" * 900_000, rain)
    yield document("900,000 spaces", story("Snow\n" + " " * 900_000 + "\n fell."), rain)
    yield document("no text", "<DOC></DOC>", rain)
    yield document("more than 1 MB", story("x" * 1_000_001), rain)
    yield document("tags in capitals and not", "<doc><Text><p>Snow.</P></tExt></doc>", Exact("Snow."))

    # Names
    yield case("a document's name in two cases", lambda: {FIRST.lower(): STORY}, Refused("c.zip", "than case"))
    yield case(
        "names that are none",
        lambda: {"docs/D0801A/D0801A-A/D1/x": STORY, "docs/D08/D08/../x": STORY},
        Refused("c.zip", "out of the ZIP file"),
    )
    yield case("a name in digits of another script", lambda: {"docs/D٠٨٠١A/x": STORY}, rain)
    for name in ("D0801-A.M.100.A.12.exe", "D0801-A.M.100.A.", "D0801-A.M.99999.A.1", "D0801-A", "D0801-A.M.100.A.<b>"):
        yield case(f"a summary called {name}", lambda name=name: {f"peers/{name}": "Snow."}, rain)
    yield case(
        "summaries called in two cases",
        lambda: {"peers/D0801-A.M.100.A.12": "Snow.", "peers/d0801-a.m.100.a.12": "x"},
        Refused("c.zip", "than case"),
    )
    yield case(
        "a summary under two endings",
        lambda: {"peers/D0801-A.M.100.A.12": "Snow.", "peers/D0801-A.M.100.A.12.txt": "Ice."},
        Exact("Snow."),
    )
    yield case("what editors leave", lambda: {SECOND + "~": "old", "docs/D0801A/D0801A-A/#A3#": "x"}, rain)
    yield case(
        "two thousand and one topics",
        lambda: {f"docs/d{n:05}t/A1": STORY for n in range(10_000, 12_001)},
        Refused("c.zip", "more than 2000"),
    )

    # Summaries
    peer = "peers/D0801-A.M.100.A.12"

    def summary(name: str, content: str | bytes, becomes: Exact | Normalized | Refused) -> Case:
        return case(f"a summary: {name}", lambda: {peer: content}, becomes)

    numbered = '<html><body>[1] <a href="#1" id=1>Snow fell.</a> <a href="#1" id=1>Ice &lt;b&gt;.</a></body></html>'
    yield summary("sentences of one number", numbered, Exact("Ice <b>."))
    yield summary("sentences with an accent in parts", "<html><a id=1>Cafe\u0301.</a>", Normalized("Café.", "e\u0301"))
    yield summary(
        "a page of the web", "<html><body><script>alert(1)</script>Snow.</body>", Normalized("Snow.", "<script")
    )
    yield summary("300,000 links", "<html>" + "<a " * 300_000, rain)
    yield summary("links of many identities", "<html>" + ("<a " + "id " * 60) * 5_000, rain)
    yield summary("31 marks in a row", "Snow q" + "\u0334" * 31, Normalized("Rivers rose.", "\u0334"))
    yield summary("NUL", "Snow\0.", Normalized("Snow .", "\0"))
    yield summary("nothing", "", rain)

    # Topic statements
    def statement(name: str, content: str, becomes: Exact | Normalized | Refused) -> Case:
        return case(f"a topic: {name}", lambda: {"all_topics.xml": content}, becomes)

    yield statement("spaces without end after the name", "<topic id=" + " " * 480 + "<x", rain)
    yield statement("a thousand of these", ("<topic id=" + " " * 480 + "<x") * 1_000, rain)
    yield statement("160,000 topics", "<topic>" * 140_000, rain)
    yield statement("an entity of a file", passwd + "<topic id='D0801A'><title>&b;</title>", Exact("&b;"))
    yield statement(
        "31 marks in a row", f"<topic id='D0801A'><title>Snow {HIGH}</title>", Normalized("Rivers rose.", "\u0334")
    )
    yield statement(
        "a title of 100,000 characters",
        f"<topic id='D0801A'><title>{'x' * 100_000}</title>",
        Normalized("x" * 500, "x" * 501),
    )
    yield statement(
        "a script",
        "<topic id='D0801A'><title>&lt;script&gt;alert(1)&lt;/script&gt;</title>",
        Exact("<script>alert(1)</script>"),
    )
    yield statement(
        "a topic twice", "<topic id=D0801A><title>Snow</title><topic id=D0801A><title>Ice</title>", Exact("Snow")
    )

    # Scores
    def table(name: str, row: str, becomes: Exact | Normalized | Refused) -> Case:
        return case(
            f"scores: {name}", lambda: {peer: "Snow.", "linguistic_quality.table": f"D0801-A a b {row}\n"}, becomes
        )

    yield table("a question of 5,000 characters", f"12 {'q' * 5_000} 3", Normalized("Snow.", "q" * 100))
    yield table("a question of marks", f"12 {HIGH} 3", Normalized("Snow.", "\u0334"))
    yield table("scores beyond every number", "12 1 1e308\nD0801-A a b 12 1 1e308", Exact("Snow."))
    yield table("a score that is none", "12 1 nan", Exact("Snow."))
    yield table("400,000 rows", "12 1 3\n" + "D0801-A\n" * 100_000, Exact("linguistic_quality_1"))

    # Annotations
    def annotated(
        name: str, content: str | bytes | Callable[[], str], becomes: Exact | Normalized | Refused = rain
    ) -> Case:
        return case(f"an annotation: {name}", lambda: {PYR: content() if callable(content) else content}, becomes)

    yield annotated("a billion laughs", laughs)
    yield annotated(
        "one long entity many times",
        lambda: pyramid("&a;" * 50_000, before=f'<!DOCTYPE l [<!ENTITY a "{"a" * 50_000}">]>'),
    )
    yield annotated("an entity of a file", pyramid("&b;", before=passwd.replace(" d ", " pyramid ")))
    yield annotated(
        "an entity of the definition",
        pyramid("x", before='<!DOCTYPE l [<!ENTITY % a SYSTEM "file:///etc/passwd"> %a;]>'),
    )
    yield annotated("a definition elsewhere", pyramid("x", before='<!DOCTYPE l SYSTEM "http://203.0.113.9/x.dtd">'))
    yield annotated(
        "an inclusion", pyramid('<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>')
    )
    yield annotated("a stylesheet", pyramid("x", before='<?xml-stylesheet href="http://203.0.113.9/x.xsl"?>'))
    yield annotated("100,000 elements in each other", "<a>" * 100_000 + "</a>" * 100_000)
    yield annotated("600,000 elements in each other", lambda: "<a>" * 600_000 + "</a>" * 600_000)
    yield annotated("attributes without end", lambda: "<a " + " ".join(f'a{n}=""' for n in range(300_000)) + "/>")
    yield annotated("the same attributes many times", lambda: "<p>" + '<a b=""/>' * 500_000 + "</p>")
    yield annotated("UTF-7", pyramid("x", before="<?xml version='1.0' encoding='utf-7'?>"))
    yield annotated("an encoding that is none", pyramid("x", before="<?xml version='1.0' encoding='rot13'?>"))
    yield annotated("UTF-16", pyramid("x").encode("utf-16"))
    yield annotated("not XML", "<pyramid><text>")
    yield annotated("bytes that are not text", bytes(range(256)) * 20)
    yield annotated("units of one number", pyramid("Snow fell.", scu("1", "Snow") + scu("1", "fell") + scu("", "x")))
    yield annotated(
        "a place of 5,000 digits", pyramid("Snow.", scu("1", "Snow").replace('"0"', '"' + "9" * 5_000 + '"'))
    )
    yield annotated("an expression that never ends", pyramid("a" * 40, pattern="a?" * 40 + "a" * 40))
    yield annotated("choices that never end", pyramid("a" * 60, pattern="(a|aa)" * 30 + "b"))
    yield annotated("expressions in each other", pyramid("a" * 60, pattern="(a*)*b"))
    yield annotated("repeated backslashes", pyramid("\\" * 80, pattern=r"\\*" * 60 + "b"))
    yield annotated(
        "an expression of three stretches", lambda: pyramid("</line><line>".join(["a" * 99] * 1_900), pattern=".*.*.*b")
    )
    yield annotated(
        "a stretch that is nearly everywhere", lambda: pyramid("a" * 199_000, scu("1", *["ab" + "a" * 60_000] * 60))
    )
    yield annotated(
        "10,000 stretches that are nowhere", lambda: pyramid(words(18_000), scu("1", *(f"zq{n}" for n in range(9_999))))
    )
    yield annotated("100,000 stretches", lambda: pyramid(words(18_000), scu("1", *(f"zq{n}" for n in range(100_000)))))
    yield annotated("a text of 4 MB", lambda: pyramid(words(300_000), scu("1", "x")))
    yield annotated("more than 5 MB", lambda: pyramid("x" * 5_000_001))


CASES = [*texts(), *lines(), *tables(), *tools(), *archives(), *plain(), *corpora()]
