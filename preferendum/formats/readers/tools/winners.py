"""Winners and losers: a row for each comparison, as tables of games and ratings have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.headings import called, is_loser, role_of, side_of
from preferendum.formats.readers.tools.arena import is_machine
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, Unnamed, choice_of, text_of, topic_of

#: Columns that say whether nobody won, and their words for that; "a" where somebody did.
_DRAWN = (TIE, "draw", f"is_{TIE}", "is_draw", "tied", "drawn")
_WORDS = {**dict.fromkeys(("1", "1.0", "true", "yes"), TIE), **dict.fromkeys(("0", "0.0", "false", "no"), "a")}


def _recognises(row: Row) -> bool:
    is_otherwise = any(side_of(key) or key == "rejected" for key in row)
    return any(map(is_loser, row)) and "winner" in map(role_of, row) and not is_otherwise


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    won = text_of(called(row, "winner"))
    lost = text_of(next((row[key] for key in row if is_loser(key)), None))
    if not {"a", "b"} <= columns.keys() and any(_is_text(side) for side in (won, lost)):
        raise Unnamed("winning and losing texts, and no columns that say whose they are")
    is_drawn = TIE in [choice_of(here, key, row[key], _WORDS) for key in row if key.lower() in _DRAWN]
    annotator = text_of(called(row, "annotator"))
    yield {
        "topic": topic_of(here, called(row, "topic")),
        "a": won,
        "b": lost,
        "winner": TIE if is_drawn else "a" if won else "",
        "annotator": annotator,
        "kind": row.get("kind") or ("machine" if is_machine(annotator) else "human"),
    }


def _is_text(side: Any) -> bool:
    return isinstance(side, str) and (len(side) > limits.NAME_CHARACTERS or "\n" in side)


READER = Reader(
    name="Winners and losers",
    about="the winner's system is preferred; a tie where a column `tie` or `draw` says so",
    keys="`winner` and `loser`, or the like (`winning_model` and `losing_model`, `better` and `worse`); `topic`, "
    "`annotator`, `tie` or `draw`",
    source="our own reading of tables of ratings",
    recognises=_recognises,
    judgments=_judgments,
    example="winner,loser,annotator,tie\nlarge,small,ada,\nsmall,large,ben,\nlarge,small,cem,true\n,small,cem,\n",
    remark="rows do not say which of the two stood on the left (taken for the winner)",
)
