"""What Prometheus reads: who may, what it says, and that several processes answer as one."""

from __future__ import annotations

import errno
import os
import signal
import urllib.request
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone
from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.parser import text_string_to_metric_families

from annotate.models import Assignment, ItemSetProgress, WorkerPulse
from annotate.server import gunicorn, prometheus
from annotate.server.keys import load_metrics_token
from lab.services import free_port, wait_until
from tests.annotate.judging_study import drawn, joined, judged, ready_study
from tests.conftest import Processes, stop

TOKEN = "a token that nobody guesses"


def read(text: str) -> dict[tuple[str, ...], float]:
    """Samples by name and labels, those in the order of their names."""
    return {
        (sample.name, *(value for _name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(client: Client, **headers: str) -> dict[tuple[str, ...], float]:
    response = client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}", **headers})
    assert response.status_code == 200
    return read(response.content.decode())


@pytest.fixture
def token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


# Who may


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
def test_a_scraper_is_answered_whatever_name_it_calls_us_by(client: Client) -> None:
    assert scraped(client, host="172.18.0.5:8000")["preferendum_judgments",] == 0


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
@pytest.mark.parametrize("shown", ["", "Bearer ", f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer \u00e9"])
def test_without_the_token_there_is_no_such_page(client: Client, shown: str) -> None:
    assert client.get("/metrics", headers={"authorization": shown}).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("shown", ["", "Bearer ", "Bearer"])
def test_where_no_token_is_set_none_is_right(client: Client, settings: Any, shown: str) -> None:
    settings.METRICS_TOKEN = ""
    assert client.get("/metrics", headers={"authorization": shown}).status_code == 404


def test_a_token_may_stand_in_a_file_and_must_not_be_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    monkeypatch.delenv("PREFERENDUM_METRICS_TOKEN", raising=False)
    monkeypatch.setenv("PREFERENDUM_METRICS_TOKEN_FILE", str(file))
    file.write_text(f"{TOKEN}\n")
    assert load_metrics_token() == TOKEN
    file.write_text("short")
    with pytest.raises(ImproperlyConfigured):
        load_metrics_token()


def test_an_empty_file_is_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFERENDUM_METRICS_TOKEN", raising=False)
    monkeypatch.setenv("PREFERENDUM_METRICS_TOKEN_FILE", "/dev/null")  # as docker-compose.yml has it by default
    assert load_metrics_token() == ""


def test_a_page_that_cannot_be_counted_is_answered(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def labels(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(prometheus.requests, "labels", labels)
    assert client.get("/health/live").status_code == 200


# What it says


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
def test_it_says_how_things_stand(client: Client) -> None:
    assert scraped(client)["preferendum_worker_pulse_age_seconds",] == float("inf")
    study = ready_study(topics=2)
    person = joined(study)
    judged(person)
    drawn(person)
    now = timezone.now()
    WorkerPulse.objects.create(name="gone", at=now - timedelta(hours=1), program_version="1")
    WorkerPulse.objects.create(name="here", at=now - timedelta(seconds=3), program_version="1")
    found = scraped(client)
    assert found["preferendum_judgments",] == 1
    assert found["preferendum_leases_open",] == 1
    assert found["preferendum_workers",] == 1
    assert 3 <= found["preferendum_worker_pulse_age_seconds",] < 60
    assert found["preferendum_topics_behind",] >= 1
    assert 0 < found["preferendum_topics_behind_oldest_seconds",] < 60
    for topic in study.topics.all():
        ItemSetProgress.objects.update_or_create(item_set_id=topic.pk, defaults={"problem": "It does not converge."})
    found = scraped(client)
    assert found["preferendum_topics_failed",] == 2
    assert found["preferendum_topics_behind_oldest_seconds",] == 0


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
def test_a_judgment_waits_also_where_one_came_before_it_that_does_not_count(client: Client) -> None:
    person = joined(ready_study())
    first = judged(person)
    Assignment.objects.filter(pk=first.pk).update(holds_place=False)
    assert scraped(client)["preferendum_topics_behind_oldest_seconds",] == 0
    judged(person)
    assert scraped(client)["preferendum_topics_behind_oldest_seconds",] > 0


@pytest.mark.django_db
def test_it_asks_as_often_however_much_there_is(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(8):
        prometheus.page()
    for _ in range(2):
        study = ready_study(topics=3)
        judged(joined(study))
    with django_assert_num_queries(8):
        prometheus.page()


@pytest.mark.django_db
@pytest.mark.usefixtures("token")
def test_it_names_addresses_and_nothing_that_was_put_into_them(client: Client) -> None:
    client.get("/join/somebodys-invitation/")
    client.generic("BREW", "/no/such/page/")
    found = scraped(client)
    assert any(key[0] == "preferendum_request_seconds_count" and "join" in key for key in found)
    assert any(key[1:3] == ("other", "none") for key in found)
    page = prometheus.page().decode()
    assert "somebodys-invitation" not in page
    assert "BREW" not in page
    assert "no/such" not in page


# Several processes


@pytest.fixture
def two(transactional_db: None, processes: Processes) -> Iterator[tuple[str, Any, Path]]:
    """Its address, its master and the folder of its counts: a real gunicorn with two processes."""
    bind = f"127.0.0.1:{free_port()}"
    process = processes.start(
        "metrics",
        *("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"),
        PREFERENDUM_BIND=bind,
        PREFERENDUM_ORIGIN=f"http://{bind}",
        PREFERENDUM_WEB_PROCESSES="2",
        PREFERENDUM_METRICS_TOKEN=TOKEN,
    )
    folder = processes.logs / "metrics" / bind.replace(":", "_")
    try:
        wait_until(lambda: asked(f"http://{bind}/health/live") and len(list(folder.glob("*.db"))) == 2, "two processes")
        yield f"http://{bind}", process, folder
    finally:
        stop(process)


def asked(url: str, token: str = "") -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def pages_counted(url: str) -> float:
    return read(asked(f"{url}/metrics", TOKEN)).get(("preferendum_request_seconds_count", "GET", "about", "200"), 0)


def counting(folder: Path) -> int:
    """How many processes have counted a page."""
    kept = [MmapedDict.read_all_values_from_file(str(file)) for file in folder.glob("*.db")]  # type: ignore[no-untyped-call]
    return sum(any('"about"' in key and value for key, value, *_rest in one) for one in kept)


def test_two_processes_answer_as_one_and_count_on_when_one_dies(two: tuple[str, Any, Path]) -> None:
    url, master, folder = two
    sent = 0
    while sent < 20 or counting(folder) < 2:
        assert sent < 2_000, "one process answers everything"
        assert asked(f"{url}/about/")
        sent += 1
    assert {pages_counted(url) for _ in range(10)} == {sent}
    children = Path(f"/proc/{master.pid}/task/{master.pid}/children")
    before = children.read_text().split()
    os.kill(int(before[0]), signal.SIGKILL)
    wait_until(lambda: len(left := children.read_text().split()) == 2 and before[0] not in left, "another process")
    wait_until(lambda: asked(f"{url}/about/"), "an answer")
    sent += 1
    wait_until(lambda: pages_counted(url) >= sent, "what was counted")
    assert pages_counted(url) == sent
    assert sorted(file.name for file in folder.iterdir()) == ["histogram_0.db", "histogram_1.db"]


def test_a_process_takes_the_lowest_slot_that_no_living_one_has() -> None:
    def slot(*taken: int) -> int:
        worker = SimpleNamespace()
        workers = {pid: SimpleNamespace(slot=one) for pid, one in enumerate(taken)}
        gunicorn.pre_fork(SimpleNamespace(WORKERS=workers), worker)
        return int(worker.slot)

    assert [slot(), slot(0), slot(1), slot(0, 2), slot(0, 1)] == [0, 1, 0, 1, 2]


def test_counts_begin_anew_with_every_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gunicorn, "_COUNTS", tmp_path / "counts")
    (tmp_path / "counts").mkdir()
    (tmp_path / "counts" / "histogram_7.db").write_bytes(b"old")
    gunicorn.on_starting(None)
    assert not (tmp_path / "counts").exists()


def test_a_full_disk_keeps_no_process_from_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    said: list[str] = []
    monkeypatch.setattr(gunicorn, "_COUNTS", tmp_path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    before = values.ValueClass
    log = SimpleNamespace(warning=lambda text, *given: said.append(text % given))
    gunicorn.post_fork(SimpleNamespace(log=log), SimpleNamespace(slot=0))
    assert values.ValueClass is before
    assert prometheus.FOLDER not in os.environ
    assert "No space left" in said[0]
    assert list(tmp_path.iterdir()) == []
