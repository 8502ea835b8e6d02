"""What fails says why, waits longer each time, and keeps nobody else from their turn."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import socket
import sys
import time
import uuid
import weakref
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import time_machine
from celery._state import _task_stack
from celery.exceptions import SoftTimeLimitExceeded
from celery.fixups.django import DjangoWorkerFixup
from django.contrib.sessions.models import Session
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import ProgrammingError, connection
from django.db.models import Case, F, When
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotate import exports, imports, judging
from annotate import studies as verbs
from annotate.models import (
    Allowance,
    Annotator,
    AnsweredRequest,
    Claim,
    Export,
    Fit,
    Item,
    ItemSetProgress,
    Ranking,
    Score,
    SourceDocument,
    Study,
    Suggestion,
    System,
    Tally,
    Topic,
    Upload,
    Utility,
    WorkerPulse,
)
from annotate.reports import worker
from annotate.server import limits
from evaluation import agenda, app, attempts, claims, records, tasks
from evaluation import heartbeat as beating
from evaluation.agenda import Work
from evaluation.heartbeat import Heartbeat
from tests import studies
from tests.annotate import making
from tests.annotate.reading import signed_in

pytestmark = pytest.mark.django_db


def progress(topic) -> ItemSetProgress:
    return ItemSetProgress.objects.get(item_set=topic.pk)


def claim(name: str) -> Claim:
    return Claim.objects.get(name=name)


def let_time_pass() -> None:
    """Until whatever failed may be tried again."""
    Claim.objects.update(retry_at=timezone.now())


def waiting(topic) -> bool:
    return any(work.claim == f"topic:{topic.pk}" for work in agenda.look().waiting)


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
    let_time_pass()
    assert waiting(topic)
    assert not Claim.objects.filter(until__gt=timezone.now()).exists()


@pytest.mark.usefixtures("broken")
def test_each_failure_in_a_row_makes_the_wait_longer() -> None:
    _, topic = studies.example_study()
    waits = []
    for _ in range(7):
        tasks.refit_topic(topic.pk)
        waits.append(math.ceil((claim(f"topic:{topic.pk}").retry_at - timezone.now()).total_seconds()))
        let_time_pass()
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
    let_time_pass()
    tasks.refit_topic(topic.pk)
    ours = claim(f"topic:{topic.pk}")
    assert (progress(topic).problem, ours.attempts, ours.retry_at) == ("", 0, None)
    assert Score.objects.filter(summary__topic=topic).count() == 2 * 4


def test_a_topic_that_fails_blocks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    made, good = studies.example_study()
    (bad,) = imports.store(made, studies.example_bundle("bad"))
    sound = tasks.evaluate

    def evaluate(evidence, *arguments, **options):
        if evidence.topic_id == "bad":
            raise MemoryError
        return sound(evidence, *arguments, **options)

    monkeypatch.setattr(tasks, "evaluate", evaluate)
    assert tasks.catch_up(made.pk) == {"bad": progress(bad).problem}
    assert Score.objects.filter(summary__topic=good).count() == 2 * 4
    assert Ranking.objects.get(study=made, scored_by="recommended").topics == 1


def several(made: Study, number: int) -> list[Topic]:
    """So many topics that were judged alike and are cut."""
    topics = [imports.store(made, studies.example_bundle(f"T{number}"))[0] for number in range(number)]
    for topic in topics:
        tasks.cut_topic(topic.pk)
    return topics


COMPARED = "differences", "covariance", "ground"


def stored(topics: list[Topic]) -> list[list[tuple[Any, ...]]]:
    """All figures that fits of these topics left, topic by topic."""
    return [
        [
            *Fit.objects.filter(item_set=topic.pk).order_by("scored_by").values_list(*COMPARED, "settings", "words"),
            *Score.objects.filter(summary__topic=topic).order_by("scored_by", "pk").values_list("score", "se", "low"),
            *Utility.objects.filter(sentence__item_set=topic.pk).order_by("pk").values_list("utility", "value", "wins"),
            *Suggestion.objects.filter(item_set=topic.pk).order_by("rank").values_list("rank", "design_weight"),
            *ItemSetProgress.objects.filter(item_set=topic.pk).values_list("fitted_version", "judged", "problem"),
        ]
        for topic in topics
    ]


def test_topics_that_are_fitted_together_get_what_each_would_get_alone() -> None:
    made, _ = studies.example_study()
    topics = several(made, 3)
    tasks.refit_topic(*(topic.pk for topic in topics))
    together = stored(topics)
    judging.raise_version([topic.pk for topic in topics])
    ItemSetProgress.objects.all().delete()
    Fit.objects.all().delete()
    Tally.objects.update(data_version=F("data_version") - 1)
    for topic in topics:
        tasks.refit_topic(topic.pk)
    assert stored(topics) == together
    assert all(together)


def test_topics_that_are_fitted_together_take_hardly_more_queries_than_one() -> None:
    made, first = studies.example_study()
    topics = several(made, 8)
    tasks.refit_topic(first.pk)
    asked = []
    for keys in ([topics[0].pk], [topic.pk for topic in topics[1:]]):
        with CaptureQueriesContext(connection) as queries:
            records.save_results([tasks._fitted(own, set()) for own in records.load_several(keys, tasks.split)])
        asked.append(len([query for query in queries if "INSERT INTO" not in query["sql"]]))
    assert asked[1] <= asked[0] + 6  # each topic has its own guard, of its version


def test_of_topics_that_are_fitted_together_one_that_fails_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, first = studies.example_study()
    (bad,) = imports.store(made, studies.example_bundle("bad"))
    tasks.cut_topic(bad.pk)
    sound = tasks.evaluate

    def evaluate(evidence, *arguments, **options):
        if evidence.topic_id == "bad":
            raise MemoryError
        return sound(evidence, *arguments, **options)

    monkeypatch.setattr(tasks, "evaluate", evaluate)
    tasks.refit_topic(bad.pk, first.pk)
    assert "too little memory" in progress(bad).problem
    assert progress(first).problem == ""
    assert Score.objects.filter(summary__topic=first).count() == 2 * 4
    assert {work.key: work.is_long for work in agenda.look().waiting if work.task == "refit_topic"} == {}
    let_time_pass()
    assert {work.key: work.is_long for work in agenda.look().waiting if work.task == "refit_topic"} == {bad.pk: True}


def test_topics_that_together_took_too_long_are_tried_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made, first = studies.example_study()
    topics = [first, *several(made, 1)]
    monkeypatch.setattr(attempts, "_is_quick", lambda: True)
    save = tasks.records.save_results
    interrupted = lambda fits: save(fits) if len(fits) == 1 else take_for_ever()  # noqa: E731
    monkeypatch.setattr(tasks.records, "save_results", interrupted)
    tasks.refit_topic(*(topic.pk for topic in topics))
    assert [(progress(topic).fitted_version > 0, progress(topic).problem) for topic in topics] == [(True, "")] * 2
    assert not Claim.objects.filter(name__startswith="topic:", attempts__gt=0).exists()


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


def take_for_ever(*_: object, **__: object) -> None:
    raise SoftTimeLimitExceeded


def assert_stopped(monkeypatch: pytest.MonkeyPatch, work: Callable[..., None], closes: bool = False) -> None:
    """A topic that was to be fitted by this says that it took too long."""
    monkeypatch.setattr(attempts, "WORK_LIMIT", 0.0)
    monkeypatch.setattr(tasks, "evaluate", work)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    if closes:
        connection.close()
    assert "longer than a minute" in progress(topic).problem


def test_what_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_stopped(monkeypatch, take_for_ever)


def test_a_worker_that_was_busy_says_when_it_tries_again_and_blames_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "evaluate", take_for_ever)
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    at = claim(f"topic:{topic.pk}").retry_at
    assert progress(topic).problem == f"The worker was busy and had no time for this; it tries again at {at:%H:%M} UTC."
    html = signed_in(made).get(reverse("topic", args=[made.pk, topic.pk])).content.decode()
    assert '<div class="notice warning"><p>The worker was busy' in html
    assert "notice error" not in signed_in(made).get(reverse("study", args=[made.pk])).content.decode()


def test_a_topic_that_kills_its_worker_says_so_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    _, topic = studies.example_study()
    name = f"topic:{topic.pk}"
    said: list[str] = []
    for _ in range(2):
        let_time_pass()
        assert claims._begin({name: (1, 1)}, uuid.uuid4())  # and the process is gone
        Claim.objects.update(until=timezone.now())
    monkeypatch.setattr(tasks, "evaluate", lambda *_, **__: said.append(progress(topic).problem))
    let_time_pass()
    tasks.refit_topic(topic.pk)
    assert "killed 2 times in a row" in said[0]
    assert claim(name).retry_at > timezone.now() + timedelta(seconds=20)


def test_what_was_killed_once_goes_on_at_once_and_then_no_more() -> None:
    token = uuid.uuid4()
    assert claims._begin({"topic:1": (1, 1)}, token)  # and the broker gives the task out again
    (again,) = claims._begin({"topic:1": (1, 1)}, token)
    assert again.was_killed
    assert not claims._begin({"topic:1": (1, 1)}, token)


def test_what_takes_too_long_beside_others_is_no_failure_and_done_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little of the time that it was given was left when it began."""
    monkeypatch.setattr(tasks, "evaluate", take_for_ever)
    monkeypatch.setattr(attempts, "_is_quick", lambda: True)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    (work,) = [work for work in agenda.look().waiting if work.claim == f"topic:{topic.pk}"]
    assert (work.task, work.is_long) == ("refit_topic", True)
    assert claim(work.claim).attempts == 0
    assert not ItemSetProgress.objects.filter(problem__gt="").exists()


@pytest.mark.parametrize("where", ["evaluation.claims._begin", "evaluation.agenda.study_to_rank"])
def test_what_has_no_time_left_beside_its_work_only_stops(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, take_for_ever)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert not ItemSetProgress.objects.filter(problem__gt="").exists()


def test_a_task_for_what_is_gone_or_done_does_nothing() -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    before = list(Claim.objects.values_list("name", "since"))
    for task in (tasks.cut_topic, tasks.refit_topic):
        task(topic.pk)
        task(10**9)
    for task in (tasks.rank_study, tasks.process_upload, tasks.write_export):
        task(10**9)
    tasks.rank_study(made.pk)
    assert list(Claim.objects.values_list("name", "since")) == before


def test_a_ranking_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "Comparison", lambda *_, **__: 1 / 0)
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert "ZeroDivisionError" in Ranking.objects.get(study=made, scored_by="recommended").problem
    monkeypatch.undo()
    assert studies.to_do() == []
    let_time_pass()
    assert studies.to_do() == [("rank_study", made.pk)]
    tasks.rank_study(made.pk)
    assert Ranking.objects.get(study=made, scored_by="recommended").problem == ""
    assert studies.to_do() == []


def test_a_curve_that_fails_waits_like_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "curve", lambda *_, **__: 1 / 0)
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    assert studies.to_do() == []
    assert progress(topic).problem == ""
    monkeypatch.undo()
    let_time_pass()
    assert studies.to_do() == [("draw_curve", topic.pk)]
    tasks.draw_curve(topic.pk)
    assert len(topic.sentence_set.fits.latest("pk").curve) == 3


TOPICS = b'{"topic_id": "M1", "documents": [{"id": "d1", "text": "It rained. Rivers rose."}]}\n'


def receive(content: bytes = TOPICS) -> Upload:
    made = studies.study()
    return imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", content))


def test_an_upload_is_read_looked_at_and_stored_with_its_sentences() -> None:
    upload = receive()
    assert studies.to_do() == [("process_upload", upload.pk)]
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.READY
    assert upload.preview["topics"][0]["sentences"] == 2
    assert studies.to_do() == []
    imports.confirm(upload, upload.user)
    assert studies.to_do() == [("process_upload", upload.pk)]
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.STORED
    texts = Item.objects.filter(item_set__study=upload.study).values_list("text", flat=True)
    assert list(texts) == ["It rained.", "Rivers rose."]


def test_a_refused_upload_is_not_tried_again() -> None:
    upload = receive(b'{"topic_id": ""}\n')
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.REFUSED
    assert upload.complaints
    assert studies.to_do() == []


def test_a_file_that_kills_its_reader_is_given_up_after_three_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = receive()
    monkeypatch.setattr(tasks.imports, "process", lambda *_: 1 / 0)
    for _ in range(3):
        let_time_pass()
        assert Upload.objects.get(pk=upload.pk).state == Upload.State.WAITING
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.FAILED
    assert "ZeroDivisionError" in upload.problem


def test_tries_at_reading_do_not_count_against_storing(monkeypatch: pytest.MonkeyPatch) -> None:
    upload = receive()
    with monkeypatch.context() as patch:
        patch.setattr(tasks.imports, "process", lambda *_: 1 / 0)
        tasks.process_upload(upload.pk)
        let_time_pass()
        tasks.process_upload(upload.pk)
    let_time_pass()
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    imports.confirm(upload, upload.user)
    tasks.process_upload(upload.pk)
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
    for _ in range(3):
        let_time_pass()
        tasks.write_export(export.pk)
    export.refresh_from_db()
    assert export.state == Export.State.FAILED
    assert export.problem


# The heartbeat


class Queue(list[Work]):
    def taken(self) -> list[tuple[str, int]]:
        """What was put into the queue since the last look, but for what comes after everything else."""
        found = [(work.task, work.key) for work in self if work.task not in studies.AFTER]
        self.clear()
        return found


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def heartbeat(queue: Queue) -> Heartbeat:
    return Heartbeat(queue.extend, alone=False)


def test_what_is_behind_is_queued_once(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", topic.pk)]
    heartbeat.beat(1.0)
    assert queue.taken() == []


def test_a_beat_erases_the_trials_that_began_a_day_ago(heartbeat: Heartbeat) -> None:
    study = making.study()
    trials = [judging.start_trial(study).pk for _time in range(2)]
    Annotator.objects.filter(pk=trials[0]).update(joined_at=timezone.now() - timedelta(hours=25))
    heartbeat.beat(0.0)
    assert list(Annotator.objects.values_list("pk", flat=True)) == trials[1:]


@pytest.mark.django_db(transaction=True)
def test_a_study_whose_work_cannot_be_read_keeps_no_other_waiting(heartbeat: Heartbeat, queue: Queue) -> None:
    (ill, topic), (_study, sound) = studies.example_study(), studies.example_study()
    making.take_in(ill)
    Tally.objects.filter(item_set__study=ill).update(data_version=2**63 - 1)  # their sum is too large for a database

    for _beat in range(2):
        heartbeat.beat(0.0)
        assert queue.taken() == ([] if _beat else [("refit_topic", sound.pk)])

    assert worker.look(Study.objects.all()).unread == (ill,)
    assert b"fails at 1 stud" in Client().get("/health/ready").content
    Tally.objects.filter(item_set__study=ill).update(data_version=1)
    assert not waiting(topic)  # it rests, as a task does that failed
    let_time_pass()
    assert waiting(topic)
    assert worker.look(Study.objects.all()).unread == ()
    assert Client().get("/health/ready").content == b"ok"


def test_a_message_that_was_lost_is_sent_again(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    heartbeat.beat(beating.LOST_SECONDS + 1)
    assert queue.taken() == [("refit_topic", topic.pk)]


def test_new_judgments_after_a_fit_are_queued_in_the_next_round(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert ("refit_topic", topic.pk) not in queue.taken()
    heartbeat.beat(agenda.ROUND.total_seconds())
    assert ("refit_topic", topic.pk) in queue.taken()


def test_a_topic_that_was_left_alone_is_queued_at_the_next_beat(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    heartbeat.beat(0.0)
    assert ("refit_topic", topic.pk) not in queue.taken()
    judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert ("refit_topic", topic.pk) in queue.taken()


def test_systems_are_put_in_order_in_the_same_beat_as_their_topics_are_fitted(
    heartbeat: Heartbeat, queue: Queue
) -> None:
    study, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", topic.pk), ("rank_study", study.pk)]


def test_a_burst_while_a_task_waits_queues_no_second_one(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.beat(0.0)
    queue.clear()
    for _ in range(100):
        judging.raise_version([topic.pk])
    heartbeat.beat(1.0)
    assert queue.taken() == []


def many_topics(made: Study, number: int, seconds: float | None) -> list[Topic]:
    """Topics to be fitted that took so long the last time, if there was one."""
    topics = tuple(studies.formats.Topic(f"T{i}", (studies.formats.Text("d", "It rained."),)) for i in range(number))
    stored = imports.store(made, studies.formats.Bundle(topics))
    judging.raise_version([topic.pk for topic in stored])
    if seconds is not None:
        then = timezone.now() - timedelta(minutes=1)
        known = {"token": uuid.uuid4(), "since": then, "until": then, "seconds": seconds}
        Claim.objects.bulk_create(Claim(name=f"topic:{topic.pk}", **known) for topic in stored)
    return stored


def test_fits_of_a_study_are_sent_together_as_many_as_take_half_a_second() -> None:
    messages: list[list[Work]] = []
    large, quick = studies.study(), studies.study()
    many_topics(large, 10, seconds=0.125)
    many_topics(quick, 20, seconds=0.001)
    Heartbeat(messages.append, alone=False).beat(0.0)
    sent = [[work.study for work in works] for works in messages if works[0].task == "refit_topic"]
    assert sorted(map(set, sent), key=sorted) == sorted([{large.pk}] * 3 + [{quick.pk}] * 3, key=sorted)
    assert sorted(map(len, sent)) == [2, 4, 4, 4, 8, 8]
    assert sent[0] != sent[1]  # in turns


def test_the_claims_of_topics_that_are_fitted_together_are_renewed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    message = type("Request", (), {"id": f"topic:1,topic:2 {uuid.uuid4()}"})
    monkeypatch.setattr(beating.state, "active_requests", {message})
    assert beating.claims_at_work() == {"topic:1", "topic:2"}


def test_the_queue_stays_short_whatever_there_is_to_do(heartbeat: Heartbeat, queue: Queue) -> None:
    many_topics(studies.study(), 50, seconds=0.125)
    heartbeat.beat(0.0)
    assert len(queue.taken()) == agenda.QUICK / 0.125
    heartbeat.beat(1.0)
    assert queue.taken() == []


def test_of_what_nothing_is_known_one_is_tried_first(heartbeat: Heartbeat, queue: Queue) -> None:
    first, *_ = many_topics(studies.study(), 5, seconds=None)
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", first.pk)]
    tasks.refit_topic(first.pk)
    heartbeat.beat(1.0)
    assert sum(task == "refit_topic" for task, _key in queue.taken()) == 4


def test_a_study_with_much_to_do_keeps_no_other_waiting(heartbeat: Heartbeat, queue: Queue) -> None:
    many_topics(studies.study(), 50, seconds=0.5)
    _, small = studies.example_study()
    heartbeat.beat(0.0)
    assert ("refit_topic", small.pk) in queue.taken()[:2]


def studies_of_one(number: int) -> list[Study]:
    owner = studies.person()
    return [verbs.make_study(owner, title="News", question="Which?") for _ in range(number)]


def test_an_owner_of_many_studies_keeps_no_other_waiting_and_their_studies_take_turns(
    heartbeat: Heartbeat, queue: Queue
) -> None:
    study_of = {topic.pk: made for made in studies_of_one(20) for topic in many_topics(made, 2, seconds=0.5)}
    _, small = studies.example_study()
    tasks.refit_topic(small.pk)
    served: list[Study] = []
    for beat in range(4):
        # Whatever this machine took.
        Claim.objects.update(seconds=Case(When(name__startswith="topic:", then=0.5), default=0.0))
        judging.raise_version([small.pk])
        heartbeat.beat(100.0 * beat)
        fitted = [key for task, key in queue.taken() if task == "refit_topic"]
        assert small.pk in fitted[:2]
        served += [study_of[key] for key in fitted if key != small.pk]
        for key in fitted:
            tasks.refit_topic(key)
    assert len(set(served)) == len(served) > 4


def test_the_first_work_of_an_owner_tells_how_long_that_of_their_other_studies_takes(
    heartbeat: Heartbeat, queue: Queue
) -> None:
    topics = [many_topics(made, 1, seconds=None)[0].pk for made in studies_of_one(5)]
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", topics[0])]
    tasks.refit_topic(topics[0])
    heartbeat.beat(1.0)
    assert [key for task, key in queue.taken() if task == "refit_topic"] == topics[1:]


def test_long_work_and_what_fails_wait_for_one_another_and_keep_nobody_else_waiting(
    heartbeat: Heartbeat, queue: Queue
) -> None:
    slow = many_topics(studies.study(), 3, seconds=30.0)
    failing = many_topics(studies.study(), 3, seconds=0.1)
    Claim.objects.filter(name__in=[f"topic:{topic.pk}" for topic in failing]).update(attempts=1)
    _, small = studies.example_study()
    heartbeat.beat(0.0)
    assert queue.taken() == [("refit_topic", small.pk), ("refit_topic", slow[0].pk)]
    with claims.attempt(f"topic:{slow[0].pk}"):
        heartbeat.beat(2.0)
        assert queue.taken() == []
    tasks.refit_topic(slow[0].pk)
    heartbeat.beat(4.0)
    assert ("refit_topic", failing[0].pk) in queue.taken()


def enlarge(topic: Topic, study: Study) -> None:
    """One sentence and one system more than may be quick work."""
    document = SourceDocument.objects.create(topic=topic, name="long", position=1)
    Item.objects.create(item_set_id=topic.pk, document=document, index=1, position=agenda.MANY_SENTENCES, text="Last.")
    names = [f"s{number}" for number in range(agenda.MANY_SYSTEMS + 1)]
    System.objects.bulk_create(System(study=study, name=name) for name in names)


def is_long() -> dict[str, bool]:
    return {work.task: work.is_long for work in agenda.look().waiting}


@pytest.mark.parametrize("seconds", [None, 0.1])
def test_what_is_large_is_long_work_whatever_was_measured(seconds: float | None) -> None:
    study, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    judging.raise_version([topic.pk])
    Claim.objects.update(seconds=seconds)
    assert not any(is_long().values())
    enlarge(topic, study)
    assert {"refit_topic", "rank_study"} <= {task for task, long in is_long().items() if long}


def test_the_last_fit_of_a_round_puts_the_systems_in_order_though_the_first_topic_is_behind_again() -> None:
    made, first = studies.example_study()
    (second,) = imports.store(made, studies.example_bundle("second"))
    with time_machine.travel(timezone.now(), tick=False) as clock:
        tasks.catch_up(made.pk)
        Claim.objects.update(seconds=0.0)  # quick work, however busy the machine is
        clock.shift(agenda.ROUND)
        judging.raise_version([first.pk, second.pk])
        before = ranked(made)
        tasks.refit_topic(first.pk)
        assert ranked(made) == before
        judging.raise_version([first.pk])
        tasks.refit_topic(second.pk)
    assert ranked(made) == before + 2


def test_a_topic_that_is_fitted_while_its_study_is_ranked_is_in_the_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    made, topic = studies.example_study()
    tasks.catch_up(made.pk)
    judging.raise_version([topic.pk])
    fits, save = [lambda: tasks.refit_topic(topic.pk)], tasks.records.save_ranking

    def fit_and_save(*ranking: Any) -> bool:
        while fits:
            fits.pop()()
        return save(*ranking)

    monkeypatch.setattr(tasks.records, "save_ranking", fit_and_save)
    Ranking.objects.update(version=0)
    tasks.rank_study(made.pk)
    assert ranked(made) == ItemSetProgress.objects.get(item_set=topic.pk).fitted_version


def ranked(study: Study) -> int:
    return Ranking.objects.get(study=study, scored_by="recommended").version


def test_a_large_study_is_not_ranked_along_with_a_fit() -> None:
    study, topic = studies.example_study()
    enlarge(topic, study)
    tasks.refit_topic(topic.pk)
    assert not Ranking.objects.filter(study=study).exists()
    assert is_long() == {
        "rank_study": True,
        "report_annotators": False,
        "score_with_metrics": True,
        "draw_curve": True,
        "examine_topic": True,
    }


def test_however_many_topics_wait_files_are_read_and_studies_ranked(heartbeat: Heartbeat, queue: Queue) -> None:
    made, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    Ranking.objects.all().delete()
    many_topics(made, 50, seconds=0.01)
    upload = imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", TOPICS))
    heartbeat.beat(0.0)
    assert {("process_upload", upload.pk), ("rank_study", made.pk)} < set(queue.taken())


def test_several_workers_send_different_tasks() -> None:
    made = studies.study()
    many_topics(made, 100, seconds=0.125)
    sent: list[Work] = []
    several = [Heartbeat(sent.extend, alone=False) for _ in range(4)]
    for number, heartbeat in enumerate(several):
        heartbeat.alone, heartbeat.name_of_process = False, f"worker {number}"
        claims.give_sign_of_life(heartbeat.name_of_process)
    for heartbeat in several:
        heartbeat.beat(0.0)
    sent = [work for work in sent if work.task == "refit_topic"]
    assert len(sent) == 64
    assert {work.key for work in sent} <= set(made.topics.order_by("pk").values_list("pk", flat=True)[:64])
    assert len({work.key for work in sent}) > 30  # 44 of 64 on average; all the same 16 if each sent the first


def test_topics_take_turns(heartbeat: Heartbeat, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    made, first = studies.example_study()
    (second,) = imports.store(made, studies.example_bundle("second"))
    monkeypatch.setattr(beating, "QUICK", 0.001)
    turns = []
    for beat in range(4):
        heartbeat.beat(float(beat))
        for _, key in queue.taken():
            turns.append(key)
            tasks.refit_topic(key)
            judging.raise_version([key])
    assert turns == [first.pk, second.pk, first.pk, second.pk]


def test_the_first_beat_frees_what_a_dead_worker_claimed(heartbeat: Heartbeat, queue: Queue) -> None:
    _, topic = studies.example_study()
    heartbeat.alone = True
    with claims.attempt(f"topic:{topic.pk}"):
        heartbeat.beat(0.0)
        assert queue.taken() == [("refit_topic", topic.pk)]


def test_the_heartbeat_gives_a_sign_of_life(heartbeat: Heartbeat) -> None:
    heartbeat.beat(0.0)
    assert WorkerPulse.objects.get().at > timezone.now() - timedelta(seconds=5)


def test_the_heartbeat_has_wrong_passwords_and_sessions_forgotten_that_are_over(heartbeat: Heartbeat) -> None:
    heartbeat.beat(0.0)
    for key, hours in (("over", -1), ("good", 1)):
        Session.objects.create(session_key=key, expire_date=timezone.now() + timedelta(hours=hours))
    limits.spend(limits.WRONG_PASSWORDS, "192.0.2.7")
    Allowance.objects.update(ends_at=timezone.now() - timedelta(minutes=1))
    AnsweredRequest.objects.create(key="over")
    AnsweredRequest.objects.update(at=timezone.now() - timedelta(hours=25))
    heartbeat.beat(1.0)
    assert Allowance.objects.exists()
    heartbeat.beat(beating.FORGET_SECONDS)
    assert not Allowance.objects.exists()
    assert not AnsweredRequest.objects.exists()
    assert Session.objects.get().session_key == "good"


def test_a_worker_that_no_longer_hears_its_broker_leaves(heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(beating.os, "kill", lambda *arguments: signals.append(arguments))
    studies.example_study()
    now = time.monotonic()
    heartbeat.beat(now)
    heartbeat.beat(now + beating.DEAF_SECONDS - 5)
    assert signals == []
    heartbeat.beat(now + beating.DEAF_SECONDS + 5)
    assert signals


def test_a_worker_that_idles_while_work_waits_leaves_soon(
    heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(beating.os, "kill", lambda *arguments: signals.append(arguments))
    studies.example_study()
    now = time.monotonic()
    for beat in range(beating.IDLE_BEATS):
        heartbeat.beat(now + beat)
    assert signals == []
    for beat in range(beating.IDLE_BEATS, beating.IDLE_BEATS + 2):
        heartbeat.beat(now + beat)
    assert signals


def test_a_worker_that_is_at_work_or_without_a_broker_stays(
    heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beating.os, "kill", lambda *_: pytest.fail("it left"))
    studies.example_study()
    now = time.monotonic()
    with monkeypatch.context() as patched:
        patched.setattr(beating, "claims_at_work", lambda: {"topic:1"})
        for beat in range(2 * beating.IDLE_BEATS):
            heartbeat.beat(now + beat)

    def refused(work: Work) -> None:
        raise OSError("no broker")

    heartbeat._publish = refused
    for beat in range(2 * beating.IDLE_BEATS, 4 * beating.IDLE_BEATS):
        with contextlib.suppress(OSError):
            heartbeat.beat(now + beat)


def test_a_worker_without_work_stays(heartbeat: Heartbeat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beating.os, "kill", lambda *_: pytest.fail("it left"))
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
    celerys = DjangoWorkerFixup(app.app)
    for _ in range(100):
        celerys.close_database()
        app.begin_task()
        app.end_task()
    assert not closed


def test_a_task_that_ran_out_of_time_leaves_its_connection_to_nobody(
    closed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app.begin_task()
    monkeypatch.setattr(app, "_began", time.monotonic() - agenda.QUICK)
    app.end_task()
    assert closed


@pytest.mark.django_db(transaction=True)
def test_a_task_stopped_as_it_began_a_transaction_leaves_no_lock() -> None:
    app.begin_task()
    connection.ensure_connection()
    driver = connection.connection
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")  # what the database has begun when a signal comes before Django hears of it
        with connection.wrap_database_errors:
            reading = driver.execute("SELECT 1 UNION SELECT 2")  # which a traceback still knows
        app.end_task()
    assert connection.connection is None
    assert reading
    Claim.objects.create(name="topic:1", study=1, token=uuid.uuid4(), since=timezone.now(), until=timezone.now())


def test_what_is_worked_out_along_with_a_fit_has_the_time_of_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    _study, topic = studies.example_study()
    for name in ("is_quick", "may_idle"):
        monkeypatch.setattr(agenda, name, lambda *_: True)
    monkeypatch.setattr(agenda, "study_to_rank", lambda _topics: topic.study_id)
    quick: list[bool] = []
    monkeypatch.setattr(attempts, "attempt", lambda *_: quick.append(attempts._is_quick()))
    task = app.app.tasks["work"]
    _task_stack.push(task)
    task.push_request(timelimit=(app.QUICK_HARD, agenda.QUICK))
    try:
        task.run("refit_topic", topic.pk)
    finally:
        task.pop_request()
        _task_stack.pop()
    assert quick == [True, True, True]


@pytest.mark.parametrize("quick", [True, False])
def test_work_is_too_long_by_the_processor_and_not_by_the_clock(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where others use the machine, the clock goes on without it."""
    monkeypatch.setattr(agenda, "QUICK", 0.2)
    monkeypatch.setattr(attempts, "WORK_LIMIT", 0.2)
    task = app.app.tasks["work"]
    _task_stack.push(task)
    task.push_request(timelimit=(app.QUICK_HARD, app.QUICK_SOFT) if quick else (app.HARD_LIMIT, app.SOFT_LIMIT))
    before = signal.getsignal(signal.SIGPROF)
    try:
        app.limit_processor_time()
        with attempts._processor_limited():
            time.sleep(0.5)
        with pytest.raises(SoftTimeLimitExceeded), attempts._processor_limited():
            sum(0 for _ in iter(int, 1))  # without an end
    finally:
        signal.signal(signal.SIGPROF, before)
        task.pop_request()
        _task_stack.pop()


def test_interrupted_work_leaves_no_half_of_an_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package that deletes the name of a module of its own, as scipy.ndimage does, fails when it is read again."""
    slow = "from slow._names import *\nimport time\nend = time.process_time() + 0.5\n"
    slow += "while time.process_time() < end:\n    pass\ndel _names\n"
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "__init__.py").write_text(slow, encoding="utf-8")
    (tmp_path / "slow" / "_names.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGPROF, attempts.interrupt)
    _task_stack.push(app.app.tasks["work"])
    signal.setitimer(signal.ITIMER_PROF, 0.1)
    try:
        with pytest.raises(SoftTimeLimitExceeded):
            _ = import_module("slow"), sum(0 for _ in iter(int, 1))  # the latter without an end
        import_module("slow")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _task_stack.pop()
        sys.modules.pop("slow._names", None)
        sys.modules.pop("slow", None)


def test_an_interruption_that_comes_after_its_task_ends_nothing() -> None:
    attempts.interrupt(signal.SIGUSR1, None)
    _task_stack.push(app.app.tasks["work"])
    try:
        with pytest.raises(SoftTimeLimitExceeded):
            attempts.interrupt(signal.SIGUSR1, None)
    finally:
        _task_stack.pop()


def test_what_only_waits_ends_by_the_clock_before_it_is_sent_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, float]] = []
    monkeypatch.setattr(app.app, "send_task", lambda *_args, **limits: sent.append(limits))
    for is_long in (False, True):
        app.publish([Work("rank_study", 1, "study:1", 1, is_long=is_long)])
    sent_again = app._REDIS_BROKER["broker_transport_options"]["visibility_timeout"]
    assert all(limits["soft_time_limit"] < limits["time_limit"] < sent_again for limits in sent)


def test_no_child_is_forked_in_a_beat_or_beside_an_open_connection(
    heartbeat: Heartbeat, closed: list[str], monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody counts a process's data")
def test_a_child_may_take_no_more_memory_than_the_settings_say(settings: Settings) -> None:
    settings.WORKER_MEMORY = 1 << 30
    child = os.fork()
    if not child:
        app.limit_memory()
        try:
            bytearray(2 << 30)
        except MemoryError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody counts a process's memory")
def test_the_machine_has_the_memory_of_long_work_back_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    app.begin_task()
    monkeypatch.setattr(app, "_began", time.monotonic() - 10)
    before = resident()
    several = [np.ones(8_000) for _ in range(2_000)]
    several.append(several.pop().copy())  # lies behind all others, and stays
    del several[:-1]
    assert resident() > before + (100 << 20)
    app.end_task()
    assert resident() < before + (30 << 20)


def test_a_child_keeps_none_of_its_parents_connections() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
        socket.socket(socket.AF_UNIX) as local,
    ):
        gone = weakref.proxy(set())
        child = os.fork()
        if not child:
            app.leave_connections_to_the_parent()
            os._exit(0 if (ours.fileno(), server.fileno()) == (-1, -1) and local.fileno() > 0 else 1)
        del gone
        assert os.waitpid(child, 0)[1] == 0
        ours.sendall(b"still ours")
        theirs, _address = server.accept()
        with theirs:
            assert theirs.recv(20) == b"still ours"


def test_a_topic_too_large_for_a_smoothed_matrix_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    _, topic = studies.example_study(smooth="paper", prior=0.1)
    monkeypatch.setattr("preferendum.fit.preference_matrix.MOST_SMOOTHED", 3)
    tasks.refit_topic(topic.pk)
    assert "at most 3, because they take memory for every two sentences" in progress(topic).problem
    assert not waiting(topic)


def test_a_topic_too_large_for_the_papers_matrix_has_its_recommended_scores_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, topic = studies.example_study(score="importance")
    monkeypatch.setattr("preferendum.fit.preference_matrix.MOST_SMOOTHED", 3)
    tasks.refit_topic(topic.pk)
    assert set(Score.objects.filter(summary__topic=topic).values_list("scored_by", flat=True)) == {"recommended"}
    assert progress(topic).problem == ""
    assert studies.to_do() == []


@pytest.mark.django_db(transaction=True)
def test_what_is_said_of_a_task_stopped_while_it_began_to_write_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database has begun a transaction that Django knows nothing of, and whose lock nobody would give back."""

    def begin_and_stop(*_: object, **__: object) -> None:
        connection.ensure_connection()
        connection.connection.execute("BEGIN")
        raise SoftTimeLimitExceeded

    assert_stopped(monkeypatch, begin_and_stop, closes=True)


def test_a_task_stopped_while_the_database_commits_is_one_that_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Django then says that the connection is busy, which is no failure of the program."""

    def stop_in_commit(*_: object, **__: object) -> None:
        try:
            raise SoftTimeLimitExceeded
        finally:
            raise ProgrammingError("can't change 'autocommit' now: connection in transaction status ACTIVE")

    assert_stopped(monkeypatch, stop_in_commit)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite answers at once")
@pytest.mark.django_db(transaction=True)
def test_a_task_stopped_in_the_middle_of_a_query_gives_its_connection_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask_and_stop(*_: object, **__: object) -> None:
        connection.ensure_connection()
        connection.connection.pgconn.send_query(b"SELECT pg_sleep(1)")
        raise SoftTimeLimitExceeded

    assert_stopped(monkeypatch, ask_and_stop)
