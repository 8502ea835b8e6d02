"""What the worker asks for after a fit, and who hands it out."""

from __future__ import annotations

import numpy as np
import pytest
from django.db.models import F

from annotate import judging
from annotate.models import Assignment, Pair, ScoredBy, Sentence, Study, Suggestion, Summary, System, Topic
from evaluation.evaluate import evaluate
from evaluation.fit import sampling
from evaluation.scoring import asking
from evaluation.worker import records, tasks
from tests.annotate.judging_study import joined, judged, ready_study

pytestmark = pytest.mark.django_db


def fitted(random_share: float) -> Topic:
    study = ready_study(sentences=12, judgments_per_pair=1, random_share=random_share)
    judged(joined(study))
    topic = study.topics.get()
    tasks.refit_topic(topic.pk)
    return topic


def asked(topic: Topic) -> list[tuple[int, int]]:
    return list(Suggestion.objects.filter(topic=topic).order_by("rank").values_list("first", "second"))


def queue(number: int) -> asking.Queue:
    pairs = sampling.random_pairs(12, number, number)
    return asking.Queue(pairs, np.zeros(len(pairs), dtype=np.bool_), np.ones(len(pairs)))


def test_a_fit_leaves_pairs_to_ask_of_which_none_is_judged() -> None:
    topic = fitted(random_share=0.2)
    pairs = asked(topic)
    filled = Pair.objects.filter(topic=topic, taken__gte=F("need")).values_list("first", "second")
    assert tasks.QUEUE - 8 < len(pairs) == len(set(pairs)) <= tasks.QUEUE
    assert not set(pairs) & set(filled)
    assert len(filled)


def test_whoever_draws_next_is_handed_the_first_of_them() -> None:
    topic = fitted(random_share=0.0)
    first = Suggestion.objects.filter(topic=topic).order_by("rank")[0]
    drawn = judging.draw(joined(topic.study))
    assert isinstance(drawn, Assignment)
    assert (drawn.pair.first_id, drawn.pair.second_id) == (first.first_id, first.second_id)
    assert drawn.reason == Assignment.Reason.SUGGESTED


def test_a_fit_knows_which_answers_are_about_pairs_that_it_asked_for() -> None:
    topic = fitted(random_share=0.0)
    before = records.load_evidence(topic.pk, tasks.split)
    annotator = joined(topic.study)
    judged(annotator)
    after = records.load_evidence(topic.pk, tasks.split)
    assert before is not None
    assert after is not None
    assert before.evidence.judgments.design.all()
    assert (after.evidence.judgments.design == 0).sum() == annotator.assignments.filter(reason="suggested").count() > 0


ANIMALS = ["cats", "dogs", "owls", "foxes", "wolves", "bears", "frogs", "toads", "geese", "ducks", "swans", "goats"]


def test_answers_about_pairs_that_tell_systems_apart_count_by_how_likely_the_pairs_were() -> None:
    study = ready_study(sentences=12, judgments_per_pair=1, random_share=0.2)
    topic = study.topics.get()
    for sentence, animal in zip(topic.sentences.order_by("position"), ANIMALS, strict=True):
        Sentence.objects.filter(pk=sentence.pk).update(text=f"Many {animal} sleep.")
    for name, animals in (("lead", ANIMALS[:3]), ("tail", ANIMALS[-3:])):
        system = System.objects.create(study=study, name=name)
        Summary.objects.create(topic=topic, system=system, text=" ".join(animals))
    annotator = joined(study)
    judged(annotator)
    tasks.refit_topic(topic.pk)
    asked_for = [judged(annotator) for _ in range(10)]

    snapshot = records.load_evidence(topic.pk, tasks.split)
    assert snapshot is not None
    weights = [one.design_weight for one in asked_for]
    assert snapshot.evidence.judgments.design.tolist() == [1.0, *weights]
    assert min(weights) < 1
    assert max(weights) <= 5
    assert {one.reason for one in asked_for} <= {"random", "suggested"}
    result = evaluate(snapshot.evidence, snapshot.settings)
    assert all(summary.se is not None and summary.se > 0 for summary in result.summaries)


def test_a_study_that_wants_random_pairs_only_is_asked_nothing() -> None:
    topic = fitted(random_share=0.5)
    assert Suggestion.objects.filter(topic=topic).exists()
    Study.objects.filter(pk=topic.study_id).update(random_share=1.0)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert not Suggestion.objects.filter(topic=topic).exists()


def test_what_a_late_fit_would_ask_is_thrown_away() -> None:
    topic = fitted(random_share=0.5)
    late = records.load_evidence(topic.pk, tasks.split)
    assert late is not None
    result = evaluate(late.evidence, late.settings)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    newer = asked(topic)
    assert not records.save_results(late, {ScoredBy.RECOMMENDED: result}, 0.0, queue(3))
    assert asked(topic) == newer


def test_what_is_asked_next_takes_the_place_of_what_was_asked_before() -> None:
    topic = fitted(random_share=0.5)
    for number in (3, 5, 0):
        judging.raise_version([topic.pk])
        snapshot = records.load_evidence(topic.pk, tasks.split)
        assert snapshot is not None
        to_ask = queue(number)
        results = {ScoredBy.RECOMMENDED: evaluate(snapshot.evidence, snapshot.settings)}
        assert records.save_results(snapshot, results, 0.0, to_ask)
        keys = snapshot.sentence_keys
        assert asked(topic) == [tuple(sorted((keys[i], keys[j]))) for i, j in to_ask.pairs.tolist()]
