import pytest

from annotate import judging
from annotate.judging import Outcome
from annotate.models import Annotator, Assignment, Judgment, Pair, Study, Tally
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, let_lapse, ready_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return ready_study()


@pytest.fixture
def annotator(study: Study) -> Annotator:
    return joined(study)


def version(study: Study) -> int:
    return Tally.objects.get(topic__study=study).data_version


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
    assert list(Judgment.objects.values_list("revision", "answer")) == [(1, "left"), (2, "undone")]
    assert not judging.counted_judgments(assignment.topic).exists()
    assert Pair.objects.get().taken == 1
    assert drawn(annotator) == assignment
    assert judging.record_judgment(assignment, 3, "right").outcome == Outcome.STORED
    assert judging.counted_judgments(assignment.topic).get().answer == "right"
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
    assert judging.counted_judgments(late.topic).count() == 1
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
    assert not judging.counted_judgments(assignment.topic).exists()
