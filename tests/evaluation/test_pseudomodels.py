"""Fewer references, and systems' summaries among them: by hand, at their limits, and on the command line."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from preferendum.cli.__main__ import main
from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.metrics.registry import MissingEvidence, by_fewer_references, metric, prepared
from tests.evaluation.conftest import Run

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
REFERENCES = {"B": "rain fell", "A": "quakes hit chile hard"}
SYSTEMS = {"a": "quakes hit chile", "b": "quakes hit peru today", "c": "quakes fell", "d": "rain fell in peru"}


def topic(name: str = "t", **summaries: str) -> Evidence:
    systems = tuple(SummaryText(system, (text,)) for system, text in (summaries or SYSTEMS).items())
    references = tuple((text,) for text in REFERENCES.values())
    return Evidence(name, (), (), NONE, systems, references, reference_names=tuple(REFERENCES))


def test_the_first_references_by_name_are_taken() -> None:
    scores = metric("rouge-1:models=1").score(topic())

    assert scores == pytest.approx([3 / 4, 2 / 4, 1 / 4, 0])
    for number in (2, 3):
        assert metric(f"rouge-1:models={number}").score(topic()).tolist() == metric("rouge-1").score(topic()).tolist()
    unnamed = replace(topic(), reference_names=())
    assert metric("rouge-1:models=1").score(unnamed) == pytest.approx([0, 0, 1 / 2, 1])


def test_a_person_whose_text_is_not_among_the_first_is_scored_by_all_of_these() -> None:
    person = SummaryText("p", (REFERENCES["B"],), person=True, reference="B")
    among = replace(topic(), summaries=(person, replace(person, system="q", reference="A")))

    assert metric("rouge-1:models=1").score(among)[0] == 0
    assert np.isnan(metric("rouge-1:models=1").score(among)[1])


def test_pseudomodels_by_hand() -> None:
    """By reference A alone a and b are best: the pool is A (4 words), a (3) and b (4)."""
    scores = metric("rouge-1:pseudo=2:local:models=1").score(topic())

    expected = [5 / 8, 4 / 7, (2 / 7 + 2 / 8 + 2 / 7) / 3, (1 / 7 + 1 / 8 + 0) / 3]
    assert scores == pytest.approx(expected, abs=1e-5)


def test_global_pseudomodels_are_the_best_by_all_topics() -> None:
    """On the second topic c is best and b, which is as good as d there, comes first by name; a is missing."""
    second = topic("u", b="rain", c="quakes hit chile hard", d="rain")
    (pooled,) = prepared([metric("rouge-1:pseudo=1:global:models=1")], [topic(), second])
    (local,) = prepared([metric("rouge-1:pseudo=1:local:models=1")], [topic(), second])

    # c: 1/4 + 1; a: 3/4 and nothing.
    assert "best machines of all topics, by their mean (c)" in pooled.signature
    assert pooled.score(topic()) == pytest.approx([(3 / 4 + 1 / 2) / 2, (2 / 4 + 1 / 2) / 2, 1 / 4, (0 + 1 / 2) / 2])
    assert local.score(topic())[0] == pytest.approx(3 / 4)
    without = replace(topic(), summaries=topic().summaries[:2])
    assert pooled.score(without).tolist() == metric("rouge-1:models=1").score(without).tolist()
    with pytest.raises(MissingEvidence, match="prepared with all topics first"):
        metric("rouge-1:pseudo=1:global").score(topic())


def test_ties_go_by_name() -> None:
    alike = topic("t", z="quakes", y="quakes", x="rain")

    scores = metric("rouge-1:pseudo=1:models=1").score(alike)

    # y joins A: z is compared with either, y with A alone.
    assert scores == pytest.approx([(1 / 4 + 1) / 2, 1 / 4, 0], abs=1e-5)


@pytest.mark.parametrize("scope", ["local", "global"])
@pytest.mark.parametrize("measure", ["rouge-1", "rouge-su4", "rouge-l:f"])
def test_a_pool_of_identical_systems_gives_1(measure: str, scope: str) -> None:
    text = "quakes hit chile hard today"
    same = Evidence("t", (), (), NONE, tuple(SummaryText(name, (text,)) for name in "abcde"), ((text,),))
    (pooled,) = prepared([metric(f"{measure}:pseudo=3:{scope}")], [same])

    assert pooled.score(same).tolist() == [1] * 5


def test_no_candidate_is_compared_with_its_own_text() -> None:
    """Systems that share nothing with anybody stay at 0, though they are in the pool."""
    apart = topic("t", x="one two three", y="four five six", z="seven eight nine")

    assert metric("rouge-1:pseudo=3:models=1").score(apart).tolist() == [0, 0, 0]


def test_people_are_no_pseudomodels() -> None:
    person = SummaryText("p", (REFERENCES["A"],), person=True)
    among = replace(topic(), summaries=(*topic().summaries, person))

    scores = metric("rouge-1:pseudo=2:models=1").score(among)

    assert scores[:4].tolist() == metric("rouge-1:pseudo=2:models=1").score(topic()).tolist()
    assert scores[4] == pytest.approx((5 / 7 + 6 / 8 + 7 / 7) / 3, abs=1e-5)


def test_metrics_that_rest_on_references_are_taken_by_fewer() -> None:
    assert by_fewer_references("rouge-2:f", (1, 2)) == ("rouge-2:f:models=1", "rouge-2:f:models=2")
    assert by_fewer_references("rouge-2:models=3", (1, 2)) == ("rouge-2:models=3",)
    assert by_fewer_references("js", (1, 2)) == ("js",)
    assert by_fewer_references("rouge-2", ()) == ("rouge-2",)


def test_agree_by_numbers_of_references(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "topics.jsonl"
    line = {
        "references": [{"id": name, "text": text} for name, text in REFERENCES.items()],
        "summaries": [
            {"system": system, "text": text, "human": {"overall": k}}
            for k, (system, text) in enumerate(SYSTEMS.items())
        ],
    }
    path.write_text("".join(json.dumps(line | {"topic_id": name}) + "\n" for name in "tu"), encoding="utf-8")
    asked = ["agree", str(path), "--dimension", "overall", "--draws", "100", "--format", "json", "--models", "1,2"]

    metrics = json.loads(run.out(*asked, "--metrics", "rouge-1,rouge-1:pseudo=1:global:models=1,js-consensus"))[
        "dimensions"
    ][0]["metrics"]
    names = ["rouge-1:models=1", "rouge-1:models=2", "rouge-1:pseudo=1:global:models=1", "js-consensus"]
    assert [row["metric"] for row in metrics] == names
    assert metrics[0]["signature"].endswith("recall, by the first 1 references by name")
    assert metrics[0]["agreement"]["value"] == 0  # people rated them the other way round
    with pytest.raises(SystemExit):
        main([*asked[:-1], "1,none"])
