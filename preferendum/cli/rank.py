"""`rank`: systems in order by judgments about their outputs, without topics or texts."""

from __future__ import annotations

import argparse

from preferendum.boards import rank
from preferendum.cli.common import Command, Output, add_judgments
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.reading import read
from preferendum.results import to_json
from preferendum.show.printed import opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, and whose judgments count."""
    add_judgments(parser)
    parser.add_argument(
        "--counted-kinds",
        dest="kinds",
        choices=list(KINDS_COUNTED),
        help="whose judgments count (default: people); an exported study says so itself",
    )


def run(options: argparse.Namespace) -> Output:
    board = rank(read(options.file, columns=options.columns), counted_kinds=options.kinds)
    data = {
        "systems": board.to_dicts(),
        "differences": to_json(board.differences),
        "ground": to_json(board.ground) | {"words": board.ground.words},
        "note": board.tables[0].note,
    }
    return Output(list(map(opened, board.tables)), board.tables[0], data)


COMMAND = Command(
    name="rank",
    help="rank systems from judgments about their outputs, without topics or texts",
    description="Ranks systems from judgments about their outputs, such as `a,b,winner` in a CSV: win rates and "
    "strengths with 95% intervals, and which systems are told apart.",
    add_arguments=add_arguments,
    run=run,
    takes="FILE",
)
