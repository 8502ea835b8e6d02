"""Trained metrics as JSON: written and read again, and refused with the place of what is wrong."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from preferendum.formats import Refused, message
from preferendum.methods.metrics.trained.files import (
    LeftOut,
    Linear,
    Source,
    TrainedMetric,
    read_trained_metric,
    trained_metric_as_json,
    written_trained_metric,
)

A, B = "a" * 64, "b" * 64
METRIC = TrainedMetric(
    kind="classy",
    method="canon",
    target="responsiveness",
    peers="all",
    linear=Linear(-0.5, {"rouge-su4": (37.0, None), "base-coverage": (-0.4, 0.25)}),
    sources=(Source("TAC 2009", "learnt", A, 100, {"D0901-A": A, "D0902-A": B}),),
    left_out=(LeftOut((A, B), Linear(0.0, {"overlap": (1.0, None)})),),
    options={"background": "counts.txt"},
    program_version="1.0.0",
)


def read(given: Any) -> TrainedMetric:
    return read_trained_metric(io.BytesIO(json.dumps(given).encode()), "m.json")


def test_what_was_written_is_read_again() -> None:
    written = written_trained_metric(METRIC).encode()

    assert read_trained_metric(io.BytesIO(written), "m.json") == METRIC
    assert read(trained_metric_as_json(METRIC)) == METRIC


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "magic"}, 'm.json: kind: found the text "magic"; expected one of classy, prefscore, simetrix'),
        ({"method": "least-squares"}, "m.json: method: found least-squares; expected for classy one of robust, "),
        ({"features": {}}, "m.json: features: found none; expected at least one"),
        ({"features": {"overlapp": [1, None]}}, '"overlapp", which is unknown (most similar: "overlap"'),
        ({"features": {"overlap": [1]}}, "m.json: features.overlap: found a list of 1; expected a list of 2 numbers"),
        ({"features": {"overlap": ["x", 1]}}, 'features.overlap[0]: found the text "x"; expected a number'),
        ({"sources": []}, "m.json: sources: found none; expected what it was learnt from"),
        ({"sources": [{"name": "x"}]}, "sources[0].topics: found no such key; expected all of name, use, "),
        ({"left_out": [{"topics": ["x"], "intercept": 0, "features": {"js": [1, 0]}}]}, "left_out[0].topics[0]: "),
        ({"left_out": [{"topics": [A], "intercept": 0, "features": {"js": [1, 0]}}]}, "left_out[0].features: found "),
        ({"left_out": "all"}, 'left_out: found the text "all"; expected a list in brackets'),
        ({"left_out": [7]}, "left_out[0]: found the number 7; expected an object in braces"),
        ({"sources": [{}] * 11}, "sources: found 11 items; expected at most 10"),
        ({"format": 2}, "format: found the number 2; expected a whole number from 1 to 1"),
        ({"magic": 1}, "magic: found an unknown key"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Refused) as refused:
        read(trained_metric_as_json(METRIC) | changes)

    assert complaint in "\n".join(map(message, refused.value.complaints))


def test_a_number_that_json_does_not_have_is_refused() -> None:
    text = written_trained_metric(METRIC).replace("-0.5", "NaN")

    with pytest.raises(Refused, match="NaN"):
        read_trained_metric(io.BytesIO(text.encode()), "m.json")
