"""`card`: a machine judge held against people."""

from __future__ import annotations

import argparse
from pathlib import Path

from preferendum.card import judge_card
from preferendum.cli.common import Command, Output
from preferendum.reading import read
from preferendum.results import to_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE, and which machine."""
    parser.add_argument("file", metavar="FILE", type=Path, help="judgments as JSON Lines or CSV (docs/formats.md)")
    parser.add_argument("--topics", metavar="FILE", type=Path, help="topics with the texts, for the bias for length")
    parser.add_argument("--judge", metavar="NAME", required=True, help="the machine, by its name as annotator")


def run(options: argparse.Namespace) -> Output:
    card = judge_card(read(options.file), judge=options.judge, topics=options.topics)
    data = {"card": card.to_dicts(), "biases": to_json(card.biases), "note": card.tables[0].note}
    return Output(card.tables, card.tables[0], data)


COMMAND = Command(
    name="card",
    help="hold a machine judge against people",
    description="Holds a machine judge against people who judged: agreement, sides, ties, bias a system, and what its "
    "help adds, with 95% intervals.",
    add_arguments=add_arguments,
    run=run,
    takes="FILE",
)
