"""How agreement grows with judgments: at the end what agree says, at random one half, and upwards on the way."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from preferendum.evidence import Evidence, SummaryText
from preferendum.methods.analyses.convergence.report import _passing as passing_of
from preferendum.methods.analyses.convergence.report import convergence, topic_runs
from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement
from preferendum.methods.meta.scores import collect
from preferendum.metrics.registry import metric
from preferendum.results import (
    Baseline,
    Convergence,
    ConvergencePoint,
    MetricConvergence,
    Passing,
    TopicConvergence,
    from_json,
    to_json,
)
from preferendum.scoring.simulate import judge
from tests.evaluation.conftest import Run

NAMES = ("preferences", "preferences:published", "preferences:unsmoothed", "js")
N = 24


def made(name: str, seed: int, judgments: int = 300) -> Evidence:
    """Sentences of words of their own; summaries of three each, liked for what the sentences are worth."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=N)
    sentences = tuple(" ".join(f"w{k}x{j}{name}" for j in range(4)) for k in range(N))
    chosen = [rng.choice(N, size=3, replace=False) for _ in range(8)]
    summaries = tuple(
        SummaryText(f"s{k}", tuple(sentences[i] for i in own), {"overall": float(values[own].sum())})
        for k, own in enumerate(chosen)
    )
    return Evidence(name, tuple(f"d:{k}" for k in range(N)), sentences, judge(values, judgments, seed), summaries)


TOPICS = [made("a", 1), made("b", 2), made("c", 3, judgments=120)]


def report(topics: list[Evidence], sizes: list[int], runs: int, names: tuple[str, ...] = NAMES) -> Convergence:
    metrics = [metric(name) for name in names]
    parts = [topic_runs(topic, "overall", metrics, sizes, runs) for topic in topics]
    return convergence(parts, "overall", sizes, runs, 0, {one.name: one.signature for one in metrics})


def test_with_all_judgments_it_is_what_agree_says() -> None:
    metrics = [metric(name) for name in NAMES]
    agreed = dimension_agreement(collect(TOPICS, ["overall"], metrics), "overall", Sampling(draws=0)).metrics

    converged = report(TOPICS, [20, 300], 2)

    ends = [own.points[-1].agreement for own in converged.metrics] + [own.agreement for own in converged.baselines]
    assert ends == pytest.approx([own.agreement.value for own in agreed], abs=1e-12)
    assert [point.agreement for point in [own.points[-1] for own in converged.metrics[0].topics]] == pytest.approx(
        [own.agreement for own in agreed[0].topics]
    )


@pytest.mark.parametrize("name", NAMES[:3])
def test_agreement_grows_with_judgments_that_follow_what_people_like(name: str) -> None:
    (curve,) = report(TOPICS, [5, 25, 120], 12, (name,)).metrics

    first, second, third = (point.agreement for point in curve.points)
    assert 0.5 < first < second < third
    assert curve.points[0].sd > curve.points[2].sd


def test_judgments_at_random_agree_in_half_of_the_pairs() -> None:
    rng = np.random.default_rng(0)
    topics = []
    for seed in range(12):
        topic = made(str(seed), seed)
        coins = rng.integers(0, 2, len(topic.judgments)).astype(float)
        topics.append(replace(topic, judgments=replace(topic.judgments, outcome=coins)))

    (curve,) = report(topics, [40], 6, ("preferences",)).metrics

    assert curve.points[0].agreement == pytest.approx(0.5, abs=0.06)


def test_it_says_from_where_on_a_metric_is_passed() -> None:
    converged = report(TOPICS, [5, 25, 120], 6, ("preferences", "js"))

    (passing,) = converged.passings
    (curve,), (flat,) = converged.metrics, converged.baselines
    shown = []
    for k in range(len(converged.sizes)):
        pairs = [(topic.points[k].agreement, flat.topics[topic.topic]) for topic in curve.topics]
        shown.append(stats.ttest_rel(*zip(*pairs, strict=True)).confidence_interval(0.95).low > 0)
    assert passing.judgments == next((size for k, size in enumerate(converged.sizes) if all(shown[k:])), None)
    assert passing.judgments is not None
    assert passing.ahead.value == pytest.approx(curve.points[-1].agreement - flat.agreement)
    assert 0 < passing.ahead.low < passing.ahead.value < passing.ahead.high


def curve(*agreements: float, topics: int = 3, spread: float = 0.01) -> MetricConvergence:
    """A metric with so much agreement by 25, 100 and 400 judgments a topic, in topics of about the same."""

    def points(more: float) -> tuple[ConvergencePoint, ...]:
        reached = zip((25, 100, 400), agreements, strict=True)
        return tuple(ConvergencePoint(n, value + more, 0.0, 0) for n, value in reached)

    around = np.linspace(-spread, spread, topics)
    of_each = tuple(TopicConvergence(f"t{k}", 400, points(float(more))) for k, more in enumerate(around))
    return MetricConvergence("preferences", "", points(0.0), of_each)


def passing(grown: MetricConvergence, baseline: float, is_early: bool = False) -> Passing:
    flat = Baseline("js", "", baseline, {topic.topic: baseline for topic in grown.topics})
    return passing_of(grown, flat, 0.05, is_early)


def test_a_higher_curve_is_no_passing_where_the_interval_over_topics_holds_0() -> None:
    assert passing(curve(0.51, 0.54, 0.543, topics=32, spread=0.05), 0.508).judgments == 100
    noisy = passing(curve(0.52, 0.54, 0.543, topics=32, spread=0.5), 0.508)
    assert noisy.judgments is None
    assert noisy.ahead.low < 0 < noisy.ahead.value == pytest.approx(0.035)
    assert passing(curve(0.52, 0.54, 0.543, topics=2, spread=0.01), 0.508).judgments is None, "two topics say little"
    unsure = passing(curve(0.52, 0.54, 0.543, topics=2, spread=0.4), 0.508).ahead
    assert (unsure.low, unsure.high) == (-1.0, 1.0), "no share of pairs differs by more"
    assert passing(curve(0.52, 0.54, 0.543, topics=1), 0.508).ahead.low is None
    assert passing(curve(0.52, 0.54, 0.543, spread=0.0), 0.508).ahead.low is None
    assert passing(curve(0.7, 0.8, 0.9, topics=32), 0.508, is_early=True).judgments is None


def test_samples_that_determine_nothing_are_counted() -> None:
    (curve,) = report(TOPICS[:1], [3], 5, ("preferences:unsmoothed:prior=0",)).metrics

    assert (curve.points[0].agreement, curve.points[0].sd, curve.points[0].undefined) == (None, None, 5)


def test_a_larger_sample_holds_the_smaller_one_and_runs_differ() -> None:
    converged = report(TOPICS[:1], [50, 100], 30, ("preferences",))

    assert converged == report(TOPICS[:1], [50, 100], 30, ("preferences",))
    assert all(point.sd > 0 for point in converged.metrics[0].points)
    assert from_json(Convergence, json.loads(json.dumps(to_json(converged)))) == converged


def test_the_command_writes_a_table_json_and_a_picture(tmp_path: Path, run: Run) -> None:
    path, picture = tmp_path / "topics.jsonl", tmp_path / "curve.svg"
    line = {
        "topic_id": "T",
        "documents": [{"id": "d", "sentences": list(TOPICS[0].sentences)}],
        "references": [{"id": "A", "sentences": list(TOPICS[0].sentences[:4])}],
        "summaries": [
            {"system": one.system, "sentences": list(one.sentences), "human": dict(one.human)}
            for one in TOPICS[0].summaries
        ],
    }
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    asked = ["converge", str(path), "--dimension", "overall", "--simulate", "references", "--pairs", "40"]
    asked += ["--runs", "3", "--at", "10,all,20", "--metrics", "preferences,rouge-2"]

    table = run.out(*asked, "--svg", str(picture))
    data = run.json(*asked)

    assert data["sizes"] == [10, 20, 40]
    assert "Agreement with human overall by number of judgments a topic" in table
    assert "Judgments simulated from references, seed 0." in " ".join(table.split())
    assert picture.read_text(encoding="utf-8").count("<polyline") == 2


@pytest.mark.parametrize(
    ("changed", "message"), [(["--at", "0"], "at least 1"), (["--metrics", "js"], "one that rests on judgments")]
)
def test_what_cannot_be_done_is_refused(tmp_path: Path, run: Run, changed: list[str], message: str) -> None:
    path = tmp_path / "topics.jsonl"
    summaries = [{"system": "s", "text": "Rain.", "human": {"overall": 1.0}}]
    documents = [{"id": "d", "sentences": ["Rain fell.", "Quakes hit."]}]
    references = [{"id": "A", "text": "Rain fell."}]
    line = {"topic_id": "T", "documents": documents, "references": references, "summaries": summaries}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")

    asked = ["converge", path, "--dimension", "overall", "--simulate", "references", *changed]
    assert message in run.refused(*asked)
