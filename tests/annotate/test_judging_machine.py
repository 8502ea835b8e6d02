"""Any order of events against a model of forty lines: what is counted is what the model counts."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from annotate import judging
from annotate.judging import Outcome
from annotate.models import Annotator, Assignment, Judgment, Study
from tests.annotate.judging_study import assert_books_balance, joined, let_lapse, ready_study, report_annotators

PEOPLE = 4


@dataclass
class Slip:
    """What the model knows of one assignment."""

    pair: int
    person: int
    state: str = "open"
    place: bool = True
    answers: list[str] = field(default_factory=list)


class Judging(RuleBasedStateMachine):
    """Annotators draw, answer, repeat, undo, skip, vanish and come late; settings change under them."""

    def __init__(self) -> None:
        super().__init__()
        self.before = transaction.savepoint()
        self.study = ready_study(sentences=4, judgments_per_pair=2, judgments_per_topic=9, pairs_per_annotator=8)
        self.people = [joined(self.study) for _ in range(PEOPLE)]
        self.slips: dict[int, Slip] = {}

    def teardown(self) -> None:
        transaction.savepoint_rollback(self.before)

    def person(self, number: int) -> Annotator:
        return Annotator.objects.select_related("study").get(pk=self.people[number].pk)

    def assignment(self, which: int) -> Assignment:
        key = sorted(self.slips)[which % len(self.slips)]
        return Assignment.objects.select_related("annotator__study").get(pk=key)

    def free(self, pair: int) -> bool:
        return self.taken(pair) < Study.objects.get().judgments_per_pair and self.taken() < 9

    def taken(self, pair: int | None = None) -> int:
        return sum(slip.place for slip in self.slips.values() if pair in (None, slip.pair))

    def forget_lapsed(self) -> None:
        """A draw frees whatever has lapsed; the model learns which from the rows."""
        for key in Assignment.objects.filter(pk__in=self.slips, state="expired").values_list("pk", flat=True):
            if self.slips[key].state == "lapsed":
                self.slips[key].state, self.slips[key].place = "expired", False

    @rule(number=st.integers(0, PEOPLE - 1))
    def draw(self, number: int) -> None:
        drawn = judging.draw(self.person(number))
        self.forget_lapsed()
        if not isinstance(drawn, Assignment):
            mine = {slip.pair for slip in self.slips.values() if slip.person == number}
            judged = sum(slip.state == "judged" for slip in self.slips.values() if slip.person == number)
            if drawn == judging.NoPair.DONE:
                assert judged >= 8
            elif Study.objects.get().state == "open":  # nobody is told that there is nothing while there is something
                assert self.taken() >= 9 or all(
                    not self.free(pair) for pair in {s.pair for s in self.slips.values()} - mine
                )
            return
        slip = self.slips.get(drawn.pk)
        if slip is None:
            assert drawn.pair_id not in {one.pair for one in self.slips.values() if one.person == number}
            self.slips[drawn.pk] = Slip(drawn.pair_id, number)
        else:
            assert slip.person == number
            assert slip.state in ("open", "lapsed", "expired")
            slip.state, slip.place = "open", slip.place or slip.state == "expired"

    @precondition(lambda self: self.slips)
    @rule(which=st.integers(0, 99), side=st.sampled_from(["left", "right", "tie"]), late=st.integers(0, 2))
    def answer(self, which: int, side: str, late: int) -> None:
        assignment = self.assignment(which)
        slip = self.slips[assignment.pk]
        revision = max(1, len(slip.answers) + 1 - late)
        if revision <= len(slip.answers):  # an older form, or a second click
            recorded = judging.record_judgment(assignment, revision, side)
            same = slip.answers[revision - 1] == side
            assert recorded.outcome == (Outcome.REPEATED if same else Outcome.DIFFERS)
        elif slip.state == "judged":
            with pytest.raises(judging.OutOfTurn):
                judging.record_judgment(assignment, revision, side)
        else:
            place = slip.place or self.free(slip.pair)
            recorded = judging.record_judgment(assignment, revision, side)
            assert (recorded.outcome, recorded.counted) == (Outcome.STORED, place)
            slip.answers.append(side)
            slip.state, slip.place = "judged", place

    @precondition(lambda self: self.slips)
    @rule(which=st.integers(0, 99))
    def undo(self, which: int) -> None:
        assignment = self.assignment(which)
        slip = self.slips[assignment.pk]
        assert judging.undo(assignment) == (slip.state in ("judged", "skipped"))
        if slip.state == "skipped":
            slip.place = self.free(slip.pair)
            slip.state = "open" if slip.place else "expired"
        if slip.state == "judged":
            slip.state = "open"
            slip.answers.append("undone")

    @precondition(lambda self: self.slips)
    @rule(which=st.integers(0, 99), reason=st.sampled_from(Assignment.SkipReason.values))
    def skip(self, which: int, reason: str) -> None:
        assignment = self.assignment(which)
        slip = self.slips[assignment.pk]
        assert judging.skip(assignment, reason) == (slip.state in ("open", "lapsed", "expired"))
        if slip.state in ("open", "lapsed", "expired"):
            slip.state, slip.place = "skipped", False

    @precondition(lambda self: any(slip.state == "open" for slip in self.slips.values()))
    @rule(which=st.integers(0, 99))
    def lapse(self, which: int) -> None:
        assignment = self.assignment(which)
        if self.slips[assignment.pk].state == "open":
            let_lapse(assignment)
            self.slips[assignment.pk].state = "lapsed"

    @rule(number=st.integers(0, PEOPLE - 1))
    def pause(self, number: int) -> None:
        judging.pause(self.person(number))
        for slip in self.slips.values():
            if slip.person == number and slip.state in ("open", "lapsed"):
                slip.state, slip.place = "expired", False

    @rule(state=st.sampled_from(["open", "paused"]))
    def pause_study(self, state: str) -> None:
        Study.objects.update(state=state)

    @rule(need=st.integers(1, 3))
    def change_need(self, need: int) -> None:
        Study.objects.update(judgments_per_pair=need)
        judging.keep_needs(Study.objects.get())

    @rule()
    def look_at_annotators(self) -> None:
        report_annotators(self.study)

    @invariant()
    def rows_say_what_the_model_says(self) -> None:
        rows = Assignment.objects.values_list("pk", "state", "holds_place")
        states = {
            key: ("open" if slip.state == "lapsed" else slip.state, slip.place) for key, slip in self.slips.items()
        }
        assert {key: (state, place) for key, state, place in rows} == states
        stored = sorted(Judgment.objects.values_list("assignment", "revision", "answer"))
        expected = [(key, i, one) for key, slip in self.slips.items() for i, one in enumerate(slip.answers, 1)]
        assert stored == sorted(expected)
        counted = Judgment.objects.counted().values_list("assignment", "answer")
        wanted = {(key, slip.answers[-1]) for key, slip in self.slips.items() if slip.state == "judged" and slip.place}
        assert set(counted) == wanted
        assert_books_balance(self.study)


@pytest.mark.django_db
def test_whatever_happens_in_whatever_order_the_books_balance():
    assert connection.in_atomic_block  # every example is rolled back
    run_state_machine_as_test(
        Judging,
        settings=settings(
            max_examples=12, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
