"""What fails says why, waits longer each time, and keeps nobody else from their turn."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import time
import weakref
from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from celery.exceptions import SoftTimeLimitExceeded
from celery.fixups.django import DjangoWorkerFixup
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from annotate import exports, imports, judging
from annotate import studies as verbs
from annotate.models import Claim, Export, Ranking, Score, Sentence, TopicProgress, Upload, WorkerPulse
from evaluation import records, tasks, worker
from tests import studies

pytestmark = pytest.mark.django_db


def progress(topic) -> TopicProgress:
    return TopicProgress.objects.get(topic=topic)


def waiting(topic) -> bool:
    return any(work.claim == f"topic:{topic.pk}" for work in records.find_work())


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mathematics that fail."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by\nzero")

    monkeypatch.setattr(tasks, "evaluate", fail)


@pytest.mark.usefixtures("broken")
def test_a_failing_topic_says_why_and_waits() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert "ZeroDivisionError: division by zero" in progress(topic).problem
    assert not waiting(topic)
    TopicProgress.objects.update(retry_at=timezone.now())
    assert waiting(topic)
    assert not Claim.objects.filter(until__gt=timezone.now()).exists()


@pytest.mark.usefixtures("broken")
def test_each_failure_in_a_row_makes_the_wait_longer() -> None:
    _, topic = studies.example_study()
    waits = []
    for _ in range(7):
        tasks.refit_topic(topic.pk)
        waits.append(math.ceil((progress(topic).retry_at - timezone.now()).total_seconds()))
    assert waits == sorted(waits)
    assert waits[0] == 5
    assert waits[-1] == waits[-2] == 600


@pytest.mark.usefixtures("broken")
def test_new_data_cut_the_wait_short_but_not_for_ever() -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    assert waiting(topic)
    for _ in range(5):
        tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    assert not waiting(topic)


def test_success_wipes_out_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    _, topic = studies.example_study()
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "evaluate", lambda *_, **__: 1 / 0)
        tasks.refit_topic(topic.pk)
    tasks.refit_topic(topic.pk)
    now = progress(topic)
    assert (now.problem, now.tries, now.retry_at) == ("", 0, None)
    assert Score.objects.filter(summary__topic=topic).count() == 4


def test_a_topic_that_fails_blocks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    made, good = studies.example_study()
    (bad,) = studies.intake.take_in(made, studies.example_bundle("bad"))
    sound = tasks.evaluate

    def evaluate(evidence, *arguments, **options):
        if evidence.topic_id == "bad":
            raise MemoryError
        return sound(evidence, *arguments, **options)

    monkeypatch.setattr(tasks, "evaluate", evaluate)
    assert tasks.catch_up(made.pk) == {"bad": progress(bad).problem}
    assert Score.objects.filter(summary__topic=good).count() == 4
    assert Ranking.objects.get(study=made).topics == 1


def test_without_a_prior_the_topic_names_what_was_never_beaten_and_a_prior_that_would_do() -> None:
    made, topic = studies.example_study(prior=0.0, smooth="none")
    tasks.refit_topic(topic.pk)
    problem = progress(topic).problem
    assert "d1:" in problem
    assert "0.1" in problem
    assert not waiting(topic)
    verbs.change_settings(made, made.created_by, prior=0.1)
    assert waiting(topic)
    tasks.refit_topic(topic.pk)
    assert progress(topic).problem == ""


def test_data_that_will_not_do_are_no_failure_of_ours_however_often_they_come() -> None:
    _, topic = studies.example_study(prior=0.0, smooth="none")
    for _ in range(8):
        tasks.refit_topic(topic.pk)
        judging.raise_version([topic.pk])
    assert waiting(topic)


def test_what_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def take_for_ever(*_: object, **__: object) -> None:
        raise SoftTimeLimitExceeded

    monkeypatch.setattr(tasks, "evaluate", take_for_ever)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert "longer than a minute" in progress(topic).problem


def test_a_topic_that_kills_its_worker_says_so_and_waits() -> None:
    _, topic = studies.example_study()
    for _ in range(2):
        assert records.begin_try(topic.pk)  # and the process is gone
    assert records.begin_try(topic.pk)
    assert "killed 2 times in a row" in progress(topic).problem
    assert progress(topic).retry_at > timezone.now() + timedelta(seconds=20)


def test_a_task_for_what_is_gone_or_done_does_nothing() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    before = progress(topic)
    for task in (tasks.prepare_topic, tasks.refit_topic):
        task(topic.pk)
        task(10**9)
    for task in (tasks.rank_study, tasks.read_upload, tasks.store_upload, tasks.write_export):
        task(10**9)
    tasks.rank_study(made.pk)
    assert progress(topic).tried_at == before.tried_at


def test_a_ranking_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "rank_systems", lambda *_, **__: 1 / 0)
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert "ZeroDivisionError" in Ranking.objects.get(study=made).problem
    monkeypatch.undo()
    assert studies.to_do() == [("rank_study", made.pk)]
    tasks.rank_study(made.pk)
    assert Ranking.objects.get(study=made).problem == ""
    assert studies.to_do() == []


def test_a_curve_that_fails_is_left_until_the_next_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "curve", lambda *_, **__: 1 / 0)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert studies.to_do() == []
    assert progress(topic).problem == ""
    monkeypatch.undo()
    judging.raise_version([topic.pk])
    tasks.refit_topic(topic.pk)
    assert len(topic.fits.latest("pk").curve) == 3


TOPICS = b'{"topic_id": "M1", "documents": [{"id": "d1", "text": "It rained. Rivers rose."}]}\n'


def receive(content: bytes = TOPICS) -> Upload:
    made = studies.study()
    return imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", content))


def test_an_upload_is_read_looked_at_and_stored_with_its_sentences() -> None:
    upload = receive()
    assert studies.to_do() == [("read_upload", upload.pk)]
    tasks.read_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.READY
    assert upload.preview["topics"][0]["sentences"] == 2
    assert studies.to_do() == []
    imports.confirm(upload, upload.user)
    assert studies.to_do() == [("store_upload", upload.pk)]
    tasks.store_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.STORED
    texts = Sentence.objects.filter(topic__study=upload.study).values_list("text", flat=True)
    assert list(texts) == ["It rained.", "Rivers rose."]


def test_a_refused_upload_is_not_tried_again() -> None:
    upload = receive(b'{"topic_id": ""}\n')
    tasks.read_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.REFUSED
    assert upload.complaints
    assert studies.to_do() == []


def test_a_file_that_kills_its_reader_is_given_up_after_three_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = receive()
    monkeypatch.setattr(tasks.imports, "read_upload", lambda *_: 1 / 0)
    for _ in range(4):
        assert Upload.objects.get(pk=upload.pk).state == Upload.State.WAITING
        tasks.read_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.FAILED
    assert "three times" in str(upload.complaints)


def test_tries_at_reading_do_not_count_against_storing(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = receive()
    with monkeypatch.context() as patch:
        patch.setattr(tasks.imports, "read_upload", lambda *_: 1 / 0)
        tasks.read_upload(upload.pk)
        tasks.read_upload(upload.pk)
    tasks.read_upload(upload.pk)
    upload.refresh_from_db()
    imports.confirm(upload, upload.user)
    tasks.store_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.STORED


def test_an_export_is_written_for_whoever_asked() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    export = exports.request_export(made, made.created_by)
    assert studies.to_do() == [("write_export", export.pk)]
    tasks.write_export(export.pk)
    export.refresh_from_db()
    assert export.state == Export.State.READY
    assert export.file.size > 0
    assert studies.to_do() == []


def test_an_export_that_fails_three_times_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = studies.example_study()
    export = exports.request_export(made, made.created_by)
    monkeypatch.setattr(tasks.exports, "write_export", lambda *_: 1 / 0)
    for _ in range(4):
        tasks.write_export(export.pk)
    export.refresh_from_db()
    assert export.state == Export.State.FAILED
    assert export.problem


# The heartbeat


class Queue(list[records.Work]):
    def taken(self) -> list[tuple[str, int]]:
        """What was put into the queue since the last look, but for reports on people."""
        found = [(work.task, work.key) for work in self if work.task != "report_people"]
        self.clear()
        return found


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def heartbeat(queue: Queue) -> worker.Heartbeat:
    return worker.Heartbeat(queue.append)


def test_what_is_behind_is_queued_once(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", topic.pk)]
    heartbeat.beat(1.0)
    assert queue.taken() == []


def test_a_message_that_was_lost_is_sent_again(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    heartbeat.beat(worker.LOST_SECONDS + 1)
    assert queue.taken() == [("refit_topic", topic.pk)]


def test_new_judgments_after_a_fit_are_queued_in_the_next_round(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert ("refit_topic", topic.pk) not in queue.taken()
    heartbeat.beat(worker.ROUND_SECONDS)
    assert ("refit_topic", topic.pk) in queue.taken()


def test_a_topic_that_was_left_alone_is_queued_at_the_next_beat(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    heartbeat.beat(0.0)
    assert ("refit_topic", topic.pk) not in queue.taken()
    judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert ("refit_topic", topic.pk) in queue.taken()


def test_systems_are_put_in_order_in_the_same_beat_as_their_topics_are_fitted(
    heartbeat: worker.Heartbeat, queue: Queue
) -> None:
    study, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", topic.pk), ("rank_study", study.pk)]


def test_a_burst_while_a_task_waits_queues_no_second_one(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    for _ in range(100):
        judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert queue.taken() == []


def test_the_queue_stays_short_whatever_there_is_to_do(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    made = studies.study()
    topics = [studies.formats.Topic(f"T{i}", (studies.formats.Text("d", "It rained."),)) for i in range(50)]
    stored = studies.intake.take_in(made, studies.formats.Bundle(topics=tuple(topics)))
    judging.raise_version([topic.pk for topic in stored])
    heartbeat.beat(0.0)
    assert len(queue.taken()) == worker.UNDER_WAY
    heartbeat.beat(1.0)
    assert queue.taken() == []


def test_however_many_topics_wait_files_are_read_and_studies_ranked(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    Ranking.objects.all().delete()
    topics = [studies.formats.Topic(f"T{i}", (studies.formats.Text("d", "It rained."),)) for i in range(50)]
    judging.raise_version([one.pk for one in studies.intake.take_in(made, studies.formats.Bundle(tuple(topics)))])
    upload = imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", TOPICS))
    heartbeat.beat(0.0)
    assert {("read_upload", upload.pk), ("rank_study", made.pk)} < set(queue.taken())


def test_several_workers_send_different_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "UNDER_WAY", 20)
    made = studies.study()
    topics = [studies.formats.Topic(f"T{i}", (studies.formats.Text("d", "It rained."),)) for i in range(100)]
    judging.raise_version([topic.pk for topic in studies.intake.take_in(made, studies.formats.Bundle(tuple(topics)))])
    sent: list[records.Work] = []
    several = [worker.Heartbeat(sent.append) for _ in range(4)]
    for number, heartbeat in enumerate(several):
        heartbeat.alone, heartbeat.name_of_process = False, f"worker {number}"
        records.give_sign_of_life(heartbeat.name_of_process)
    for heartbeat in several:
        heartbeat.beat(0.0)
    assert len(sent) == 80
    assert {work.key for work in sent} <= set(made.topics.order_by("pk").values_list("pk", flat=True)[:80])
    assert len({work.key for work in sent}) > 40  # 55 of 80 on average; all the same 20 if each sent the first


def test_topics_take_turns(heartbeat: worker.Heartbeat, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    made, first = studies.example_study()
    (second,) = studies.intake.take_in(made, studies.example_bundle("second"))
    monkeypatch.setattr(worker, "UNDER_WAY", 1)
    turns = []
    for beat in range(4):
        heartbeat.beat(float(beat))
        for _, key in queue.taken():
            turns.append(key)
            tasks.refit_topic(key)
            judging.raise_version([key])
    assert turns == [first.pk, second.pk, first.pk, second.pk]


def test_the_first_beat_frees_what_a_dead_worker_claimed(heartbeat: worker.Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.alone = True
    with records.claimed(f"topic:{topic.pk}"):
        heartbeat.beat(0.0)
        assert queue.taken() == [("refit_topic", topic.pk)]


def test_the_heartbeat_gives_a_sign_of_life(heartbeat: worker.Heartbeat) -> None:
    heartbeat.beat(0.0)
    assert WorkerPulse.objects.get().at > timezone.now() - timedelta(seconds=5)


def test_the_heartbeat_has_wrong_passwords_and_sessions_forgotten_that_are_over(heartbeat: worker.Heartbeat) -> None:
    heartbeat.beat(0.0)
    for key, hours in (("over", -1), ("good", 1)):
        Session.objects.create(session_key=key, expire_date=timezone.now() + timedelta(hours=hours))
    AccessAttempt.objects.create(username="ada", ip_address="192.0.2.7", failures_since_start=1)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    heartbeat.beat(1.0)
    assert AccessAttempt.objects.exists()
    heartbeat.beat(worker.FORGET_SECONDS)
    assert not AccessAttempt.objects.exists()
    assert Session.objects.get().session_key == "good"


def test_a_worker_that_no_longer_hears_its_broker_leaves(
    heartbeat: worker.Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(worker.os, "kill", lambda *arguments: signals.append(arguments))
    studies.example_study()
    now = time.monotonic()
    heartbeat.beat(now)
    heartbeat.beat(now + worker.DEAF_SECONDS - 5)
    assert signals == []
    heartbeat.beat(now + worker.DEAF_SECONDS + 5)
    assert signals


def test_a_worker_that_idles_while_work_waits_leaves_soon(
    heartbeat: worker.Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(worker.os, "kill", lambda *arguments: signals.append(arguments))
    studies.example_study()
    now = time.monotonic()
    for beat in range(worker.IDLE_BEATS):
        heartbeat.beat(now + beat)
    assert signals == []
    for beat in range(worker.IDLE_BEATS, worker.IDLE_BEATS + 2):
        heartbeat.beat(now + beat)
    assert signals


def test_a_worker_that_is_at_work_or_without_a_broker_stays(
    heartbeat: worker.Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker.os, "kill", lambda *_: pytest.fail("it left"))
    studies.example_study()
    now = time.monotonic()
    with monkeypatch.context() as patched:
        patched.setattr(worker, "claims_at_work", lambda: {"topic:1"})
        for beat in range(60):
            heartbeat.beat(now + beat)

    def refused(work: records.Work) -> None:
        raise OSError("no broker")

    heartbeat._publish = refused
    for beat in range(60, 140):
        with contextlib.suppress(OSError):
            heartbeat.beat(now + beat)


def test_a_worker_without_work_stays(heartbeat: worker.Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.os, "kill", lambda *_: pytest.fail("it left"))
    now = time.monotonic()
    for later in (0, 100, 200, 400, 800):
        heartbeat.beat(now + later)


# Connections to the database


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows whenever this thread's connection is closed."""
    found: list[str] = []
    monkeypatch.setattr(connection, "close", lambda: found.append("closed"))
    return found


@pytest.mark.django_db(transaction=True)
def test_a_connection_outlives_its_task(closed: list[str]) -> None:
    celerys = DjangoWorkerFixup(worker.app)
    for _ in range(100):
        celerys.close_database()
        worker.begin_task()
        worker.end_task()
    assert not closed


def test_a_task_that_ran_out_of_time_leaves_its_connection_to_nobody(
    closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.begin_task()
    monkeypatch.setattr(worker, "_began", time.monotonic() - worker.SOFT_LIMIT)
    worker.end_task()
    assert closed


def test_no_child_is_forked_in_a_beat_or_beside_an_open_connection(
    heartbeat: worker.Heartbeat, closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[bool] = []
    monkeypatch.setattr(heartbeat, "beat", lambda _now: beats.append(heartbeat.forking.locked()))
    heartbeat.stopping.set()
    heartbeat.run()
    assert beats == [True]
    closed.clear()
    heartbeat.before_fork()
    assert closed
    assert heartbeat.forking.locked()


def test_a_child_keeps_none_of_its_parents_connections() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
        socket.socket(socket.AF_UNIX) as local,
    ):
        gone = weakref.proxy(set())
        child = os.fork()
        if not child:
            worker.leave_connections_to_the_parent()
            os._exit(0 if (ours.fileno(), server.fileno()) == (-1, -1) and local.fileno() > 0 else 1)
        del gone
        assert os.waitpid(child, 0)[1] == 0
        ours.sendall(b"still ours")
        theirs, _address = server.accept()
        with theirs:
            assert theirs.recv(20) == b"still ours"
