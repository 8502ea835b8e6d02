"""Promises that nothing visible keeps alone: take one away and all goes well, until something breaks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.test import Client

from annotate import invitations, judging, studies
from annotate.models import Assignment, Judgment, Study, Tally
from evaluation import heartbeat, records, tasks
from evaluation.records import evidence
from tests import studies as made
from tests.annotate import making
from tests.annotate.judging_study import drawn, joined, ready_study

pytestmark = pytest.mark.django_db


def test_the_database_itself_refuses_a_second_answer_to_one_showing():
    assignment = drawn(joined(ready_study()))
    judging.record_judgment(assignment, 1, "left")
    first = Judgment.objects.get()
    first.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        first.save(force_insert=True)


def test_the_database_itself_never_gives_a_pair_to_one_person_twice():
    assignment = drawn(joined(ready_study()))
    twice = Assignment(
        item_set=assignment.item_set,
        annotator=assignment.annotator,
        pair=assignment.pair,
        swapped=False,
        created_at=assignment.created_at,
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        twice.save(force_insert=True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["alone", "with the pair after next"])
def test_a_judgment_waits_for_the_disk(way):
    """Killing processes cannot show it on SQLite, where only a power cut would: we look at what is asked for."""
    annotator = joined(ready_study())
    now = drawn(annotator)
    showing = judging.draw(annotator, besides=now) if way != "alone" else None
    asked: list[str] = []

    def listen(execute, sql, *rest):
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(listen):
        recorded = judging.record_judgment(now, 1, "left", showing=showing)
    assert (recorded.following is None) == (way == "alone")
    assert any("annotate_judgment" in sql for sql in asked)
    assert not any("synchronous" in sql for sql in asked)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous" if connection.vendor == "sqlite" else "SHOW synchronous_commit")
        assert cursor.fetchone()[0] in (2, "on")


@pytest.mark.django_db(transaction=True)
def test_what_is_confirmed_is_stored():
    study = ready_study()
    browser = Client()
    following = browser.post(invitations.invitation_path(invitations.invite(study, making.owner(study)))).url
    browser.post(following, {"answer": "left", "revision": 1})
    assert Judgment.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_fit_reads_everything_as_it_was_at_one_moment(monkeypatch):
    """A judgment that arrives while the rows are read is in this fit with its version, or in the next one with its."""
    study = made.study()
    topic = made.wide_topic(study, 12)
    annotator = judging.join(study)
    made.judge(annotator)
    read = evidence._judgments

    def judged_meanwhile():
        made.judge(annotator)
        connection.close()

    def after_one_more(*given):
        other = threading.Thread(target=judged_meanwhile)
        other.start()
        other.join(30)
        return read(*given)

    monkeypatch.setattr(evidence, "_judgments", after_one_more)
    before = Tally.objects.get(item_set=topic.pk).data_version
    snapshot = records.load_evidence(topic.pk, tasks.split)
    assert snapshot is not None
    assert (snapshot.data_version, len(snapshot.evidence.judgments)) == (before, 1)
    assert Judgment.objects.count() == 2


def test_a_website_whose_clock_is_ahead_takes_nobodys_pair_away():
    study = ready_study(sentences=2)
    held = drawn(joined(study))
    with time_machine.travel(datetime.now(UTC) + timedelta(days=1)):
        assert isinstance(judging.draw(joined(study)), judging.NoPair)
    held.refresh_from_db()
    assert (held.state, held.holds_place) == ("open", True)


def test_what_cannot_be_logged_is_not_done(monkeypatch):
    study = making.study()

    def full(*_told, **_more):
        raise OSError("no space left on device")

    monkeypatch.setattr(studies, "note", full)
    with pytest.raises(OSError, match="no space"):
        studies.change_settings(study, making.owner(study), prior=0.75)
    assert Study.objects.get().prior != 0.75


def test_a_heartbeat_outlives_a_beat_that_failed(monkeypatch):
    beats: list[float] = []

    def beat(self, now):
        beats.append(now)
        if len(beats) == 3:
            self.stopping.set()
        raise ConnectionError("the database is away")

    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat.Heartbeat, "beat", beat)
    thread = heartbeat.Heartbeat(lambda _work: None, alone=False)
    thread.start()
    thread.join(10)
    assert len(beats) == 3
