"""Many at once, on the real database: threads with connections of their own."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import connection
from django.test import Client

from annotate import invitations, judging, studies
from annotate.judging import NoPair, Outcome, Recorded, drawing
from annotate.models import Annotator, Assignment, Judgment, Pair, Tally, Topic
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, let_lapse, ready_study

pytestmark = pytest.mark.django_db(transaction=True)

Result = TypeVar("Result")


def at_once(*jobs: Callable[[], Result]) -> list[Result]:
    """Run the jobs in threads that all begin at the same moment; what each gave, or the first exception."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], Result]) -> Result:
        try:
            barrier.wait(30)
            return job()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


PATIENCE = 30.0


def until_another_waits() -> None:
    """Wait, in a transaction, until another session waits for its locks; SQLite has one writer, and nobody to ask."""
    deadline = time.monotonic() + PATIENCE
    waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
    while connection.vendor == "postgresql" and time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)


def one_held_up(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> threading.Event:
    """Hold up whoever calls this function, in its transaction, until another has come to its locks.

    What is returned is set once the first is there: whoever then begins comes second, however busy the machine is.
    """
    function, begun = getattr(module, name), threading.Event()

    def held_up(*given: Any) -> Any:
        begun.set()
        until_another_waits()
        return function(*given)

    monkeypatch.setattr(module, name, held_up)
    return begun


def test_two_hundred_judgments_by_twenty_people_at_once():
    """No pair beyond two, none twice for anybody, every acknowledged judgment stored exactly once."""
    study = ready_study(sentences=18, judgments_per_pair=2, judgments_per_topic=10_000)
    people = [joined(study) for _ in range(20)]

    def judge(annotator: Annotator) -> list[tuple[int, str]]:
        acknowledged = []
        for turn in range(10):
            assignment = judging.draw(Annotator.objects.select_related("study").get(pk=annotator.pk))
            assert isinstance(assignment, Assignment)
            answer = ("left", "right")[(assignment.pk + turn) % 2]
            assert judging.record_judgment(assignment, 1, answer, 1.0).outcome == Outcome.STORED
            acknowledged.append((assignment.pk, answer))
        return acknowledged

    acknowledged = Counter(one for several in at_once(*[partial(judge, one) for one in people]) for one in several)
    assert len(acknowledged) == 200
    assert set(acknowledged.values()) == {1}
    assert Counter(Judgment.objects.values_list("assignment", "answer")) == acknowledged
    assert max(Counter(Assignment.objects.values_list("pair", flat=True)).values()) <= 2
    seen = Counter(Assignment.objects.values_list("annotator", "pair__first", "pair__second"))
    assert max(seen.values()) == 1
    assert Tally.objects.get().data_version == 200
    assert_books_balance(study)


def test_twenty_people_and_too_little_work():
    """A topic that wants fewer judgments than there are hands is filled exactly, and everybody is told."""
    study = ready_study(sentences=6, judgments_per_pair=2, judgments_per_topic=25)

    def judge(annotator: Annotator) -> int:
        for turn in range(40):
            assignment = judging.draw(Annotator.objects.select_related("study").get(pk=annotator.pk))
            if isinstance(assignment, NoPair):
                assert assignment == NoPair.NO_WORK
                return turn
            judging.record_judgment(assignment, 1, "right", 1.0)
        raise AssertionError("the work never ends")

    people = [joined(study) for _ in range(20)]
    assert sum(at_once(*[partial(judge, one) for one in people])) == 25
    assert Judgment.objects.counted().count() == 25
    assert_books_balance(study)


@pytest.mark.parametrize("most", [None, 1])
def test_one_form_of_an_invitation_sent_eight_times_at_once_lets_in_one_annotator(most):
    """Each sending without a cookie, as if the first one's answer had not come yet; all are led to the same pages."""
    study = ready_study()
    invitation = invitations.invite(study, making.owner(study), max_uses=most)
    path = invitations.invitation_path(invitation)
    form = {"form_token": Client().get(path).context["form"]["form_token"].value()}
    sent = at_once(*[partial(Client().post, path, form)] * 8)
    assert {(answer.status_code, answer.url) for answer in sent} == {(302, sent[0].url)}
    assert Annotator.objects.filter(study=study).count() == 1
    assert Client().post(path, form).url == sent[0].url
    invitation.refresh_from_db()
    assert invitation.uses == 1


def test_forms_of_two_pages_let_in_two_annotators():
    study = ready_study()
    path = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    for _ in range(2):
        Client().post(path, {"form_token": Client().get(path).context["form"]["form_token"].value()})
    assert Annotator.objects.filter(study=study).count() == 2


@pytest.mark.parametrize("copies", [2, 8, 24])
def test_one_form_sent_many_times_at_once_is_one_judgment(copies):
    study = ready_study()
    for _ in range(3):
        assignment = drawn(joined(study))

        def send(key: int = assignment.pk) -> Recorded:
            return judging.record_judgment(Assignment.objects.select_related("annotator__study").get(pk=key), 1, "left")

        recorded = at_once(*[send] * copies)
        assert Counter(one.outcome for one in recorded) == {Outcome.STORED: 1, Outcome.REPEATED: copies - 1}
        assert len({one.judgment.pk for one in recorded}) == 1
    assert Judgment.objects.count() == 3
    assert_books_balance(study)


def test_two_different_answers_at_once_leave_one_and_both_hear_which():
    study = ready_study()
    for _ in range(5):
        assignment = drawn(joined(study))
        recorded = at_once(*[partial(judging.record_judgment, assignment, 1, side) for side in ("left", "right")])
        assert Counter(one.outcome for one in recorded) == {Outcome.STORED: 1, Outcome.DIFFERS: 1}
        assert len({one.judgment.answer for one in recorded}) == 1


@pytest.mark.parametrize("hands", [8, 24])
def test_the_last_place_goes_to_one_of_many(hands):
    study = ready_study(sentences=2, judgments_per_pair=3)
    people = [joined(study) for _ in range(hands)]
    drawn_ones = at_once(*[partial(judging.draw, one) for one in people])
    assert sum(isinstance(one, Assignment) for one in drawn_ones) == 3
    assert Pair.objects.get().taken == 3
    assert_books_balance(study)


def test_two_tabs_that_draw_at_once_get_the_same_pair():
    study = ready_study(topics=4)
    for _ in range(5):
        annotator = joined(study)
        pairs = at_once(*[partial(judging.draw, annotator)] * 6)
        assert len({one.pk for one in pairs}) == 1
    assert_books_balance(study)


def test_a_lease_that_ends_while_its_answer_arrives_leaves_no_place_over():
    for _ in range(5):
        study = ready_study(sentences=2)
        late, quick = joined(study), joined(study)
        assignment = drawn(late)
        let_lapse(assignment)
        _recorded, taken = at_once(
            partial(judging.record_judgment, assignment, 1, "left"), partial(judging.draw, quick)
        )
        if isinstance(taken, Assignment):
            judging.record_judgment(taken, 1, "right")
        topic = Topic.objects.get(study=study)
        assert Judgment.objects.counted().filter(assignment__item_set=topic.pk).count() == 1
        assert_books_balance(study)


def test_answers_undoings_skips_and_draws_in_any_order_keep_the_books():
    study = ready_study(sentences=5, judgments_per_pair=2, topics=2, judgments_per_topic=15, pairs_per_annotator=12)

    def live(annotator: Annotator, seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(25):
            person = Annotator.objects.select_related("study").get(pk=annotator.pk)
            assignment = judging.draw(person)
            if isinstance(assignment, NoPair):
                continue
            what = chance.random()
            revision = assignment.judgments.count() + 1
            if what < 0.15:
                judging.skip(assignment, "unclear")
            elif what < 0.3:
                let_lapse(assignment)
            elif what < 0.4:
                judging.pause(person)
            else:
                judging.record_judgment(assignment, revision, "left", 1.0)
                if what < 0.6:
                    judging.undo(assignment)

    at_once(*[partial(live, joined(study), seed) for seed in range(8)])
    assert_books_balance(study)


def test_answers_that_bring_pairs_of_other_topics_never_wait_for_each_other_crosswise(monkeypatch):
    monkeypatch.setattr(drawing, "RUNS", {False: 1})
    study = ready_study(sentences=40, topics=3, judgments_per_topic=1000, pairs_per_annotator=1000, person_cap=1.0)

    def live(annotator: Annotator) -> None:
        answered, shown = drawn(annotator), None
        for _ in range(12):
            shown = shown or judging.draw(annotator, besides=answered)
            following = judging.record_judgment(answered, 1, "left", 1.0, showing=shown).following
            answered, shown = shown, following

    at_once(*[partial(live, joined(study)) for _ in range(8)])
    assert Judgment.objects.count() == 8 * 12
    assert_books_balance(study)


def test_a_study_can_be_deleted_while_ten_people_judge_in_it():
    """Who judges last is waited for; who comes later finds nothing. Nobody meets a deadlock."""
    study = ready_study(sentences=40, topics=4, judgments_per_topic=10_000, pairs_per_annotator=10_000, person_cap=1.0)

    def judge(annotator: Annotator) -> None:
        with suppress(ObjectDoesNotExist):  # what a page answers with 404 or a way back
            while isinstance(assignment := judging.draw(annotator), Assignment):
                judging.record_judgment(assignment, 1, "left", 1.0)

    def delete() -> None:
        time.sleep(0.5)
        studies.delete_study(study, study.created_by)

    at_once(delete, *[partial(judge, joined(study)) for _ in range(10)])
    assert not Judgment.objects.exists()
    assert not Annotator.objects.exists()


def test_the_pair_after_a_shared_one_comes_with_its_answer():
    study = ready_study(sentences=30, random_share=0.0, repeat_share=1e-9, shared_share=0.5, judgments_per_topic=1000)
    other = joined(study)
    for _pair in range(6):
        judged(other)
    shown = drawn(joined(study))
    for _pair in range(7):
        shown = judging.record_judgment(shown, 1, "left", draws=True).following
        assert isinstance(shown, Assignment)
