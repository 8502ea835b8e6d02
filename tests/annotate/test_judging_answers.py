from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotate import judging
from annotate.judging import NoPair, Outcome, answers, drawing
from annotate.models import Annotator, Assignment, Judgment, Pair, Study, Tally
from tests.annotate import making
from tests.annotate.everything import undone
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, let_lapse, ready_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return ready_study()


@pytest.fixture
def annotator(study: Study) -> Annotator:
    return joined(study)


def version(study: Study) -> int:
    return Tally.objects.get(item_set__study=study).data_version


def test_an_answer_is_stored_once_and_raises_the_version(study, annotator):
    assignment = drawn(annotator)
    before = version(study)
    recorded = judging.record_judgment(assignment, 1, "left", 4.5)
    assert (recorded.outcome, recorded.counted) == (Outcome.STORED, True)
    assert Judgment.objects.values_list("assignment", "revision", "answer", "seconds").get() == (
        assignment.pk,
        1,
        "left",
        4.5,
    )
    assert version(study) == before + 1
    assert_books_balance(study)


def test_a_second_click_changes_nothing(study, annotator):
    assignment = drawn(annotator)
    judging.record_judgment(assignment, 1, "left")
    before = version(study)
    again = judging.record_judgment(Assignment.objects.get(pk=assignment.pk), 1, "left")
    assert again.outcome == Outcome.REPEATED
    assert Judgment.objects.count() == 1
    assert version(study) == before
    assert_books_balance(study)


def test_judged_twice_with_another_answer_the_first_stands(study, annotator):
    assignment = drawn(annotator)
    judging.record_judgment(assignment, 1, "left")
    second = judging.record_judgment(assignment, 1, "right")
    assert (second.outcome, second.judgment.answer) == (Outcome.DIFFERS, "left")
    assert Judgment.objects.get().answer == "left"


def test_undoing_is_a_new_revision_and_the_pair_keeps_its_place(study, annotator):
    assignment = judged(annotator)
    assert judging.undo(assignment)
    assert list(Judgment.objects.order_by("revision").values_list("revision", "answer")) == [(1, "left"), (2, "undone")]
    assert not Judgment.objects.counted().filter(item_set=assignment.item_set).exists()
    assert Pair.objects.get().taken == 1
    assert drawn(annotator) == assignment
    assert judging.record_judgment(assignment, 3, "right").outcome == Outcome.STORED
    assert Judgment.objects.counted().filter(item_set=assignment.item_set).get().answer == "right"
    assert_books_balance(study)


def test_undoing_twice_undoes_once(annotator):
    assignment = judged(annotator)
    assert judging.undo(assignment, 2)
    assert not judging.undo(assignment, 2)
    judging.record_judgment(assignment, 3, "right")
    assert not judging.undo(Assignment.objects.get(pk=assignment.pk), 2)
    assert Judgment.objects.count() == 3


def test_a_form_from_before_an_undo_does_not_answer_again(annotator):
    assignment = judged(annotator, "left")
    judging.undo(assignment)
    assert judging.record_judgment(assignment, 1, "left").outcome == Outcome.REPEATED
    assert judging.record_judgment(assignment, 1, "right").outcome == Outcome.DIFFERS
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("revision", [2, 3, 32_000])
def test_a_revision_that_nobody_asked_for_is_refused(study, annotator, revision):
    assignment = drawn(annotator)
    before = version(study)
    with pytest.raises(judging.OutOfTurn):
        judging.record_judgment(assignment, revision, "left")
    assert not Judgment.objects.exists()
    assert version(study) == before


@pytest.mark.parametrize("answer", ["", "undone", "LEFT", "both"])
def test_what_is_no_answer_is_refused(annotator, answer):
    with pytest.raises(ValueError, match="answer"):
        judging.record_judgment(drawn(annotator), 1, answer)


def test_skipping_gives_the_place_to_somebody_else(study, annotator):
    assignment = drawn(annotator)
    assert judging.skip(assignment, "broken")
    assert Pair.objects.get().taken == 0
    assert not judging.skip(assignment, "other")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.skip_reason) == ("skipped", "broken")
    assert drawn(annotator) != assignment
    assert_books_balance(study)


def test_undoing_a_skip_takes_back_the_skip_and_not_the_answer_before_it(study, annotator):
    answered, skipped = judged(annotator), drawn(annotator)
    judging.skip(skipped, "unclear")
    assert Annotator.objects.get().previous == skipped.key
    assert judging.undo(skipped)
    skipped.refresh_from_db()
    assert (skipped.state, skipped.skip_reason, skipped.holds_place) == ("open", "", True)
    assert not judging.undo(skipped), "a second click undoes no more"
    now = Annotator.objects.get()
    assert (now.judged, now.skipped, now.skips_in_a_row, now.previous) == (1, 0, 0, answered.key)
    assert drawn(annotator) == skipped
    assert judging.record_judgment(skipped, 1, "left").counted
    assert_books_balance(study)


def test_a_skip_that_is_undone_when_its_place_is_taken_leaves_surplus(annotator):
    study = ready_study(sentences=2)
    first = joined(study)
    skipped = drawn(first)
    judging.skip(skipped, "unclear")
    judged(joined(study))
    assert judging.undo(skipped)
    assert Assignment.objects.get(pk=skipped.pk).state == "expired"
    assert not judging.record_judgment(skipped, 1, "left").counted
    assert_books_balance(study)


def test_what_was_answered_is_not_skipped_any_more(annotator):
    assignment = judged(annotator)
    assert not judging.skip(Assignment.objects.get(pk=assignment.pk), "unclear")
    assert Assignment.objects.get(pk=assignment.pk).state == "judged"


def test_an_answer_after_its_lease_takes_its_place_again_if_there_is_one():
    study = ready_study(judgments_per_pair=2)
    late = drawn(joined(study))
    let_lapse(late)
    judged(joined(study))  # frees what has lapsed
    assert Assignment.objects.get(pk=late.pk).state == "expired"
    assert judging.record_judgment(late, 1, "right").counted
    assert_books_balance(study)


def test_an_answer_whose_place_was_taken_is_kept_as_surplus():
    study = ready_study(sentences=2)
    slow, quick = joined(study), joined(study)
    late = drawn(slow)
    let_lapse(late)
    judged(quick)
    recorded = judging.record_judgment(late, 1, "right")
    assert (recorded.outcome, recorded.counted) == (Outcome.STORED, False)
    assert Judgment.objects.count() == 2
    assert Judgment.objects.counted().filter(item_set=late.item_set).count() == 1
    slow.refresh_from_db()
    assert slow.judged == 1  # paid all the same
    assert_books_balance(study)


def test_surplus_that_is_undone_and_judged_again_stays_surplus():
    study = ready_study(sentences=2)
    late = drawn(joined(study))
    let_lapse(late)
    judged(joined(study))
    judging.record_judgment(late, 1, "right")
    assert judging.undo(late)
    assert not judging.record_judgment(late, 3, "left").counted
    assert_books_balance(study)


def test_an_undone_judgment_whose_lease_runs_out_returns_its_place(study, annotator):
    assignment = judged(annotator)
    judging.undo(assignment)
    let_lapse(assignment)
    judged(joined(study))
    assert Assignment.objects.get(pk=assignment.pk).state == "expired"
    assert_books_balance(study)


def test_somebody_who_skipped_and_answers_in_another_tab_is_heard(study, annotator):
    assignment = drawn(annotator)
    judging.skip(assignment, "unclear")
    assert judging.record_judgment(assignment, 1, "left").counted
    assert_books_balance(study)


def test_time_is_measured_from_the_draw_where_the_browser_does_not(annotator):
    judging.record_judgment(drawn(annotator), 1, "left")
    assert 0 <= Judgment.objects.get().seconds < 60


def test_an_excluded_annotators_judgments_stay_and_do_not_count(annotator):
    assignment = judged(annotator)
    Annotator.objects.filter(pk=annotator.pk).update(excluded_at=assignment.created_at)
    assert Judgment.objects.count() == 1
    assert not Judgment.objects.counted().filter(item_set=assignment.item_set).exists()


# An answer that brings the pair after next


def shown_ahead(annotator: Annotator) -> tuple[Assignment, Assignment]:
    """What somebody judges, and the pair after it, as the page finds them when the answer comes."""
    first = drawn(annotator)
    following = judging.draw(annotator, besides=first)
    assert isinstance(following, Assignment)
    rows = Assignment.objects.to_show().in_bulk([first.pk, following.pk])
    return rows[first.pk], rows[following.pk]


def test_an_answer_brings_the_pair_after_next_in_one_transaction(django_assert_max_num_queries):
    study = ready_study(sentences=60)  # so many pairs that chance hardly ever tries twice for one that they had
    annotator = joined(study)
    answered, showing = shown_ahead(annotator)
    with django_assert_max_num_queries(18):  # two for each pair that chance tries though they had it
        recorded = judging.record_judgment(answered, 1, "left", 2.0, showing=showing)
    judgment, following = Judgment.objects.get(), recorded.following
    assert isinstance(following, Assignment)
    judgment = Judgment.objects.get()
    assert (recorded.outcome, recorded.counted, recorded.judgment) == (Outcome.STORED, True, judgment)
    assert abs(judgment.at - timezone.now()) < timedelta(minutes=1)
    assert following == Assignment.objects.get(state="open", annotator=annotator, pk__gt=showing.pk)
    assert len({answered.pair_id, showing.pair_id, following.pair_id}) == 3
    assert following.annotator.judged == Annotator.objects.get(pk=annotator.pk).judged == 1
    assert_books_balance(study)


def test_the_first_pairs_of_a_run_come_with_an_answer_too(django_assert_max_num_queries, monkeypatch):
    monkeypatch.setattr(drawing, "RUNS", {False: 2})
    annotator = joined(ready_study(sentences=60, topics=2))
    answered, showing = shown_ahead(annotator)
    with django_assert_max_num_queries(21):
        first = judging.record_judgment(answered, 1, "left", 2.0, showing=showing).following
    with django_assert_max_num_queries(18):
        second = judging.record_judgment(showing, 1, "left", 2.0, showing=first).following
    assert isinstance(first, Assignment)
    assert isinstance(second, Assignment)
    assert answered.item_set_id == showing.item_set_id != first.item_set_id == second.item_set_id
    assert_books_balance(annotator.study)


def test_whatever_becomes_of_drawing_the_answer_is_stored(study, annotator, monkeypatch, caplog):
    answered, showing = shown_ahead(annotator)

    def fail(*given: Any) -> None:
        following = drawing.draw_with_answer(*given)
        Assignment.objects.create(
            key=following.key, item_set=study.item_sets.get(), annotator=annotator, pair=following.pair, swapped=False
        )

    monkeypatch.setattr(answers, "draw_with_answer", fail)
    recorded = judging.record_judgment(answered, 1, "left", 2.0, showing=showing)
    assert (recorded.outcome, recorded.counted, recorded.following) == (Outcome.STORED, True, None)
    assert recorded.judgment == Judgment.objects.get()
    assert Annotator.objects.get(pk=annotator.pk).judged == 1
    assert "no pair could be drawn with an answer" in caplog.text
    assert set(Assignment.objects.filter(state="open")) == {showing}
    assert_books_balance(study)


def test_a_second_answer_within_a_second_is_too_soon_unless_the_clock_was_set_back(settings):
    settings.PACE_SECONDS = 60.0
    assignment = drawn(joined(ready_study(sentences=30)))
    for seconds, refused in ((-30, judging.TooSoon), (30, judging.TooSoon), (90, None)):
        Annotator.objects.update(judged_at=timezone.now() + timedelta(seconds=seconds))
        with pytest.raises(refused) if refused else nullcontext(), undone():
            judging.record_judgment(assignment, 1, "left", 2.0)


def be_nearly_done(answered: Assignment, showing: Assignment) -> None:
    Annotator.objects.update(quota=2)


def fill_the_topic(answered: Assignment, showing: Assignment) -> None:
    Study.objects.update(judgments_per_topic=2)


def pause_the_study(answered: Assignment, showing: Assignment) -> None:
    Study.objects.update(state=Study.State.PAUSED)


def want_checks_only(answered: Assignment, showing: Assignment) -> None:
    Study.objects.update(gold_share=1.0)


def allow_one_an_hour(answered: Assignment, showing: Assignment) -> None:
    Study.objects.update(judgments_per_hour=1)


def give_them_their_share(answered: Assignment, showing: Assignment) -> None:
    """Four pairs of a topic with room for eight, and five judged of the eight they shall judge in two topics."""
    Study.objects.update(judgments_per_topic=8, person_cap=0.01)
    Annotator.objects.update(judged=5, quota=8)
    give_another(answered, showing, state="judged")
    give_another(answered, showing, state="judged", occasion=2)
    for _ in range(10):
        joined(answered.annotator.study)


def give_another(answered: Assignment, showing: Assignment, occasion: int = 1, state: str = "open") -> None:
    Assignment.objects.create(
        item_set_id=showing.item_set_id,
        annotator=showing.annotator,
        pair=showing.pair,
        swapped=False,
        occasion=occasion,
        state=state,
        created_at=timezone.now(),
    )


@pytest.mark.parametrize(
    ("change", "drawn"),
    [
        (be_nearly_done, NoPair.DONE),
        (fill_the_topic, None),
        (pause_the_study, NoPair.PAUSED),
        (want_checks_only, None),
        (allow_one_an_hour, NoPair.HOUR),
        (give_them_their_share, None),
    ],
)
def test_an_answer_brings_no_pair_that_a_draw_of_its_own_would_not(change, drawn):
    answered, showing = shown_ahead(joined(ready_study(sentences=30, topics=2, pairs_per_annotator=100)))
    change(answered, showing)
    recorded = judging.record_judgment(answered, 1, "left", 2.0, showing=showing)
    assert (recorded.outcome, recorded.following) == (Outcome.STORED, drawn)


def test_an_answer_brings_the_pair_that_they_hold_already():
    answered, showing = shown_ahead(joined(ready_study(sentences=30)))
    give_another(answered, showing)
    recorded = judging.record_judgment(answered, 1, "left", 2.0, showing=showing)
    assert recorded.following == Assignment.objects.get(occasion=1)


def lapse_and_be_drawn_by_another(assignment: Assignment) -> None:
    let_lapse(assignment)
    judged(joined(assignment.annotator.study))


def lapse(assignment: Assignment) -> None:
    let_lapse(assignment)
    judging.pause(assignment.annotator)


def be_judged(assignment: Assignment) -> None:
    judging.record_judgment(assignment, 1, "right", 1.0)


def be_judged_and_undone(assignment: Assignment) -> None:
    be_judged(assignment)
    judging.undo(assignment)


def be_excluded(assignment: Assignment) -> None:
    judging.exclude(assignment.annotator, making.owner(assignment.annotator.study), "a robot")


def be_given_an_answer_a_moment_ago(assignment: Assignment) -> None:
    Annotator.objects.update(judged_at=timezone.now())


def come_to_nothing(assignment: Assignment) -> None:
    judging.forget_pairs([assignment.item_set_id])


Send = Callable[[], judging.Recorded]


def record(assignment: Assignment) -> Send:
    return lambda: judging.record_judgment(assignment, 1, "left", 2.0)


def record_and_draw(assignment: Assignment) -> Send:
    return lambda: judging.record_judgment(assignment, 1, "left", 2.0, showing=assignment)


def what_comes_of_it(study: Study, way: Callable[[Assignment], Send], change: Callable[[Assignment], Any]) -> Any:
    assignment = drawn(joined(study))
    send = way(assignment)
    before = version(study)
    change(Assignment.objects.select_related("annotator__study").get(pk=assignment.pk))
    try:
        recorded = send()
        said = (recorded.outcome, recorded.counted, recorded.judgment.answer)
    except (judging.TooSoon, judging.OutOfTurn, Assignment.DoesNotExist) as refused:
        said = type(refused)
    assert_books_balance(study)
    rows = Assignment.objects.filter(annotator=assignment.annotator)
    sums = Annotator.objects.filter(pk=assignment.annotator_id)
    return (
        said,
        version(study) - before,
        list(rows.values_list("state", "revision", "holds_place")),
        list(rows.order_by("judgments").values_list("judgments__revision", "judgments__answer", "judgments__seconds")),
        sums.values_list("judged", "seconds", "skipped").get(),
    )


@pytest.mark.parametrize(
    "change",
    [
        str,
        let_lapse,
        lapse,
        lapse_and_be_drawn_by_another,
        be_judged,
        be_judged_and_undone,
        lambda assignment: judging.skip(assignment, "unclear"),
        be_excluded,
        be_given_an_answer_a_moment_ago,
        come_to_nothing,
    ],
)
def test_whatever_happens_between_finding_and_storing_counts(change, settings):
    settings.PACE_SECONDS = 60.0 if change is be_given_an_answer_a_moment_ago else 0.0
    alone, drawing_on = (what_comes_of_it(ready_study(sentences=2), way, change) for way in (record, record_and_draw))
    assert alone == drawing_on
