"""How much is taken. Beyond these sizes a file is refused before the work is done, not after."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one upload, in bytes where it is a size. `ratio`: unpacked by packed, looked at from `ratio_from` bytes on."""

    upload: int = 50 * MEGABYTE
    entries: int = 5_000
    unpacked: int = 200 * MEGABYTE
    entry: int = 20 * MEGABYTE
    ratio: int = 100
    ratio_from: int = 1 * MEGABYTE
    folders: int = 5


UPLOAD = Limits()
# A study with 100,000 judgments has longer files than an upload may have, and fewer of them. We packed it ourselves,
# and texts that repeat themselves pack well: deflate packs at most 1032-fold.
STUDY = Limits(upload=200 * MEGABYTE, entries=50, unpacked=800 * MEGABYTE, entry=400 * MEGABYTE, ratio=1_100, folders=1)
# A directory on one's own disk, such as a TAC distribution with its ten thousand small files.
DIRECTORY = Limits(upload=1_000 * MEGABYTE, entries=100_000, unpacked=1_000 * MEGABYTE, entry=50 * MEGABYTE, folders=20)

LINE = 16 * MEGABYTE
TEXT = 1 * MEGABYTE
# A table that is stored while its sender waits.
TABLE = 2 * MEGABYTE
# A pyramid with its annotated summary.
ANNOTATION = 5 * MEGABYTE
# Each stretch of an annotation is looked for in the text that it annotates.
ANNOTATED_CHARACTERS = 200_000
ANNOTATED_STRETCHES = 10_000
# Characters times stretches: of real files two million.
ANNOTATED_SEARCHES = 50_000_000
# All texts and values together as they lie in memory, where one rare character can make a text four times as large as
# its file.
MEMORY = 230 * MEGABYTE

NAME_CHARACTERS = 200
DIMENSION_CHARACTERS = 100
TITLE_CHARACTERS = 500
QUESTION_CHARACTERS = 300
# Of a topic: what its outputs answer.
PROMPT_CHARACTERS = 10_000
PROMPT_OF_JUDGE = 50_000
CURRENCY_CHARACTERS = 12
# Of one conversation, all of which a page shows.
TURNS = 500
COLUMNS = 100
DEPTH = 20
REMARKS = 200
TOPICS = 2_000
ROWS = 200_000
# Lists, objects and what they hold, in one line of JSON.
VALUES = 200_000
