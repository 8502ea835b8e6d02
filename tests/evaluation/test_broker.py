"""A Redis that is not as Celery left it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from django.core.exceptions import ImproperlyConfigured

from annotate.server.broker_address import read_broker
from evaluation.broker import set_aside_foreign_keys
from evaluation.management.commands.doctor import broker
from lab.services import Redis
from tests.conftest import needs_valkey

pytestmark = pytest.mark.skipif(not shutil.which("redis-server"), reason="no Redis server here")


@pytest.fixture(params=["redis-server", pytest.param("valkey-server", marks=needs_valkey)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Redis]:
    found = Redis(tmp_path / "redis", request.param)
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


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    """That of a Redis with a user, at a path short enough for one."""
    with tempfile.TemporaryDirectory(prefix="redis-") as room:
        path = Path(room) / "redis.sock"
        found = Redis(Path(room), options={"unixsocket": str(path)})
        found.start()
        with redis.Redis(port=found.port) as client:
            client.acl_setuser(
                "me", enabled=True, passwords=["+a@b/c"], keys=["*"], channels=["*"], categories=["+@all"]
            )
        yield path
        found.stop()


@pytest.mark.parametrize(
    "address",
    [
        "unix://{socket}?db=3",
        "unix://me:a%40b%2Fc@{socket}?db=3",
        "unix://me@{socket}?db=3&password=a@b/c",
        "redis+socket://{socket}?virtual_host=3",
        "redis+socket://{socket}?db=3",
        "redis+socket://me:a%40b%2Fc@{socket}?virtual_host=3",
        "redis://127.0.0.1:{port}/3",
        "redis://127.0.0.1:{port}?db=3",
        "redis://me:a%40b%2Fc@127.0.0.1:{port}/3",
    ],
)
def test_doctor_and_worker_read_every_address_of_a_queue_alike(address: str, socket: Path, settings: Any) -> None:
    with redis.Redis(unix_socket_path=str(socket), db=3) as client:
        client.flushdb()
        settings.BROKER_URL = read_broker(address.format(socket=socket, port=client.config_get("port")["port"]))
        (finding,) = broker()
        assert finding.detail.startswith("answers"), finding
        Celery(broker=settings.BROKER_URL).send_task("wanted")
        assert client.llen("celery") == 1
    set_aside_foreign_keys(Celery(broker=settings.BROKER_URL))


def test_a_queue_over_tls_must_show_its_certificate_unless_the_address_says_otherwise() -> None:
    assert read_broker("rediss://host/1") == "rediss://host/1?ssl_cert_reqs=required"
    own = "rediss://:secret@host:6380/1?ssl_cert_reqs=none"
    assert read_broker(own) == own


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("amqp://host", "found 'amqp'"),
        ("host:6379", "found"),
        ("redis://host/first", "found 'first'"),
        ("redis://host?patience=3", "does not take: patience"),
        ("unix://run/redis.sock", "whole path"),
    ],
)
def test_what_is_no_address_of_a_queue_is_refused_by_all_at_their_start(
    address: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        read_broker(address)
    environment = os.environ | {"BROKER_URL": address, "PREFERENDUM_DATA": str(tmp_path)}
    start = [sys.executable, "-c", "import annotate.settings"]
    done = subprocess.run(start, env=environment, capture_output=True, text=True, check=False)
    assert "ImproperlyConfigured: BROKER_URL" in done.stderr
