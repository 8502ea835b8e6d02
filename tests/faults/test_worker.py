"""A real worker, killed as often as one likes, catches up from the tables alone."""

from __future__ import annotations

import itertools
import math
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection

from annotate import imports, judging
from annotate.models import (
    Fit,
    Item,
    ItemSetProgress,
    Judgment,
    Ranking,
    Score,
    Study,
    SystemScore,
    Topic,
    Upload,
    Utility,
    WorkerPulse,
)
from evaluation import tasks
from evaluation.records.results import BY_SENTENCES
from tests import studies
from tests.conftest import Processes

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 120.0


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"still waiting for {what}: " + "; ".join(
            f"{one}, {one.problem!r}" for one in ItemSetProgress.objects.all()
        )
        time.sleep(0.05)


def all_is_done() -> bool:
    return not Topic.objects.behind().exists() and not studies.to_do()


class LiveWorker:
    """A worker that tests kill and start again."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._names = (f"worker{number}" for number in itertools.count())
        self.start()

    def start(self, *options: str) -> None:
        command = ("celery", "-q", "-A", "evaluation.app", "worker", "--loglevel", "WARNING", *options)
        self.process: subprocess.Popen[bytes] = self._processes.start(next(self._names), *command)

    def kill(self) -> None:
        """As an operator's kill -9, or the power cord: parent and children at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_child(self) -> None:
        """As the kernel does when memory runs out."""
        for pid in self.children():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def children(self) -> list[int]:
        """All children, whichever of its threads forked them."""
        found: list[int] = []
        for thread in Path(f"/proc/{self.process.pid}/task").glob("*"):
            with suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, (thread / "children").read_text().split())
        return found


@pytest.fixture(scope="module", autouse=True)
def patient_flush() -> Iterator[None]:
    """The worker goes on while the tables are emptied after a test, and PostgreSQL may end either of the two."""
    flush = connection.ops.execute_sql_flush

    def patiently(statements: list[str]) -> None:
        for _try in range(5):
            with suppress(OperationalError):
                flush(statements)
                return
        flush(statements)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection.ops, "execute_sql_flush", patiently)
        yield


@pytest.fixture(scope="module")
def one_worker(processes: Processes) -> Iterator[LiveWorker]:
    worker = LiveWorker(processes)
    yield worker
    worker.kill()


@pytest.fixture
def live(transactional_db: None, one_worker: LiveWorker) -> LiveWorker:
    """A worker that runs, and has given a sign of life in this test."""
    if one_worker.process.poll() is not None:
        one_worker.start()
    wait_until(lambda: one_worker.process.poll() is not None or WorkerPulse.objects.exists(), "the worker")
    assert one_worker.process.poll() is None, "the worker did not start"
    return one_worker


def judging_study(topics: int = 1, sentences: int = 40, wanted: int = 300) -> Study:
    made = studies.study(judgments_per_topic=wanted, pairs_per_annotator=1000)
    for number in range(topics):
        studies.wide_topic(made, sentences + number, f"T{number}")
    return made


def assert_published_is_what_a_fit_from_scratch_gives(topic: Topic) -> None:
    for scored_by, result in studies.from_scratch(topic).items():
        rows = Utility.objects.filter(sentence__item_set=topic.pk, scored_by=scored_by).order_by("sentence__position")
        assert [row.utility for row in rows] == pytest.approx(result.utilities.tolist(), abs=1e-9)
        assert [row.strength for row in rows] == pytest.approx(result.strengths.tolist(), abs=1e-9)
        scores = Score.objects.filter(summary__topic=topic, scored_by=scored_by)
        assert dict(scores.values_list("summary__system__name", "score")) == pytest.approx(
            {summary.system: summary.score for summary in result.summaries}, abs=1e-9
        )
        fit = Fit.objects.filter(item_set=topic.pk, scored_by=scored_by).latest("data_version")
        assert fit.judgments == Judgment.objects.counted().filter(assignment__item_set=topic.pk).count()
        assert fit.data_version == topic.sentence_set.tally.data_version


def test_the_worked_example_is_reproduced_by_the_web_path(live: LiveWorker) -> None:
    made, topic = studies.example_study()
    published = SystemScore.objects.filter(ranking__study=made, ranking__scored_by="published")
    wait_until(lambda: published.count() == 4, "a ranking")
    for system, score in studies.EXAMPLE["scores"].items():
        stored = Score.objects.get(summary__system__name=system, scored_by="published")
        assert stored.score == pytest.approx(score, abs=1e-9)
    rows = Utility.objects.filter(sentence__item_set=topic.pk, scored_by="published").order_by("sentence__position")
    assert [row.strength for row in rows] == pytest.approx(studies.EXAMPLE["strengths_prior_0_1"], abs=1e-9)


def test_an_upload_becomes_topics_with_sentences(live: LiveWorker) -> None:
    made = studies.study()
    lines = b'{"topic_id": "M1", "documents": [{"id": "d1", "text": "It rained. Rivers rose."}]}\n'
    upload = imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", lines))
    wait_until(lambda: Upload.objects.get().state == Upload.State.READY, "the preview")
    imports.confirm(upload, made.created_by)
    wait_until(lambda: Upload.objects.get().state == Upload.State.STORED, "its being stored")
    assert Item.objects.filter(item_set__study=made).count() == 2


def test_a_hundred_judgments_within_a_second_make_at_most_three_refits(live: LiveWorker) -> None:
    made = judging_study()
    topic = Topic.objects.get(study=made)
    drawn = [judging.draw(judging.join(made)) for _ in range(100)]
    wait_until(all_is_done, "the worker")
    fits = Fit.objects.filter(item_set=topic.pk, scored_by="recommended")
    before = fits.count()
    began = time.monotonic()
    for assignment in drawn:
        judging.record_judgment(assignment, 1, "left", 1.0)
    seconds = math.ceil(time.monotonic() - began)
    wait_until(all_is_done, "the refits")
    refits = fits.count() - before
    assert 1 <= refits <= seconds + 2
    assert_published_is_what_a_fit_from_scratch_gives(topic)


def test_a_worker_killed_twenty_times_during_five_hundred_judgments_catches_up(live: LiveWorker) -> None:
    chance = random.Random(20180601)
    made = judging_study(topics=2)
    annotator = judging.join(made)
    kills = iter(sorted(chance.sample(range(500), 20)))
    next_kill = next(kills)
    killed = 0
    for number in range(500):
        studies.judge(annotator, chance.choice(["left", "right"]))
        time.sleep(chance.uniform(0, 0.05))
        if number != next_kill:
            continue
        next_kill = next(kills, -1)
        killed += 1
        if killed == 10:
            # One that hears nothing: whatever its heartbeat puts into the queue is lost with it.
            live.kill()
            live.start("-Q", "elsewhere")
        elif killed % 2:
            live.kill_child()
        else:
            live.kill()
            live.start()
    assert killed == 20
    assert Judgment.objects.filter(item_set__study=made).count() == 500
    wait_until(all_is_done, "the worker to catch up")
    assert not ItemSetProgress.objects.exclude(problem="").exists()
    for topic in Topic.objects.filter(study=made):
        assert_published_is_what_a_fit_from_scratch_gives(topic)
    rankings = Ranking.objects.filter(study=made)
    assert dict(rankings.values_list("scored_by", "judgments")) == dict.fromkeys(BY_SENTENCES, 500)


def test_a_child_that_dies_in_the_middle_costs_a_delay_only(live: LiveWorker) -> None:
    made = judging_study()
    topic = Topic.objects.get(study=made)
    annotator = judging.join(made)
    for _ in range(5):
        studies.judge(annotator)
        live.kill_child()
    wait_until(all_is_done, "the worker to catch up")
    assert live.process.poll() is None
    assert_published_is_what_a_fit_from_scratch_gives(topic)


def test_two_workers_by_mistake_do_no_harm(live: LiveWorker, processes: Processes) -> None:
    other = LiveWorker(processes)
    try:
        made = judging_study(topics=2)
        annotator = judging.join(made)
        wait_until(lambda: WorkerPulse.objects.count() == 2, "both workers")
        for _ in range(60):
            studies.judge(annotator)
        wait_until(all_is_done, "both workers")
        for topic in Topic.objects.filter(study=made):
            assert_published_is_what_a_fit_from_scratch_gives(topic)
    finally:
        other.kill()


def test_an_upload_whose_worker_is_killed_is_stored_once_or_not_at_all(live: LiveWorker) -> None:
    chance = random.Random(7)
    made = studies.study()
    topic = '{"topic_id": "T%d", "documents": [{"id": "d1", "text": "%s"}]}\n'
    text = "It rained in the whole of Ohio again. " * 200
    lines = "".join(topic % (number, text) for number in range(60)).encode()
    upload = imports.receive(made, made.created_by, SimpleUploadedFile("topics.jsonl", lines))
    wait_until(lambda: Upload.objects.get().state == Upload.State.READY, "the preview")
    imports.confirm(upload, made.created_by)
    for _ in range(2):
        time.sleep(chance.uniform(0.2, 1.5))
        live.kill_child()
        assert Topic.objects.filter(study=made).count() in (0, 60)
        assert Item.objects.filter(item_set__study=made).count() in (0, 12_000)
    wait_until(lambda: Upload.objects.get().state == Upload.State.STORED, "its being stored")
    assert Topic.objects.filter(study=made).count() == 60
    assert Item.objects.filter(item_set__study=made).count() == 12_000


def test_a_worker_that_is_told_to_stop_stops_and_takes_its_children_along(live: LiveWorker) -> None:
    children = live.children()
    assert children
    live.process.terminate()
    live.process.wait(60)
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def test_no_transaction_is_open_while_the_mathematics_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = judging_study()
    topic = Topic.objects.get(study=made)
    studies.judge(judging.join(made))
    open_transactions = []
    compute = tasks.evaluate

    def watched(*arguments: object, **options: object) -> object:
        open_transactions.append(connection.in_atomic_block)
        return compute(*arguments, **options)

    monkeypatch.setattr(tasks, "evaluate", watched)
    tasks.refit_topic(topic.pk)
    assert open_transactions == [False] * len(BY_SENTENCES)
    assert_published_is_what_a_fit_from_scratch_gives(topic)
