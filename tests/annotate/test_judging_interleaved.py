"""Judgments and draws stepped through statement by statement, in every order that the database's locks let happen.

On PostgreSQL alone: on SQLite one transaction begins where another ends, so there is nothing to interleave.
"""

from __future__ import annotations

import os
import queue
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import audit_log, imports, invitations, judging, studies
from annotate.database import statements
from annotate.judging import NoPair, Outcome, choosing, drawing
from annotate.judging.drawing import LEASE
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Item,
    Judgment,
    Ranking,
    SourceDocument,
    Study,
    Suggestion,
    System,
    SystemScore,
)
from evaluation import tasks
from tests.annotate import making, scored
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, let_lapse, ready_study

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not os.environ.get("DATABASE_URL", "").startswith("postgres"), reason="`manage.py test --services` runs it"
    ),
]

Job = Callable[[], Any]
Check = Callable[[list[Any]], None]
PATIENCE = 30.0
MOMENT = 0.002  # seconds without a sign of a session, after which the database is asked whether it waits for a lock


class Session(threading.Thread):
    """A thread with a connection of its own that stops before each statement, COMMIT and ROLLBACK."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.jobs = queue.SimpleQueue[Job | None]()
        self.stopped, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.stops: Callable[[str], bool] = bool
        self.over, self.pid = True, 0
        self.result: Any = None
        self.ready = threading.Event()

    def run(self) -> None:
        connection.ensure_connection()
        self.pid = connection.connection.info.backend_pid
        for name in ("_commit", "_rollback"):
            setattr(connection, name, self._pausing(getattr(connection, name), name.strip("_").upper()))
        self.ready.set()
        with connection.execute_wrapper(self._wrapper):
            while (job := self.jobs.get()) is not None:
                try:
                    self.result = job()
                except Exception as error:
                    self.result = error
                self.over = True
                self.stopped.release()
        connection.close()

    def begin(self, job: Job, stops: Callable[[str], bool]) -> None:
        self.over, self.stops = False, stops
        self.jobs.put(job)

    def _wrapper(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self._pause(sql)
        return execute(sql, *rest)

    def _pausing(self, act: Callable[[], None], name: str) -> Callable[[], None]:
        def pause_and_act() -> None:
            self._pause(name)
            act()

        return pause_and_act

    def _pause(self, statement: str) -> None:
        if self.stops(statement):
            self.stopped.release()
            assert self.go.acquire(timeout=PATIENCE), "nobody let this session go on"

    def comes_to_a_stop(self) -> bool:
        """Wait until it stands before its next statement or has ended; False where it waits for somebody's lock."""
        while not self.stopped.acquire(timeout=MOMENT):
            with connection.cursor() as cursor:
                cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", [self.pid])
                if cursor.fetchone()[0]:
                    return False
        return True


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Session]]:
    several = [Session() for _ in range(4)]
    for one in several:
        one.start()
        assert one.ready.wait(PATIENCE)
    yield several
    for one in several:
        one.jobs.put(None)
        one.join(PATIENCE)


def in_one_order(sessions: Sequence[Session], prefix: list[int]) -> list[tuple[int, int]]:
    """Let them go on one at a time, at first as the prefix says; at each step, which was chosen of how many."""
    path: list[tuple[int, int]] = []
    waiting = list(sessions)  # for a lock, or not yet before their first statement
    standing: list[Session] = []
    while True:
        for one in list(waiting):
            if one.comes_to_a_stop():
                waiting.remove(one)
                if not one.over:
                    standing.append(one)
        if not waiting and not standing:
            return path
        if not standing:
            continue  # should they wait for each other, the database ends one of them
        standing.sort(key=sessions.index)
        chosen = prefix[len(path)] if len(path) < len(prefix) else 0
        path.append((chosen, len(standing)))
        one = standing.pop(chosen)
        one.go.release()
        waiting.insert(0, one)  # the others may wait for what it does now


def in_every_order(
    sessions: Sequence[Session],
    make: Callable[[], tuple[Study, list[Job], Check]],
    monkeypatch: pytest.MonkeyPatch,
    stops: Callable[[str], bool] = bool,
    *,
    at_least: int,
) -> None:
    """Make the situation anew for each order and check what came of it; there are at least so many orders."""
    orders, prefix = 0, list[int]()
    monkeypatch.setattr(choosing, "TRIES", (1,))  # many tries to find a pair by chance would be as many orders
    while True:
        chance = random.Random(7)  # chance must not decide what is asked
        for module in (choosing, drawing):
            monkeypatch.setattr(module, "chance", chance)
        study, jobs, check = make()
        ours = sessions[: len(jobs)]
        for session, job in zip(ours, jobs, strict=True):
            session.begin(job, stops)
        path = in_one_order(ours, prefix)
        results = [session.result for session in ours]
        assert not [one for one in results if isinstance(one, Exception)], (results, path)
        check(results)
        assert_books_balance(study)
        orders += 1
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            break
        prefix = [chosen for chosen, _of in path[:-1]] + [path[-1][0] + 1]
    print(orders, "orders")
    assert orders >= at_least


def answer(assignment: Assignment, side: str = "left", showing: Assignment | None = None) -> Job:
    """The job to store an answer as a request finds it."""
    found = Assignment.objects.to_show().get(pk=assignment.pk)
    return partial(judging.record_judgment, found, 1, side, 2.0, showing=showing)


class FirstLock(threading.local):
    """Stops where a transaction locks a topic's tally: from there to its end it is alone, so this gives every order."""

    locked = False

    def __call__(self, statement: str) -> bool:
        plain = statement.replace('"', "")
        locks = "annotate_tally" in plain and ("FOR UPDATE" in plain or "data_version = " in plain)
        first = locks and not self.locked
        self.locked = (self.locked or locks) and statement not in ("COMMIT", "ROLLBACK")
        return first


def draw(annotator: Annotator) -> Job:
    return partial(judging.draw, Annotator.objects.select_related("study").get(pk=annotator.pk))


def places_of(study: Study) -> int:
    return Assignment.objects.filter(item_set__study=study, holds_place=True).count()


@pytest.mark.parametrize("other", ["left", "right"])
def test_one_form_sent_twice_in_any_order_is_one_judgment(other, sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=3)
        assignment = drawn(joined(study))

        def check(results: list[Any]) -> None:
            second = Outcome.REPEATED if other == "left" else Outcome.DIFFERS
            assert Counter(one.outcome for one in results) == {Outcome.STORED: 1, second: 1}
            (judgment,) = Judgment.objects.filter(assignment=assignment)
            assert {one.judgment.pk for one in results} == {judgment.pk}

        return study, [answer(assignment), answer(assignment, other)], check

    in_every_order(sessions, make, monkeypatch, at_least=4)


def test_two_late_answers_in_any_order_share_the_one_place(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=2)
        late = []
        for _ in range(2):
            late.append(drawn(joined(study)))
            let_lapse(late[-1])
        judging.skip(drawn(joined(study)), "unclear")  # they took the place over, and give it back

        def check(results: list[Any]) -> None:
            assert {one.outcome for one in results} == {Outcome.STORED}
            assert sum(one.counted for one in results) == 1
            assert places_of(study) == 1

        return study, [answer(one) for one in late], check

    in_every_order(sessions, make, monkeypatch, at_least=12)


def of_tallies(statement: str) -> bool:
    """What reads, locks or changes a topic's tally, and the end of the transaction: in between, others only read."""
    return "annotate_tally" in statement or statement in ("COMMIT", "ROLLBACK")


def test_two_draws_in_any_order_share_the_one_place(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=2)

        def check(results: list[Any]) -> None:
            assert sum(isinstance(one, NoPair) for one in results) == 1
            assert places_of(study) == 1

        return study, [draw(joined(study)), draw(joined(study))], check

    in_every_order(sessions, make, monkeypatch, of_tallies, at_least=20)


def test_a_late_answer_and_a_draw_in_any_order_leave_no_place_over(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=2)
        late = drawn(joined(study))
        let_lapse(late)

        def check(results: list[Any]) -> None:
            recorded, taken = results
            assert recorded.outcome == Outcome.STORED
            assert recorded.counted == isinstance(taken, NoPair)
            assert places_of(study) == 1

        return study, [answer(late), draw(joined(study))], check

    in_every_order(sessions, make, monkeypatch, of_tallies, at_least=20)


def test_an_answer_that_brings_a_pair_and_a_draw_in_any_order_share_the_one_place(sessions, monkeypatch):
    """Three pairs: one is answered, one is shown meanwhile, and both reach for the third."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=3, random_share=0.0)
        annotator = joined(study)
        now = drawn(annotator)
        showing = judging.draw(annotator, besides=now)
        for rank, (first, second) in enumerate(combinations(Item.objects.filter(item_set=now.item_set_id), 2)):
            Suggestion.objects.create(item_set_id=now.item_set_id, rank=rank, first=first, second=second)

        def check(results: list[Any]) -> None:
            recorded, other = results
            assert recorded.outcome == Outcome.STORED
            assert (recorded.following is None) == isinstance(other, Assignment)
            assert places_of(study) == 3

        return study, [answer(now, showing=showing), draw(joined(study))], check

    in_every_order(sessions, make, monkeypatch, of_tallies, at_least=4)


def test_two_tabs_in_any_order_hold_one_pair_more_and_no_third(sessions, monkeypatch):
    """An answer that brings a pair, while another tab of the same person asks for the pair after the shown one."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=8)
        annotator = joined(study)
        now = drawn(annotator)
        showing = judging.draw(annotator, besides=now)
        tab = Annotator.objects.select_related("study").get(pk=annotator.pk)

        def check(results: list[Any]) -> None:
            recorded, _other = results
            assert recorded.outcome == Outcome.STORED
            assert Assignment.objects.filter(annotator=annotator, state="open").count() <= 2

        return study, [answer(now, showing=showing), lambda: judging.draw(tab, besides=showing)], check

    in_every_order(sessions, make, monkeypatch, of_tallies, at_least=4)


def test_two_answers_and_two_draws_in_any_order_fill_two_places(sessions, monkeypatch):
    """One answer comes in time and one late, while two others reach for the late one's place."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(sentences=2, judgments_per_pair=2)
        late, timely = drawn(joined(study)), drawn(joined(study))
        let_lapse(late)

        def check(results: list[Any]) -> None:
            by_late, by_timely, *taken = results
            assert by_late.outcome == by_timely.outcome == Outcome.STORED
            assert by_timely.counted
            assert by_late.counted + sum(isinstance(one, Assignment) for one in taken) == 1
            assert places_of(study) == 2

        return study, [answer(late), answer(timely), draw(joined(study)), draw(joined(study))], check

    in_every_order(sessions, make, monkeypatch, FirstLock(), at_least=60)


def writes(statement: str) -> bool:
    return "UPDATE" in statement or statement == "COMMIT"


def test_an_answer_and_an_admin_who_lets_its_annotator_rest_never_wait_for_each_other(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        annotator = joined(study)
        assignment = drawn(annotator)

        def check(results: list[Any]) -> None:
            recorded, _rested = results
            assert recorded.outcome == Outcome.STORED
            assert Annotator.objects.get(pk=annotator.pk).paused_at

        rest = partial(judging.rest, Annotator.objects.get(pk=annotator.pk), making.owner(study), on=True)
        return study, [answer(assignment), rest], check

    in_every_order(sessions, make, monkeypatch, writes, at_least=4)


def test_an_answer_and_another_tab_that_goes_on_with_the_pair_never_wait_for_each_other(sessions, monkeypatch):
    """The tab looks for a pair in the topic that they judged last, finds the one they hold, and renews its lease."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study(topics=2)
        annotator = joined(study)
        held = drawn(annotator)
        while (other := judged(joined(study))).item_set_id == held.item_set_id:
            pass  # which of two topics that are equally filled comes first is left to the order of their rows
        Assignment.objects.filter(pk=other.pk).update(annotator=annotator)
        Annotator.objects.filter(pk=annotator.pk).update(judged=1, seconds=5.0, previous=other.key)
        Annotator.objects.filter(pk=other.annotator_id).update(judged=0, seconds=0.0, previous=None)
        Assignment.objects.filter(pk=held.pk).update(expires_at=timezone.now() + LEASE / 4)

        def check(results: list[Any]) -> None:
            recorded, _drawn = results
            assert (recorded.outcome, recorded.counted) == (Outcome.STORED, True)

        return study, [answer(held), draw(annotator)], check

    in_every_order(sessions, make, monkeypatch, writes, at_least=4)


def test_a_draw_and_somebody_who_mends_a_text_never_wait_for_each_other(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        document = SourceDocument.objects.get(topic__study=study)

        def check(results: list[Any]) -> None:
            assert SourceDocument.objects.get(pk=document.pk).mended

        mend = partial(imports.mend, document, [" ".join(document.sentences)], making.owner(study))
        return study, [draw(joined(study)), mend], check

    in_every_order(sessions, make, monkeypatch, writes, at_least=4)


def test_an_answer_and_somebody_who_joins_its_sentence_in_any_order_leave_it_in_the_history(sessions, monkeypatch):
    """Either it is stored, and becomes history, or its pair is gone, and whoever gave it is told so."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        judged(joined(study))
        annotator = joined(study)
        held = drawn(annotator)
        document = SourceDocument.objects.get(topic__study=study)
        found = statements.find_to_answer([held.key])[held.key]

        def answer_if_there() -> Any:
            with suppress(Assignment.DoesNotExist):
                return judging.record_judgment(found, 1, "left", 5.0)

        def check(results: list[Any]) -> None:
            stored = Judgment.objects.filter(assignment=held.pk).count()
            assert stored == (results[0] is not None)
            assert Assignment.objects.get(pk=held.pk).state == "void"
            assert Annotator.objects.get(pk=annotator.pk).judged == stored
            assert not Judgment.objects.counted().exists()

        join = partial(imports.mend, document, [" ".join(document.sentences)], making.owner(study), lose=9)
        return study, [answer_if_there, join], check

    in_every_order(sessions, make, monkeypatch, FirstLock(), at_least=2)


def test_an_answer_and_the_removal_of_its_topic_in_any_order_keep_it_once(sessions, monkeypatch):
    """It is stored in time, and becomes history, or after, and is surplus should the topic be restored."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        held = drawn(joined(study))

        def check(results: list[Any]) -> None:
            recorded, removal = results
            assert recorded.outcome == Outcome.STORED
            assert Assignment.objects.get(pk=held.pk).state == "void"
            imports.restore_removed(removal, making.owner(study))
            assert Judgment.objects.counted().filter(assignment=held.pk).count() == recorded.counted
            assert Assignment.objects.get(pk=held.pk).state == "judged"

        remove = partial(imports.remove, study, making.owner(study), "topic", str(held.item_set_id))
        return study, [answer(held), remove], check

    in_every_order(sessions, make, monkeypatch, locks_or_ends, at_least=2)


def test_an_answer_and_the_return_of_its_topic_in_any_order_keep_it_once(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        held = drawn(joined(study))
        removal = imports.remove(study, making.owner(study), "topic", str(held.item_set_id))

        def check(results: list[Any]) -> None:
            recorded, _removal = results
            assert recorded.outcome == Outcome.STORED
            assert Assignment.objects.get(pk=held.pk).state == "judged"
            assert Judgment.objects.counted().filter(assignment=held.pk).count() == recorded.counted

        return study, [answer(held), partial(imports.restore_removed, removal, making.owner(study))], check

    in_every_order(sessions, make, monkeypatch, locks_or_ends, at_least=2)


def locks_or_ends(statement: str) -> bool:
    """What locks a row, and the end of the transaction; in between, what it writes is nobody's concern."""
    return statement.endswith("FOR UPDATE") or "FOR NO KEY UPDATE" in statement or statement in ("COMMIT", "ROLLBACK")


def of_systems(statement: str) -> bool:
    """What locks the study, writes a system's place or deletes a system, and the end of the transaction."""
    locks = '"annotate_study"' in statement and "FOR NO KEY UPDATE" in statement
    writes = statement.startswith(('INSERT INTO "annotate_systemscore', 'DELETE FROM "annotate_system'))
    return locks or writes or statement == "COMMIT"


def test_a_removal_and_a_ranking_in_any_order_leave_a_board_of_what_is_there(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = scored.scored_study()
        for topic in study.topics.all():
            tasks.cut_topic(topic.pk)
            tasks.refit_topic(topic.pk)
        Ranking.objects.filter(study=study).delete()
        system = System.objects.get(study=study, name="=hat")

        def check(results: list[Any]) -> None:
            assert not System.objects.filter(pk=system.pk).exists()
            assert tasks.catch_up(study.pk) == {}
            board = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="recommended")
            assert [row.system.name for row in board] == ["lead & co_"]

        rank = partial(tasks.rank_study, study.pk)
        return study, [rank, partial(imports.remove, study, making.owner(study), "system", str(system.pk))], check

    in_every_order(sessions, make, monkeypatch, of_systems, at_least=4)


def test_changed_settings_and_an_invitation_never_wait_for_each_other(sessions, monkeypatch):
    """One locks the study, then its log; the other writes into the log, and refers to the study at COMMIT."""

    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        change = partial(studies.change_settings, study, making.owner(study), title="Another")
        invite = partial(invitations.invite, study, making.owner(study))

        def check(results: list[Any]) -> None:
            assert list(audit_log.verify()) == []
            assert AuditEntry.objects.filter(study=study, action__in=["invite", "change settings"]).count() == 2

        return study, [change, invite], check

    in_every_order(sessions, make, monkeypatch, locks_study_or_log, at_least=4)


def locks_study_or_log(statement: str) -> bool:
    locks = '"annotate_study"' in statement and "UPDATE" in statement
    return locks or "advisory" in statement or statement == "COMMIT"


def by_browser(client: Client, address: str, fields: dict[str, Any]) -> Job:
    """A request's status; what goes wrong on the way is answered as the website answers it."""
    client.raise_request_exception = False
    return lambda: client.post(address, fields).status_code


@pytest.mark.parametrize("what", ["delete", "answer", "draw", "join"])
def test_a_deletion_and_whatever_comes_beside_it_in_any_order_meet_no_error(what, sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = ready_study()
        owner, visitor = Client(), Client()
        owner.force_login(making.owner(study))
        link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
        here = visitor.post(link).url
        home = reverse("progress", args=[Annotator.objects.get(study=study).key])
        deletion = reverse("study_delete", args=[study.pk]), {"title": study.title}
        other = {
            "delete": (owner, *deletion),
            "answer": (visitor, here, {"answer": "left", "revision": 1, "seconds": 5.0}),
            "draw": (visitor, f"{home}draw/", {}),
            "join": (Client(), link, {}),
        }[what]

        def check(results: list[Any]) -> None:
            assert results[0] == 302 or (what == "delete" and sorted(results) == [302, 404]), results
            assert results[1] in (302, 404), results
            assert not Study.objects.filter(pk=study.pk).exists()

        deleter = Client()
        deleter.cookies = owner.cookies
        return study, [by_browser(deleter, *deletion), by_browser(*other)], check

    in_every_order(sessions, make, monkeypatch, FirstLockOrEnd(), at_least=2)


class FirstLockOrEnd(threading.local):
    """Stops where a transaction first locks a row, and where it ends."""

    locked = False

    def __call__(self, statement: str) -> bool:
        ends = statement in ("COMMIT", "ROLLBACK")
        locks = "FOR UPDATE" in statement or "FOR NO KEY UPDATE" in statement
        first = locks and not self.locked
        self.locked = (self.locked or locks) and not ends
        return first or ends


def test_a_deletion_and_a_fit_never_wait_for_each_other(sessions, monkeypatch):
    def make() -> tuple[Study, list[Job], Check]:
        study = scored.scored_study()
        topic = study.topics.get(name="rain")
        tasks.cut_topic(topic.pk)
        found = Study.objects.get(pk=study.pk)

        def check(results: list[Any]) -> None:
            assert not Study.objects.filter(pk=study.pk).exists()

        return (
            study,
            [partial(tasks.refit_topic.__wrapped__, topic.pk), partial(studies.delete_study, found, study.created_by)],
            check,
        )

    in_every_order(sessions, make, monkeypatch, of_topics, at_least=2)


def of_topics(statement: str) -> bool:
    locks = '"annotate_topic"' in statement and "UPDATE" in statement and statement.startswith("SELECT")
    deletes = statement.startswith(('DELETE FROM "annotate_item', 'DELETE FROM "annotate_topic"'))
    return locks or deletes or statement == "COMMIT"
