"""Trained metrics among the others: what they score, and what they never score without saying so."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from preferendum.evidence import Evidence
from preferendum.methods.metrics.trained.classy import content, linguistic
from preferendum.methods.metrics.trained.files import KINDS as WRITTEN
from preferendum.methods.metrics.trained.files import LeftOut, Linear, Source, TrainedMetric, written_trained_metric
from preferendum.methods.metrics.trained.scores import KINDS, digest
from preferendum.metrics.registry import MissingEvidence, UnknownMetric, metric, prepared
from tests.evaluation.test_classy import REFERENCES, SUMMARY, topic
from tests.evaluation.test_input_similarity import scored_study

OTHER = ("Aid came.", "Rain fell.")


def written(path: Path, metric: TrainedMetric) -> str:
    path.write_text(written_trained_metric(metric))
    return f"trained:{path}"


def trained(*taught: Evidence, left_out: tuple[LeftOut, ...] = ()) -> TrainedMetric:
    topics = {topic.topic_id: digest(topic) for topic in taught}
    source = Source("TAC 2009", "learnt", "c" * 64, 12, topics)
    linear = Linear(0.5, {"overlap": (2.0, None), "coverage": (-1.0, None)})
    return TrainedMetric("classy", "nnls", "overall", "all", linear, (source,), left_out)


def test_a_score_is_the_intercept_and_the_weighed_features(tmp_path: Path) -> None:
    asked = written(tmp_path / "m.json", trained(replace(topic(), sentences=("Elsewhere.",))))
    new = topic(SUMMARY, OTHER)

    scores = metric(asked).score(new)

    assert scores == pytest.approx(0.5 + 2 * linguistic(new)[:, 5] - content(new)[:, 2])


def test_a_topic_that_it_learnt_from_is_scored_in_sample_only_by_that_name(tmp_path: Path) -> None:
    own, new = topic(SUMMARY), replace(topic(SUMMARY), sentences=("Elsewhere.",))
    asked = written(tmp_path / "m.json", trained(own))

    with pytest.raises(MissingEvidence, match=f"was trained on topic t; {asked}:in-sample scores it"):
        metric(asked).score(own)

    assert metric(f"{asked}:in-sample").score(own).tolist() == metric(asked).score(new).tolist()
    assert metric(f"{asked}:in-sample").name.endswith("in-sample")
    assert "in-sample" in metric(f"{asked}:in-sample").signature
    assert "in-sample" not in metric(asked).signature


def test_a_topic_that_was_left_out_is_scored_by_what_was_learnt_without_it(tmp_path: Path) -> None:
    own, new = topic(SUMMARY), replace(topic(SUMMARY), sentences=("Elsewhere.",))
    part = LeftOut((digest(own),), Linear(7.0, {"sentences": (1.0, None)}))
    asked = written(tmp_path / "m.json", trained(own, left_out=(part,)))

    assert metric(asked).score(own) == pytest.approx(7 + linguistic(own)[:, 0])
    assert metric(asked).score(new) == metric(f"{asked}:in-sample").score(own)


def test_the_signature_names_what_it_was_trained_on(tmp_path: Path) -> None:
    signature = metric(written(tmp_path / "m.json", trained(topic()))).signature

    assert signature.startswith("classy by nnls for human overall, all peers: overlap 2, coverage -1, intercept 0.5; ")
    assert "learnt from TAC 2009 (1 topics, 12 summaries, texts cccccccc)" in signature
    assert "ROUGE-1.5.5 ROUGE-2 -n 2 -m" in signature


def test_a_feature_that_is_not_a_number_counts_as_its_mean_or_leaves_no_score(tmp_path: Path) -> None:
    alone = replace(topic(SUMMARY), references=())
    by_mean = Linear(1.0, {"coverage": (3.0, 2.0)})
    plain = trained(replace(topic(), sentences=("Elsewhere.",)))
    strict, lenient = (
        metric(written(tmp_path / name, chosen))
        for name, chosen in (("s.json", plain), ("l.json", replace(plain, linear=by_mean)))
    )

    assert np.isnan(strict.score(alone)).all()
    assert lenient.score(alone).tolist() == [7.0]


def test_features_of_simetrix_see_the_other_topics(tmp_path: Path) -> None:
    topics = scored_study()
    features = {"js": (1.0, 0.0), "cosine": (2.0, 0.0)}
    source = Source("elsewhere", "learnt", "c" * 64, 12, {})
    made = TrainedMetric("simetrix", "least-squares", "overall", "machines", Linear(0.0, features), (source,))
    asked = [metric(name) for name in (written(tmp_path / "m.json", made), "js", "cosine")]

    scores, js, cosine = (each.score(topics[0]) for each in prepared(asked, topics))

    assert scores == pytest.approx(js + 2 * cosine)


def test_what_is_no_trained_metric_is_refused_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('{"format": 1}')

    with pytest.raises(UnknownMetric, match=r"m.json: kind: found no such key"):
        metric(f"trained:{tmp_path / 'm.json'}")
    with pytest.raises(UnknownMetric, match="No such file or directory"):
        metric(f"trained:{tmp_path / 'none.json'}")
    with pytest.raises(UnknownMetric, match="trained has no option 'best'; its options are: in-sample"):
        metric(f"trained:{tmp_path / 'm.json'}:best")


def test_every_kind_of_file_has_its_features() -> None:
    assert KINDS.keys() == WRITTEN.keys()
    for name, kind in WRITTEN.items():
        values = KINDS[name](kind.features[:4], {}).values(replace(topic(SUMMARY, OTHER), references=REFERENCES))
        assert values.shape == (2, 4)
