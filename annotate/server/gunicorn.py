"""Gunicorn's configuration for the website (`gunicorn -c python:annotate.server.gunicorn annotate.wsgi`)."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from typing import Any

from django.urls import reverse
from gunicorn import glogging
from prometheus_client import values

from annotate.database import durability
from annotate.server import logs
from annotate.server.private_files import data_folder


class Logger(glogging.Logger):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's own logger, without access lines: annotate.server.logs writes them, and knows what to leave out.
    Otherwise gunicorn would format each line for no handler."""

    access_log_enabled = False


bind = os.environ.get("PREFERENDUM_BIND", "127.0.0.1:8000")
worker_class = "annotate.server.connections.WaitressWorker"
# With SQLite more threads only lengthen the queue before the one writer: p95 66 ms with 2 x 2, 374 ms with 2 x 4.
workers = int(os.environ.get("PREFERENDUM_WEB_PROCESSES", "2"))
threads = int(os.environ.get("PREFERENDUM_WEB_THREADS", "2"))
# Loaded once and shared by all processes: two take 150 MiB with their parent, which were 222 (docs/capacity.md). One
# that is replaced serves at once, without a second or two of loading, which `timeout` would count.
preload_app = True
worker_connections = 500
keepalive = 5
# A process without a sign of life for so long is killed: one that is frozen in a transaction locks its topic, and no
# annotator shall wait more than 10 s for it. The arbiter checks once a second and sends SIGABRT first. If it is
# frozen too, PostgreSQL ends the transaction (annotate.settings).
timeout = 6
# A sign of life here waits for no disk.
_MEMORY = "/dev/shm"  # noqa: S108 - mkstemp makes the file
worker_tmp_dir = _MEMORY if os.access(_MEMORY, os.W_OK) else None
graceful_timeout = 20
max_requests = 20_000
max_requests_jitter = 2_000
control_socket_disable = True
loglevel = os.environ.get("PREFERENDUM_LOG_LEVEL", "warning").lower()
logconfig_dict = logs.configuration()
logger_class = Logger

#: Counters of the processes (annotate.server.prometheus), one folder an address: two may serve from the same data.
_COUNTS = data_folder() / "metrics" / bind.replace("/", "_").replace(":", "_")
#: Bytes for some 1,500 combinations of address, method and status.
_ROOM = 4 * 2**20


def on_starting(server: Any) -> None:
    """Reset the counters."""
    shutil.rmtree(_COUNTS, ignore_errors=True)


def when_ready(server: Any) -> None:
    """Load what Django leaves to the first request, all pages, and share it.

    Neither the processes nor their parent look for garbage among what is frozen: that would write to its memory, and
    so copy it for each of them, and took a tenth of the processor's time of a click.
    """
    reverse("home")
    gc.collect()
    gc.freeze()


def pre_fork(server: Any, worker: Any) -> None:
    """Give the process the lowest slot that no living one has, so that files of dead ones do not pile up."""
    taken = {other.slot for other in server.WORKERS.values()}
    worker.slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)


def post_fork(server: Any, worker: Any) -> None:
    """Have the process count where the others can read it, or in memory if there is no room for that.

    A process that takes over a slot continues its counts. The file has its full size from the start: on a full disk, a
    write into a hole of a mapped file would kill the process.
    """
    slot = worker.slot
    file = _COUNTS / f"histogram_{slot}.db"
    try:
        _COUNTS.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as made:
            os.posix_fallocate(made.fileno(), 0, _ROOM)
    except OSError as error:
        file.unlink(missing_ok=True)
        server.log.warning("Each web process counts for itself: no room for %s (%s).", _COUNTS, error.strerror)
        return
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_COUNTS)
    values.ValueClass = values.MultiProcessValue(lambda: slot)  # type: ignore[no-untyped-call]


def post_worker_init(worker: Any) -> None:
    """Collect garbage less often: with `when_ready`, p95 of a click was 43 and not 57 ms (benchmarks/results/load.md).
    While one thread computes, another whose query is answered waits for half a millisecond at most, not five.

    The parent may have started while the database was away: every process looks whether it is durable.
    """
    durability.require()
    gc.set_threshold(20_000, 20, 50)
    sys.setswitchinterval(0.0005)
