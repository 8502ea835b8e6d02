"""`convert`: judgments of another tool's file in our form."""

from __future__ import annotations

import argparse
import io

from preferendum.cli.common import Command, InputError, add_judgments, note
from preferendum.formats import write_preferences
from preferendum.reading import read


def run(options: argparse.Namespace) -> str:
    """The judgments as JSON Lines. Raises `InputError` where there are none."""
    data = read(options.file, columns=options.columns)
    if not data.preferences:
        raise InputError(f"{options.file}: there are no judgments in it")
    for remark in data.bundle.remarks:
        note(str(remark))
    file = io.BytesIO()
    write_preferences(data.preferences, file)
    return file.getvalue().decode()


COMMAND = Command(
    name="convert",
    help="write judgments of another tool's file in our form",
    description="Writes the judgments of another tool's file (docs/formats.md lists them) in our form, of "
    "people and of machines; what was left out is counted on standard error.",
    add_arguments=add_judgments,
    run=run,
    takes="FILE",
    makes_file=True,
)
