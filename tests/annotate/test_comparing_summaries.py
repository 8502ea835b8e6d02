"""People compare whole summaries: served, judged, replaced, removed and restored as sentences are."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import imports, judging, studies
from annotate.models import (
    Annotator,
    Assignment,
    Item,
    ItemSet,
    Judgment,
    Removal,
    Study,
    Suggestion,
    Summary,
    Tally,
)
from evaluation import tasks
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged
from tests.annotate.making import lines

pytestmark = pytest.mark.django_db

SYSTEMS = ("ann", "bob", "lead", "long")


def record(name: str = "M1", **texts: str) -> dict[str, Any]:
    document = {"id": "d1", "sentences": [f"Sentence {n} of {name}." for n in range(6)]}
    summaries = [
        {"system": system, "text": texts.get(system, f"What {system} says of {name}.\n\nAll of it.")}
        for system in SYSTEMS
    ]
    return {"topic_id": name, "title": f"Topic {name}", "documents": [document], "summaries": summaries}


def study_of(*records: dict[str, Any], **settings: Any) -> Study:
    made = making.study(**{"compares": "summaries"} | settings)
    making.store(made, lines(*records), "topics.jsonl")
    return made


def of_summaries(study: Study) -> ItemSet:
    return ItemSet.objects.get(study=study, of="summaries")


def systems(assignment: Assignment) -> set[str]:
    return {assignment.left.system, assignment.right.system}


def counted(study: Study) -> int:
    return Judgment.objects.counted().filter(assignment__item_set__study=study).count()


def test_a_pair_is_two_whole_summaries_of_a_topic() -> None:
    study = study_of(record())
    pair = drawn(joined(study))
    assert pair.item_set.of == "summaries"
    assert pair.item_set.topic.title == "Topic M1"
    assert systems(pair) < set(SYSTEMS)
    assert pair.left.text.endswith(".\n\nAll of it.")


def test_no_list_of_topics_has_the_summaries_beside_them() -> None:
    study = study_of(record())
    assert [topic.name for topic in study.topics.all()] == ["M1"]
    assert Item.objects.of_sources(study).count() == 6


def test_a_study_that_asks_about_sentences_asks_nothing_else() -> None:
    study = study_of(record(), compares="sentences")
    assert drawn(joined(study)).item_set.of == "sentences"
    assert not ItemSet.objects.filter(study=study, of="summaries").exists()


def test_what_annotators_compare_changes_at_any_time_and_nothing_is_lost() -> None:
    study = study_of(record(), compares="sentences")
    ann = joined(study)
    judged(ann)
    for asked in ("summaries", "sentences", "summaries"):
        study = studies.change_settings(study, making.owner(study), compares=asked)
        assert (judged(Annotator.objects.get(pk=ann.pk)).item_set.of == "summaries") == (asked == "summaries")
    assert counted(study) == 4
    assert_books_balance(study)


def test_both_kinds_are_asked_in_the_share_that_was_chosen() -> None:
    study = study_of(*(record(f"M{n}") for n in range(20)), compares="both", summary_share=0.5, pairs_per_annotator=400)
    ann = joined(study)
    kinds = [judged(ann).item_set.of == "summaries" for _pair in range(100)]
    assert 45 <= sum(kinds) <= 55
    changes = sum(before != after for before, after in itertools.pairwise(kinds))
    assert changes <= 20  # in runs: nobody is torn to and fro


@pytest.mark.parametrize(("share", "of_summaries"), [(0.5, 15), (0.3, 9), (0.1, 3)])
def test_everybody_gets_both_kinds_in_the_same_share_for_the_same_pay(share: float, of_summaries: int) -> None:
    study = study_of(*(record(f"M{n}") for n in range(20)), compares="both", summary_share=share, repeat_share=0.0)
    study = studies.change_settings(study, making.owner(study), summary_judgments_per_topic=20)
    for annotator in [joined(study) for _ in range(3)]:
        kinds = [judged(annotator).item_set.of == "summaries" for _pair in range(30)]
        assert sum(kinds) == of_summaries
        assert isinstance(judging.draw(annotator), judging.NoPair)


def test_a_topic_takes_as_many_answers_about_summaries_as_are_wanted() -> None:
    study = study_of(record(), summary_judgments_per_topic=5, judgments_per_pair=2, pairs_per_annotator=50)
    for annotator in (joined(study), joined(study), joined(study)):
        while not isinstance(judging.draw(annotator), judging.NoPair):
            judged(annotator)
    assert Tally.objects.get(item_set=of_summaries(study)).taken == counted(study) == 5
    assert_books_balance(study)


def test_nobody_gives_more_than_half_of_what_a_topic_needs() -> None:
    study = study_of(record(), summary_judgments_per_topic=8, judgments_per_pair=2, pairs_per_annotator=50)
    ann = joined(study)
    while not isinstance(judging.draw(ann), judging.NoPair):
        judged(ann)
    assert counted(study) == 4


def test_two_summaries_that_say_the_same_are_never_a_pair() -> None:
    same = {"ann": "The same.", "bob": "The same.", "lead": "The same."}
    study = study_of(record(**same), summary_judgments_per_topic=50, judgments_per_pair=10, pairs_per_annotator=50)
    seen = []
    for annotator in (joined(study), joined(study)):
        while not isinstance(judging.draw(annotator), judging.NoPair):
            seen.append(systems(judged(annotator)))
    assert len(seen) == 6
    assert all("long" in pair for pair in seen)


def test_a_summary_without_a_letter_is_not_asked_about() -> None:
    study = study_of(record(ann="...", bob="123"), summary_judgments_per_topic=50, pairs_per_annotator=50)
    assert systems(judged(joined(study))) == {"lead", "long"}
    assert judging.draw(joined(study)) == judging.NoPair.NO_WORK


def test_a_replaced_summary_leaves_its_judgments_to_history_and_the_others_stay() -> None:
    study = study_of(record(), judgments_per_pair=10, pairs_per_annotator=50)
    for annotator in (joined(study), joined(study)):
        for _pair in range(4):
            judged(annotator)
    about = Assignment.objects.filter(pair__first__system="ann") | Assignment.objects.filter(pair__second__system="ann")
    lost = about.distinct().count()
    upload = making.receive(study, b"topic,system,text\nM1,ann,Something else.\n", "late.csv")
    imports.process(upload)
    (shown,) = upload.preview["recuts"]
    assert (shown["judgments_kept"], shown["judgments_lost"]) == (8 - lost, lost)
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert counted(study) == 8 - lost
    assert Item.objects.get(item_set=of_summaries(study), system="ann").text == "Something else."
    assert_books_balance(study)
    imports.restore_removed(Removal.objects.get(), making.owner(study))
    assert counted(study) == 8
    assert_books_balance(study)


def test_a_summary_that_is_removed_and_restored_has_its_judgments_again() -> None:
    study = study_of(record(), judgments_per_pair=10, pairs_per_annotator=50)
    for _pair in range(4):
        judged(annotator := joined(study))
    judged(annotator)
    pairs = [systems(row) for row in Assignment.objects.filter(state="judged")]
    lost = sum("ann" in pair for pair in pairs)
    key = str(Summary.objects.get(system__name="ann").pk)
    target = imports.find_target(study, "summary", key)
    assert target is not None
    assert target.counts().get("judgments", 0) == lost
    removal = imports.remove(study, making.owner(study), "summary", key)
    assert counted(study) == 5 - lost
    assert not Item.objects.filter(item_set=of_summaries(study), system="ann").exists()
    imports.restore_removed(removal, making.owner(study))
    assert counted(study) == 5
    assert_books_balance(study)


def test_a_topic_that_is_removed_takes_its_summaries_along_and_brings_them_back() -> None:
    study = study_of(record(), pairs_per_annotator=50)
    for _pair in range(3):
        judged(joined(study))
    removal = imports.remove(study, making.owner(study), "topic", str(study.topics.get().pk))
    assert removal.counts["judgments"] == 3
    assert counted(study) == 0
    assert not ItemSet.objects.filter(study=study).exists()
    imports.restore_removed(removal, making.owner(study))
    assert counted(study) == 3
    assert of_summaries(study)
    assert_books_balance(study)


def test_a_system_that_comes_late_is_compared_and_takes_no_judgment_away() -> None:
    study = study_of(record(), judgments_per_pair=10, pairs_per_annotator=50)
    judged(joined(study))
    making.store(study, b"topic,system,text\nM1,late,Late words.\n", "late.csv")
    assert counted(study) == 1
    assert Item.objects.filter(item_set=of_summaries(study)).count() == 5
    assert not Removal.objects.exists()


def test_one_more_system_asks_as_many_queries_in_many_topics_as_in_few() -> None:
    asked = []
    for names in (("A", "B"), ("A", "B", "C", "D", "E")):
        study = study_of(*map(record, names))
        rows = [f"{name},{system},What {system} says." for name in names for system in ("bert", "zoe")]
        with CaptureQueriesContext(connection) as queries:
            making.store(study, "\n".join(["topic,system,text", *rows]).encode(), "summaries.csv")
        asked.append(len(queries))
        for item_set in ItemSet.objects.filter(study=study, of="summaries"):
            own = Item.objects.filter(item_set=item_set).order_by("position").values_list("system", "position")
            assert list(own) == [(system, k) for k, system in enumerate(sorted((*SYSTEMS, "bert", "zoe")))]
    assert asked[0] == asked[1]


def test_an_answer_about_a_summary_that_was_replaced_meanwhile_is_kept_as_history() -> None:
    study = study_of(record(), pairs_per_annotator=50, judgments_per_pair=10)
    judged(joined(study))
    pair = drawn(bob := joined(study))
    for system in systems(pair):
        making.store(study, f"topic,system,text\nM1,{system},Something else of {system}.\n".encode(), "late.csv")
    assert judging.record_judgment(pair, 1, "left", 5.0).outcome == judging.Outcome.STORED
    assert Judgment.objects.count() == 2
    assert counted(study) == 0
    following = drawn(bob)
    assert following.left.item_set_id == following.right.item_set_id == of_summaries(study).pk
    assert_books_balance(study)
    for removal in Removal.objects.order_by("-pk"):
        imports.restore_removed(removal, making.owner(study))
    assert Assignment.objects.get(pk=pair.pk).state == "judged"
    assert_books_balance(study)


def test_a_very_long_summary_is_served_whole_and_its_answer_counts() -> None:
    long = "One word after another. " * 4_200  # 100,800 characters
    study = study_of(record(ann=long, bob="Short.", lead="Short.", long="Short."), pairs_per_annotator=50)
    ann = joined(study)
    pair = drawn(ann)
    assert {len(pair.left.text), len(pair.right.text)} == {len(long), len("Short.")}
    assert Client().get(reverse("pair", args=[pair.key])).status_code == 404  # nobody else sees it
    assert judging.record_judgment(pair, 1, "left", 5.0).outcome == judging.Outcome.STORED
    assert counted(study) == 1


def test_of_twenty_equal_summaries_nobody_is_asked_anything() -> None:
    summaries = [{"system": f"s{n}", "text": "The same."} for n in range(20)]
    study = study_of(record() | {"summaries": summaries})
    assert judging.draw(joined(study)) == judging.NoPair.NO_WORK
    tasks.rank_by_summaries(study.pk)
    assert not Suggestion.objects.exists()


@pytest.mark.parametrize("compares", ["sentences", "summaries", "both"])
def test_a_promise_is_of_the_pairs_that_are_left_and_it_is_kept(compares: Any) -> None:
    """Others before them have taken most; repeats count as work like all others."""
    study = study_of(record("M1"), record("M2"), compares=compares, shared_share=0.0, summary_judgments_per_topic=4)
    study = studies.change_settings(study, making.owner(study), judgments_per_topic=20, pairs_per_annotator=30)
    promises = []
    while (promised := judging.newcomer(study).progress.wanted) and len(promises) < 4:
        annotator = joined(study)
        promises.append(promised)
        served = 0
        while not isinstance(judging.draw(annotator), judging.NoPair):
            judged(annotator)
            served += 1
        assert promised <= served <= promised + 2  # a repeat or two
    assert promises == sorted(promises, reverse=True)
    assert promises[0] <= 30
    assert judging.why_nobody_begins(judging.newcomer(study)) == judging.NoPair.NO_WORK
