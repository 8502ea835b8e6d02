"""Pairs whose right answer is known, as a table: topic,better,worse,use,[explanation],[of]."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, cast

from preferendum.formats.archive.study_records import USES, GoldPairRecord, Use
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.preferences import of_what
from preferendum.formats.readers.tables import Columns, read_rows

COLUMNS = Columns(("topic", "better", "worse", "use"), ("explanation", "of"))
EXPLANATION_CHARACTERS = 2_000


def read_gold_pairs(file: BinaryIO, place: Place) -> Iterator[tuple[Place, GoldPairRecord]]:
    """Each pair with its place; rows that cannot be taken are complained of and left out."""
    for here, row in read_rows(file, place, COLUMNS):
        use, explanation = row["use"].strip(), row.get("explanation", "").strip()
        of = of_what(here.key("of"), row.get("of", ""))
        if use not in USES:
            here.key("use").refuse("%(what)s", "one of %(uses)s", what=shown(use), uses=", ".join(USES))
        elif len(explanation) > EXPLANATION_CHARACTERS:
            here.key("explanation").refuse(
                "%(count)s characters", "at most %(limit)s", count=len(explanation), limit=EXPLANATION_CHARACTERS
            )
        elif of is not None:
            yield here, GoldPairRecord(row["topic"], row["better"], row["worse"], cast(Use, use), explanation, of)
