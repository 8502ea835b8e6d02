# ruff: noqa: E402 - numpy reads the environment when it loads, and the tables exist only after Django's setup
"""The worker: a Celery app, and the heartbeat that looks every second for what is behind.

    python -m celery -A evaluation.worker.app worker --loglevel WARNING

Only the heartbeat publishes tasks, a task only says where to look, and what is behind follows from the tables alone:
a message that is lost, doubled or late, an emptied broker or a worker that was killed costs a delay and nothing else.
So by default (`BROKER_URL=memory://`) the queue lives in this process and nothing of it is ever written to a disk;
with Redis any number of workers share the work, each with a heartbeat of its own.
"""

from __future__ import annotations

import os

# The mathematics works on many small topics: more BLAS threads only get into each other's way. Read when numpy loads.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
# Celery would have Django check every page of the website before a worker may start.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

import gc
import resource
import socket
import sys
import time
import uuid
from typing import Any

import django
from celery import Celery, signals
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connections

django.setup()

from annotate.database import durability
from annotate.database.transactions import end_stray_transactions
from annotate.server import logs
from evaluation.worker import broker
from evaluation.worker.agenda import QUICK, Work
from evaluation.worker.attempts import HARD_LIMIT, SOFT_LIMIT
from evaluation.worker.heartbeat import Heartbeat

EMBEDDED = settings.BROKER_URL.startswith("memory://")
#: After which a process that is at quick work is killed; it is told to stop after `QUICK`.
QUICK_HARD = 3 * QUICK

_EMBEDDED_BROKER: dict[str, Any] = {"broker_transport_options": {"polling_interval": 0.05}}
_REDIS_BROKER: dict[str, Any] = {
    "broker_transport_options": {
        # Longer than the hard limit of a task, so that no task is given out again while it may still run.
        "visibility_timeout": 120,
        # By default what a dead worker held is looked for every 100 s only.
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
    },
    "worker_cancel_long_running_tasks_on_connection_loss": True,
}

broker.install()
_URL = "memory://localhost//" if EMBEDDED else settings.BROKER_URL
app = Celery("preferendum", broker=_URL, include=["evaluation.worker.tasks"])
app.conf.update(
    # Celery's command line would take `BROKER_URL` from the environment, where the password may be missing.
    broker_read_url=_URL,
    broker_write_url=_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    accept_content=["json"],
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # A task that fails must not come back at once: the heartbeat tries again, each time after a longer while.
    task_acks_on_failure=True,
    task_acks_on_timeout=True,
    task_soft_time_limit=SOFT_LIMIT,
    task_time_limit=HARD_LIMIT,
    task_publish_retry=False,
    worker_pool="prefork",
    worker_concurrency=settings.WORKER_PROCESSES + 1,  # one for what takes long
    worker_prefetch_multiplier=1,
    worker_lost_wait=1.0,
    worker_max_tasks_per_child=1000,
    worker_max_memory_per_child=settings.WORKER_MEMORY // 2048,  # kB; who holds more after a task is replaced
    worker_soft_shutdown_timeout=5.0,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    # Celery would close the database's connection before and after every task, and a new one knows no table and no
    # plan. How long it may live the settings say; `begin_task` has Django look.
    CELERY_DB_REUSE_MAX=sys.maxsize,
    timezone=settings.TIME_ZONE,
    **(_EMBEDDED_BROKER if EMBEDDED else _REDIS_BROKER),
)


def publish(work: Work) -> None:
    """Put one task into the queue. Its id begins with its claim, so that the heartbeat knows what runs here."""
    soft, hard = (SOFT_LIMIT, HARD_LIMIT) if work.is_long else (QUICK, QUICK_HARD)
    task_id = f"{work.claim} {uuid.uuid4()}"
    app.send_task("work", (work.task, work.key), task_id=task_id, soft_time_limit=soft, time_limit=hard)


_heartbeats: list[Heartbeat] = []


@signals.task_prerun.connect
def name_the_task(task_id: str, args: tuple[Any, ...], **_: Any) -> None:
    """From here on every line that this child logs says what it is at."""
    logs.at_work.set({"task": task_id.rpartition(" ")[2], "work": " ".join(map(str, args))})


@signals.task_postrun.connect
def forget_the_task(**_: Any) -> None:
    logs.at_work.set({})


_began = 0.0


@signals.task_prerun.connect
def begin_task(**_: Any) -> None:
    """A connection that is too old, or of which Django knows that it failed, is not used again."""
    global _began
    _began = time.monotonic()
    close_old_connections()


@signals.task_postrun.connect
def end_task(**_: Any) -> None:
    """A task that was stopped may have begun a transaction without Django's knowing: it would lock tables for good."""
    end_stray_transactions()
    if time.monotonic() - _began >= QUICK:
        connections.close_all()
    else:
        close_old_connections()


@signals.worker_init.connect
def refuse_a_weak_database(**_: Any) -> None:
    """Celery logs what a signal's receiver raises and goes on; an exit it obeys."""
    try:
        durability.require()
    except ImproperlyConfigured as error:
        sys.exit(str(error))


@signals.worker_init.connect
def mend_the_broker(**_: Any) -> None:
    if not EMBEDDED:
        broker.set_aside_foreign_keys(app)


@signals.worker_init.connect
def step_back(**_: Any) -> None:
    os.nice(10)  # where the website is on the same machine, whoever waits for a page goes first


@signals.worker_process_init.connect
def leave_connections_to_the_parent(**_: Any) -> None:
    """A child that is forked after the broker went away and came back has all its parent's connections, old ones that
    the broker has closed among them, and would hold them as long as it lives. It needs none: those are closed as Python
    knows them, so that nothing closes their numbers once more when other files have them. (Without this, trials F07 and
    F08 leave some 30 open files too many.)"""
    for instance in gc.get_objects():
        # Not isinstance: asked for their class, proxies of what is gone raise, and lazy objects wake up.
        if issubclass(type(instance), socket.socket) and instance.family in (socket.AF_INET, socket.AF_INET6):
            instance.close()


@signals.worker_process_init.connect
def limit_memory(**_: Any) -> None:
    """What no estimate has foreseen fails in words (`attempts.TOO_LARGE`) before it takes the machine's memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (settings.WORKER_MEMORY, settings.WORKER_MEMORY))


@signals.worker_ready.connect
def begin(**_: Any) -> None:
    heartbeat = Heartbeat(publish, alone=EMBEDDED)
    _heartbeats.append(heartbeat)
    os.register_at_fork(
        before=heartbeat.before_fork,
        after_in_parent=heartbeat.forking.release,
        after_in_child=heartbeat.forking.release,
    )
    heartbeat.start()


@signals.worker_shutting_down.connect
def end(**_: Any) -> None:
    for heartbeat in _heartbeats:
        heartbeat.stopping.set()
