"""People's summaries among those of machines: scored by the others alone, told apart in every count."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.formats.pyramid import Annotation, Contributor, Peer, Pyramid, Scu
from preferendum.methods.analyses.system_pairs.report import TESTS, all_system_pairs, system_pairs
from preferendum.methods.meta.scores import Scores, collect, judged_topics
from preferendum.metrics.registry import metric, without_one_reference
from preferendum.results import SystemPairs, from_json, to_json
from tests.evaluation.conftest import Run

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
TEXTS = {"A": "quakes hit chile", "B": "quakes hit peru", "C": "rain fell in ohio"}


def topic(*references: str, name: str = "t") -> Evidence:
    """Three people, whose summaries are references, and a machine."""
    persons = tuple(
        SummaryText(f"person {letter}", (text,), {"overall": 5.0}, person=True, reference=letter)
        for letter, text in TEXTS.items()
    )
    machine = SummaryText("lead", (TEXTS["B"],), {"overall": 2.0})
    given = tuple((TEXTS[letter],) for letter in references)
    return Evidence(name, (), (), NONE, (*persons, machine), given, reference_names=references, pyramid=made_pyramid())


# The SCUs that each model of the made pyramid D0999 expresses.
D0999 = {"A": (1, 2, 3, 5, 7, 21), "C": (1, 2, 3, 4, 7, 9), "F": (1, 3, 4, 5, 9, 12, 15, 21), "H": (1, 2, 7, 9)}


def made_pyramid() -> Annotation:
    uids = sorted({uid for own in D0999.values() for uid in own})
    scus = tuple(
        Scu(str(uid), "", tuple(Contributor((), k) for k, own in enumerate(D0999.values()) if uid in own))
        for uid in uids
    )
    return Annotation(Pyramid("", scus, tuple(D0999)), {"lead": Peer("", {"1": (Contributor(()),)})})


@pytest.mark.parametrize("name", ["rouge-1", "rouge-1:jackknife", "rouge-1:best"])
def test_rouge_scores_a_person_by_the_others_and_never_by_the_summary_itself(name: str) -> None:
    scores = metric(name).score(topic("A", "B", "C"))

    pooled = {"rouge-1:best": [2 / 3, 2 / 3, 0.0]}.get(name, [2 / 7, 2 / 7, 0.0])
    assert scores[:3] == pytest.approx(pooled, abs=1e-5)


def test_rouge_scores_machines_by_the_sets_that_people_are_scored_by() -> None:
    assert metric("rouge-1:jackknife").score(topic("A", "B", "C"))[3] == pytest.approx(
        (3 / 7 + 2 / 7 + 5 / 6) / 3, abs=1e-5
    )


def test_a_person_without_another_reference_has_no_score() -> None:
    assert np.isnan(metric("rouge-1").score(topic("A"))).tolist() == [True, False, False, False]


def test_a_model_is_scored_by_the_pyramid_without_it() -> None:
    models = tuple(SummaryText(f"person {name}", (), person=True, reference=name) for name in D0999)
    annotated = Evidence("t", (), (), NONE, (*models, SummaryText("lead", ())), pyramid=made_pyramid())

    scores = metric("pyramid:up:jackknife").score(annotated)

    assert scores[:4] == pytest.approx([11 / 14, 12 / 13, 10 / 14, 9 / 16])
    assert scores[4] == pytest.approx(np.mean([3 / 14, 3 / 13, 3 / 14, 3 / 16]))


def test_the_consensus_is_of_machines_alone() -> None:
    machines = (SummaryText("a", ("Quakes hit Chile",)), SummaryText("b", ("Stocks fell",)))
    person = SummaryText("p", ("Quakes hit Chile hard",), person=True)

    alone, beside = (
        metric("js-consensus").score(Evidence("t", (), (), NONE, summaries))
        for summaries in (machines, (*machines, person))
    )

    assert beside[:2] == pytest.approx(alone)
    assert beside[2] < 0


def test_metrics_that_can_do_so_leave_one_reference_out_with_people_of() -> None:
    asked = ["rouge-2:f", "rouge-2:jackknife", "pyramid", "js", "unknown"]

    assert list(map(without_one_reference, asked)) == [
        *("rouge-2:f:jackknife", "rouge-2:jackknife", "pyramid:jackknife", "js", "unknown")
    ]


def test_people_are_compared_where_they_are_asked_for() -> None:
    everyone, machines = (
        collect(judged_topics([topic("A", "B", "C")], ["overall"], (), peers), ["overall"], [metric("rouge-1")])
        for peers in ("all", "machines")
    )

    assert dict(zip(everyone.systems, everyone.machines, strict=True))["lead"]
    assert sum(everyone.machines) == 1
    assert (machines.systems, machines.machines) == (("lead",), (True,))


def test_agree_holds_people_against_machines_by_the_other_references(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "topics.jsonl"
    person = {"system": "Ann", "person": True, "reference": "A", "text": TEXTS["A"], "human": {"overall": 5.0}}
    machine = {"system": "lead", "text": TEXTS["C"], "human": {"overall": 2.0}}
    line = {
        "documents": [{"id": "d", "text": "Quakes hit Chile."}],
        "references": [{"id": letter, "text": text} for letter, text in TEXTS.items()],
        "summaries": [person, machine],
    }
    path.write_text("".join(json.dumps(line | {"topic_id": name}) + "\n" for name in "tu"), encoding="utf-8")
    asked = ["agree", str(path), "--dimension", "overall", "--metrics", "rouge-1", "--draws", "100"]

    everyone = run.json(*asked, "--peers", "all", "--pairs-of-systems")
    _status, out, err = run(*asked, "--format", "json")
    assert [count["kind"] for count in everyone["pairs_of_systems"][0]["counts"]] == ["all", "machines", "mixed"]
    (pair,) = everyone["pairs_of_systems"][1]["pairs"]
    # Ann by B and C: 2 of 7 words. The machine, which is C's text, by A and B, A and C, B and C: 0, 4/7, 4/7.
    assert pair["difference"] == pytest.approx(2 / 7 - 8 / 21, abs=1e-4)
    assert everyone["dimensions"][0]["metrics"][0]["metric"] == "rouge-1:jackknife"
    assert json.loads(out)["dimensions"][0]["systems"] == 1
    assert "note: 1 of the systems are people; left out (--peers all compares them, too)" in err


def test_pairs_of_systems_are_counted_apart_and_survive_json() -> None:
    """Two machines alike, one person clearly better than both."""
    rng = np.random.default_rng(0)
    scores = np.vstack([rng.normal(size=(2, 20)), 9 + rng.normal(size=(1, 20)), np.full((1, 20), math.nan)])

    pairs = system_pairs("overall", scores, ["a", "b", "p", "q"], [True, True, False, False], 200, 0)

    assert [(count.kind, count.pairs) for count in pairs.counts] == [("all", 6), ("machines", 1), ("mixed", 4)]
    assert all(count.p[test] == (0 if count.kind == "machines" else 2) for count in pairs.counts for test in TESTS)
    assert [pair.kind for pair in pairs.pairs] == ["machines", "mixed", "mixed", "mixed", "mixed", "humans"]
    assert pairs.pairs[2].p == dict.fromkeys(TESTS)
    assert from_json(SystemPairs, json.loads(json.dumps(to_json(pairs)))) == pairs


def test_a_metric_that_has_a_dimensions_name_does_not_take_peoples_place() -> None:
    grades, figures = (np.array(rows, dtype=np.float64) for rows in ([[1, 2, 3], [4, 5, 7]], [[1, 2, 3], [1, 2, 3]]))
    scores = Scores(("a", "b"), ("x", "y", "z"), {"pyramid": grades}, {"pyramid": figures}, {}, (True, True))
    people, machine = all_system_pairs(scores, 100, 0)
    assert (people.by, machine.by) == ("pyramid", "pyramid")
    assert [pairs.pairs[0].difference for pairs in (people, machine)] == [-10 / 3, 0]
