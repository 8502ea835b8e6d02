"""A Redis that is not as Celery left it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from celery import Celery

from evaluation.worker.broker import set_aside_foreign_keys
from lab.services import Redis

pytestmark = pytest.mark.skipif(not shutil.which("redis-server"), reason="no Redis server here")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    found = Redis(tmp_path / "redis")
    found.start()
    yield found
    found.stop()


def test_a_key_that_holds_something_else_is_set_aside_and_named(
    server: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    Celery(broker=server.url).send_task("wanted")
    with redis.Redis(port=server.port) as client:
        for key in ("unacked", "_kombu.binding.celery"):
            client.set(key, "somebody else's")
        set_aside_foreign_keys(Celery(broker=server.url))
        Celery(broker=server.url).send_task("wanted")
        assert not client.exists("unacked", "_kombu.binding.celery")
        assert client.llen("celery") == 2
        assert client.get(*client.scan_iter("unacked.string.*")) == b"somebody else's"
    assert "Redis's key 'unacked' is a string" in caplog.text


def test_a_redis_that_is_away_is_for_the_worker_to_wait_for(server: Redis) -> None:
    server.stop()
    set_aside_foreign_keys(Celery(broker=server.url))
