"""`agreement`: how far annotators agree."""

from __future__ import annotations

import argparse

from preferendum.agreed import agreement
from preferendum.cli import rank
from preferendum.cli.common import Command, Output
from preferendum.reading import read
from preferendum.results import to_json
from preferendum.show.printed import opened


def run(options: argparse.Namespace) -> Output:
    agreed = agreement(read(options.file, columns=options.columns), counted_kinds=options.kinds)
    data = {"study": to_json(agreed.record.study), "topics": agreed.to_dicts(), "note": agreed.tables[0].note}
    return Output(list(map(opened, agreed.tables)), agreed.tables[0], data)


COMMAND = Command(
    name="agreement",
    help="measure how far annotators agree",
    description="Shows how far annotators agree: the share of equal answers, Krippendorff's alpha and Fleiss' kappa, "
    "with 95% intervals. Below ten shared pairs there are no coefficients.",
    add_arguments=rank.add_arguments,
    run=run,
    takes="FILE",
)
