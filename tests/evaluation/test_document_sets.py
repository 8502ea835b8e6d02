"""Document sets: printed examples, what enumeration gives, and what two tests of the same must share."""

import json
import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from preferendum.methods.analyses.document_sets.report import (
    document_sets,
    document_sets_report,
    friedman,
    kruskal_wallis,
    mean_ranks,
    scatter,
)
from preferendum.results import DocumentSetsReport, from_json, to_json
from preferendum.work.scores import Scores
from tests.evaluation.conftest import Run

NAN = math.nan
# Hollander & Wolfe (1973), p. 116: mucociliary efficiency of three groups; R's kruskal.test: H .77143, p .68.
EFFICIENCY = np.array([[2.9, 3.8, 2.8], [3.0, 2.7, 3.4], [2.5, 4.0, 3.7], [2.6, 2.4, 2.2], [3.2, NAN, 2.0]])
# p. 140: rounding first base; R's friedman.test: 11.143 with 2 degrees of freedom, p .003805.
ROUNDING = np.array(
    [
        "5.40",
        "5.50",
        "5.55",
        "5.85",
        "5.70",
        "5.75",
        "5.20",
        "5.60",
        "5.50",
        "5.55",
        "5.50",
        "5.40",
        "5.90",
        "5.85",
        "5.70",
        "5.45",
        "5.55",
        "5.60",
        "5.40",
        "5.40",
        "5.35",
        "5.45",
        "5.50",
        "5.35",
        "5.25",
        "5.15",
        "5.00",
        "5.85",
        "5.80",
        "5.70",
        "5.25",
        "5.20",
        "5.10",
        "5.65",
        "5.55",
        "5.45",
        "5.60",
        "5.35",
        "5.45",
        "5.05",
        "5.00",
        "4.95",
        "5.50",
        "5.50",
        "5.40",
        "5.45",
        "5.55",
        "5.50",
        "5.55",
        "5.55",
        "5.35",
        "5.45",
        "5.50",
        "5.55",
        "5.50",
        "5.45",
        "5.25",
        "5.65",
        "5.60",
        "5.40",
        "5.70",
        "5.65",
        "5.55",
        "6.30",
        "6.30",
        "6.25",
    ],
    dtype=float,
).reshape(22, 3)


def scores_of(human: np.ndarray, metric: np.ndarray, machines: tuple[bool, ...]) -> Scores:
    systems = tuple(f"s{k}" for k in range(len(human)))
    topics = tuple(f"t{k}" for k in range(human.shape[1]))
    return Scores(systems, topics, {"overall": human}, {"m": metric}, {"m": "signature"}, machines)


def test_kruskal_and_friedman_give_the_printed_values() -> None:
    over_topics, over_systems = kruskal_wallis(EFFICIENCY), friedman(ROUNDING.T)

    assert over_topics is not None
    assert (over_topics.statistic, over_topics.df) == (pytest.approx(0.77143, abs=5e-6), 2)
    assert over_systems is not None
    assert (over_systems.statistic, over_systems.df) == (pytest.approx(11.143, abs=5e-4), 2)
    assert over_systems.p == pytest.approx(0.003805, abs=5e-7)


def test_without_differences_or_data_there_is_no_test() -> None:
    assert kruskal_wallis(np.ones((3, 4))) is None
    assert kruskal_wallis(np.array([[1.0, NAN], [2.0, NAN]])) is None
    assert friedman(EFFICIENCY) is None
    assert friedman(np.ones((3, 4))) is None


def test_the_variance_of_mean_ranks_is_that_of_all_permutations() -> None:
    """Seven scores with ties, in three topics, in all 5,040 orders."""
    values = np.array([1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 5.0])
    places = np.array([[0, 3, 5], [1, 4, 6], [2, -1, -1]])
    orders = stats.rankdata(values)[np.array(list(permutations(range(7))))]
    differences = orders[:, :3].mean(axis=1) - orders[:, 3:5].mean(axis=1)

    _, counts, variance = mean_ranks(np.where(places >= 0, values[places], NAN))

    assert counts.tolist() == [3, 2, 2]
    assert differences.var() == pytest.approx(variance * (1 / 3 + 1 / 2))


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.01]))
def test_two_topics_differ_as_kruskal_and_wallis_say(seed: int, level: float) -> None:
    matrix = np.random.default_rng(seed).integers(0, 6, (9, 2)) + np.array([0.0, 2.0])

    report = document_sets("m", matrix, scores_of(matrix, matrix, (True,) * 9), level)

    assert report.kruskal is not None
    assert (report.different == 1) == (report.kruskal.p < level)


def test_topics_differ_where_their_intervals_do_not_meet() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(20, 6)) + np.arange(6)

    report = document_sets("m", matrix, scores_of(matrix, matrix, (True,) * 20))

    for topic in report.sets:
        apart = [other.topic for other in report.sets if other.low > topic.high or other.high < topic.low]
        assert list(topic.differs) == apart
    assert 0 < report.different < report.pairs == 15
    assert "t5" in report.sets[0].differs


def test_tukeys_intervals_err_in_five_of_a_hundred_studies() -> None:
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(400):
        matrix = rng.normal(size=(15, 8))
        wrong += document_sets("m", matrix, scores_of(matrix, matrix, (True,) * 15)).different > 0

    assert stats.binomtest(wrong, 400, 0.05, alternative="greater").pvalue > 0.01


def test_the_matrix_has_machines_before_people_and_the_best_first() -> None:
    matrix = np.array([[9.0, 9.0], [1.0, 2.0], [5.0, NAN], [NAN, NAN]])

    table = document_sets("m", matrix, scores_of(matrix, matrix, (False, True, True, True))).matrix

    assert (table.systems, table.machines) == (("s2", "s1", "s3", "s0"), 3)
    assert table.scores == ((5.0, 1.0, None, 9.0), (None, 2.0, None, 9.0))


def test_the_gap_is_how_far_people_are_above_the_machines_line() -> None:
    """Machines 1 above and below y = 2 x in turns, so that their sd is sqrt(4 / 2); a person 5 above."""
    x = np.array([[1.0], [1.0], [3.0], [3.0], [2.0]])
    y = 2 * x + np.array([[1.0], [-1.0], [1.0], [-1.0], [5.0]])

    report = scatter("overall", "m", scores_of(y, x, (True,) * 4 + (False,)))

    assert (report.slope, report.intercept) == (pytest.approx(2), pytest.approx(0))
    assert report.gap == pytest.approx(5 / math.sqrt(2))
    assert scatter("overall", "m", scores_of(y, x, (True,) * 5)).gap is None
    assert scatter("overall", "m", scores_of(y, x * 0, (True,) * 4 + (False,))).slope is None


def test_a_dimension_named_like_a_metric_is_compared_for_itself() -> None:
    human, metric = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)[:, ::-1]
    scores = scores_of(human, metric, (True,) * 4)

    report = document_sets_report(replace(scores, human={"m": human}), "machines")

    assert [(scorer.by, scorer.by_human) for scorer in report.scorers] == [("m", True), ("m", False)]
    assert report.scorers[0].matrix.scores != report.scorers[1].matrix.scores


def test_a_report_survives_json() -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 6, 4))
    human[0, 0] = NAN

    report = document_sets_report(scores_of(human, metric, (True,) * 4 + (False,) * 2), "all")

    assert [scorer.by for scorer in report.scorers] == ["overall", "m"]
    assert from_json(DocumentSetsReport, json.loads(json.dumps(to_json(report)))) == report


def test_the_command_prints_and_writes_the_same(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "topics.jsonl"
    lines = [
        {
            "topic_id": f"T{number}",
            "documents": [{"id": "d", "sentences": ["Quakes hit Chile.", "Aid came late."]}],
            "summaries": [
                {"system": f"s{k}", "text": text, "human": {"overall": k + 3.0 * number}}
                for k, text in enumerate(["Rain fell.", "Aid came late.", "Quakes hit Chile. Aid came late."])
            ],
        }
        for number in range(3)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    asked = ["sets", str(path), "--dimension", "overall", "--metrics", "js"]

    data = run.json(*asked)
    table = run.out(*asked)
    rows = run.out(*asked, "--format", "csv").splitlines()

    assert data["scorers"][0]["kruskal"]["statistic"] == pytest.approx(7.2)
    assert "Differences between topics and between systems" in table
    assert "Topics by mean rank: JS divergence" in table
    assert len(rows) == 1 + 2 * 3 * 3
