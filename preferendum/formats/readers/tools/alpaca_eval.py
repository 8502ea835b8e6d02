"""Annotations of AlpacaEval: which of two outputs a model prefers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks.complaints import Place, kind
from preferendum.formats.readers.tables import is_number
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, text_of, topic_of

# 0 is what older versions wrote for a draw.
_LETTERS = {1.0: "a", 1.5: TIE, 0.0: TIE, 2.0: "b"}


def _recognises(row: Row) -> bool:
    return {"generator_1", "generator_2"} <= row.keys() and bool({"preference", "output_1"} & row.keys())


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    preference: Any = row.get("preference")
    if isinstance(preference, str) and is_number(preference):
        preference = float(preference)
    if preference is None or preference == "":
        yield "without a preference"
        return
    is_real = isinstance(preference, int | float) and not isinstance(preference, bool) and math.isfinite(preference)
    if not is_real or not 0 <= preference <= 2 or 0 < preference < 1:
        here.key("preference").refuse("%(what)s", "1 to 2, or null", what=kind(preference))
        return
    if preference not in _LETTERS:
        yield "with a preference between 1, 1.5 and 2 (a judgment here has no fractions)"
        return
    yield {
        "topic": topic_of(here, row.get("instruction")),
        "a": text_of(row.get("generator_1")),
        "b": text_of(row.get("generator_2")),
        "winner": _LETTERS[preference],
        "annotator": text_of(row.get("annotator")),
        "kind": "machine",
        "judge": {"model": text_of(row.get("annotator")) or ""},
        "texts": {"prompt": row.get("instruction"), "a": row.get("output_1"), "b": row.get("output_2")},
        **{key: row[key] for key in ("dataset",) if row.get(key) is not None},
    }


READER = Reader(
    name="AlpacaEval",
    about="preferences of a machine: 1, 2, and 1.5 for a tie; null and other fractions are left out and counted, as a "
    "judgment has no fractions",
    keys="`generator_1`, `generator_2`, `preference`; `instruction`, `annotator`",
    source="alpaca_eval 0.6.6",
    recognises=_recognises,
    judgments=_judgments,
    fields={"a": "generator_1", "b": "generator_2", "topic": "instruction"},
    example="""[
  {"instruction": "Name a river.", "output_1": "The Nile.", "generator_1": "small", "output_2": "Danube, in Europe.",
   "generator_2": "large", "dataset": "made", "annotator": "judge-7b", "preference": 2.0},
  {"instruction": "Name a hill.", "output_1": "Box Hill.", "generator_1": "small", "output_2": "Leith Hill.",
   "generator_2": "large", "dataset": "made", "annotator": "judge-7b", "preference": 1.5},
  {"instruction": "Name a lake.", "output_1": "Geneva.", "generator_1": "small", "output_2": "Como.",
   "generator_2": "large", "dataset": "made", "annotator": "judge-7b", "preference": 1.0003},
  {"instruction": "Name a sea.", "output_1": "Aral.", "generator_1": "small", "output_2": "",
   "generator_2": "large", "dataset": "made", "annotator": "judge-7b", "preference": null}
]
""",
)
