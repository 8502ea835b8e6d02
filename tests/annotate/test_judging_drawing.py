import re
from collections import Counter
from itertools import combinations

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from annotate import imports, judging
from annotate.judging import NoPair, choosing, drawing
from annotate.models import Annotator, Assignment, Item, ItemSetProgress, Pair, Study, Suggestion, Tally, Topic
from preferendum import formats
from tests.annotate import making
from tests.annotate.judging_study import (
    add_topic,
    assert_books_balance,
    drawn,
    joined,
    judged,
    let_lapse,
    ready_study,
)

pytestmark = pytest.mark.django_db


def judge_until_nothing(annotator: Annotator, most: int = 200) -> tuple[list[Assignment], NoPair]:
    done = []
    for _ in range(most):
        assignment = judging.draw(annotator)
        if isinstance(assignment, NoPair):
            return done, assignment
        judging.record_judgment(assignment, 1, "right", 3.0)
        done.append(assignment)
    raise AssertionError("there is always more to judge")


def test_a_drawn_pair_is_under_a_lease_and_takes_a_place():
    study = ready_study()
    assignment = drawn(joined(study))
    assert assignment.state == "open"
    assert assignment.expires_at - assignment.created_at == drawing.LEASE
    assert (Pair.objects.get().taken, Tally.objects.get().taken) == (1, 1)


def test_drawing_again_gives_the_same_pair():
    annotator = joined(ready_study())
    assert drawn(annotator) == drawn(annotator)
    assert Assignment.objects.count() == 1


def test_a_second_pair_can_be_drawn_ahead_and_no_third():
    annotator = joined(ready_study())
    first = drawn(annotator)
    ahead = judging.draw(annotator, besides=first)
    assert ahead != first
    assert judging.draw(annotator, besides=first) == ahead
    judging.record_judgment(first, 1, "left")
    assert drawn(annotator) == ahead


def test_no_pair_is_drawn_ahead_of_the_last_one():
    annotator = joined(ready_study(pairs_per_annotator=2))
    judged(annotator)
    last = drawn(annotator)
    assert judging.draw(annotator, besides=last) == NoPair.DONE
    assert Annotator.objects.get().finished_at is None
    judging.record_judgment(last, 1, "left")
    assert judging.draw(annotator) == NoPair.DONE
    assert Annotator.objects.get().finished_at is not None


def test_left_and_right_are_drawn_by_lot_and_stored():
    annotator = joined(ready_study(sentences=30, pairs_per_annotator=100))
    sides = Counter(judged(annotator).swapped for _ in range(60))
    assert min(sides[True], sides[False]) > 10  # less than once in 10^8 runs by chance
    assignment = Assignment.objects.select_related("pair").earliest("pk")
    assert {assignment.left, assignment.right} == {assignment.pair.first, assignment.pair.second}
    assert (assignment.left == assignment.pair.second) == assignment.swapped


def test_pairs_are_drawn_at_random_among_all_sentences():
    study = ready_study(sentences=6, judgments_per_topic=1000, judgments_per_pair=100)
    seen = Counter()
    topic = Tally.objects.lock(Topic.objects.get().pk)
    for _ in range(300):
        pair = choosing._random(topic, joined(study)).pair
        seen[pair.first_id, pair.second_id] += 1
    assert len(seen) == 15  # but for twice in 10^8 runs
    assert max(seen.values()) < 50


def test_nobody_gets_a_pair_twice_and_all_pairs_come():
    annotator = joined(ready_study(sentences=5, judgments_per_pair=3, pairs_per_annotator=50))
    done, nothing = judge_until_nothing(annotator)
    assert nothing == NoPair.NO_WORK
    assert len(done) == len({one.pair_id for one in done}) == 10


def test_a_pair_takes_as_many_judgments_as_are_wanted_and_no_more():
    study = ready_study(sentences=4, judgments_per_pair=2)
    for _ in range(3):
        judge_until_nothing(joined(study))
    assert {pair.taken for pair in Pair.objects.all()} == {2}
    assert Pair.objects.count() == 6
    assert_books_balance(study)


def test_started_pairs_come_first():
    study = ready_study(sentences=30, judgments_per_pair=2, pairs_per_annotator=100)
    begun = {judged(joined(study)).pair_id for _ in range(2)}
    assert len(begun) == 1
    first, second, third = joined(study), joined(study), joined(study)
    one = {judged(first).pair_id for _ in range(3)}
    assert {judged(second).pair_id for _ in range(3)} == one
    assert judged(third).pair_id not in one


def test_a_topic_takes_as_many_judgments_as_are_wanted():
    study = ready_study(sentences=8, judgments_per_topic=5)
    done, nothing = judge_until_nothing(joined(study))
    assert (len(done), nothing) == (5, NoPair.NO_WORK)
    assert_books_balance(study)


def test_somebody_judges_as_many_pairs_as_they_are_asked_for():
    study = ready_study(pairs_per_annotator=4)
    done, nothing = judge_until_nothing(joined(study))
    assert (len(done), nothing) == (4, NoPair.DONE)
    done, _nothing = judge_until_nothing(joined(study, quota=6))
    assert len(done) == 6


def test_people_stay_with_a_topic_and_then_go_to_the_least_filled():
    study = ready_study(sentences=30, topics=3, pairs_per_annotator=100)
    Tally.objects.filter(item_set__topic__name="T0").update(taken=100)
    annotator = joined(study)
    topics = [judged(annotator).item_set.topic.name for _ in range(20)]
    assert set(topics[:10]) | set(topics[10:]) == {"T1", "T2"}
    assert len(set(topics[:10])) == len(set(topics[10:])) == 1


def test_topics_that_have_nothing_left_to_tell_of_systems_come_last():
    study = ready_study(sentences=8, topics=3, judgments_per_topic=15, pairs_per_annotator=100)
    told = Topic.objects.get(name="T1")
    ItemSetProgress.objects.create(item_set_id=told.pk, is_told=True)
    annotator = joined(study)
    done = [judged(annotator).item_set_id for _ in range(45)]
    assert done[30:] == [told.pk] * 15


def test_a_full_topic_is_left_for_another_one():
    study = ready_study(sentences=8, topics=2, judgments_per_topic=3)
    done, _nothing = judge_until_nothing(joined(study))
    assert Counter(one.item_set.topic.name for one in done) == {"T0": 3, "T1": 3}


def test_a_topic_that_is_not_cut_yet_is_passed_over():
    study = ready_study(topics=1)
    add_topic(study, "empty", 0, 7)
    add_topic(study, "lonely", 1, 8)
    assert {judged(joined(study)).item_set.topic.name for _ in range(6)} == {"T0"}


def test_without_any_sentence_there_is_no_work():
    assert judging.draw(joined(ready_study(sentences=0))) == NoPair.NO_WORK


@pytest.mark.parametrize(("state", "reason"), [("paused", NoPair.PAUSED), ("closed", NoPair.CLOSED)])
def test_nobody_draws_while_the_study_is_not_open(state, reason):
    study = ready_study()
    annotator = joined(study)
    Study.objects.update(state=state)
    assert judging.draw(annotator) == reason


def test_an_answer_on_its_way_is_taken_while_the_study_is_paused():
    study = ready_study()
    assignment = drawn(joined(study))
    Study.objects.update(state="paused")
    assert judging.record_judgment(assignment, 1, "left").counted


def test_what_the_worker_asks_for_comes_before_chance():
    study = ready_study(sentences=40, random_share=0.0)
    topic, sentences = Topic.objects.get(), list(Item.objects.order_by("pk"))
    for rank in range(3):
        Suggestion.objects.create(item_set_id=topic.pk, first=sentences[rank], second=sentences[rank + 5], rank=rank)
    annotator = joined(study)
    done = [judged(annotator) for _ in range(4)]
    assert [one.reason for one in done] == ["suggested"] * 3 + ["random"]
    assert [one.pair.first for one in done[:3]] == sentences[:3]
    assert judged(joined(study)).reason == "random"  # each was wanted once


def ask_for(pairs: list[tuple[Item, Item]]) -> None:
    for rank, (first, second) in enumerate(pairs):
        Suggestion.objects.create(item_set_id=Topic.objects.get().pk, first=first, second=second, rank=rank)


def test_a_wish_is_free_for_whoever_has_not_seen_it_while_it_has_a_place():
    study = ready_study(sentences=5, random_share=0.0, judgments_per_pair=2)
    one, other, third = (joined(study) for _ in range(3))
    full, seen, needless = judged(one).pair, judged(other), judged(third)
    assert seen.pair == full  # a pair that was begun comes first
    assert needless.pair != full
    Pair.objects.filter(pk=needless.pair_id).update(need=1)
    sentences = list(Item.objects.order_by("pk"))
    known = {(pair.first_id, pair.second_id) for pair in Pair.objects.all()}
    fresh = next(two for two in combinations(sentences, 2) if (two[0].pk, two[1].pk) not in known)
    ask_for([(full.first, full.second), (needless.pair.first, needless.pair.second), fresh])
    wished = drawn(one)
    assert (wished.pair.first, wished.pair.second) == fresh
    assert wished.reason == "suggested"


def test_wishes_that_others_have_fulfilled_cost_a_draw_nothing(django_assert_max_num_queries):
    study = ready_study(sentences=12, random_share=0.0)
    pairs = list(combinations(Item.objects.order_by("pk"), 2))
    ask_for(pairs)
    for _ in range(40):
        judged(joined(study))
    annotator = joined(study)
    with django_assert_max_num_queries(15):
        assignment = drawn(annotator)
    assert (assignment.pair.first, assignment.pair.second) == pairs[40]


def test_an_abandoned_pair_goes_to_somebody_else_when_its_lease_is_over():
    study = ready_study(sentences=2)
    gone, here = joined(study), joined(study)
    abandoned = drawn(gone)
    assert judging.draw(here) == NoPair.NO_WORK
    let_lapse(abandoned)
    assert drawn(here).pair == abandoned.pair
    assert_books_balance(study)


def test_a_topic_that_is_full_of_abandoned_pairs_is_asked_for_again():
    """Whoever comes new has never been in the topic, and nothing of it is free until somebody looks."""
    study = ready_study(sentences=2, topics=3, judgments_per_pair=1, judgments_per_topic=1)
    gone = [drawn(joined(study)) for _ in range(3)]
    assert judging.draw(joined(study)) == NoPair.NO_WORK
    let_lapse(*gone)
    again = [drawn(joined(study)) for _ in range(3)]
    assert {one.pair_id for one in again} == {one.pair_id for one in gone}
    assert_books_balance(study)


def test_somebody_who_comes_back_late_takes_up_their_pair_if_nobody_else_has():
    study = ready_study(sentences=2)
    annotator = joined(study)
    first = drawn(annotator)
    let_lapse(first)
    assert drawn(annotator) == first  # nobody had asked for it
    judging.pause(annotator)
    assert Pair.objects.get().taken == 0
    again = drawn(annotator)
    assert again == first
    assert again.expires_at > first.created_at
    assert_books_balance(study)


def test_pausing_gives_back_what_somebody_holds():
    study = ready_study(topics=2)
    annotator = joined(study)
    first = drawn(annotator)
    judging.draw(annotator, besides=first)
    judging.pause(annotator)
    judging.pause(annotator)
    assert set(Assignment.objects.values_list("state", "holds_place")) == {("expired", False)}
    assert_books_balance(study)


def test_an_excluded_annotator_draws_nothing():
    annotator = joined(ready_study())
    Annotator.objects.update(excluded_at=annotator.joined_at)
    assert judging.draw(annotator) == NoPair.EXCLUDED


def test_a_raised_need_opens_pairs_again_and_a_lowered_one_keeps_what_there_is():
    study = ready_study(sentences=3)
    judge_until_nothing(joined(study))
    study.judgments_per_pair = 2
    study.save()
    judging.keep_needs(study)
    judge_until_nothing(joined(study))
    assert set(Pair.objects.values_list("need", "taken")) == {(2, 2)}
    study.judgments_per_pair = 1
    study.save()
    judging.keep_needs(study)
    assert set(Pair.objects.values_list("need", "taken")) == {(2, 2)}
    assert_books_balance(study)


def test_forgotten_pairs_let_a_topic_be_cut_anew():
    study = ready_study()
    assignment = drawn(joined(study))
    judging.forget_pairs([assignment.item_set_id])
    Item.objects.all().delete()
    assert not Assignment.objects.exists()
    assert_books_balance(study)


def test_a_topic_with_judgments_forgets_nothing():
    study = ready_study()
    assignment = judged(joined(study))
    with pytest.raises(IntegrityError):
        judging.forget_pairs([assignment.item_set_id])


def test_the_cost_of_a_draw_and_a_judgment_does_not_grow(django_assert_max_num_queries):
    study = ready_study(sentences=60, pairs_per_annotator=1000, judgments_per_topic=1000)
    annotator = joined(study)
    for _ in range(30):
        judged(annotator)
    # 12, and two more for each pair among 1,770 that chance tries though somebody had it: three are enough for good.
    with django_assert_max_num_queries(18):
        assignment = drawn(annotator)
    with django_assert_max_num_queries(9):
        judging.record_judgment(assignment, 1, "left", 2.0)


def test_what_somebody_holds_is_found_without_walking_through_what_they_judged():
    """SQLite chose to; with a thousand judgments each that was most of the time of a draw."""
    annotator = joined(ready_study())
    drawn(annotator)
    with CaptureQueriesContext(connection) as asked:
        drawn(annotator)
    (held,) = (query["sql"] for query in asked if "SELECT 0, id, expires_at" in query["sql"])
    with connection.cursor() as cursor:
        cursor.execute(f"{'EXPLAIN QUERY PLAN' if connection.vendor == 'sqlite' else 'EXPLAIN'} {held}")
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert connection.vendor != "sqlite" or "assignment_by_annotator" in plan


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite plans without counts")
@pytest.mark.parametrize("sentences", [3, 60, 600])
def test_no_plan_for_the_pairs_of_a_set_begins_with_the_items_of_all_studies(sentences):
    """After another study brought 10,000 sentences, one such took 40 s, and nobody could judge its topic."""
    study = ready_study(sentences=sentences)
    judged(joined(study))
    item_set = Pair.objects.get().item_set_id
    plan = Pair.objects.begun(joined(study)).to_judge().filter(item_set=item_set).order_by("pk").explain()
    assert not re.search(r"Index Cond: .*first_id = ", plan), plan


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite plans without counts")
def test_postgresql_counts_the_rows_of_an_import_when_it_is_committed():
    texts = tuple(f"Sentence number {number} is here." for number in range(300))
    topic = formats.Topic("long", documents=(formats.Text("d", sentences=texts),))
    votes = tuple(formats.Preference("long", "d:0", f"d:{number}", "a", annotator="p") for number in range(1, 200))
    imports.store(making.study(), formats.Bundle(topics=(topic,), preferences=votes))
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, reltuples FROM pg_class WHERE relname IN ('annotate_item', 'annotate_pair')")
        assert dict(cursor.fetchall()) == {"annotate_item": 300, "annotate_pair": 199}


def test_what_is_given_back_after_a_need_was_lowered_is_not_asked_for_again():
    study = ready_study(sentences=2, judgments_per_pair=2)
    judged(joined(study))
    second = drawn(joined(study))
    Study.objects.update(judgments_per_pair=1)
    study.refresh_from_db()
    judging.keep_needs(study)
    judging.skip(second, "unclear")
    assert judging.draw(joined(study)) == NoPair.NO_WORK
    assert_books_balance(study)
