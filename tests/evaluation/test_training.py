"""Training metrics: what is learnt comes from nowhere else, and a truth that was planted is found."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

from preferendum.cli.__main__ import main
from preferendum.evidence import Evidence, SummaryText
from preferendum.formats import read
from preferendum.formats.serialization import from_json
from preferendum.methods.metrics.trained.classy import content, linguistic
from preferendum.methods.metrics.trained.files import KINDS, LeftOut, read_trained_metric
from preferendum.methods.metrics.trained.scores import Trained, opened
from preferendum.methods.training.training import (
    TRAINERS,
    Course,
    Table,
    TooLittle,
    Training,
    system_correlations,
    topic_examples,
)
from preferendum.results import to_json
from preferendum.results.training import IN_SAMPLE, LEFT_OUT, TopicExamples
from tests.evaluation.conftest import Run
from tests.evaluation.test_classy import topic as topic_of

WORDS = [
    "quake",
    "chile",
    "aid",
    "rain",
    "ohio",
    "storm",
    "roof",
    "hit",
    "came",
    "fell",
    "late",
    "road",
    "team",
    "field",
    "pitch",
]


def study(topics: int = 12, systems: int = 6, seed: int = 0) -> list[Evidence]:
    """Summaries of random words; people like bigrams of the references and dislike many sentences."""
    rng = np.random.default_rng(seed)

    def sentence(length: int) -> str:
        return f"{' '.join(rng.choice(WORDS, length))}."

    def one(k: int) -> Evidence:
        summaries = [[sentence(int(length)) for length in rng.integers(4, 16, 2 + s % 4)] for s in range(systems)]
        references = tuple(tuple(sentence(12) for _ in range(3)) for _ in range(2))
        bare = replace(topic_of(*summaries, references=references), topic_id=f"T{k}", sentences=(f"Document {k}.",))
        overall = 0.5 * content(bare)[:, 2] + 2 * linguistic(bare)[:, 0] + rng.normal(scale=0.01, size=systems)
        scored = tuple(
            replace(summary, human={"overall": float(score), "style": float(rng.normal())})
            for summary, score in zip(bare.summaries, overall, strict=True)
        )
        return replace(bare, summaries=scored)

    return [one(k) for k in range(topics)]


def course(topics: list[Evidence], first: list[Evidence] | None = None, **asked: Any) -> Course:
    training = Training(**{"method": "nnls", "target": "overall", "source": "here", "chosen_by": "there"} | asked)
    reader = training.reader()

    def examples(own: list[Evidence]) -> tuple[TopicExamples, ...]:
        return tuple(topic_examples(topic, training, reader.prepared(own)) for topic in own)

    return Course(training, examples(topics), examples(first or []))


def steps(course: Course) -> list[LeftOut]:
    return [course.step(number) for number in range(course.steps)]


@pytest.mark.parametrize("method", KINDS["classy"].methods)
def test_a_planted_truth_is_found_on_topics_that_taught_nothing(method: str) -> None:
    taken = course(study(8, systems=16), method=method)
    metric = taken.trained(steps(taken))
    report = taken.report(metric)

    assert {"coverage", "sentences"} <= metric.linear.features.keys()
    by_name = {row.metric: row.correlations["global"]["pearson"].value for row in report.agreement.metrics}
    assert list(by_name) == [LEFT_OUT, IN_SAMPLE, "rouge-2", "rouge-su4"]
    assert by_name[LEFT_OUT] is not None
    assert by_name[LEFT_OUT] > 0.95
    assert by_name["rouge-2"] is not None
    assert by_name[LEFT_OUT] > by_name["rouge-2"]
    assert report.chosen["sentences"] == report.parts == 8


def test_random_scores_correlate_in_sample_and_not_on_topics_that_taught_nothing() -> None:
    taken = course(study(16), target="style", method="robust")
    report = taken.report(taken.trained(steps(taken)))

    left_out, in_sample = (row.correlations["global"]["pearson"].value for row in report.agreement.metrics[:2])

    assert left_out is not None
    assert in_sample is not None
    assert in_sample > left_out + 0.1
    assert abs(left_out) < 0.3


@pytest.mark.parametrize("method", TRAINERS)
def test_a_topics_own_scores_never_reach_what_scores_it(method: str) -> None:
    topics = study(6)
    topics = [replace(topics[0], sentences=topics[1].sentences), *topics[1:]]
    praised = [
        replace(topic, summaries=tuple(replace(own, human={"overall": 9e3, "style": 1}) for own in topic.summaries))
        for topic in topics[:2]
    ]
    features = KINDS[TRAINERS[method].kind].features[:6]  # of these none rests on other topics
    plain, changed = (course(some, method=method, features=features) for some in (topics, [*praised, *topics[2:]]))

    assert plain.parts[0] == (plain.topics[0].digest,) == (plain.topics[1].digest,)
    assert plain.step(1) == changed.step(1)
    assert plain.step(2) != changed.step(2)


def test_the_subset_is_the_one_that_does_best_on_the_other_half_then_fitted_on_all() -> None:
    """By least squares over every subset, one at a time, as the paper tells it."""
    taken = course(study(8))
    names, table = taken.training.names[:13], Table.of(taken.topics, taken.training.names[:13], "overall")
    even, odd = (table.rows(table.group % 2 == half) for half in (0, 1))

    def fitted(own: Table, chosen: tuple[int, ...]) -> np.ndarray:
        covariances = (own.examples.X - own.examples.X.mean(axis=0)).T @ (own.examples.y - own.examples.y.mean())
        signs = np.where(covariances < 0, -1, 1)
        weights = np.zeros(13)
        weights[list(chosen)] = nnls((own.examples.X * signs)[:, chosen], own.examples.y)[0]
        return weights * signs

    def correlation(weights: np.ndarray) -> float:
        rows = [odd.system == system for system in np.unique(odd.system)]
        means = [[(odd.examples.X @ weights)[own].mean(), odd.examples.y[own].mean()] for own in rows]
        predicted, human = np.array(means).T
        return float(np.corrcoef(predicted, human)[0, 1]) if np.ptp(predicted) > 1e-12 else -1.0

    subsets = chain.from_iterable(combinations(range(13), size) for size in (1, 2))
    best = max(subsets, key=lambda chosen: correlation(fitted(even, chosen)))
    linear = taken.step(0).linear
    at_most_two = correlation(fitted(even, best))

    columns = tuple(names.index(name) for name in linear.features)
    assert correlation(fitted(even, columns)) >= at_most_two - 1e-9
    weights = np.array([weight for weight, _mean in linear.features.values()])
    assert weights == pytest.approx(fitted(table, columns)[list(columns)], abs=1e-9)


def test_two_sets_one_to_fit_and_one_to_choose_and_fit_again() -> None:
    first, topics = study(8, seed=1), study(8, seed=2)
    first = [replace(topic, sentences=(f"Earlier {k}.",)) for k, topic in enumerate(first)]
    taken = course(topics, first)
    metric = taken.trained(steps(taken))

    assert [(source.name, source.use, len(source.topics)) for source in metric.sources] == [
        ("here", "learnt", 8),
        ("there", "chosen", 8),
    ]
    trained = Trained.of("trained:m", metric)
    assert not any(trained.is_taught_by(topic) for topic in topics)
    assert all(trained.is_taught_by(topic) for topic in first)
    alone = [topic.digest for topic in taken.topics]
    assert sorted(digest for part in metric.left_out for digest in part.topics) == sorted(alone)


def test_left_out_scores_of_the_report_are_those_that_the_metric_gives() -> None:
    topics = study(6)
    taken = course(topics)
    metric = taken.trained(steps(taken))
    trained = Trained.of("trained:m", metric)

    by_metric, by_people = (
        np.concatenate([values(topic) for topic in topics])
        for values in (trained.score, lambda topic: np.array([own.human["overall"] for own in topic.summaries]))
    )

    row = taken.report(metric).agreement.metrics[0]
    assert row.correlations["global"]["pearson"].value == pytest.approx(np.corrcoef(by_metric, by_people)[0, 1])


def test_examples_can_be_stored_and_read_again() -> None:
    (examples, *_) = course(study(4)).topics

    assert from_json(TopicExamples, to_json(examples)) == examples


def test_people_teach_only_where_they_are_asked_for() -> None:
    topics = study(5)
    person = SummaryText("P", ("Quake hit chile.",), {"overall": 5.0, "style": 1.0}, person=True)
    topics = [replace(topic, summaries=(*topic.summaries, person)) for topic in topics]

    assert [len(course(topics, peers=peers).topics[0].systems) for peers in ("machines", "all")] == [6, 7]
    assert course(topics, peers="all").topics[0].machines[-1] is False


def test_a_feature_that_any_topic_lacks_is_left_out_for_all() -> None:
    topics = study(6)
    topics[3] = replace(topics[3], references=())

    linear = course(topics).step(0).linear

    assert linear.features.keys() <= set(KINDS["classy"].features[:7])


def test_features_of_an_earlier_set_are_chosen_together_with_those_of_the_topic() -> None:
    topics = [replace(topic, base_references=topic.references[:1]) for topic in study(6)]

    features = course(topics, method="canon").step(0).linear.features

    content_features = {name for name in features if name in KINDS["classy"].features[7:13]}
    assert content_features
    assert {f"base-{name}" for name in content_features} == {name for name in features if name.startswith("base-")}


@pytest.mark.parametrize(
    ("topics", "target"), [(study(3), "overall"), (study(6, systems=2), "overall"), (study(5), "none")]
)
def test_too_little_is_refused_with_what_it_takes(topics: list[Evidence], target: str) -> None:
    with pytest.raises(TooLittle, match=rf"human scores for {target} of 3 systems on 4 topics"):
        course(topics, target=target).check()


def test_correlations_of_systems_are_numpys_on_means_over_topics() -> None:
    taken = course(study(5))
    table = Table.of(taken.topics, taken.training.names[:13], "overall")
    coefficients = np.random.default_rng(0).normal(size=(3, 14))
    coefficients[2] = 0

    found = system_correlations(coefficients, table)

    predicted = coefficients[:, :1] + coefficients[:, 1:] @ table.examples.X.T
    means = np.array(
        [[scores[table.system == system].mean() for system in range(6)] for scores in (*predicted, table.examples.y)]
    )
    assert found[:2] == pytest.approx([np.corrcoef(row, means[-1])[0, 1] for row in means[:2]])
    assert np.isnan(found[2])


# The command


def records_of(topics: list[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "topic_id": topic.topic_id,
            "documents": [{"id": "d", "sentences": list(topic.sentences)}],
            "references": [
                {"id": name, "sentences": list(text)}
                for name, text in zip(topic.reference_names, topic.references, strict=True)
            ],
            "summaries": [
                {"system": own.system, "sentences": list(own.sentences), "human": dict(own.human)}
                for own in topic.summaries
            ],
        }
        for topic in topics
    ]


def as_files(path: Path, topics: list[Evidence]) -> str:
    path.write_text("\n".join(map(json.dumps, records_of(topics))))
    return str(path)


def test_the_command_writes_a_metric_that_agree_takes(tmp_path: Path, run: Run) -> None:
    path, model = as_files(tmp_path / "t.jsonl", study(5)), str(tmp_path / "m.json")

    status, _out, told = run("train", path, "--target", "overall", "--method", "nnls", "--output", model)
    assert status == 0
    agreed = run.json("agree", path, "--dimension", "overall", "--metrics", f"trained:{model}")
    (row,) = agreed["dimensions"][0]["metrics"]
    taken = course(study(5), source="t.jsonl")

    assert "left-out: topics by what was learnt without them; the systems are the same" in told
    metric = read_trained_metric(io.BytesIO(Path(model).read_bytes()), "m.json")
    assert metric == taken.trained(steps(taken))
    expected = taken.report(metric).agreement.metrics[0]
    assert row["correlations"]["system"]["pearson"]["value"] == expected.correlations["system"]["pearson"].value


def test_apply_writes_scores_by_the_metric_for_a_study_to_import(tmp_path: Path, run: Run) -> None:
    (tmp_path / "study").mkdir()
    topics = [
        replace(own, summaries=(replace(own.summaries[0], system="=lead"), *own.summaries[1:])) for own in study(5)
    ]
    path, model = as_files(tmp_path / "study" / "topics.jsonl", topics), tmp_path / "mine.json"
    assert main(["train", path, "--target", "overall", "--method", "nnls", "--output", str(model)]) == 0

    assert main(["apply", path, "--model", str(model), "--output", str(tmp_path / "study" / "scores.csv")]) == 0

    for imported, topic in zip(read(tmp_path / "study").topics, topics, strict=True):
        scores = [summary.metrics["mine"] for summary in imported.summaries]
        assert scores == pytest.approx(opened(model, "mine").score(topic).tolist())
    model.write_text(json.dumps(json.loads(model.read_text()) | {"left_out": []}))
    assert "mine.json was trained on topic T0" in run.refused("apply", path, "--model", str(model))


def test_the_command_takes_two_sets_and_refuses_the_first_out_of_sample(tmp_path: Path, run: Run) -> None:
    first = [replace(topic, sentences=(f"Earlier {k}.",)) for k, topic in enumerate(study(5, seed=1))]
    paths = as_files(tmp_path / "a.jsonl", first), as_files(tmp_path / "b.jsonl", study(5))
    model = str(tmp_path / "m.json")
    assert main(["train", *paths, "--target", "overall", "--method", "canon", "--output", model]) == 0

    refusal = run.refused("agree", paths[0], "--dimension", "overall", "--metrics", f"trained:{model}")
    assert f"was trained on topic T0; trained:{model}:in-sample scores it" in refusal
    asked = ["--metrics", f"trained:{model}:in-sample", "--draws", "100"]
    assert "in-sample" in run.out("agree", paths[0], "--dimension", "overall", *asked)


def test_the_command_learns_without_the_worst_assessors(tmp_path: Path, run: Run) -> None:
    """One assessor scores the first two topics at random; without them it learns what the others teach."""
    topics = study(8)
    path = Path(as_files(tmp_path / "t.jsonl", topics))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for k, line in enumerate(lines):
        for number, summary in enumerate(line["summaries"]):
            score = -9.0 * number if k < 2 else summary["human"]["overall"]
            del summary["human"]
            summary["ratings"] = [{"assessor": "bad" if k < 2 else "good", "overall": score}]
    path.write_text("\n".join(map(json.dumps, lines)))
    bare = [replace(own, summaries=tuple(replace(one, human={}) for one in own.summaries)) for own in topics[:2]]
    expected = course([*bare, *topics[2:]])
    asked = ["train", str(path), "--target", "overall", "--method", "nnls"]

    assert main([*asked, "--without-assessors", "bad", "--output", str(tmp_path / "m.json")]) == 0
    metric = read_trained_metric(io.BytesIO((tmp_path / "m.json").read_bytes()), "m.json")
    assert metric is not None
    others = expected.trained(steps(expected))
    assert (metric.linear, metric.left_out) == (others.linear, others.left_out)
    assert metric.sources[0].name == "t.jsonl without bad"
    assert "'Ada' scored no summary; the assessors are: bad, good" in run.refused(*asked, "--without-assessors", "Ada")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--target", "style", "--method", "best"], "invalid choice: 'best'"),
        (["--target", "grammar"], "training takes human scores for grammar of 3 systems on 4 topics"),
        (["--target", "overall", "--options", "depth=3"], "'depth' is none of background, "),
        (["--target", "overall", "--method", "least-squares"], "background of a topic is 5 other topics or more"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(asked: list[str], told: str, tmp_path: Path, run: Run) -> None:
    with suppress(SystemExit):
        assert told in run.refused("train", as_files(tmp_path / "t.jsonl", study(4)), *asked)
