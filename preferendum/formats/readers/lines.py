"""Files line by line: numbered, decoded, never more of a line in memory than a line may be long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Protocol

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Place
from preferendum.formats.checks.text import BOM, UTF16, decode


class Sink(Protocol):
    """What bytes can be written to: a file, or something that also counts or sums them."""

    def writelines(self, lines: Iterable[bytes], /) -> object: ...


def read_lines(file: BinaryIO, place: Place) -> Iterator[tuple[int, str | None]]:
    """Each line with its number from 1 and without its end; None where it is not UTF-8, which was complained of.

    Stops after a complaint where going on makes no sense: a line that is too long, a file of another encoding.
    """
    number = 0
    while raw := file.readline(limits.LINE + 1):
        number += 1
        if raw == b"\n":  # a file may be made of these
            yield number, ""
            continue
        here = place.at(number)
        if len(raw) > limits.LINE:
            here.refuse("a line longer than %(limit)s MB", "shorter lines", limit=limits.LINE // limits.MEGABYTE)
            return
        if number == 1 and raw.startswith(UTF16):
            decode(here, raw, start=True)
            return
        content = raw.removesuffix(b"\n").removesuffix(b"\r")
        if b"\r" in content:
            here.refuse(
                "a carriage return without a line feed",
                "lines that end in a line feed, or in a carriage return and a line feed",
            )
            if content.count(b"\r") > 1:
                return
            yield number, None
        else:
            yield number, decode(here, content, start=number == 1)


def read_objects(file: BinaryIO, place: Place) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each object of JSON Lines, with its place; what is none is complained of.

    Stops after a line of one sign: in a pretty-printed file or an array, every line would be complained of.
    """
    for number, line in read_lines(file, place):
        if line is not None and line.strip():
            given = strict_json.parse_object(place.at(number), line)
            if given is not None:
                yield place.at(number), given
            elif len(line.strip()) == 1:
                return


def first_line(file: BinaryIO) -> bytes:
    """The beginning of the first line that holds something, for telling what the file is."""
    for raw in iter(lambda: file.readline(65_536), b""):
        if line := raw.removeprefix(BOM).strip():
            return line
    return b""
