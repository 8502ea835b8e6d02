"""Files of other tools as our preferences: which reader takes a file, and what it left out, counted.

A reader is one module of this folder. It is recognised by the keys of a file's first row, whatever the file is called,
and gives for each row the votes in it, with our keys, or why there is none.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, escaped, kind, shown
from preferendum.formats.checks.text import blank, clean, decode
from preferendum.formats.readers import late
from preferendum.formats.readers.draft import RECORD, Alone, Draft, weight
from preferendum.formats.readers.headings import ANSWERS, WEAK, letter_of, role_of, word_of
from preferendum.formats.readers.lines import first_line, read_objects
from preferendum.formats.readers.preferences import preference_of
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tables import Columns, read_header, read_rows
from preferendum.formats.readers.turns import asked_in
from preferendum.formats.readers.voted import keep_texts
from preferendum.formats.records import Refused, Seen
from preferendum.formats.words import number_of

Row = Mapping[str, Any]
#: A judgment with our keys, or the reason why it is left out, as it follows a number: "without a winner".
Judged = dict[str, Any] | str

#: Reasons that several readers have.
NO_WINNER = "without a winner"
NO_NAME = "by a model that is not named"
SAME = "of a model against itself"
AGAIN = "by the same annotator, who scored the same again"
NO_SCORE = "without a score"
OTHER_TEXT = "about another text of the same model and prompt"
#: What `--columns` and `columns=` may name.
NAMED = ("a", "b", "topic", "annotator")
#: What tells one score from another.
_SCORED = ("topic", "system", "dimension", "assessor")

#: How fields of two texts are told apart, and what fields are called that both of them answer.
_SIDES = (("1", "2"), ("a", "b"), ("A", "B"), ("left", "right"), ("first", "second"))
_ASKED = ("prompt", "question", "instruction", "input", "source", "document", "article", "context", "text")

_ANY = Columns((), others=True)
_NAME = 80
_TOKENS = re.compile(r'("(?:[^"\\]++|\\.?)*+"?|[\[\]{},])', re.DOTALL)
#: What is within a member or an element, up to a bracket.
_INNER = re.compile(r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.?)*+"?)*+([\[\]{}])', re.DOTALL)
_KEY = re.compile(r'\s*("(?:[^"\\]++|\\.)*+")\s*:', re.DOTALL)
#: What the list of an object may be called that holds the rows of a file.
_LISTS = (
    "data rows records items entries examples instances results votes battles comparisons judgments judgements "
    "preferences scores ratings summaries outputs topics"
)
#: How such an object begins, after what else it may say: `{"version": 1, "data": [{`.
_WITHIN = re.compile(
    r'\s*+\{\s*+(?:"[^"\\]*+"\s*+:\s*+(?:"[^"\\]*+"|[^"\[\]{},\s]++)\s*+,\s*+)*+'
    rf'"(?:{"|".join(_LISTS.split())})"\s*+:\s*+\[\s*+\{{'
)
_BEGINNING = 4096


@dataclass(slots=True)
class Scored:
    """Scores of summaries, of each annotator the last, and the texts that they are about."""

    scores: dict[tuple[str, ...], tuple[Place, dict[str, str]]] = field(default_factory=dict)
    texts: dict[tuple[str, ...], tuple[Place, dict[str, str]]] = field(default_factory=dict)
    memory: int = 0

    def add(self, here: Place, row: Mapping[str, str], draft: Draft) -> str:
        """Add a row with a topic, a system, and a score or a text; why one is left out, if it is."""
        own = dict(row)
        rows, names = (self.texts, _SCORED[:2]) if "text" in own else (self.scores, _SCORED)
        key = tuple(own.get(name, "") for name in names)
        before = rows.get(key)
        if before and "text" in own:
            return "" if before[1]["text"] == own["text"] else OTHER_TEXT
        rows[key] = (here, own)
        if before:
            return AGAIN
        held = RECORD + sum(weight(own[name]) for name in ("text", *late.OF_TOPIC) if name in own)
        draft.memory += held
        self.memory += held
        return ""

    def read(self, draft: Draft) -> None:
        """Add all of it to a draft, which checks it."""
        draft.memory -= self.memory
        late.read_texts(iter(self.texts.values()), draft)
        late.read_human_scores(iter(self.scores.values()), draft)


class Unnamed(ValueError):
    """Raised by a reader for a row that does not say whose texts it compares."""


def rows_of_all(sources: Sequence[Source], place: Place, _draft: Draft) -> Iterator[tuple[Place, Row]]:
    """The rows of each file."""
    return (row for source in sources for row in rows_of(source, Place(place.complaints, source.label)))


@dataclass(frozen=True, slots=True)
class Reader:
    """A format. `about`: what it is, as its row in docs/formats.md says; `keys`: its keys in words; `source`: the tool
    or public file whose structure this is, with its version; `recognises`: whether a first row is of this format;
    `judgments`: those in a row, with `texts` where it has them (`prompt`, `a`, `b`, each a text or turns), or scores of
    summaries and their texts; `fields`: what our keys are called there; `example`: a small file of ours.

    `rows`: those of its files; `folder`: the files of a folder that it reads together, if these are such a folder.
    """

    name: str
    about: str
    keys: str
    source: str
    recognises: Callable[[Row], bool]
    judgments: Callable[[Place, Row, Mapping[str, str]], Iterator[Judged]]
    example: str
    fields: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""
    what: str = "vote"
    rows: Callable[[Sequence[Source], Place, Draft], Iterator[tuple[Place, Row]]] = rows_of_all
    folder: Callable[[Sequence[Source], Draft], Sequence[Source]] = lambda _sources, _draft: ()

    def read(self, sources: Sequence[Source], place: Place, draft: Draft, alone: Alone) -> None:
        """Add what files hold to a draft, with a remark that counts the rows and what was left out."""
        rows = read = 0
        left_out: Counter[str] = Counter()
        missing, scored = set(alone.columns.values()), Scored()
        if draft.voted is not None and self.what == "vote":
            draft.voted.files |= {source.label for source in sources}
        for here, row in self.rows(sources, place, draft):
            rows += 1
            missing = {column for column in missing if _part(row, column) is None}
            for judged in self._judged(here, row, alone.columns, draft):
                if isinstance(judged, str):
                    left_out[judged] += 1
                    continue
                if "system" in judged:
                    reason = scored.add(here, judged, draft)
                    left_out[reason] += bool(reason)
                    read += "score" in judged and not reason
                    continue
                before, texts = len(place.complaints.collected), judged.pop("texts", {})
                preference = preference_of(here, judged, alone)
                if preference is None:
                    self._rename(place.complaints, before, alone.columns)
                elif not keep_texts(draft, preference, texts, here):
                    left_out[OTHER_TEXT] += 1
                    continue
                elif not draft.add_row(draft.preferences, preference, here, preference.extra):
                    return
                read += 1
            if not draft.has_room(here):
                return
        scored.read(draft)
        for column in sorted(missing):
            place.refuse("no column %(column)s in any row", "the name of a column", column=shown(column))
        if place.complaints.collected:
            return
        left_out = +left_out
        counts = [number_of(read, self.what), *(f"{number:,} {reason}" for reason, number in left_out.most_common())]
        words = f"{self.name}, {number_of(rows, 'row')}: {', '.join(counts)}" + f"; {self.remark}" * bool(self.remark)
        if read:
            place.remark("%(what)s", what=words)
        else:
            expected = "votes for one of two named systems" if self.what == "vote" else "scores of named systems"
            place.refuse("%(what)s", expected, what=words)

    def _judged(self, here: Place, row: Row, columns: Mapping[str, str], draft: Draft) -> Iterator[Judged]:
        """The votes of a row, with what the given columns say in place of what the reader found."""
        named = {key: (_part(row, column) or {}).get(column) for key, column in columns.items()}
        try:
            for judged in self.judgments(here, row, columns):
                if isinstance(judged, str) or "system" in judged:
                    yield judged
                    continue
                judged |= {key: text_of(value) for key, value in named.items()}
                if judged.pop("is_swapped", False):
                    texts = judged.get("texts", {})
                    judged |= {"a": judged["b"], "b": judged["a"]}
                    judged["texts"] = texts | {"a": texts.get("b"), "b": texts.get("a")}
                yield problem_of(judged) or judged
        except Unnamed as why:
            item = next((own for own in _parts_of(row)[1:] if isinstance(own, Mapping)), row)
            values = {key: str(value) for key, value in item.items() if isinstance(value, str | int)}
            draft.look(Seen(tuple(values), (tuple(values.values()),), {}, False, here.file, is_tool=True))
            usual = [self.fields[key] for key in ("a", "b") if key in self.fields]
            expected = f"columns {' and '.join(usual)}, or " if usual else ""
            expected += "--columns a=COLUMN,b=COLUMN (in Python columns={'a': ..., 'b': ...}) with the columns that do"
            here.refuse(
                "%(why)s; the columns are %(keys)s", expected, why=escaped(str(why)), keys=shown(", ".join(row), 200)
            )
            raise here.complaints.refused() from None

    def _rename(self, complaints: Complaints, before: int, columns: Mapping[str, str]) -> None:
        """Let complaints name the file's own keys."""
        fields = {**self.fields, **columns}
        complaints.collected[before:] = [
            replace(complaint, field=fields.get(complaint.field, complaint.field))
            for complaint in complaints.collected[before:]
        ]


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader of the folder, by place of their modules' names."""
    folder = __name__.rpartition(".")[0]
    modules = (module.name for module in pkgutil.iter_modules(import_module(folder).__path__))
    catalogued = [getattr(import_module(f"{folder}.{name}"), "READER", None) for name in sorted(modules)]
    return tuple(reader for reader in catalogued if reader is not None)


def reader_of(source: Source, place: Place) -> Reader | None:
    """The reader of another tool's file; None where the file is ours or nobody's, or has a complaint: two readers."""
    first = first_row(source)
    if _is_ours(first):
        return None
    candidates = [reader for reader in readers() if reader.recognises(first)]
    if len(candidates) > 1:
        names = " or ".join(reader.name for reader in candidates)
        expected = "the keys of one of them; those of ours (a, b, winner) are always clear"
        place.refuse("a file that may be %(names)s", expected, names=names)
        place.complaints.raise_if_any()
    return candidates[0] if candidates else None


def first_row(source: Source) -> Row:
    """The first row that can be read; where none can, the keys of an object with too much in it, or the names in a
    table's header."""
    quiet = Place(Complaints(), "")
    with suppress(Refused):
        if first := next(rows_of(source, quiet), None):
            return first[1]
    with source.open() as file:
        line = first_line(file)
    if not line.startswith(b"{"):
        return dict.fromkeys(read_header(line.decode("utf-8", "replace")))
    with suppress(Refused):
        return {name: _first_in(value, quiet) for _line, name, value in members_of(text_in(source, quiet) or "", quiet)}
    return {}


def _first_in(text: str, quiet: Place) -> list[Row]:
    """The first object of a list, with its keys alone; nothing for other values."""
    inner = text.lstrip()
    part = next(_parts(inner, quiet, 1), None) if inner.startswith("[{") else None
    return [{name: None for _line, name, _value in members_of(part[1], quiet)}] if part else []


def _is_ours(row: Row) -> bool:
    return {"a", "b", "winner"} <= row.keys() or bool({"topic_id", "documents"} & row.keys())


def rows_of(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    """The rows of a table, whose empty cells are None, the objects of JSON Lines or of a list, or one object."""
    with source.open() as file:
        line = first_line(file)
    if line.startswith(b"["):
        yield from _listed(source, place)
        return
    if line.startswith(b"{") and (within := list_within(source)) is not None:
        yield from objects_in(within[1], place, within[0])
        return
    if line.startswith(b"{"):
        quiet = Place(Complaints(), "")
        text = decode(quiet, line, start=True) or ""
        if line.endswith(b"}") or len(line) >= 60_000 or strict_json.parse(quiet, text) is not None:
            with source.open() as file:
                yield from read_objects(file, place)
        else:
            with source.open() as file:
                whole = decode(place.at(1), file.read(), start=True)
            value = None if whole is None else strict_json.parse(place, whole)
            if isinstance(value, dict):
                yield place.at(1), value
        return
    with source.open() as file:
        for here, row in read_rows(file, place, _ANY):
            yield here, {key: cell or None for key, cell in row.items()}


def list_within(source: Source) -> tuple[int, str] | None:
    """The list of rows in a file that is one object with metadata and such a list, with its line; None for others."""
    with source.open() as file:
        if not _WITHIN.match(file.read(_BEGINNING).decode("utf-8-sig", "replace")):
            return None
    quiet = Place(Complaints(), "")
    members = [*members_of(text_in(source, quiet) or "", quiet)]
    lists = [(line, value) for line, _key, value in members if value.lstrip().startswith("[")]
    others = [key for _line, key, value in members if not value.lstrip().startswith("[")]
    is_one = len(lists) == 1 and not quiet.complaints.collected
    # Whose or what the rows are would be lost with what stands around them; a number or a note would not.
    is_said = any(role_of(key) not in ("", "score") and word_of(key) not in WEAK for key in others)
    return lists[0] if is_one and not is_said else None


def _listed(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    text = text_in(source, place)
    return objects_in(text, place) if text is not None else iter(())


def text_in(source: Source, place: Place) -> str | None:
    """A whole file as text; None and a complaint where it is none."""
    with source.open() as file:
        return decode(place.at(1), file.read(), start=True)


def objects_in(text: str, place: Place, line: int = 1) -> Iterator[tuple[Place, Row]]:
    """The objects of a list, one by one: each may have as many values as a line."""
    for begins, element in _parts(text, place, line):
        value = strict_json.parse_object(place.at(begins), element)
        if value is not None:
            yield place.at(begins), value


def members_of(text: str, place: Place, line: int = 1) -> Iterator[tuple[int, str, str]]:
    """The members of an object, each with its line, its key, and its value as JSON text that is not parsed yet."""
    for begins, element in _parts(text, place, line):
        key = _KEY.match(element)
        name = strict_json.parse(place.at(begins), key[1]) if key else None
        if key is None or not isinstance(name, str):
            place.at(begins).refuse("a member without a key", "an object in braces")
            return
        yield begins + element[: key.end()].count("\n"), name, element[key.end() :]


def _parts(text: str, place: Place, line: int) -> Iterator[tuple[int, str]]:
    """What stands between the commas of a list or an object, each with its line."""
    depth, begin, end, last = 0, 0, 0, ""
    while token := _INNER.match(text, end) if depth > 1 else _TOKENS.search(text, end):
        sign, at, end = token[1], token.start(1), token.end()
        if sign in "[{":
            depth += 1
            begin = at + 1 if depth == 1 else begin
        elif sign in "]}":
            depth -= 1
        if depth > limits.DEPTH:
            place.at(line).refuse("nesting deeper than %(limit)s", "flatter JSON", limit=limits.DEPTH)
            return
        if not ((depth == 1 and sign == ",") or (depth == 0 and sign in "]}")):
            last = sign
            continue
        element = text[begin:at]
        begins = line + element[: len(element) - len(element.lstrip())].count("\n")
        line += element.count("\n")
        if element.strip() or sign == ",":
            yield begins, element
        begin = at + 1
        if depth == 0:
            if text[begin:].strip():
                place.at(line).refuse("text after the list", "one list")
            return
    place.at(line).refuse(
        "a list that is never closed%(last)s", "a closing bracket", last=f" after {last}" * bool(last)
    )


def _part(row: Row, column: str) -> Row | None:
    """Where a named column stands: the row, or its `data`, `metadata` or `fields`; None where it does not."""
    return next((part for part in _parts_of(row) if isinstance(part, Mapping) and column in part), None)


def _parts_of(row: Row) -> tuple[Any, ...]:
    return (row, *(row.get(key) for key in ("data", "metadata", "fields")))


def problem_of(judged: Mapping[str, Any]) -> str:
    """Why a vote is left out; "" if it is not."""
    if not judged.get("winner"):
        return NO_WINNER
    if not judged.get("a") or not judged.get("b"):
        return NO_NAME
    return SAME if judged["a"] == judged["b"] else ""


def text_of(value: Any) -> Any:
    """A number as text, as names are; a text without white space at its ends; anything else as it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def topic_of(place: Place, value: Any) -> str:
    """The name of what a vote is about. A long text is named by its beginning and a sum over all of it."""
    if isinstance(value, list):  # a conversation
        value = asked_in(value)
    value = text_of(value)
    if not isinstance(value, str) or (len(value) <= _NAME and "\n" not in value and "\t" not in value):
        return "" if value is None or (isinstance(value, str) and blank(value)) else value
    cleaned = clean(place, value) or ""
    return f"{' '.join(cleaned.split())[: _NAME - 20]}… {hashlib.sha256(cleaned.encode()).hexdigest()[:12]}"


def texts_in(item: Row, named: Collection[str], sides: Sequence[str] = ()) -> dict[str, Any]:
    """The two texts of an item, and what they answer: the fields `sides`, a list of two, or two fields of one name but
    for `1` and `2`, `a` and `b`, `left` and `right`. Nothing where several may be meant; `named` fields are none."""
    texts = {key: value for key, value in item.items() if key not in named and isinstance(value, str)}
    pairs = [(texts[sides[0]], texts[sides[1]])] if len(sides) == 2 and {*sides} <= texts.keys() else []
    if not pairs:
        lists = (value for key, value in item.items() if key not in named and isinstance(value, list))
        pairs += [(own[0], own[1]) for own in lists if len(own) == 2 and all(isinstance(text, str) for text in own)]
        for key, (first, second) in product(texts, _SIDES):
            others = {key.removesuffix(first) + second, second + key.removeprefix(first)} - {key + second, second + key}
            pairs += [(texts[key], texts[other]) for other in others & texts.keys()]
    if len(pairs) != 1:
        return {}
    asked = [text for key, text in texts.items() if key.lower() in _ASKED and text not in pairs[0]]
    return {"prompt": next(iter(asked), None), "a": pairs[0][0], "b": pairs[0][1]}


def choice_of(place: Place, key: str, value: Any, words: Mapping[str, str] | None = None) -> str:
    """The letter of an answer in a tool's words, or else in those of all; "" and a complaint for a word that is none of
    them, "" for nothing."""
    if value is None or value == "":
        return ""
    word = str(value).strip().lower() if isinstance(value, str | int | float) else ""
    if letter := letter_of(word) if words is None else words.get(word):
        return letter
    place.key(key).refuse("%(what)s", ", ".join(words or ANSWERS), what=kind(value))
    return ""


def moment_of(value: Any) -> str | None:
    """Seconds since 1970 as a time, texts as they are; None where it is neither."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,10}(\.[0-9]+)?", value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 4e9:
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value) else None


def table() -> str:
    """The rows of docs/formats.md."""
    head = "| format | keys | what is read | structure from |\n|---|---|---|---|\n"
    return head + "".join(f"| {own.name} | {own.keys} | {own.about} | {own.source} |\n" for own in readers())
