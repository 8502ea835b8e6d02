"""The light PrefScore: its features, what it learns from references alone, and how that is used."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, SummaryText, evidence
from preferendum.formats import Text, Topic, read
from preferendum.methods.metrics.divergence.scores import GAMMA
from preferendum.methods.metrics.trained.classy import linguistic
from preferendum.methods.metrics.trained.files import written_trained_metric
from preferendum.methods.metrics.trained.prefscore import FEATURES, Prefscore
from preferendum.methods.metrics.trained.scores import digest
from preferendum.methods.training.preference_training import PENALTY, PreferenceCourse, bradley_terry
from preferendum.metrics.registry import MissingEvidence, metric
from tests.conftest import SHARED
from tests.evaluation.conftest import Run

DEMO = Path(__file__).parents[2] / "annotate" / "demo" / "wikinews.jsonl"


def topic(*summaries: Sequence[str], documents: Sequence[Sequence[str]] = (("Quakes hit Chile.", "Aid came."),)):
    return Evidence(
        "t",
        tuple(f"d{k}:{i}" for k, document in enumerate(documents) for i in range(len(document))),
        tuple(sentence for document in documents for sentence in document),
        Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64))),
        tuple(SummaryText(f"s{k}", tuple(summary)) for k, summary in enumerate(summaries)),
    )


@pytest.fixture(scope="module")
def wikinews() -> list[Evidence]:
    return [evidence(given) for given in read(DEMO).topics]


def test_features_of_a_small_summary_by_hand() -> None:
    """The documents' stems: quak, hit, chile, aid, came (a stop word); the summary's: chile twice, rain."""
    values = Prefscore(FEATURES).values(topic(["Chile, Chile.", "Rain."]))
    own = dict(zip(FEATURES, values[0], strict=True))

    assert own["cosine-tf"] == pytest.approx(2 / (math.sqrt(5) * 2))
    assert own["new-words"] == pytest.approx(1 / 3)
    bins, smoothed = 1.5 * 4, 4 + GAMMA * 1.5 * 4
    assert bins == 6
    assert own["log-unigram"] == pytest.approx((2 * math.log((1 + GAMMA) / smoothed) + math.log(GAMMA / smoothed)) / 3)
    assert own["js"] == metric("js").score(topic(["Chile, Chile.", "Rain."]))[0]
    assert values[0, 6:].tolist() == linguistic(topic(["Chile, Chile.", "Rain."]))[0].tolist()


def test_an_empty_summary_shares_nothing_and_has_every_feature() -> None:
    own = dict(zip(FEATURES, Prefscore(FEATURES).values(topic([], ["..."]))[0], strict=True))

    assert all(map(math.isfinite, own.values()))
    assert own["cosine-tf"] == own["new-words"] == 0
    assert own["log-unigram"] == pytest.approx(math.log(GAMMA / (4 + GAMMA * 6)))


def test_several_documents_are_one_text_or_each_counts_by_itself() -> None:
    documents = [["Quakes hit Chile."], ["Rain fell in Ohio."]]
    summary = ["Quakes hit Chile."]

    mean = Prefscore(FEATURES, "mean").values(topic(summary, documents=documents))
    pooled = Prefscore(FEATURES, "pooled").values(topic(summary, documents=documents))

    alone = [Prefscore(FEATURES).values(topic(summary, documents=[document])) for document in documents]
    assert mean == pytest.approx(np.mean(alone, axis=0))
    assert pooled[0, 0] != pytest.approx(mean[0, 0])


def test_the_weights_of_pairs_judged_by_known_weights_are_found_again() -> None:
    rng = np.random.default_rng(0)
    truth = np.array([2.0, -1.0, 0.5])
    differences = rng.normal(size=(20_000, 3)) * [1, 10, 0.1]
    signs = np.where(rng.random(20_000) < 1 / (1 + np.exp(-differences @ (truth / [1, 10, 0.1]))), 1, -1)

    linear = bradley_terry("abc", differences * signs[:, None])

    assert [weight for weight, _ in linear.features.values()] == pytest.approx(truth / [1, 10, 0.1], rel=0.1)


def test_one_feature_alone_has_the_weight_where_the_slope_of_the_loss_is_zero() -> None:
    weight = bradley_terry("a", np.array([[3.0], [3.0], [-3.0]])).features["a"][0] * 3

    assert 2 / 3 / (1 + math.exp(weight)) - 1 / 3 / (1 + math.exp(-weight)) == pytest.approx(
        2 * PENALTY * weight, rel=1e-4
    )


def test_a_feature_that_never_differs_weighs_nothing_and_pairs_all_alike_give_finite_weights() -> None:
    linear = bradley_terry("abc", np.array([[1.0, 0.0, 1e-16], [2.0, 0.0, 3e-16]]))

    assert linear.features["b"] == linear.features["c"] == (0.0, None)
    assert 0 < linear.features["a"][0] < 100


def test_it_tells_references_of_held_out_stories_from_worse_versions(wikinews: list[Evidence], tmp_path: Path) -> None:
    trained, report = PreferenceCourse("wikinews").train(wikinews)

    assert (report.references, report.stories, report.pairs) == (9, 3, 9 * 15)
    assert report.accuracy.value is not None
    assert report.by_length.value is not None
    assert 0.85 < report.accuracy.value <= 1
    assert (trained.target, trained.peers) == ("", "")
    assert trained == PreferenceCourse("wikinews").train(wikinews)[0]
    assert trained != PreferenceCourse("wikinews", seed=1).train(wikinews)[0]

    path = tmp_path / "m.json"
    path.write_text(written_trained_metric(trained))
    (part,) = (part for part in trained.left_out if digest(wikinews[0]) in part.topics)
    values = Prefscore(FEATURES).values(wikinews[0])
    weights = np.array([part.linear.features[name][0] for name in FEATURES])
    assert metric(f"trained:{path}").score(wikinews[0]) == pytest.approx(values @ weights)
    assert "prefscore by bradley-terry: js " in metric(f"trained:{path}").signature
    assert "mean over documents" in metric(f"trained:{path}").signature


def test_without_a_second_story_nothing_is_held_out(wikinews: list[Evidence]) -> None:
    trained, report = PreferenceCourse().train(wikinews[:1])

    assert trained.left_out == ()
    assert report.accuracy.value is None
    assert report.by_length.value is not None


def test_topics_with_the_same_documents_are_one_story(wikinews: list[Evidence]) -> None:
    again = replace(wikinews[0], topic_id="again")

    trained, report = PreferenceCourse().train([*wikinews, again])

    assert report.stories == 3
    assert len(trained.sources[0].topics) == 4


def test_without_documents_and_references_there_is_nothing_to_learn_from(wikinews: list[Evidence]) -> None:
    with pytest.raises(MissingEvidence, match="no topic has documents and references"):
        PreferenceCourse().train([replace(wikinews[0], references=()), replace(wikinews[1], sentences=())])


def test_train_without_human_scores_writes_a_metric_that_scores_other_topics(
    tmp_path: Path, run: Run, wikinews: list[Evidence]
) -> None:
    model, other = tmp_path / "m.json", tmp_path / "other.jsonl"

    status, _out, told = run("train", str(DEMO), "--method", "bradley-terry", "--output", str(model))
    assert status == 0
    assert "135 pairs of versions of 9 references; 3 stories" in told
    assert "held-out" in told
    row = json.loads(DEMO.read_text(encoding="utf-8").splitlines()[0])
    row["documents"] = row["documents"][:2]
    for k, summary in enumerate(row["summaries"]):
        summary["human"] = {"overall": k}
    other.write_text(json.dumps(row), encoding="utf-8")
    asked = ["--dimension", "overall", "--metrics", f"trained:{model}", "--format", "json"]
    assert "prefscore by bradley-terry" in run.out("agree", str(other), *asked)


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (
            ["--method", "bradley-terry", "--target", "overall"],
            "--method bradley-terry learns from no human scores: without --target,",
        ),
        (["--method", "nnls"], "--method nnls learns from human scores: say which by --target DIMENSION"),
        (["--target", "overall", "--seed", "1"], "--documents and --seed are options of --method bradley-terry"),
    ],
)
def test_options_of_the_other_kind_of_training_are_refused(asked: list[str], complaint: str, run: Run) -> None:
    assert complaint in run.refused("train", str(DEMO), *asked)


@pytest.mark.shared("squality")
def test_on_squality_held_out_pairs_are_told_apart_as_a_prototype_did() -> None:
    documents = {}
    for line in (SHARED / "squality" / "documents.jsonl").read_text(encoding="utf-8").splitlines():
        documents[json.loads(line)["id"]] = json.loads(line)["text"]
    topics = []
    for line in (SHARED / "squality" / "topics.jsonl").read_text(encoding="utf-8").splitlines():
        given = json.loads(line)
        references = tuple(Text(one["id"], text=one["text"]) for one in given["references"])
        text = Text("story", text=documents[given["document_ids"][0]])
        topics.append(evidence(Topic(given["topic_id"], (text,), references)))

    _, report = PreferenceCourse(first_steps=True).train(topics)

    assert (report.references, report.stories, report.pairs) == (400, 20, 5884)
    assert report.accuracy.value == pytest.approx(0.97, abs=0.005)
