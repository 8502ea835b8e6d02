"""Practice, pairs with a known answer, repeats, and the limits that look after who judges how much."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotate import judging, studies
from annotate.judging import NoPair, choosing
from annotate.models import Annotator, Assignment, GoldPair, Item, Judgment, Study, Suggestion, Topic
from annotate.refusal import Refusal
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, prepare_pairs, ready_study

pytestmark = pytest.mark.django_db(transaction=True)


def practise(annotator: Annotator, right: int, wrong: int) -> None:
    for number in range(right + wrong):
        assignment = drawn(annotator)
        assert assignment.reason == "training"
        other = {"left": "right", "right": "left"}[assignment.expected]
        judging.record_judgment(assignment, 1, assignment.expected if number < right else other, 5.0)


# Practice


def test_practice_comes_first_and_counts_for_nothing():
    study = ready_study(training=True, training_threshold=0.5)
    prepare_pairs(study, "training", 4)
    annotator = joined(study)
    practise(annotator, right=2, wrong=2)
    annotator.refresh_from_db()
    assert (annotator.judged, annotator.seconds, annotator.previous, annotator.trained_at) == (0, 0.0, None, None)
    assert judged(annotator).reason == "random"
    annotator.refresh_from_db()
    assert annotator.judged == 1
    assert annotator.trained_at is not None
    assert Judgment.objects.counted().count() == 1
    assert Judgment.objects.count() == 5  # stored all the same
    assert_books_balance(study)


def test_whoever_has_too_few_right_is_screened_out_for_good():
    study = ready_study(training=True, training_threshold=0.75)
    prepare_pairs(study, "training", 4)
    annotator = joined(study)
    practise(annotator, right=2, wrong=2)
    assert judging.draw(annotator) == NoPair.SCREENED_OUT
    judging.delete_gold_pair(GoldPair.objects.earliest("pk"), making.owner(study))
    assert judging.draw(Annotator.objects.get()) == NoPair.SCREENED_OUT


def test_a_practice_pair_left_open_is_shown_again_and_none_is_shown_later():
    study = ready_study(training=True)
    prepare_pairs(study, "training", 2)
    annotator = joined(study)
    first = drawn(annotator)
    judging.pause(annotator)
    assert drawn(annotator) == first
    practise(annotator, right=2, wrong=0)
    shown = Assignment.objects.filter(annotator=annotator).values_list("pair", flat=True)
    for _ in range(20):
        assert judged(annotator).reason == "random"
    assert len(set(shown)) == 22


def test_practice_is_neither_skipped_nor_taken_back():
    study = ready_study(training=True)
    prepare_pairs(study, "training", 2)
    annotator = joined(study)
    assignment = drawn(annotator)
    assert not judging.skip(assignment, "unclear")
    judging.record_judgment(assignment, 1, "left", 5.0)
    assert not judging.undo(assignment)


def test_machines_those_who_have_begun_and_studies_without_prepared_pairs_know_no_practice():
    study = ready_study(training=True)
    assert drawn(joined(study)).reason == "random"
    begun = joined(study, judged=1)
    prepare_pairs(study, "training", 2)
    assert drawn(begun).reason == "random"
    assert drawn(judging.join(study, kind="machine", pseudonym="m")).reason == "random"
    assert drawn(joined(study)).reason == "training"


# Pairs with a known answer, and repeats


def test_everybody_gets_the_share_of_gold_pairs_and_repeats_and_all_counts_as_work():
    study = ready_study(sentences=40, gold_share=0.1, repeat_share=0.1, pairs_per_annotator=60, judgments_per_topic=500)
    prepare_pairs(study, "gold", 20)
    for _ in range(3):
        annotator = joined(study)
        done = [judged(annotator) for _ in range(60)]
        reasons = Counter(one.reason for one in done)
        assert reasons["gold"] == 6
        assert 4 <= reasons["repeat"] <= 6
        assert judging.draw(annotator) == NoPair.DONE
    assert Judgment.objects.counted().count() == Assignment.objects.filter(reason="random").count()
    assert_books_balance(study)


def test_a_repeat_has_its_sides_swapped_and_comes_later_and_once():
    study = ready_study(sentences=30, repeat_share=0.5, pairs_per_annotator=50)
    annotator = joined(study)
    done = [judged(annotator) for _ in range(40)]
    repeats = [(place, one) for place, one in enumerate(done) if one.reason == "repeat"]
    assert len(repeats) >= 12
    for place, one in repeats:
        (before,) = [number for number, other in enumerate(done[:place]) if other.pair_id == one.pair_id]
        assert place - before > 5
        assert (one.swapped, one.occasion, one.holds_place) == (not done[before].swapped, 1, False)
    assert_books_balance(study)


def test_when_a_gold_pair_comes_differs_from_person_to_person():
    study = ready_study(gold_share=0.1)
    people = [Annotator(study=study) for _ in range(400)]
    first = [next(turn for turn in range(10) if choosing.due(one, turn) == "gold") for one in people]
    assert set(first) == set(range(10))  # less than once in 10^17 runs by chance
    assert all(sum(choosing.due(one, turn) == "gold" for turn in range(100)) == 10 for one in people)


def test_every_new_study_has_some_pairs_judged_twice_by_two_people_and_by_one():
    study = ready_study(sentences=40, topics=3, shared_share=0.2, repeat_share=0.05)
    assert (Study().shared_share, Study().repeat_share) == (study.shared_share, study.repeat_share)
    people = [joined(study) for _ in range(12)]
    for annotator in people:
        for _ in range(30):
            judged(annotator)
        assert judging.draw(annotator) == NoPair.DONE
    once = Assignment.objects.filter(occasion=0)
    shared = Counter(once.values_list("pair", flat=True))
    repeats = Assignment.objects.filter(reason="repeat").count()
    twice = sum(number > 1 for number in shared.values())
    assert max(shared.values()) == 2
    assert 50 <= twice <= 72
    assert 10 <= repeats <= 24
    assert twice + repeats <= 0.25 * Judgment.objects.count()
    assert Judgment.objects.counted().count() == once.count()
    assert_books_balance(study)


def test_three_hundred_answers_say_something_of_agreement_even_where_every_run_has_a_topic_of_its_own():
    study = ready_study(sentences=30, topics=30, shared_share=0.2, pairs_per_annotator=30)
    people = [joined(study) for _ in range(10)]
    for _ in range(30):
        for annotator in people:
            judged(annotator)
    shared = Counter(Assignment.objects.values_list("pair", flat=True))
    assert max(shared.values()) == 2
    assert 45 <= sum(number == 2 for number in shared.values()) <= 60
    assert Assignment.objects.values("item_set").distinct().count() >= 15  # 22 to 24 without shared pairs
    assert_books_balance(study)


def test_a_shared_pair_counts_for_the_reason_of_its_first_judgment_even_after_its_lease():
    study = ready_study(sentences=10, random_share=0.0)
    first, second, *_ = Item.objects.order_by("pk")
    Suggestion.objects.create(item_set_id=Topic.objects.get().pk, first=first, second=second, rank=0, design_weight=0.3)
    begun = judged(joined(study))
    study.shared_share = 1.0
    study.save()
    shared = drawn(joined(study))
    assert (shared.pair_id, shared.reason, shared.design_weight) == (begun.pair_id, "suggested", 0.3)
    judging.pause(shared.annotator)
    assert drawn(joined(study)).pair_id == shared.pair_id
    judging.pause(Annotator.objects.latest("pk"))
    judging.record_judgment(shared, 1, "left", 5.0)
    assert Judgment.objects.counted().count() == 2
    assert drawn(joined(study)).pair_id != shared.pair_id
    assert_books_balance(study)


def test_a_lone_person_gets_other_pairs_where_shared_ones_are_due():
    study = ready_study(sentences=20, judgments_per_topic=50, pairs_per_annotator=50)
    study.shared_share = 1.0
    study.save()
    annotator = joined(study)
    assert len({judged(annotator).pair_id for _ in range(50)}) == 50


def test_a_gold_pair_says_on_the_server_which_side_is_right():
    study = ready_study(gold_share=0.5, pairs_per_annotator=100, sentences=20)
    prepare_pairs(study, "gold", 10)
    annotator = joined(study)
    best = Item.objects.latest("position")
    found = [one for one in (judged(annotator) for _ in range(20)) if one.reason == "gold"]
    assert 5 <= len(found) <= 10  # one that was drawn by lot before does not come again
    assert all(getattr(one, one.expected) == best for one in found)


def test_a_gold_pair_that_ran_out_is_never_taken_for_evidence():
    study = ready_study(gold_share=0.5, judgments_per_pair=2)
    prepare_pairs(study, "gold", 7)
    other = joined(study)
    for _ in range(15):
        judged(other)
    annotator = joined(study)
    while drawn(annotator).reason != "gold":
        judged(annotator)
    gold = drawn(annotator)
    judging.pause(annotator)
    judging.record_judgment(gold, 1, "left", 5.0)
    gold.refresh_from_db()
    assert (gold.state, gold.holds_place) == ("judged", False)
    assert_books_balance(study)


def test_a_gold_pair_is_skipped_and_taken_back_like_any_other():
    study = ready_study(gold_share=0.5, pairs_per_annotator=100)
    prepare_pairs(study, "gold", 7)
    annotator = joined(study)
    while drawn(annotator).reason != "gold":
        judged(annotator)
    gold = judged(annotator)
    assert Annotator.objects.get().previous == gold.key
    assert judging.undo(gold)
    assert drawn(annotator) == gold
    assert judging.skip(gold, "unclear")
    assert_books_balance(study)


@pytest.mark.parametrize(
    ("better", "worse"),
    [(("T0", 0), ("T0", 0)), (("T0", 0), ("T1", 1)), (("T0", 1), ("T0", 0)), (("T0", 0), ("T0", 1))],
)
def test_a_pair_is_prepared_once_of_two_sentences_of_one_topic(better, worse):
    study = ready_study(topics=2)
    prepare_pairs(study, "gold", 0)
    sentence = {(one.item_set.topic.name, one.position): one for one in Item.objects.select_related("item_set__topic")}
    owner = making.owner(study)
    judging.prepare_pair(study, owner, better=sentence["T0", 0], worse=sentence["T0", 1], use="training")
    with pytest.raises(Refusal):
        judging.prepare_pair(study, owner, better=sentence[better], worse=sentence[worse], use="gold")
    assert GoldPair.objects.count() == 1


# Random beside suggested


def test_pairs_come_with_the_reason_and_the_weight_that_the_worker_gave_them():
    study = ready_study(sentences=60, random_share=0.5, pairs_per_annotator=100)
    topic, sentences = Topic.objects.get(), list(Item.objects.order_by("pk"))
    for rank in range(4):
        Suggestion.objects.create(
            item_set_id=topic.pk,
            first=sentences[rank],
            second=sentences[rank + 5],
            rank=rank,
            is_random=rank % 2 == 1,
            design_weight=rank / 2,
        )
    annotator = joined(study)
    shown = [judged(annotator) for _ in range(5)]
    assert [one.reason for one in shown] == ["suggested", "random", "suggested", "random", "random"]
    assert [one.design_weight for one in shown] == [0.0, 0.5, 1.0, 1.5, 1.0]


def test_the_second_judgment_of_a_pair_is_there_for_the_reason_of_the_first_and_counts_like_it():
    study = ready_study(sentences=10, judgments_per_pair=2, random_share=0.0)
    first, second, *_ = Item.objects.order_by("pk")
    Suggestion.objects.create(item_set_id=Topic.objects.get().pk, first=first, second=second, rank=0, design_weight=0.3)
    one, other = joined(study), joined(study)
    for annotator in (one, other):
        shown = [judged(annotator) for _ in range(2)]
        assert [(pair.reason, pair.design_weight) for pair in shown] == [("suggested", 0.3), ("random", 1.0)]


# Limits


def test_a_person_gives_no_more_than_their_share_of_a_topic():
    study = ready_study(
        sentences=40, topics=2, judgments_per_topic=40, judgments_per_pair=5, pairs_per_annotator=60, person_cap=0.05
    )
    people = [joined(study) for _ in range(20)]
    # Three times an even share is 6 of 40, but an even spread of their own 60 pairs over two topics is 30.
    for _ in range(60):
        if isinstance(judging.draw(people[0]), NoPair):
            break
        judged(people[0])
    given = Counter(Assignment.objects.filter(annotator=people[0]).values_list("item_set", flat=True))
    assert set(given.values()) == {30}

    Annotator.objects.filter(pk=people[1].pk).update(quota=4)
    Study.objects.update(pairs_per_annotator=8)
    for annotator in people[2:4]:
        while not isinstance(judging.draw(annotator), NoPair):
            judged(annotator)
        given = Counter(Assignment.objects.filter(annotator=annotator).values_list("item_set", flat=True))
        assert max(given.values()) <= 6


def test_nobody_gives_most_judgments_of_a_topic_while_others_have_room():
    study = ready_study(sentences=20, topics=4, judgments_per_topic=30, pairs_per_annotator=100)
    first = joined(study)
    for _ in range(12):
        judged(first)
    given = Counter(Assignment.objects.filter(annotator=first).values_list("item_set", flat=True))
    assert set(given.values()) == {3}
    for _ in range(88):
        judged(first)
    assert judging.draw(first) == NoPair.DONE


def test_a_lone_person_is_never_told_to_stop_by_their_share():
    study = ready_study(sentences=20, judgments_per_topic=50, pairs_per_annotator=50, person_cap=0.01)
    annotator = joined(study)
    for _ in range(50):
        judged(annotator)
    assert judging.draw(annotator) == NoPair.DONE


def test_whoever_reaches_the_hours_limit_goes_on_later():
    study = ready_study(judgments_per_hour=3)
    annotator = joined(study)
    for _ in range(3):
        judged(annotator)
    assert judging.draw(annotator) == NoPair.HOUR
    Assignment.objects.update(closed_at=timezone.now() - timedelta(minutes=61))
    judged(annotator)


def test_what_somebody_holds_they_may_answer_beyond_the_hours_limit():
    study = ready_study(judgments_per_hour=1)
    annotator = joined(study)
    first = drawn(annotator)
    following = judging.draw(annotator, besides=first)
    judging.record_judgment(first, 1, "left", 5.0)
    assert judging.draw(annotator) == following


def test_so_many_skips_in_a_row_end_the_work_and_an_answer_begins_the_count_anew():
    study = ready_study(skips_in_a_row=3, sentences=20)
    annotator = joined(study)
    for _ in range(2):
        judging.skip(drawn(annotator), "unclear")
    judged(annotator)
    for _ in range(3):
        judging.skip(drawn(annotator), "unclear")
    assert judging.draw(annotator) == NoPair.SKIPPED
    Study.objects.update(skips_in_a_row=4)
    drawn(Annotator.objects.get())
    assert_books_balance(study)


def test_answers_at_once_are_taken_a_moment_later_and_none_is_lost(settings):
    settings.PACE_SECONDS = 60.0  # a second, long enough for every machine
    study = ready_study()
    annotator = joined(study)
    judged(annotator)
    second = drawn(annotator)
    version = Topic.objects.get().sentence_set.tally.data_version
    with pytest.raises(judging.TooSoon):
        judging.record_judgment(second, 1, "left", 0.1)
    assert Judgment.objects.count() == 1
    assert Topic.objects.get().sentence_set.tally.data_version == version
    Annotator.objects.update(judged_at=timezone.now() - timedelta(seconds=61))
    assert judging.record_judgment(Assignment.objects.to_show().get(pk=second.pk), 1, "left", 0.1).counted
    assert_books_balance(study)


def test_a_repeated_answer_is_never_too_soon(settings):
    settings.PACE_SECONDS = 1.0
    annotator = joined(ready_study())
    assignment = judged(annotator)
    assert judging.record_judgment(assignment, 1, "left", 5.0).outcome == judging.Outcome.REPEATED


def test_a_machine_may_be_as_fast_as_it_is(settings):
    settings.PACE_SECONDS = 1.0
    machine = judging.join(ready_study(), kind="machine", pseudonym="m")
    judged(machine)
    judged(machine)


def test_nobody_is_told_that_they_are_done_while_there_is_work_for_them():
    """With two judgments a pair somebody alone leaves every pair half judged, and still has all pairs to judge."""
    study = ready_study(sentences=6, judgments_per_pair=2, judgments_per_topic=30, pairs_per_annotator=30)
    annotator = joined(study)
    for _ in range(15):
        judged(annotator)
    assert judging.draw(annotator) == NoPair.NO_WORK
    other = joined(study)
    for _ in range(15):
        judged(other)
    annotator.refresh_from_db()
    assert annotator.finished_at is None
    studies.change_settings(study, making.owner(study), judgments_per_pair=3, judgments_per_topic=100)
    study.refresh_from_db()
    drawn(joined(study))
