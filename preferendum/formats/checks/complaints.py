"""Collecting reasons why a file cannot be taken, and saying them well."""

from __future__ import annotations

import dataclasses
import difflib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from preferendum.formats.checks import limits
from preferendum.formats.records import Complaint, Refused, Remark

SHOWN_CHARACTERS = 60
#: In so many rows a fault is said one by one, as each may be another slip.
FEW = 3
# Looking for similar names costs time, and nobody reads the hundredth suggestion.
SUGGESTIONS = 20


@dataclass(slots=True)
class Complaints:
    """All faults so far, and remarks. Raises `Refused` once there are too many to continue."""

    collected: list[Complaint] = dataclasses.field(default_factory=list)
    remarks: list[Remark] = dataclasses.field(default_factory=list)
    #: How many remarks there were beyond those that are kept.
    unsaid: int = 0
    _suggested: dict[tuple[str, str], str] = dataclasses.field(default_factory=dict)

    def add(self, complaint: Complaint) -> None:
        self.collected.append(complaint)
        if len(self.collected) == Refused.LIMIT:
            self.collected.append(
                Complaint(
                    complaint.file,
                    complaint.line,
                    "",
                    "%(count)s problems; reading stopped",
                    "fewer: correct these first, then try again to see the rest",
                    {"count": Refused.LIMIT},
                )
            )
            raise self.refused()

    def raise_if_any(self) -> None:
        if self.collected:
            raise self.refused()

    def refused(self) -> Refused:
        """To be raised once something was found."""
        return Refused(tuple(_once(self.collected)))

    def nearest(self, kind: str, name: str, names: Iterable[str]) -> str:
        """The known names most like `name`, ready to be shown; empty where none is similar or enough were suggested."""
        if (kind, name) not in self._suggested:
            if len(self._suggested) >= SUGGESTIONS:
                return ""
            near = difflib.get_close_matches(name[:100], list(names)[:2000], n=3, cutoff=0.5)
            self._suggested[kind, name] = ", ".join(map(shown, near))
        return self._suggested[kind, name]


def _once(complaints: Iterable[Complaint]) -> list[Complaint]:
    """What has one cause in more than a few rows once, at the first line, with the number of rows that have it."""
    first: dict[tuple[str, ...], Complaint] = {}
    rows: Counter[tuple[str, ...]] = Counter()
    causes = [((own.file, own.field, own.found, own.expected, str(own.params)), own) for own in complaints]
    for cause, own in causes:
        first.setdefault(cause, own)
        rows[cause] += 1
    return [
        dataclasses.replace(own, found=f"{own.found} (%(rows)s rows)", params={**own.params, "rows": rows[cause]})
        if rows[cause] > FEW
        else own
        for cause, own in causes
        if rows[cause] <= FEW or own is first[cause]
    ]


class Place(NamedTuple):
    """Where we are reading: what is wrong here is said with file, line and field. (Many are made: tuples are quick.)"""

    complaints: Complaints
    file: str
    line: int = 0
    field: str = ""

    def at(self, line: int) -> Place:
        return Place(self.complaints, self.file, line)

    def key(self, name: str | int) -> Place:
        """The field `name` of this one, or the item of that number (from 0)."""
        if isinstance(name, int):
            return Place(self.complaints, self.file, self.line, f"{self.field}[{name}]")
        name = _field_name(name)
        return Place(self.complaints, self.file, self.line, f"{self.field}.{name}" if self.field else name)

    def refuse(self, actual: str, expected: str, **params: Any) -> None:
        """`actual` and `expected` are templates; text of the file must pass through `shown` into `params`."""
        self.complaints.add(Complaint(self.file, self.line, self.field, actual, expected, params))

    def remark(self, text: str, **params: Any) -> None:
        """Say what was ignored or repaired here, up to a number that people can read."""
        if len(self.complaints.remarks) < limits.REMARKS:
            self.complaints.remarks.append(Remark(self.file, self.line, self.field, text, params))
        else:
            self.complaints.unsaid += 1

    def pass_over(self, reason: str, **params: Any) -> None:
        """Say why this file is not read, however much was remarked on before."""
        self.complaints.remarks.append(Remark(self.file, self.line, self.field, "ignored: " + reason, params))

    def remark_counted(self, text: str, count: int, **params: Any) -> None:
        """Like `remark`, but once for a file, where it was first to be said: the counts add up."""
        remarks = self.complaints.remarks
        for number, remark in enumerate(remarks):
            if (remark.file, remark.said) == (self.file, text):
                counted = {**remark.params, "count": remark.params["count"] + count}
                remarks[number] = dataclasses.replace(remark, params=counted)
                return
        self.remark(text, count=count, **params)

    def refuse_unknown(self, kind: str, name: str, names: Iterable[str], expected: str, **params: Any) -> None:
        """Refuse a name that nothing has, with the names most like it."""
        params |= {"name": shown(name)}
        if near := self.complaints.nearest(kind, name, names):
            self.refuse("%(name)s, which is unknown (most similar: %(near)s)", expected, near=near, **params)
        else:
            self.refuse("%(name)s, which is unknown", expected, **params)


def message(complaint: Complaint | Remark) -> str:
    """One line as compilers print it: file:line: field: found ...; expected ..., or what the remark says."""
    return str(complaint)


def shown(value: object, characters: int = SHOWN_CHARACTERS) -> str:
    """A value from a file, quoted, cut short, with everything escaped that could hide or rearrange the line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, str):
        return '"' + escaped(value.replace('"', '\\"'), characters) + '"'
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object with {len(value)} keys"
    return str(value)[:characters]


def escaped(text: str, characters: int = 255) -> str:
    """The text without quotes, for a file's or a key's name."""
    return "".join(map(_visible, text[:characters])) + ("…" if len(text) > characters else "")


def kind(value: object) -> str:
    """What a JSON value is, and the value itself."""
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"the number {shown(value)}"
    return shown(value)


@lru_cache(1_000)
def _field_name(key: str) -> str:
    return escaped(key, 40)


def _visible(character: str) -> str:
    if character != " " and unicodedata.category(character)[0] in "CZ":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character) or f"\\u{{{ord(character):04X}}}"
    return character
