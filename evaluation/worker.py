# ruff: noqa: E402 - numpy reads the environment when it loads, and the tables exist only after Django's setup
"""The worker: a Celery app, and the heartbeat that looks every second for what is behind.

    python -m celery -A evaluation.worker worker --loglevel WARNING

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
import logging
import random
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import django
from celery import Celery, signals
from celery.worker import state
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

django.setup()

from annotate import durability, limits, logs
from annotate.sessions import SessionStore
from evaluation import broker, records

logger = logging.getLogger(__name__)
chance = random.SystemRandom()  # workers that were forked from one another must not draw alike

EMBEDDED = settings.BROKER_URL.startswith("memory://")
SOFT_LIMIT = 60.0
HARD_LIMIT = 90.0

BEAT_SECONDS = 1.0
#: While people judge without a pause every topic is behind at every beat. These tasks are sent for it once in so many
#: seconds, so that whoever judges has the machine for most of the time, and for all topics at the same beat, so that
#: the systems are put in order once for all of them.
ROUND_SECONDS = 2.0
ONCE_A_ROUND = ("refit_topic", "rank_study")
PULSE_SECONDS = 2.0
#: How often it is forgotten whose wrong passwords no longer count.
FORGET_SECONDS = 60.0
#: Touched after each sign of life, where something outside (a container's health check) cannot ask the database.
PULSE_FILE = os.environ.get("PREFERENDUM_PULSE_FILE", "")
#: A message that changed nothing for so long was lost, or waits in a long queue: the next one may be sent.
LOST_SECONDS = 10.0
#: Messages of ours that may be under way at once, as many as our processes do in a second or two: the queue stays
#: short, whatever there is to do.
UNDER_WAY = 32 * settings.WORKER_PROCESSES
#: Work waits and this process was given none for so long: it no longer hears its broker and had better start anew.
DEAF_SECONDS = 180.0
#: The same in beats, where nothing runs here and the broker takes messages. (An acknowledgement that a frozen Redis did
#: not take keeps the one place that a worker has for messages, until long after Redis is back.)
IDLE_BEATS = 15

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
app = Celery(
    "preferendum", broker="memory://localhost//" if EMBEDDED else settings.BROKER_URL, include=["evaluation.tasks"]
)
app.conf.update(
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
    worker_concurrency=settings.WORKER_PROCESSES,
    worker_prefetch_multiplier=1,
    worker_lost_wait=1.0,
    worker_max_tasks_per_child=1000,
    worker_max_memory_per_child=800_000,  # kB
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

Publish = Callable[[records.Work], object]


def publish(work: records.Work) -> None:
    """Put one task into the queue. Its id begins with its claim, so that the heartbeat knows what runs here."""
    app.send_task(work.task, (work.key,), task_id=f"{work.claim} {uuid.uuid4()}")


class Heartbeat(threading.Thread):
    """Every second: queue a task for whatever is behind, renew the claims of what runs here, give a sign of life."""

    def __init__(self, publish: Publish = publish) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self.stopping = threading.Event()
        self.name_of_process = f"{socket.gethostname()}:{os.getpid()}"
        self.forking = threading.Lock()
        self._publish = publish
        self._sent: dict[tuple[str, int], tuple[records.Mark, float]] = {}
        self._round = 0
        self._done_this_round: set[tuple[str, int]] = set()
        self.alone = EMBEDDED  # until the first beat
        self._pulse_at = float("-inf")
        self._forgot_at = float("-inf")
        self._heard = 0
        self._heard_at = time.monotonic()
        self._idle_beats = 0
        self._connections: Sequence[BaseDatabaseWrapper] = ()

    def run(self) -> None:
        self._connections = connections.all()
        for connection in self._connections:
            connection.inc_thread_sharing()  # whoever forks closes it
        while True:
            with self.forking:
                try:
                    close_old_connections()
                    self.beat(time.monotonic())
                except Exception:
                    logger.exception("this beat failed; the next one comes in a second")
                    connections.close_all()
            if self.stopping.wait(BEAT_SECONDS):
                connections.close_all()
                return

    def before_fork(self) -> None:
        """A child is never forked in the middle of a beat: it would inherit locks that nobody there gives back; and
        never beside an open database connection, which must not be carried across a fork."""
        self.forking.acquire()
        for connection in self._connections:
            connection.close()

    def beat(self, now: float) -> None:
        """One beat at `now` (seconds on a clock that never jumps)."""
        if self.alone:
            # Nobody else works on this database: whatever is claimed was claimed by a worker that is dead.
            records.drop_claims()
            self.alone = False
        if now - self._pulse_at >= PULSE_SECONDS:
            records.give_sign_of_life(self.name_of_process)
            self._pulse_at = now
            if PULSE_FILE:
                Path(PULSE_FILE).touch()
        records.renew_claims(claims_at_work())
        self.look_for_work(now)
        if now - self._forgot_at >= FORGET_SECONDS:
            self._forgot_at = now
            limits.forget()
            SessionStore.clear_expired()

    def look_for_work(self, now: float) -> None:
        """Queue a task for whatever the tables show to be behind, unless one was queued and nothing came of it yet."""
        waiting = records.find_work()
        still = {(work.task, work.key): work.mark for work in waiting}
        self._sent = {
            address: (mark, at)
            for address, (mark, at) in self._sent.items()
            if still.get(address) == mark and now - at < LOST_SECONDS
        }
        if self._round != (this_round := int(now // ROUND_SECONDS)):
            self._round, self._done_this_round = this_round, set()
        had_their_turn = self._sent.keys() | self._done_this_round
        new = [work for work in waiting if (work.task, work.key) not in had_their_turn]
        if any(work.task == "refit_topic" for work in new):
            # Whatever this round has seen of it: there is more to be put in order as soon as these are fitted.
            new += [work for work in waiting if work.task == "rank_study" and work not in new]
        for work in _our_share(new, max(0, UNDER_WAY - len(self._sent))):
            self._publish_or_wait(work, now)
            self._sent[work.task, work.key] = (work.mark, now)
            if work.task in ONCE_A_ROUND:
                self._done_this_round.add((work.task, work.key))
        self._notice_deafness(bool(waiting), now)

    def _publish_or_wait(self, work: records.Work, now: float) -> None:
        try:
            self._publish(work)
        except Exception:
            self._heard_at, self._idle_beats = now, 0  # without a broker nobody is deaf
            raise

    def _notice_deafness(self, waiting: bool, now: float) -> None:
        heard = sum(state.total_count.values())
        if heard != self._heard or not waiting:
            self._heard, self._heard_at, self._idle_beats = heard, now, 0
            return
        self._idle_beats = 0 if claims_at_work() else self._idle_beats + 1
        silence = now - self._heard_at
        if self._idle_beats > IDLE_BEATS or silence > DEAF_SECONDS:
            logger.critical("work is waiting and the broker gave this worker none for %d s: leaving", silence)
            os.kill(os.getpid(), signal.SIGTERM)


def _our_share(waiting: list[records.Work], room: int) -> list[records.Work]:
    """The first ones; by lot among as many as all workers together can take, so that few are sent by two of them."""
    if len(waiting) <= room:
        return waiting
    together = min(len(waiting), room * max(1, records.workers_alive()))
    return [waiting[place] for place in sorted(chance.sample(range(together), room))]


def claims_at_work() -> set[str]:
    """What the tasks that run in this process right now have claimed."""
    return {str(request.id).partition(" ")[0] for request in _snapshot(state.active_requests)}


def _snapshot(requests: Iterable[Any]) -> list[Any]:
    """What is in a set that another thread changes: Python notices a change in the middle, and we look again."""
    while True:
        try:
            return list(requests)
        except RuntimeError:
            continue


_heartbeats: list[Heartbeat] = []


@signals.task_prerun.connect
def name_the_task(task_id: str, task: Any, args: tuple[Any, ...], **_: Any) -> None:
    """From here on every line that this child logs says what it is at."""
    logs.at_work.set({"task": task_id.rpartition(" ")[2], "work": " ".join([task.name, *map(str, args)])})


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
    if time.monotonic() - _began >= SOFT_LIMIT:
        connections.close_all()  # it was stopped, who knows in the middle of what
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
def step_back(**_: Any) -> None:
    os.nice(10)  # where the website is on the same machine, whoever waits for a page goes first


@signals.worker_process_init.connect
def leave_connections_to_the_parent(**_: Any) -> None:
    """A child that is forked after the broker went away and came back has all its parent's connections, old ones that
    the broker has closed among them, and would hold them as long as it lives. It needs none: those are closed as Python
    knows them, so that nothing closes their numbers once more when other files have them."""
    for found in gc.get_objects():
        # Not isinstance: asked for their class, proxies of what is gone raise, and lazy objects wake up.
        if issubclass(type(found), socket.socket) and found.family in (socket.AF_INET, socket.AF_INET6):
            found.close()


@signals.worker_ready.connect
def begin(**_: Any) -> None:
    heartbeat = Heartbeat()
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
