# ruff: noqa: E402 - numpy reads the environment when it loads, and the tables exist only after Django's setup
"""The worker: a Celery app, and the heartbeat that looks for waiting work every second.

    python -m celery -A evaluation.app worker --loglevel WARNING

Only the heartbeat publishes tasks, and the tables alone show what is out of date:
docs/decisions/celery-only-delivers.md. By default (`BROKER_URL=memory://`) the queue lives in this process; with Redis
any number of workers share the work, each with its own heartbeat.
"""

from __future__ import annotations

import os

# There are many small topics: more BLAS threads would only get in each other's way. Read when numpy loads.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
# Otherwise Celery has Django check every page of the website before a worker starts.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

import ctypes
import gc
import logging
import resource
import signal
import socket
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import django
from celery import Celery, signals
from celery.exceptions import SecurityWarning
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connections

django.setup()

from annotate.database import durability
from annotate.database.transactions import end_stray_transactions
from annotate.server import logs
from evaluation import broker
from evaluation.agenda import QUICK, Work
from evaluation.attempts import HARD_LIMIT, SOFT_LIMIT, interrupt
from evaluation.heartbeat import Heartbeat

EMBEDDED = settings.BROKER_URL.startswith("memory://")
#: Seconds by the clock after which quick work is interrupted, and after which its process is killed. `QUICK` is of the
#: processor.
QUICK_SOFT, QUICK_HARD = 5 * QUICK, 15 * QUICK

_EMBEDDED_BROKER: dict[str, Any] = {"broker_transport_options": {"polling_interval": 0.05}}
_REDIS_BROKER: dict[str, Any] = {
    "broker_transport_options": {
        # Longer than the hard limit of a task, so that no task is redelivered while it may still run.
        "visibility_timeout": 300,
        # By default, a dead worker's tasks are restored only every 100 s.
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
app = Celery("preferendum", broker=_URL, include=["evaluation.tasks"])
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
    # A failed task must not return at once: the heartbeat retries it, each time after a longer pause.
    task_acks_on_failure=True,
    task_acks_on_timeout=True,
    task_soft_time_limit=SOFT_LIMIT,
    task_time_limit=HARD_LIMIT,
    task_publish_retry=False,
    worker_pool="prefork",
    worker_concurrency=settings.WORKER_PROCESSES + 1,  # one for long work
    worker_prefetch_multiplier=1,
    worker_lost_wait=1.0,
    worker_max_tasks_per_child=1000,
    worker_max_memory_per_child=settings.WORKER_MEMORY // 2048,  # kB; a process with more after a task is replaced
    worker_soft_shutdown_timeout=5.0,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    worker_hijack_root_logger=False,
    # Otherwise Celery closes the database connection before and after every task, and a new one has no tables or plans
    # cached. The settings limit its age; `begin_task` has Django check that.
    CELERY_DB_REUSE_MAX=sys.maxsize,
    timezone=settings.TIME_ZONE,
    **(_EMBEDDED_BROKER if EMBEDDED else _REDIS_BROKER),
)


def publish(works: Sequence[Work]) -> None:
    """Queue one task for works of one kind. Its id begins with their claims, so that the heartbeat knows what runs
    here."""
    soft, hard = (SOFT_LIMIT, HARD_LIMIT) if works[0].is_long else (QUICK_SOFT, QUICK_HARD)
    task_id = f"{','.join(work.claim for work in works)} {uuid.uuid4()}"
    of_works = works[0].task, *(work.key for work in works)
    app.send_task("work", of_works, task_id=task_id, soft_time_limit=soft, time_limit=hard)


# Celery warns of root because of pickles, and takes none here (`accept_content`).
warnings.filterwarnings("ignore", category=SecurityWarning)


def is_news(record: logging.LogRecord) -> bool:
    """That quick work was interrupted is none: the heartbeat starts it again as long work."""
    return not (record.msg.startswith("Soft time limit") and record.args and QUICK_SOFT in record.args)


logging.getLogger("celery.worker.request").addFilter(is_news)
_heartbeats: list[Heartbeat] = []


@signals.task_prerun.connect
def name_the_task(task_id: str, args: tuple[Any, ...], **_: Any) -> None:
    """From here on, every line that this child logs names its task."""
    logs.at_work.set({"task": task_id.rpartition(" ")[2], "work": " ".join(map(str, args))})


@signals.task_postrun.connect
def forget_the_task(**_: Any) -> None:
    logs.at_work.set({})


_began = 0.0
#: Gives free memory back to the machine; other C libraries than glibc have nothing of this kind.
_give_back: Callable[..., object] = getattr(ctypes.CDLL(None), "malloc_trim", lambda *_: None)


@signals.task_prerun.connect
def begin_task(**_: Any) -> None:
    """Close a connection that is too old, or that Django knows to have failed."""
    global _began
    _began = time.monotonic()
    signal.setitimer(signal.ITIMER_PROF, 0)  # of a task that ended during an import
    signal.signal(signal.SIGUSR1, interrupt)  # Celery's end by the clock, with a handler set after all its other hooks
    close_old_connections()


@signals.task_postrun.connect
def end_task(**_: Any) -> None:
    """An interrupted task may leave a transaction unknown to Django, which would lock tables for good. The machine gets
    back what long work has taken: of a fit of 1,500 systems, glibc would keep 550 MB for the process."""
    end_stray_transactions()
    if time.monotonic() - _began >= QUICK:
        connections.close_all()
        _give_back(0)
    else:
        close_old_connections()


@signals.worker_init.connect
def share_what_is_loaded(**_: Any) -> None:
    """Load SciPy's statistics, which SciPy would load in each process at the first agreement, and look for no garbage
    among what is loaded before the processes are forked.

    That writes to its memory: each process had a copy of its own, 30 MB more. No connection is open yet:
    `leave_connections_to_the_parent` would not see those.
    """
    import scipy.stats  # noqa: F401

    gc.collect()
    gc.freeze()


@signals.worker_init.connect
def refuse_a_weak_database(**_: Any) -> None:
    """Celery only logs an exception raised by a signal's receiver, but obeys an exit."""
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
    os.nice(10)  # if the website runs on the same machine, its pages have priority


@signals.worker_process_init.connect
def leave_connections_to_the_parent(**_: Any) -> None:
    """A child forked after the broker was away inherits all its parent's connections, including those that the broker
    has closed, and would hold them as long as it lives. It needs none. They are closed as Python objects, so that
    nothing closes their numbers again once other files have them. (Without this, trials F07 and F08 leave some 30 open
    files too many.)"""
    for instance in gc.get_objects():
        # Not isinstance, which reads `__class__`: dead proxies would raise, and lazy objects would be evaluated.
        if issubclass(type(instance), socket.socket) and instance.family in (socket.AF_INET, socket.AF_INET6):
            instance.close()


@signals.worker_process_init.connect
def limit_memory(**_: Any) -> None:
    """Unforeseen use of memory fails with a message (`attempts.TOO_LARGE`) before it exhausts the machine."""
    resource.setrlimit(resource.RLIMIT_DATA, (settings.WORKER_MEMORY, settings.WORKER_MEMORY))


@signals.worker_process_init.connect
def limit_processor_time(**_: Any) -> None:
    signal.signal(signal.SIGPROF, interrupt)


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
