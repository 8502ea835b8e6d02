"""Pyramids in JSON Lines: what may be left out, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from preferendum import formats
from preferendum.formats.pyramid import Annotation, Contributor, Part, Peer, Pyramid, Scu

#: What a reader says of the one system whose summary is empty.
MUTE = "t.jsonl:1: summaries[1].text: an empty summary"
PYRAMID: dict[str, Any] = {
    "models": ["A", "B"],
    "assessor": "J",
    "scus": [
        {"uid": "1", "label": "Roads closed", "contributors": [
            {"model": "A", "parts": ["roads were closed"]}, {"model": "B", "parts": ["roads"]}]},
        {"uid": "2", "label": "It rained", "contributors": [{"model": "B", "parts": ["Rain"]}]},
    ],
    "peers": {"lead": {"2": ["Rain"]}, "mute": {}},
    "unmatched": {"lead": [{"parts": ["all", "day"]}]},
}  # fmt: skip


def topic(pyramid: Any) -> dict[str, Any]:
    return {
        "topic_id": "T",
        "documents": [{"id": "d", "text": "Rain fell."}],
        "references": [
            {"id": "A", "sentences": ["It is late.", "The  roads were\tclosed."]},
            {"id": "B", "text": "Rain on roads."},
        ],
        "summaries": [{"system": "lead", "text": "Rain all day."}, {"system": "mute", "text": ""}],
        "pyramid": pyramid,
    }


def read(path: Path, pyramid: Any) -> formats.Bundle:
    path.write_text(json.dumps(topic(pyramid)))
    return formats.read(path, name="t.jsonl")


def test_a_pyramid_of_the_topics_own_texts_says_what_and_needs_not_say_where(tmp_path: Path) -> None:
    bundle = read(tmp_path / "t", PYRAMID)

    text = "A\nIt is late.\nThe  roads were\tclosed.\nB\nRain on roads.\n"
    closed = Part("roads were closed", (19, 36))
    assert text[19:36] == "roads were\tclosed"
    assert bundle.topics[0].pyramid == Annotation(
        Pyramid(
            text,
            (
                Scu("1", "Roads closed", (Contributor((closed,), 0), Contributor((Part("roads", (48, 53)),), 1))),
                Scu("2", "It rained", (Contributor((Part("Rain", (40, 44)),), 1),)),
            ),
            ("A", "B"),
            (0, 38),
        ),
        {
            "lead": Peer(
                "Rain all day.",
                {"2": (Contributor((Part("Rain", (0, 4)),)),)},
                (Contributor((Part("all", (5, 8)), Part("day", (9, 12)))),),
            ),
            "mute": Peer("", {}),
        },
        "J",
    )
    assert [formats.message(remark) for remark in bundle.remarks] == [MUTE]


def test_words_that_stand_nowhere_are_kept_and_remarked_on(tmp_path: Path) -> None:
    bundle = read(tmp_path / "t", PYRAMID | {"peers": {"lead": {"2": ["Snow"]}}})

    annotation = bundle.topics[0].pyramid
    assert annotation is not None
    assert annotation.peers["lead"].matched == {"2": (Contributor((Part("Snow", None),)),)}
    assert [formats.message(remark) for remark in bundle.remarks] == [
        MUTE,
        't.jsonl:1: pyramid.peers.lead.2[0]: not found in the text: "Snow"',
    ]


def test_without_texts_of_its_own_or_the_topics_a_pyramid_counts_units(tmp_path: Path) -> None:
    given = {"scus": [{"uid": "1", "contributors": [{"parts": ["it rained"]}] * 2}], "peers": {"lead": {"1": ["rain"]}}}
    annotation = read(tmp_path / "t", given | {"texts": {"lead": ""}}).topics[0].pyramid

    assert annotation is not None
    assert annotation.pyramid.weights == {"1": 2}
    assert annotation.peers["lead"].matched == {"1": (Contributor((Part("rain", None),)),)}


def scu(**keys: Any) -> dict[str, Any]:
    return {"scus": [{"uid": "1", "contributors": []} | keys]}


@pytest.mark.parametrize(
    ("pyramid", "message"),
    [
        (7, "pyramid: found the number 7; expected a Pyramid: an object with the key scus"),
        ({}, "pyramid.scus: found no content unit; expected at least one"),
        ({"scus": {}}, "pyramid.scus: found an object with 0 keys; expected a list"),
        ({"scus": [3]}, "pyramid.scus[0]: found the number 3; expected an object"),
        (scu() | {"weights": []}, "pyramid.weights: found an unknown key; expected only text, models"),
        (scu(weight=3), "pyramid.scus[0].weight: found an unknown key; expected only uid, label"),
        (scu(uid=1), "pyramid.scus[0].uid: found the number 1; expected text"),
        (scu(uid="x" * 201), "pyramid.scus[0].uid: found 201 characters; expected at most 200"),
        ({"scus": [{"uid": "1"}, {"uid": "1"}]}, 'pyramid.scus[1].uid: found "1"; expected a uid of its own'),
        ({"models": ["A", "A"]} | scu(), "pyramid.models: found a model without a name of its own"),
        ({"models": ["A"], "text": "x", "borders": [0, 1]} | scu(), "pyramid.borders: found other borders; expected"),
        ({"models": ["A"], "text": "x", "borders": [9]} | scu(), "pyramid.borders: found other borders; expected"),
        ({"models": ["A"], "text": "x", "borders": [-1]} | scu(), "pyramid.borders[0]: found the number -1; expected"),
        (scu(contributors=[{"model": "C", "parts": []}]), "pyramid.scus[0].contributors[0].model: found the te"),
        (scu(contributors=[{"model": [], "parts": []}]), "pyramid.scus[0].contributors[0].model: found a list of 0"),
        (scu(contributors=["x"]), "pyramid.scus[0].contributors[0]: found the text \"x\"; expected an object with"),
        (scu(contributors=[{"parts": [1]}]), "pyramid.scus[0].contributors[0].parts[0]: found the number 1; expected"),
        (
            scu(contributors=[{"parts": [{"label": "x", "span": [2, 1]}]}]),
            "pyramid.scus[0].contributors[0].parts[0].span: found a list of 2; expected [start, end]",
        ),
        (
            scu(contributors=[{"parts": [{"label": "x", "span": [0, 1e9]}]}]),
            "pyramid.scus[0].contributors[0].parts[0].span[1]: found the number 1000000000.0; expected a whole number",
        ),
        (scu() | {"peers": {"lead": []}}, "pyramid.peers.lead: found a list of 0; expected an object"),
        (scu() | {"peers": {"lead": {"9": []}}}, 'pyramid.peers.lead.9: found "9"; expected the uid of a content unit'),
        (scu() | {"peers": {"": {}}}, "pyramid.peers.: found an empty name"),
        (scu() | {"texts": {"lead": "x"}}, 'pyramid.texts: found "lead", which is unknown; expected systems that'),
        (scu() | {"unmatched": {"lead": []}}, 'pyramid.unmatched: found "lead", which is unknown; expected systems'),
        (scu(label="a\0"), "pyramid.scus[0].label: found U+0000 (NUL)"),
        (
            {"text": "x" * 20_000} | scu(contributors=[{"parts": ["y"] * 3_000}]),
            "pyramid.scus: found 3000 parts to look for in a text of 20000 characters; expected a span for each part",
        ),
    ],
)  # fmt: skip
def test_a_pyramid_that_is_none_is_refused(tmp_path: Path, pyramid: Any, message: str) -> None:
    with pytest.raises(formats.Refused) as refused:
        read(tmp_path / "t", pyramid)
    messages = [formats.message(complaint) for complaint in refused.value.complaints]
    assert any(one.startswith("t.jsonl:1: " + message) for one in messages), messages
