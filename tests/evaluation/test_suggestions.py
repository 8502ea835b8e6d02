"""What the worker asks for after a fit, and who hands it out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.db.models import F

from annotate import exports, judging
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, Item, Pair, ScoredBy, Study, Suggestion, Summary, System, Topic
from evaluation import records, tasks
from preferendum.evidence import Evidence, evidence
from preferendum.fit import sampling
from preferendum.formats.archive import study as study_archive
from preferendum.scoring import asking
from preferendum.scoring.evaluate import evaluate
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study

pytestmark = pytest.mark.django_db


def fitted(random_share: float) -> Topic:
    study = ready_study(sentences=12, judgments_per_pair=1, random_share=random_share)
    judged(joined(study))
    topic = study.topics.get()
    tasks.refit_topic(topic.pk)
    return topic


def asked(topic: Topic) -> list[tuple[int, int]]:
    return list(Suggestion.objects.filter(item_set=topic.pk).order_by("rank").values_list("first", "second"))


def queue(number: int) -> asking.Queue:
    pairs = sampling.random_pairs(12, number, number)
    return asking.Queue(pairs, np.zeros(len(pairs), dtype=np.bool_), np.ones(len(pairs)))


def test_a_fit_leaves_pairs_to_ask_of_which_none_is_judged() -> None:
    topic = fitted(random_share=0.0)
    pairs = asked(topic)
    filled = Pair.objects.filter(item_set=topic.pk, taken__gte=F("need")).values_list("first", "second")
    assert tasks.QUEUE - 8 < len(pairs) == len(set(pairs)) <= tasks.QUEUE
    assert not set(pairs) & set(filled)
    assert len(filled)


def test_whoever_draws_next_is_handed_the_first_of_them() -> None:
    topic = fitted(random_share=0.0)
    first = Suggestion.objects.filter(item_set=topic.pk).order_by("rank")[0]
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


def summarize(topic: Topic, name: str, animals: list[str]) -> None:
    system = System.objects.create(study=topic.study, name=name)
    Summary.objects.create(topic=topic, system=system, text=" ".join(animals))


def with_systems_told_apart() -> tuple[Topic, Annotator]:
    """A topic with two systems, and an annotator who is asked about pairs that tell them apart."""
    topic = ready_study(sentences=12, judgments_per_pair=1, random_share=0.2).topics.get()
    for sentence, animal in zip(topic.sentence_set.items.order_by("position"), ANIMALS, strict=True):
        Item.objects.filter(pk=sentence.pk).update(text=f"Many {animal} sleep.")
    summarize(topic, "lead", ANIMALS[:3])
    summarize(topic, "tail", ANIMALS[-3:])
    annotator = joined(topic.study)
    judged(annotator)
    tasks.refit_topic(topic.pk)
    return topic, annotator


def test_answers_about_pairs_that_tell_systems_apart_count_by_how_likely_the_pairs_were() -> None:
    topic, annotator = with_systems_told_apart()
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


def scores(topic: Evidence) -> tuple[tuple[float | None, ...], list[list[float]]]:
    """Of its systems, and how sure they are."""
    standing = evaluate(topic).standing
    return standing.scores, standing.covariance.tolist()


def test_answers_know_which_systems_their_pairs_were_to_tell_apart(tmp_path: Path) -> None:
    """Here, in an archive, and in a file of preferences, wherever scores are worked out again."""
    topic, annotator = with_systems_told_apart()
    judged(annotator)
    summarize(topic, "middle", ANIMALS[4:7])
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    judged(annotator)

    snapshot = records.load_evidence(topic.pk, tasks.split)
    assert snapshot is not None
    assert snapshot.evidence.judgments.drawn_for.tolist() == [None, ("lead", "tail"), ("lead", "middle", "tail")]
    here = scores(snapshot.evidence)

    path = tmp_path / "study.zip"
    with path.open("wb") as file:
        study_archive.write(exports.make_archive(topic.study), file)
    study = restore(study_archive.read(path), making.owner(topic.study), title="Again")
    restored = records.load_evidence(study.topics.get().pk, tasks.split)
    assert restored is not None
    assert scores(restored.evidence) == here

    given = list(exports.preferences(topic.study))
    assert [preference.extra.get("drawn_for") for preference in given] == [None, ["lead", "tail"], None]
    again = evidence(next(exports.topics(topic.study)), given)
    assert again.judgments.drawn_for.tolist() == [None, ("lead", "tail"), None]


def test_a_topic_steps_back_once_next_to_nothing_is_left_to_tell_of_its_systems() -> None:
    topic, annotator = with_systems_told_apart()
    assert not topic.sentence_set.progress.is_told
    same = Summary.objects.get(system__name="lead").text
    Summary.objects.filter(topic=topic).update(text=same)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    topic.sentence_set.progress.refresh_from_db()
    assert topic.sentence_set.progress.is_told
    Study.objects.filter(pk=topic.study_id).update(random_share=1.0)
    judged(annotator)
    tasks.refit_topic(topic.pk)
    topic.sentence_set.progress.refresh_from_db()
    assert not topic.sentence_set.progress.is_told


def test_nothing_is_asked_for_where_random_pairs_are_wanted_or_systems_may_still_come() -> None:
    topic = fitted(random_share=0.0)
    assert Suggestion.objects.filter(item_set=topic.pk).exists()
    for share in (0.2, 1.0):
        Study.objects.filter(pk=topic.study_id).update(random_share=share)
        judging.raise_version([topic.pk])
        tasks.refit_topic(topic.pk)
        assert not Suggestion.objects.filter(item_set=topic.pk).exists()


def test_what_a_late_fit_would_ask_is_thrown_away() -> None:
    topic = fitted(random_share=0.0)
    late = records.load_evidence(topic.pk, tasks.split)
    assert late is not None
    result = evaluate(late.evidence, late.settings)
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    newer = asked(topic)
    assert not records.save_results([records.Fitted(late, {ScoredBy.RECOMMENDED: result}, to_ask=queue(3))])
    assert asked(topic) == newer


def test_what_is_asked_next_takes_the_place_of_what_was_asked_before() -> None:
    topic = fitted(random_share=0.0)
    for number in (3, 5, 0):
        judging.raise_version([topic.pk])
        snapshot = records.load_evidence(topic.pk, tasks.split)
        assert snapshot is not None
        to_ask = queue(number)
        results = {ScoredBy.RECOMMENDED: evaluate(snapshot.evidence, snapshot.settings)}
        assert records.save_results([records.Fitted(snapshot, results, to_ask=to_ask)])
        keys = snapshot.sentence_keys
        assert asked(topic) == [tuple(sorted((keys[i], keys[j]))) for i, j in to_ask.pairs.tolist()]
