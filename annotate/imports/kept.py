"""What was read from an upload's file, kept until it is stored, a record per line: no file is read twice."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from annotate.models import Upload
from preferendum.formats.records import Bundle
from preferendum.formats.serialization import but_defaults, from_json

READ, UNFINISHED = ".read", ".unfinished"
#: The records of a bundle; of a mapping, its items.
KINDS: Mapping[str, Any] = {
    name: get_args(kind)[0] if get_origin(kind) is tuple else tuple[get_args(kind)]  # type: ignore[misc]
    for name, kind in get_type_hints(Bundle).items()
}


def keep(upload: Upload, bundle: Bundle) -> None:
    """Keep it whole, or not at all."""
    with _path(upload, UNFINISHED).open("w", encoding="utf-8") as file:
        for name, record in _records(bundle):
            file.write(json.dumps([name, record], default=but_defaults, allow_nan=False) + "\n")
    _path(upload, UNFINISHED).replace(_path(upload))


def exists(upload: Upload) -> bool:
    return _path(upload).exists()


def load(upload: Upload) -> Bundle:
    """The bundle that was kept. Raises `OSError` if there is none."""
    records: dict[str, list[Any]] = defaultdict(list)
    with _path(upload).open(encoding="utf-8") as file:
        for line in file:
            name, record = json.loads(line)
            records[name].append(from_json(KINDS[name], record))
    empty = Bundle()
    return Bundle(**{name: type(getattr(empty, name))(own) for name, own in records.items()})


def forget(upload: Upload) -> None:
    """Delete it, once it is stored or will not be."""
    for suffix in (READ, UNFINISHED):
        _path(upload, suffix).unlink(missing_ok=True)


def _path(upload: Upload, suffix: str = READ) -> Path:
    return Path(upload.file.path).with_suffix(suffix)


def _records(bundle: Bundle) -> Iterator[tuple[str, Any]]:
    for name in KINDS:
        own = getattr(bundle, name)
        yield from ((name, record) for record in (own.items() if isinstance(own, Mapping) else own))
