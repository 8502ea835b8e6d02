"""How texts come into a study: a file is received, read by the worker, looked at by a person, and stored whole.

`uploads` follows a file on its way, `store` makes rows of what it brings, `restore` takes an exported study back.
"""

from annotate.imports.restore import restore_texts
from annotate.imports.store import cut_again, mend, store_texts
from annotate.imports.uploads import (
    confirm,
    discard,
    give_up,
    known_of,
    mark_stored,
    note_try,
    read_upload,
    receive,
)

__all__ = [
    "confirm",
    "cut_again",
    "discard",
    "give_up",
    "known_of",
    "mark_stored",
    "mend",
    "note_try",
    "read_upload",
    "receive",
    "restore_texts",
    "store_texts",
]
