"""Records of results as JSON and back."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preferendum import results as results
from preferendum.results import (
    AnnotatorShares,
    Coverage,
    Difference,
    Figure,
    Misread,
    ScoreCovariance,
    Standing,
    WhatIf,
    from_json,
    to_json,
)
from preferendum.results.statistics import wilson

#: Those that are stored; a `Standing` with its shares lives in memory alone.
RECORDS = [
    kind
    for kind in vars(results).values()
    if dataclasses.is_dataclass(kind)
    and kind not in (Standing, AnnotatorShares)
    and "Mapping" not in repr(get_type_hints(kind))
]
BOUNDED = {"value": 0.5, "low": 0.4, "high": 0.6}
AGREEMENT = {"judgments": 4, "pairs": 2, "comparisons": 2, "why": ""} | dict.fromkeys(
    ("percent", "alpha", "kappa"), BOUNDED
)
GROUND = {"annotators": 2, "effective": 2.0, "spread": None, "about": "these", "is_early": True}
OUTCOME = {"judgments": 4, "topics": 1, "systems": [], "agreement": AGREEMENT, "ground": GROUND}
WHAT_IF = {"before": OUTCOME, "after": OUTCOME, "kendall": None, "pearson": None, "lost": [], "gained": []}
finite = st.floats(allow_nan=False, allow_infinity=False)
st.register_type_strategy(float, finite)


# Reports of reports in reports are large; that is no fault of theirs.
@settings(max_examples=20, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
@given(st.data())
@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_what_was_written_is_read_as_it_was(kind: Any, data: st.DataObject) -> None:
    record = data.draw(st.from_type(kind))
    assert from_json(kind, json.loads(json.dumps(to_json(record)))) == record


def test_a_field_keeps_the_name_that_files_and_programs_know() -> None:
    written = to_json(Coverage(3, (1, 2), 1, (2,), strong_components=(1, 1)))
    assert written["circuits"] == [1, 1]
    assert "strong_components" not in written


def test_an_older_row_is_read_without_the_keys_that_are_newer() -> None:
    assert from_json(ScoreCovariance, {}) == ScoreCovariance()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"better": None}, "Difference.better: expected a string"),
        ({"better": ...}, "Difference.better: expected a value, and there is none"),
        ({"verdict": 1}, "Difference.verdict: expected no such key"),
        ({"p": "0.1"}, "Difference.p: expected a number"),
        ({"significant": 1}, "Difference.significant: expected true or false"),
        ({"topics": 1.5}, "Difference.topics: expected a whole number"),
    ],
)
def test_what_is_no_such_record_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    written = to_json(Difference("a", "b", 0.1, 0.0, 0.2, 0.5, False, 3)) | change
    with pytest.raises(Misread, match=said):
        from_json(Difference, {name: value for name, value in written.items() if value is not ...})


def test_what_is_wrong_deep_inside_is_named_with_the_way_to_it() -> None:
    with pytest.raises(Misread, match=r"lost\[0\]: expected a list of 2"):
        from_json(WhatIf, {**WHAT_IF, "lost": [["a"]]})


def test_a_whole_number_is_a_number_and_what_is_none_is_no_json() -> None:
    assert from_json(Figure, {"value": 1, "n": 2}) == Figure(1.0, 2)
    with pytest.raises(ValueError, match="nan"):
        to_json(Figure(math.nan, 0))


def test_shares_have_wilsons_interval() -> None:
    """Newcombe (1998), table I: 81 of 263 gives .2553 to .3662."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=0.00005)
    assert (wilson(0, 9)[0], wilson(9, 9)[1]) == (0.0, 1.0)
