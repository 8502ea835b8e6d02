#!/bin/sh
# mlcroissant 1.1.1 (with pandas 3.1.1), seen 2026-11-28
#
# One would guess: a field that a Croissant description declares as sc:Text is read as the text that the file has.
# What happens: pandas guesses types first, whatever is declared, and the guess is turned back into text. "001" and "01"
#   are both read as 1, "1e5" as 100000.0, and "2020" beside it as 2020.0; nothing is said, the checksum is right.
# What it means: topics, systems and documents that are named by numbers become one another. Read such files without
#   mlcroissant, as with pandas.read_json(FILE, lines=True, dtype=False), or put a letter before each number.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    mlcroissant==1.1.1 pandas==3.1.1 || exit 2
cd "$room"
"$room/venv/bin/python" -W ignore - <<'PYTHON'
import hashlib
import json
import logging
import sys
from pathlib import Path

import mlcroissant

logging.disable(logging.WARNING)  # about terms of the context that are not used here
rows = [{"topic": "001", "year": "2020"}, {"topic": "01", "year": "1e5"}]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
digest = hashlib.sha256(Path("rows.jsonl").read_bytes()).hexdigest()
context = {"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/"}
context |= {"cr": "http://mlcommons.org/croissant/", "conformsTo": "http://purl.org/dc/terms/conformsTo"}
context["dataType"] = {"@id": "cr:dataType", "@type": "@vocab"}
context |= {name: f"cr:{name}" for name in ("column", "extract", "field", "fileObject", "recordSet", "source")}
file = {
    "@type": "cr:FileObject", "@id": "rows.jsonl", "name": "rows.jsonl", "contentUrl": "rows.jsonl",
    "encodingFormat": "application/jsonlines", "sha256": digest,
}
fields = [
    {
        "@type": "cr:Field", "@id": f"rows/{name}", "name": name, "dataType": "sc:Text",
        "source": {"fileObject": {"@id": "rows.jsonl"}, "extract": {"column": name}},
    }
    for name in rows[0]
]
described = {
    "@context": context, "@type": "sc:Dataset", "name": "rows", "conformsTo": "http://mlcommons.org/croissant/1.1",
    "distribution": [file], "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
}
Path("croissant.json").write_text(json.dumps(described))
records = mlcroissant.Dataset("croissant.json").records("rows")
read = [tuple(value.decode() for value in row.values()) for row in records]
for row, found in zip(rows, read, strict=True):
    print(f"the file has {tuple(row.values())}, mlcroissant reads {found}")
if read != [("1", "2020.0"), ("1", "100000.0")]:
    sys.exit("Changed: mlcroissant reads a text field as the text that it is.")
PYTHON
