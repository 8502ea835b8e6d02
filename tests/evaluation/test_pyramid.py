"""Pyramids: what is read from DUCView's files, however faulty their offsets, and what it scores."""

import math
from html import escape

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.formats.checks.complaints import Complaints, Place, message
from preferendum.formats.pyramid import Annotation, Peer, Pyramid
from preferendum.methods.corpora.pyramid_xml import read_peer, read_pyramid
from preferendum.methods.metrics.pyramid.scores import average_model_size, modified, original
from preferendum.metrics.registry import metric
from preferendum.scoring.annotated import annotated_sentences

MODELS = """\
------- D0901-A.M.100.A.A -------
Quakes hit the coast. Ten people died.
------- D0901-A.M.100.A.B -------
Ten people   died when quakes hit.
Aid came late.
------- D0901-A.M.100.A.C -------
Help was slow to come, and ten died."""
PEER = "Quakes killed ten people.\nTen died. The weather was fine."

Parts = list[tuple[str, ...]]
SCUS: dict[str, tuple[str, Parts]] = {
    "1": ("Ten people died", [("Ten people died.",), ("Ten people   died",), ("ten died",)]),
    "2": ("Quakes hit", [("Quakes hit the coast",), ("quakes hit",)]),
    "3": ("Aid was late", [("Aid came late",), ("Help was slow to come",)]),
    "4": ("On the coast", [("the coast",)]),
}


def lines(text: str) -> str:
    return "<text>" + "".join(f"<line>{escape(line)}</line>" for line in text.split("\n")) + "</text>"


def contributors(parts: Parts, text: str, shift: int = 0) -> str:
    found = []
    for labels in parts:
        inner = ""
        for label in labels:
            start = max(text.find(label), 0) + shift
            inner += f'<part label="{escape(label)}" start="{start}" end="{start + len(label)}"/>'
        found.append(f'<contributor label="x">{inner}</contributor>')
    return "".join(found)


def pyramid_xml(
    scus: dict[str, tuple[str, Parts]] = SCUS, text: str = MODELS, pattern: str = "", shift: int = 0
) -> bytes:
    regex = f"<startDocumentRegEx><![CDATA[{pattern}]]></startDocumentRegEx>" if pattern else ""
    inner = "".join(
        f'<scu uid="{uid}" label="({len(parts)}) {label}">{contributors(parts, text, shift)}</scu>'
        for uid, (label, parts) in scus.items()
    )
    return f"<pyramid>{regex}{lines(text)}{inner}</pyramid>".encode()


def peer_xml(matched: dict[str, Parts], text: str = PEER) -> bytes:
    inner = "".join(
        f'<peerscu uid="{uid}" label="x">{contributors(parts, text)}</peerscu>' for uid, parts in matched.items()
    )
    annotation = f"<annotation>{lines(text)}{inner}</annotation>"
    return f"<peerAnnotation>{pyramid_xml().decode()}{annotation}</peerAnnotation>".encode()


def place() -> Place:
    return Place(Complaints(), "test.pyr")


def remarks(where: Place) -> list[str]:
    return [remark.said % remark.params for remark in where.complaints.remarks]


def pyramid() -> Pyramid:
    found = read_pyramid(pyramid_xml(), place())
    assert found is not None
    return found


def peer(matched: dict[str, Parts]) -> Peer:
    found = read_peer(peer_xml(matched), pyramid(), place())
    assert found is not None
    return found


SAID = {"1": [("killed ten people",), ("Ten died",)], "2": [("Quakes",)], "0": [("The weather was fine",)]}


def test_an_scu_weighs_as_much_as_the_models_that_express_it() -> None:
    found = pyramid()

    assert found.weights == {"1": 3, "2": 2, "3": 2, "4": 1}
    assert found.models == ("A", "B", "C")
    assert [scu.label for scu in found.scus] == ["Ten people died", "Quakes hit", "Aid was late", "On the coast"]


def test_more_than_can_be_looked_for_in_time_is_left_out_with_a_remark() -> None:
    where = place()
    part = b'<part label="not there" start="0" end="9"/>'
    text = b"<text><line>" + b"word " * 20_001 + b"</line></text>"

    assert read_pyramid(b"<pyramid>" + text + b"<scu>" + part * 2_000 + b"</scu></pyramid>", where) is None
    assert remarks(where) == ["ignored: 2000 parts in a text of 100005 characters"]


def test_two_contributors_from_one_model_count_once() -> None:
    scus = {"1": ("Quakes", [("Quakes hit the coast",), ("Ten people died.",), ("quakes hit",)])}

    found = read_pyramid(pyramid_xml(scus), place())

    assert found is not None
    assert found.weights == {"1": 2}


@pytest.mark.parametrize("shift", [-500, -3, 0, 3, 10_000])
def test_a_stretch_is_where_its_words_stand_whatever_the_file_says(shift: int) -> None:
    found = read_pyramid(pyramid_xml({"1": ("x", [("Help was slow",), ("Ten people died",)])}, shift=shift), place())

    assert found is not None
    spans = [contributor.parts[0].span for contributor in found.scus[0].contributors]
    assert spans[0] == (MODELS.find("Help"), MODELS.find("Help") + len("Help was slow"))
    assert spans[1] is not None
    assert "".join(MODELS[slice(*spans[1])].split()) == "Tenpeopledied"


def test_white_space_between_words_makes_no_difference() -> None:
    scus = {"1": ("x", [("Ten people died when\n quakes hit",)])}
    where = place()

    found = read_pyramid(pyramid_xml(scus), where)

    assert found is not None
    span = found.scus[0].contributors[0].parts[0].span
    assert span is not None
    assert MODELS[slice(*span)] == "Ten people   died when quakes hit"
    assert remarks(where) == []


def test_words_that_stand_nowhere_are_reported_and_survived() -> None:
    where = place()

    found = read_pyramid(pyramid_xml({"1": ("x", [("Nobody wrote this",), ("Aid came",)])}), where)

    assert found is not None
    assert found.scus[0].contributors[0].parts[0].span is None
    assert found.weights == {"1": 2}
    assert remarks(where) == ['not found in the text: "Nobody wrote this"']


def test_of_two_places_the_one_nearer_to_the_claim_is_taken() -> None:
    text = "one fish two fish three fish"
    for claimed, expected in ((0, 4), (12, 13), (28, 24)):
        data = (
            f'<pyramid>{lines(text)}<scu uid="1" label="x"><contributor><part label="fish" start="{claimed}" end="0"/>'
        )
        found = read_pyramid((data + "</contributor></scu></pyramid>").encode(), place())
        assert found is not None
        assert found.scus[0].contributors[0].parts[0].span == (expected, expected + 4)


def test_models_are_told_apart_by_the_files_own_pattern_where_they_have_no_usual_name() -> None:
    text = "== first ==\nQuakes hit.\n== second ==\nThe quakes hit."
    scus = {"1": ("x", [("Quakes hit",), ("quakes hit",)])}

    found = read_pyramid(pyramid_xml(scus, text, "[=]+ [a-z]+ [=]+"), place())

    assert found is not None
    assert found.models == ("== first ==", "== second ==")
    assert found.weights == {"1": 2}


@pytest.mark.parametrize(("longer", "pattern"), [(30, r"\w+-\w+-\w+"), (100, r"\w+-\w+")])
def test_a_pattern_with_more_repeats_is_tried_on_shorter_lines_only(longer: int, pattern: str) -> None:
    """It takes up to the length of a line to the power of its repeats."""
    header = "a-b-" + "c" * (longer - 4)
    scus = {"1": ("x", [("Quakes hit",)])}
    for text, models in ((header, (header,)), (header + "c", ())):
        found = read_pyramid(pyramid_xml(scus, f"{text}\nQuakes hit.", pattern), place())
        assert found is not None
        assert found.models == models


@pytest.mark.parametrize(
    "pattern", [r"\\*\\*\\*\\*b", "(a+)+$", "(a|a)*b", "a*a*a*a*a*b", "[", "(?P<x>a)", "(x)\\1", "x" * 500]
)
def test_a_pattern_that_could_take_for_ever_is_not_tried(pattern: str) -> None:
    where = place()

    found = read_pyramid(pyramid_xml({"1": ("x", [("aaaa",)])}, "a" * 90 + "c", pattern), where)

    assert found is not None
    assert found.models == ()
    assert "each contributor counts as one model" in remarks(where)[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<pyramid>",
        b"no xml at all",
        b"<peerAnnotation/>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><pyramid><text><line>&a;</line></text></pyramid>',
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><pyramid>&a;</pyramid>',
        b'<?xml version="1.0" encoding="x-nonsense"?><pyramid/>',
    ],
)
def test_what_is_no_pyramid_is_passed_over_with_a_remark(data: bytes) -> None:
    where = place()

    assert read_pyramid(data, where) is None
    assert len(remarks(where)) == 1
    assert not where.complaints.collected


@given(
    st.binary(max_size=200)
    | st.text(alphabet='<>/="pyramidscu &;', max_size=80).map(lambda s: f"<pyramid>{s}</pyramid>".encode())
)
def test_no_bytes_break_the_reader(data: bytes) -> None:
    where = place()

    read_pyramid(data, where)
    read_peer(data, pyramid(), where)

    assert [message(one) for one in where.complaints.collected] == []


def test_an_scu_that_comes_twice_or_without_a_name_is_passed_over() -> None:
    scus = '<scu uid="1" label="a"/><scu uid="1" label="b"/><scu label="c"/>'
    data = f"<pyramid><text><line>a</line></text>{scus}</pyramid>".encode()
    where = place()

    found = read_pyramid(data, where)

    assert found is not None
    assert [scu.label for scu in found.scus] == ["a"]
    assert len(remarks(where)) == 3  # and that the models are not told apart


def test_an_annotated_summary_says_some_scus_and_some_things_that_nobody_else_said() -> None:
    found = peer(SAID)

    assert {uid: len(parts) for uid, parts in found.matched.items()} == {"1": 2, "2": 1}
    assert len(found.unmatched) == 1


def test_an_scu_that_the_pyramid_lacks_counts_as_matching_none() -> None:
    where = place()

    found = read_peer(peer_xml({"99": [("Quakes",)], "1": []}), pyramid(), where)

    assert found is not None
    assert (dict(found.matched), len(found.unmatched)) == ({}, 1)
    assert any("99" in remark for remark in remarks(where))


def topic(annotation: Annotation | None) -> Evidence:
    nothing = np.empty(0)
    none = Judgments(nothing.astype(np.int64), nothing.astype(np.int64), nothing, nothing, nothing.astype(np.int64))
    summaries = (SummaryText("12", ("Quakes killed ten people.",)), SummaryText("13", ("Not annotated.",)))
    return Evidence("t", (), (), none, summaries, pyramid=annotation)


def test_scores_by_hand() -> None:
    """D = 3 + 2. Original: n = 4 contributors, best 3 + 2 + 2 + 1. Modified: the models have 3, 3 and 2 SCUs, X = 3,
    best 3 + 2 + 2."""
    annotation = Annotation(pyramid(), {"12": peer(SAID)})

    assert metric("pyramid-original").score(topic(annotation))[0] == pytest.approx(5 / 8)
    assert metric("pyramid").score(topic(annotation))[0] == pytest.approx(5 / 7)
    assert metric("pyramid:down").score(topic(annotation))[0] == pytest.approx(5 / 5)
    assert math.isnan(metric("pyramid").score(topic(annotation))[1])


def test_leaving_one_model_out_in_turn_by_hand() -> None:
    """Without A: 1 weighs 2, 2 and 4 lose one (4 is gone), 3 keeps 2; sizes 3 and 2, X = 3 (2.5 up); (2+1)/(2+2+1).
    Without B: weights 2, 1, 1, 1; sizes 3 and 2, X = 3; (2+1)/4. Without C: 2, 2, 1, 1; sizes 3, 3; (2+2)/5."""
    annotation = Annotation(pyramid(), {"12": peer(SAID)})

    found = metric("pyramid:jackknife").score(topic(annotation))[0]

    assert found == pytest.approx((3 / 5 + 3 / 4 + 4 / 5) / 3)


def test_the_mean_size_of_models_is_rounded_half_up_by_default() -> None:
    models = {"1": {0, 1}, "2": {0}, "3": {0}, "4": {1}}  # sizes 3 and 2

    assert average_model_size(models) == 3
    assert average_model_size(models, "down") == 2
    assert average_model_size({"1": {0}}, "up") == 1
    assert average_model_size({}) == 0


weights = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), min_size=1)


@given(weights, st.data())
def test_the_best_that_can_be_said_scores_one_and_nothing_scores_more(
    weights: dict[str, int], data: st.DataObject
) -> None:
    said = data.draw(st.lists(st.sampled_from(sorted(weights)), unique=True))
    size = data.draw(st.integers(0, 8))
    best = sorted(weights, key=lambda uid: -weights[uid])

    assert 0 <= original(said, len(said) + size, weights) <= 1
    assert original(best[: len(said)], len(said), weights) == (1 if said else 0)
    models = {uid: set(range(weight)) for uid, weight in weights.items()}
    assert modified(best[: average_model_size(models)], models) == 1


def test_saying_something_twice_costs_in_the_original_score_only() -> None:
    once, twice = (Annotation(pyramid(), {"12": peer({"1": parts})}) for parts in (SAID["1"][:1], SAID["1"]))

    assert metric("pyramid").score(topic(once))[0] == metric("pyramid").score(topic(twice))[0]
    assert metric("pyramid-original").score(topic(once))[0] > metric("pyramid-original").score(topic(twice))[0]


def test_an_empty_summary_scores_nothing() -> None:
    annotation = Annotation(pyramid(), {"12": Peer("", {})})

    assert metric("pyramid").score(topic(annotation))[0] == 0
    assert metric("pyramid-original").score(topic(annotation))[0] == 0


def test_sentences_carry_the_scus_that_have_words_in_them() -> None:
    found = annotated_sentences(Annotation(pyramid(), {"12": peer(SAID)}), "en")

    assert [(sentence.text, dict(sentence.units)) for sentence in found] == [
        ("Quakes hit the coast.", {"2": 2, "4": 1}),
        ("Ten people died.", {"1": 3}),
        ("Ten people   died when quakes hit.", {"1": 3, "2": 2}),
        ("Aid came late.", {"3": 2}),
        ("Help was slow to come, and ten died.", {"1": 3, "3": 2}),
        ("Quakes killed ten people.", {"1": 3, "2": 2}),
        ("Ten died.", {"1": 3}),
        ("The weather was fine.", {}),
    ]
