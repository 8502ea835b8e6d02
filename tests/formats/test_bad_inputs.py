"""Every bad file is refused whole, and the complaint says where, what was found and what was expected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from preferendum import formats
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.checks.text import decode
from preferendum.formats.records import Existing, ExistingTopic

DOCUMENT = '{"id": "d", "text": "One."}'
GOOD = '{"topic_id": "T", "documents": [' + DOCUMENT + "]}"
HEADER = "topic,a,b,winner\n"


@dataclass(frozen=True)
class Bad:
    """A file (or the files of a zip), and the complaint that it must get."""

    name: str
    content: str | bytes | Mapping[str, str | bytes]
    line: int
    field: str
    found: str
    expected: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.found}"[:80]


def topic(**keys: object) -> str:
    return json.dumps({"topic_id": "T", "documents": [{"id": "d", "text": "One."}]} | keys)


def summary(**keys: object) -> str:
    return topic(summaries=[{"system": "lead", "text": "One."} | keys])


def preference(**keys: object) -> str:
    return json.dumps({"topic": "T", "a": "d:0", "b": "d:1", "winner": "a"} | keys)


def folder(**files: str | bytes) -> dict[str, str | bytes]:
    return {"topics/T/documents/d.txt": "One. Two.", "topics/T/summaries/lead.txt": "One."} | {
        name.replace("__", "/"): content for name, content in files.items()
    }


def in_topic(field: str, found: str, expected: str, **keys: object) -> Bad:
    return Bad("t.jsonl", topic(**keys), 1, field, found, expected)


def in_summary(field: str, found: str, expected: str, **keys: object) -> Bad:
    return Bad("t.jsonl", summary(**keys), 1, field, found, expected)


def in_preference(field: str, found: str, expected: str, **keys: object) -> Bad:
    return Bad("p.jsonl", preference(**keys), 1, field, found, expected)


def in_rows(rows: str, line: int, field: str, found: str, expected: str) -> Bad:
    return Bad("p.csv", HEADER + rows, line, field, found, expected)


def in_folder(file: str, content: str | bytes, line: int, field: str, found: str, expected: str) -> Bad:
    return Bad("z.zip", folder(**{file: content}), line, field, found, expected, f"z.zip/{file}")


def in_document(content: str | bytes, line: int, found: str, expected: str) -> Bad:
    path = "topics/T/documents/d.txt"
    return Bad("z.zip", {path: content}, line, "", found, expected, f"z.zip/{path}")


JSON_LINES = [
    Bad("t.jsonl", "", 0, "", "an empty file", "topics (.jsonl with topic_id"),
    Bad("t.jsonl", "\n \n", 0, "", "an empty file", "topics (.jsonl"),
    Bad(
        "t.jsonl",
        GOOD + "\n" + GOOD[:-2],
        2,
        "",
        "incomplete JSON that ends at column",
        "one complete JSON object per line",
    ),
    Bad("t.jsonl", GOOD[:-5], 1, "", "a string that starts at column 53 and is never closed", "one complete JSON"),
    Bad("t.jsonl", GOOD + "\n{'topic_id': 1}", 2, "", "no JSON at column 2: \"'topic_id'", "one complete JSON object"),
    Bad("t.jsonl", '"topic_id":', 1, "", "no JSON at column 11", "one complete JSON object per line"),
    Bad("t.jsonl", GOOD + "\nnull", 2, "", "null", "a JSON object"),
    Bad("t.jsonl", GOOD + "\n17", 2, "", "the number 17", "one JSON object per line"),
    Bad("t.jsonl", GOOD + GOOD, 1, "", "no JSON at column", "one complete JSON object per line"),
    Bad("t.jsonl", GOOD + "\n33\n" + GOOD, 3, "topic_id", 'the topic "T" for the second time', "each topic once"),
    Bad("t.jsonl", GOOD + "\n\n" + GOOD, 3, "topic_id", 'the topic "T" for the second time', "each topic once"),
    Bad(
        "t.jsonl",
        topic(topic_id="é") + "\n" + topic(topic_id="e\u0301"),
        2,
        "topic_id",
        'the topic "é" for the second time',
        "each topic once",
    ),
    Bad("t.jsonl", '{"topic_id": "T", "topic_id": "U"}', 1, "", 'the key "topic_id" twice', "each key once"),
    in_topic("x", 'the key "é" twice', "each key once", x={"é": 1, "e\u0301": 2}),
    Bad("t.jsonl", GOOD[:-1] + ', "x": NaN}', 1, "", "NaN", "a number or null"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": -Infinity}', 1, "", "-Infinity", "a number or null"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": 1e999}', 1, "", "1e999", "numbers below"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": ' + "9" * 5000 + "}", 1, "", "the whole number", "whole numbers below 2^63"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": 9223372036854775808}', 1, "", "9223372036854775808", "below 2^63"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": ' + "[" * 21 + "]" * 21 + "}", 1, "", "nesting deeper than 20", "flatter JSON"),
    Bad("t.jsonl", GOOD[:-1] + ', "x": ' + "[" * 100_000, 1, "", "nesting deeper than 20", "flatter JSON"),
    Bad("t.jsonl", '{"a":' * 100_000, 1, "", "nesting deeper than 20", "flatter JSON"),
    in_topic("topic_id", "null", "a name in double quotes", topic_id=None),
    in_topic("topic_id", "the number 7", "a name in double quotes", topic_id=7),
    in_topic("topic_id", "an empty name", "a name", topic_id=""),
    in_topic("topic_id", "a name of invisible characters", "a name", topic_id="\u200b\u00ad"),
    in_topic("topic_id", '"T ", with a space at the start or end', "the name without the space", topic_id="T "),
    in_topic("topic_id", '"T\\nU", with a tab or a newline', "a name on one line", topic_id="T\nU"),
    in_topic("topic_id", "a name of 201 characters", "at most 200", topic_id="T" * 201),
    Bad("t.jsonl", '{"documents": [' + DOCUMENT + "]}", 1, "topic_id", "no such key", "a name in double quotes"),
    Bad("t.jsonl", '{"topic_id": "T"}', 1, "documents", "no documents", "documents (people judge their sentences), or"),
    in_summary("summaries[0].ratings", "an object with 0 keys", "a list in square", ratings={}),
    in_summary("summaries[0].ratings[0]", "the number 3", "an object in braces", ratings=[3]),
    in_summary("summaries[0].ratings[0].assessor", "null", "a name in double", ratings=[{"r": 3}]),
    in_summary("summaries[0].ratings[1].assessor", '"A" for', "each", ratings=[{"assessor": "A"}] * 2),
    in_summary("summaries[0].ratings[0].r", "the text", "a num", ratings=[{"assessor": "A", "r": "x"}]),
    in_summary("summaries[0].ratings[0].r", "the number", "a", ratings=[{"assessor": "A", "r": 1e300}]),
    in_summary("summaries[0].metrics", "a list of 1", "scores by dimension or metric", metrics=[1]),
    in_summary("summaries[0].metrics.a:b", '"a:b"', "a name without colons", metrics={"a:b": 1}),
    in_summary("summaries[0].metrics.a", 'the text "1"', "a number", metrics={"a": "1"}),
    in_topic("base", "the number 1", "a name in double quotes", base=1),
    in_topic("base", '"T", the topic itself', "the topic with the earlier documents", base="T"),
    in_topic("base", '"S", which is unknown', "a topic of the study or of this upload", base="S"),
    in_summary("summaries[0].person", 'the text "yes"', "true or false", person="yes"),
    in_summary("summaries[0].reference", "the number 1", "a name in double quotes", reference=1),
    in_summary("summaries[0].reference", '"A", which is unknown', "the id of a refer", reference="A"),
    in_topic("documents", "no documents", "documents (people judge their sentences), or", documents=[]),
    in_topic("documents", "an object with 1 keys", "a list in square brackets", documents={"d": "One."}),
    in_topic("documents[0]", 'the text "One."', "an object in braces", documents=["One."]),
    in_topic("documents[0].id", "no such key", "a name", documents=[{"text": "One."}]),
    in_topic("documents[0].text", "no such key", "text, or a list of sentences", documents=[{"id": "d"}]),
    in_topic(
        "documents[0]",
        "both text and sentences",
        "one of them",
        documents=[{"id": "d", "text": "One.", "sentences": ["One."]}],
    ),
    in_topic("documents[0].text", "an empty text", "some text", documents=[{"id": "d", "text": " \n"}]),
    in_topic("documents[0].text", "only invisible characters", "some text", documents=[{"id": "d", "text": "\u200b"}]),
    in_topic("documents[0].text", "the number 3", "text in double", documents=[{"id": "d", "text": 3}]),
    in_topic("documents[0].sentences", "an empty list", "one", documents=[{"id": "d", "sentences": []}]),
    in_topic("documents[0].sentences", "only empty", "at", documents=[{"id": "d", "sentences": [" "]}]),
    in_topic(
        "documents[0].sentences[1]",
        "only invisible characters",
        "some text",
        documents=[{"id": "d", "sentences": ["One.", "\u200b"]}],
    ),
    in_topic(
        "documents[0].sentences", 'the text "One."', "a list of sentences", documents=[{"id": "d", "sentences": "One."}]
    ),
    in_topic(
        "documents[1].id",
        '"d" for the second time',
        "a different name for each",
        documents=[{"id": "d", "text": "One."}] * 2,
    ),
    in_topic(
        "documents[0].text",
        "a text larger than 1 MB",
        "shorter texts",
        documents=[{"id": "d", "text": "x" * 1_000_001}],
    ),
    in_topic("references[0].text", "an empty text", "some text", references=[{"id": "A", "text": ""}]),
    in_topic("title", "U+0000 (NUL) at character 2", "without control characters", title="a\0b"),
    in_topic("title", "U+D800, half of a surrogate pair at character 1", "without", title="\ud800"),
    in_topic("title", "U+FFFE (not a character) at character 3", "without", title="ab\ufffe"),
    in_topic("title", "U+1FFFF (not a character)", "without control", title="\U0001ffff"),
    in_topic("title", "a vertical tab", "without control characters", title="\x0b"),
    in_topic("title", "a form feed", "without control characters", title="\x0c"),
    in_topic("title", "U+001C (a control character)", "without control characters", title="\x1c"),
    in_topic("question", "only invisible characters", "some text", question="\u200b"),
    in_topic("title", "NEL", "without control characters", title="\x85"),
    in_topic("title", "a carriage return without a line feed", "without control", title="a\rb"),
    in_topic("title", "more than 30 combining marks", "ordinary text", title="z" + "\u0300" * 31),
    in_topic("title", "a list of 1", "text in double quotes", title=["x"]),
    in_topic("title", "501 characters", "at most 500", title="x" * 501),
    in_topic("question", "10001 characters", "at most 10000", question="x" * 10_001),
    in_topic("language", '"Englisch sprache"', "such as en, de", language="Englisch sprache"),
    in_topic("mine.deep[0]", "U+0000 (NUL)", "without control characters", mine={"deep": ["\0"]}),
    in_topic("a\\u{0000}", "U+0000 (NUL)", "without control characters", **{"a\0": 1}),
    in_topic("summaries[0].system", "no such key", "a name", summaries=[{"text": "One."}]),
    in_topic(
        "summaries[1].system",
        '"s" for the second time',
        "a different name",
        summaries=[{"system": "s", "text": ""}] * 2,
    ),
    in_summary("summaries[0].human", "a list of 1", '{"responsiveness": 4.0}', human=[4]),
    in_summary("summaries[0].human.r", 'the text "4"', "a number", human={"r": "4"}),
    in_summary("summaries[0].human.r", "true", "a number", human={"r": True}),
    Bad("t.jsonl", b"\xff\xfe" + GOOD.encode("utf-16-le"), 1, "", "UTF-16 text", "UTF-8"),
    Bad("t.jsonl", topic(title="x").replace("x", "\xe9").encode("latin-1"), 1, "", "the byte 0xE9 at byte", "UTF-8"),
    Bad("t.jsonl", GOOD.encode() + b'\n{"x": "\xed\xa0\x80"}', 2, "", "the byte 0xED at byte 8", "UTF-8"),
    Bad("t.jsonl", GOOD + "\r" + GOOD + "\r" + GOOD, 1, "", "a carriage return without a line feed", "a line feed"),
    Bad("t.jsonl", '{"who": "x", "said": "y"}', 1, "", "no column system, text", "say which of yours these are"),
    in_preference("winner", 'the text "left"', "a, b, tie or neither", winner="left"),
    in_preference("why", "201 characters", "at most 200", why="x" * 201),
    in_preference("note", "301 characters", "at most 300", note="x" * 301),
    in_preference("note", "3", "text in double quotes", note=3),
    in_preference("a", '"d0"', "<document>:<index from 0>", a="d0"),
    in_preference("a", '"d:01"', "<document>:<index from 0>", a="d:01"),
    in_preference("a", "the number 3", "<document>:<index from 0>", a=3),
    in_preference("b", '"d:0" on both sides', "two different sentences", b="d:0"),
    in_preference("seconds", "the number -1", "0 or more", seconds=-1),
    in_preference("seconds", 'the text "7"', "0 or more", seconds="7"),
    in_preference("at", '"yesterday"', "2026-01-31T16:53:19Z", at="yesterday"),
    in_preference("at", '"2026-01-31T16:53:19"', "a time with its zone", at="2026-01-31T16:53:19"),
    in_preference("at", "the number 7", "2026-01-31T16:53:19Z", at=7),
    in_preference("of", "a list of 1", "sentences or summaries", of=["summaries"], a=1),
    in_preference("of", 'the text "words"', "sentences or summaries", of="words"),
    in_preference("of", "the number 0", "sentences or summaries", of=0),
    in_preference("b", '"x" on both sides', "summaries of two systems", of="summaries", a="x", b="x"),
    in_preference("a", "the number 3", "a name in double quotes", of="summaries", a=3),
    Bad("p.jsonl", preference() + "\n}", 2, "", "no JSON at column 1", "one complete JSON object per line"),
    in_topic("documents[0].sentences[0]", "the number 1", "a", documents=[{"id": "d", "sentences": [1]}]),
    in_preference("annotator", "a list of 1", "a name in double quotes", annotator=["w"]),
    Bad("p.jsonl", preference() + "\n" + '{"topic": "T"}', 2, "winner", "no such key", "a, b, tie or neither"),
]

TABLES = [
    Bad("p.csv", "topic\ta\tb\twinner\n", 0, "", "a header without rows", "at least one row"),
    Bad("p.csv", "sep=;\n" + HEADER.replace(",", ";"), 0, "", "a header without rows", "at least one row"),
    Bad("p.csv", "sep=;\n" + HEADER.replace(",", ";") + "T,d:0\n", 3, "", "1 values", "4, the number of columns"),
    Bad("p.csv", "topic,a,b\nT,d:0,d:1\n", 1, "", "no column winner among", "topic,a,b,winner"),
    Bad("p.csv", "topic,a,b,winner,a\nT,d:0,d:1,a,b\n", 1, "", 'the column "a" twice', "each column once"),
    Bad("p.csv", HEADER, 0, "", "a header without rows", "at least one row"),
    in_rows("T,d:0,d:1\n", 2, "", "3 values", "4, the number of columns"),
    in_rows("T,d:0,d:1,a\nT,d:0,d:1,a,b\n", 3, "", "5 values", "4, the number of columns"),
    in_rows('T,d:0,d:1,a\n"T,d:0,d:1,a\nT,d:0,d:1,a\n', 3, "", "a double quote that is never closed", "quote"),
    in_rows('T,d:0,d"1,a\n', 2, "", 'a stray double quote after "d"', "completely in double quotes"),
    in_rows('"T"x,d:0,d:1,a\n', 2, "", 'a stray double quote after "T"', "completely in double quotes"),
    Bad(
        "p.csv",
        (HEADER + "T,d:0,d:1,a\n").replace("\n", "\r"),
        1,
        "",
        "a carriage return without a line feed",
        "line feed",
    ),
    Bad("p.csv", "topic,a,b,winner,of\nT,x,y,a,Summaries\n", 2, "of", 'the text "Summaries"', "sentences or summaries"),
    Bad("p.csv", "topic,a,b,winner,of\nT,x,,a,summaries\n", 2, "b", "an empty name", "a name"),
    in_rows("T,d:0,d:1,c\n", 2, "winner", 'the text "c"', "a, b, tie or neither"),
    Bad(
        "p.jsonl",
        "\n".join(preference(aspect=aspect) for aspect in ("fluency", "fluency", "relevance")),
        3,
        "aspect",
        '"relevance"',
        'answers about one aspect in a file, here "fluency"',
    ),
    Bad(
        "p.jsonl",
        "\n".join(preference(criterion=number, dimension="overall") for number in (1, 2)),
        2,
        "criterion",
        '"2"',
        'answers about one aspect in a file, here "1"',
    ),
    Bad(
        "p.csv",
        "topic,a,b,winner,Kriterium\nT,d:0,d:1,a,Stil\nT,d:0,d:1,a,\nT,d:0,d:1,a,Inhalt\n",
        4,
        "Kriterium",
        '"Inhalt"',
        'answers about one aspect in a file, here "Stil"',
    ),
    in_rows(",d:0,d:1,a\n", 2, "topic", "an empty name", "a name"),
    in_rows("T,d:0,d:\0,a\n", 2, "b", "U+0000 (NUL) at character 3", "without control characters"),
    Bad("p.csv", HEADER.encode() + b"T,d:0,d\x93:1,a\n", 2, "", "the byte 0x93 at byte 8", "Windows-1252"),
    Bad("p.csv", ("\ufeff" + HEADER).encode("utf-16-le"), 1, "", "UTF-16 text", "save as “CSV UTF-8”"),
    Bad("p.csv", "topic,a,b,winner,seconds\nT,d:0,d:1,a,1_0\n", 2, "seconds", '"1_0"', "a number such as 3.5"),
    Bad("p.csv", HEADER.strip() + "," * 20_000 + "\n", 1, "", "more than 100 columns", "fewer"),
    Bad("h.csv", 'topic,system,dimension,score\nT,s,r,"3,5"\n', 2, "score", '"3,5"', "with a point"),
    Bad("h.csv", "topic,system,dimension,score\nT,s,r,nan\n", 2, "score", '"nan"', "a number such as 3.5"),
    Bad("h.csv", "topic,system,dimension,score\nT,s,r,1e999\n", 2, "score", "which is too large", "a number"),
    Bad("h.csv", "topic,system,dimension,score\nT,s,r,\n", 2, "score", "nothing", "a number such as 3.5"),
    Bad("h.csv", "topic,system,dimension,score\nT,s,r,٣\n", 2, "score", '"٣"', "a number such as 3.5"),
    Bad("h.csv", "topic,system,dimension,score,rater\nT,s,r,3,x\n", 1, "", 'the column "rater"', "only the columns"),
    Bad("h.csv", "topic,system,dimension,score\nT,s,r,3\nT,s,r,4\n", 3, "", "a second score of", "the mean"),
    Bad(
        "s.csv", "topic,system,text\nT,s,x\nT,s,y\n", 3, "system", 'a second summary of topic "T" by "s"', "one summary"
    ),
    Bad("s.csv", "topic,system,text\nT,s," + "x" * 1_000_001, 2, "text", "a text larger than 1 MB", "shorter"),
    Bad("p.csv", "sentence_a,sentence_b,better\nx,y,a\n", 1, "", "no column a, b", "the columns topic,a,b,winner"),
    Bad("x.csv", "name,age\nEve,7\n", 1, "", "no column system, text among", "summaries: say which"),
    Bad("x.csv", "Dear Sir, hello\nI am fine\n", 1, "", 'a file that begins with "Dear Sir, hello"', "of human scores"),
]

FOLDERS = [
    Bad(
        "z.zip",
        folder(topics__T__documents__e="x"),
        0,
        "",
        "does not end in .txt",
        "topics/<topic>/documents/*.txt",
        "z.zip/topics/T/documents/e",
    ),
    Bad(
        "z.zip",
        {"topics/T/d.txt": "x"},
        0,
        "",
        "a file in an unknown place",
        "topics/<topic>/documents",
        "z.zip/topics/T/d.txt",
    ),
    Bad("z.zip", {"topics/T/summaries/s.txt": "x"}, 0, "", "no documents", "documents/*.txt", "z.zip/topics/T"),
    in_document("", 0, "an empty text", "some text"),
    in_document("a\nb\0", 2, "U+0000 (NUL) at character 2 of the line", "without"),
    in_document(b"a\nb\xe9", 2, "the byte 0xE9 at byte 2", "UTF-8"),
    in_document("a".encode("utf-16"), 1, "UTF-16 text", "UTF-8"),
    in_document(" ".join(map(str, range(200_000))), 0, "a text larger than 1 MB", "shorter texts"),
    in_folder(
        "human_scores.csv",
        "topic,system,dimension,score\nT,led,r,3\n",
        2,
        "system",
        '"led", which is unknown (most similar: "lead")',
        'a system that summarized topic "T"',
    ),
    in_folder(
        "human_scores.csv",
        "topic,system,dimension,score\nT1,lead,r,3\n",
        2,
        "topic",
        '"T1", which is unknown (most similar: "T")',
        "a topic of the study or of this upload",
    ),
    in_folder(
        "summaries.csv",
        "topic,system,text\nT,lead,x\n",
        2,
        "system",
        'a second summary of topic "T" by "lead"',
        "one summary per topic and system",
    ),
    in_folder("p.csv", HEADER + "T,d:0,d:2,a\n", 2, "b", '"d:2": document "d" has 2 sentences', "an index from 0 to 1"),
    in_folder("p.csv", HEADER + "T,d:0,e:0,a\n", 2, "b", '"e", which is unknown', 'of a document of topic "T"'),
    in_folder("p.jsonl", preference(topic="U"), 1, "topic", '"U", which is unknown', "a topic of the study"),
    in_folder("notes.html", "<html>hi</html>", 0, "", "a web page", "topics (.jsonl"),
    in_folder("inner.zip", b"PK\x03\x04xxxx", 0, "", "a zip", "one ZIP file with the files themselves"),
    in_folder("data.csv", b"\x1f\x8bxxxx", 0, "", "a gzip archive", "one ZIP file"),
    Bad("z.zip", {"[Content_Types].xml": "<x/>", "word/document.xml": "<x/>"}, 0, "", "an Office document", "CSV"),
    Bad("z.zip", {"__MACOSX/x": "x"}, 0, "", "nothing that can be read", "topics (.jsonl"),
    Bad("z.zip", {}, 0, "", "nothing that can be read", "topics (.jsonl"),
]

OTHERS = [
    Bad("x.pdf", b"%PDF-1.7\n...", 0, "", "a PDF", "topics (.jsonl"),
    Bad("x.jsonl", b"\x1f\x8b\x08\x00rest", 0, "", "a gzip archive", "one ZIP file"),
    Bad("x.tar", b"a" + b"\0" * 256 + b"ustar" + b"\0" * 300, 0, "", "a tar archive", "one ZIP file"),
    Bad("x.bin", b"\0\1\2\3" * 100, 0, "", "bytes that are not text", "topics (.jsonl"),
    Bad("x.txt", "Dear all,\nplease find", 1, "", 'begins with "Dear all,"', "topics (.jsonl"),
    Bad("x.csv", "<!DOCTYPE html><p>Sign in", 0, "", "a web page", "topics (.jsonl"),
]


def complaints(path: Path, bad: Bad) -> tuple[formats.Complaint, ...]:
    with pytest.raises(formats.Refused) as refused:
        formats.read(path, name=bad.name)
    return refused.value.complaints


@pytest.mark.parametrize("bad", [*JSON_LINES, *TABLES, *FOLDERS, *OTHERS], ids=str)
def test_a_bad_file_is_refused_with_file_line_field_found_and_expected(
    bad: Bad, tmp_path: Path, zipped: Callable[[Mapping[str, str | bytes]], Path]
) -> None:
    if isinstance(bad.content, Mapping):
        path = zipped(bad.content)
    else:
        path = tmp_path / "upload"
        path.write_bytes(bad.content.encode() if isinstance(bad.content, str) else bad.content)

    told = [(c.file, c.line, c.field, c.found % c.params, c.expected % c.params) for c in complaints(path, bad)]

    assert any(
        (file, line, field) == (bad.file or bad.name, bad.line, bad.field)
        and bad.found in found
        and bad.expected in expected
        for file, line, field, found, expected in told
    ), told


def test_there_are_more_than_a_hundred_ways_to_be_wrong() -> None:
    assert len({str(bad) for bad in [*JSON_LINES, *TABLES, *FOLDERS, *OTHERS]}) > 100


KNOWN = Existing({"T": ExistingTopic({"d": 5}, frozenset(["lead"]))})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD, 'x:1: topic_id: found the topic "T", which the study already has; expected new topics'),
        (preference(b="d:7"), 'x:1: b: found "d:7": document "d" has 5 sentences; expected an index from 0 to 4'),
        (
            "topic,system,text\nT,lead,x\n",
            'x:2: system: found a second summary of topic "T" by "lead"; expected one summary per topic and system',
        ),
        (
            "topic,system,dimension,score\nT,leed,r,1\n",
            'x:2: system: found "leed", which is unknown (most similar: "lead"); '
            'expected a system that summarized topic "T"',
        ),
    ],
)
def test_a_later_file_is_held_against_what_the_study_has(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x"
    path.write_text(content)

    with pytest.raises(formats.Refused) as refused:
        formats.read(path, existing=KNOWN)
    assert [formats.message(complaint) for complaint in refused.value.complaints] == [message]


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text("\n".join([topic(title=1, documents=[{"id": 1, "text": ""}]), GOOD, "{", topic(topic_id="")]))

    with pytest.raises(formats.Refused) as refused:
        formats.read(path)
    assert [(c.line, c.field) for c in refused.value.complaints] == [
        (1, "documents[0].text"),
        (1, "documents[0].id"),
        (1, "title"),
        (3, ""),
    ]


def test_after_two_hundred_faults_reading_stops_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(HEADER + "".join(f"T,d:0,d:1,{number + 2}\n" for number in range(1_000)))

    with pytest.raises(formats.Refused) as refused:
        formats.read(path)
    assert len(refused.value.complaints) == 201
    assert "reading stopped" in formats.message(refused.value.complaints[-1])


def test_a_fifty_megabyte_line_is_refused_after_sixteen(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(b'{"topic_id": "')
        for _ in range(49):
            file.write(b"x" * 1_000_000)

    with pytest.raises(formats.Refused) as refused:
        formats.read(path)
    assert formats.message(refused.value.complaints[0]) == (
        "x.jsonl:1: found a line longer than 16 MB; expected shorter lines"
    )


def test_a_file_beyond_fifty_megabytes_is_not_even_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.truncate(51_000_000)

    with pytest.raises(formats.Refused) as refused:
        formats.read(path)
    assert formats.message(refused.value.complaints[0]) == "x.jsonl: found 51 MB; expected at most 50 MB"


def test_a_file_that_is_not_there_is_a_complaint_too(tmp_path: Path) -> None:
    with pytest.raises(formats.Refused, match="no such file"):
        formats.read(tmp_path / "nothing.jsonl")


def test_what_comes_from_a_file_cannot_rearrange_or_hide_in_the_complaint(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps({"topic": "T", "a": "d:0", "b": "\u202e\x1b[31m%s%(x)s\n" + "y" * 100, "winner": "a"}))

    with pytest.raises(formats.Refused) as refused:
        formats.read(path, name="evil\n\u202e%s.csv")
    message = formats.message(refused.value.complaints[0])
    assert message.isprintable()
    assert len(message) < 200


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "p.csv", "p.txt"])
def test_utf16_is_named_with_and_without_its_mark(tmp_path: Path, name: str, encoding: str) -> None:
    text = GOOD if "json" in name else f"{HEADER}\nT,x,y,a\n"
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(formats.Refused, match="found UTF-16 text; expected UTF-8") as refused:
        formats.read(tmp_path / name)
    assert len(refused.value.complaints) == 1


# What people sent as Windows-1252, and what others wrote with the same bytes.
READ = [
    "The mayor’s “no” — and ‘yes’.",
    "“‘So,’” he said…",
    "1990–1995, Paris–London, rock—roll",
    "„Haus“ und „für dich“",
    "5 € or €5 or £3, 10°C",
    "café, Zoé, Glück, schön, Straße",
    "• a point",
]
REFUSED = [
    ("Señor", "cp1252"),
    ("être à Noël", "cp1252"),
    ("Příliš žluťoučký", "cp1250"),
    ("Привет, и мир", "cp1251"),
    ("и", "cp1251"),
    ("Ελλάδα και", "cp1253"),
    ("İstanbul ığ ş", "cp1254"),
    ("שלום", "cp1255"),
    ("Добрый день", "koi8-r"),
    ("下雨了 2020", "gb18030"),
    ("雨が降った", "shift-jis"),
    ("雨", "euc-jp"),
    ("비가 왔다", "cp949"),
    ("下雨了", "big5"),
    ("información española", "mac-roman"),
    ("schön, voilà, café", "cp850"),
]


@pytest.mark.parametrize("text", READ)
def test_windows_1252_is_read_with_a_note_where_no_other_encoding_fits(text: str) -> None:
    place = Place(Complaints(), "d.txt", 1)

    assert decode(place, text.encode("cp1252"), start=True) == text
    (note,) = place.complaints.remarks
    assert "read as Windows-1252" in note.said
    assert not place.complaints.collected


@pytest.mark.parametrize(("text", "encoding"), REFUSED)
def test_what_may_be_another_encoding_is_refused_with_its_place(text: str, encoding: str) -> None:
    place = Place(Complaints(), "d.txt", 1)

    assert decode(place, b"One.\n" + text.encode(encoding), start=True) is None
    (complaint,) = place.complaints.collected
    assert formats.message(complaint).startswith("d.txt:2: found the byte 0x")
    assert not place.complaints.remarks
