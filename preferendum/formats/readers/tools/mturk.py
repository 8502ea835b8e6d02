"""Results of a batch of Mechanical Turk: a row for each assignment, with what it showed and what was answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.headings import ANSWERS
from preferendum.formats.readers.tools.catalogue import NO_WINNER, Judged, Reader, Row, Unnamed, text_of

#: A comment may be one of these.
_UNCLEAR = frozenset(("none", "both"))
_SECONDS = re.compile(r"[0-9]{1,9}")


def _recognises(row: Row) -> bool:
    keys = {"WorkerId", "AssignmentStatus"}
    return keys <= row.keys() and any(key.startswith("Answer.") for key in row)


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    if not {"a", "b"} <= columns.keys():
        raise Unnamed("answers without the systems that they are about")
    if row.get("AssignmentStatus") == "Rejected":
        yield "rejected"
        return
    answers = [answer for key, value in row.items() if key.startswith("Answer.") and (answer := _answer(key, value))]
    if len(answers) > 1:
        here.refuse("answers to %(count)s questions in a row", "one", count=len(answers))
        return
    if not answers:
        yield NO_WINNER
        return
    seconds = text_of(row.get("WorkTimeInSeconds"))
    yield {
        "topic": text_of(row.get("HITId")) or "",
        "a": "A",
        "b": "B",
        "winner": answers[0],
        "annotator": text_of(row.get("WorkerId")),
        "seconds": float(seconds) if isinstance(seconds, str) and _SECONDS.fullmatch(seconds) else None,
    }


def _answer(key: str, value: object) -> str:
    """The letter of an answer: its value, or of a button that was chosen the end of its name; "" for none."""
    word = str(value or "").strip().lower()
    if word == "true":
        word = key.rpartition(".")[2].lower()
    return "" if word in _UNCLEAR else ANSWERS.get(word, "")


READER = Reader(
    name="Mechanical Turk, batch results",
    about="the one answer that is a side (a, left, first; b, right, second; tie, equal, same; neither), or the "
    "button of such a name; rejected assignments are left out and counted. Name the columns that say whose texts were "
    "shown, such as `Input.system_a`; the topic is the HIT unless you name it",
    keys="`WorkerId`, `AssignmentStatus`, `Answer.*`; `HITId`, `Input.*`, `WorkTimeInSeconds`",
    source="headers of batch results in public repositories (they name no version)",
    recognises=_recognises,
    judgments=_judgments,
    fields={"annotator": "WorkerId", "topic": "HITId"},
    example=(
        "HITId,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.system_a,Input.system_b,Answer.better,"
        "Answer.comment\n"
        "h1,s1,w1,Approved,21,large,small,left,clear\n"
        "h1,s2,w2,Rejected,2,large,small,left,\n"
        "h2,s3,w1,Submitted,34,small,large,tie,\n"
        "h2,s4,w3,Approved,34,small,large,,hard\n"
    ),
)
