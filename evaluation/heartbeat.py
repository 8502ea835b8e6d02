"""The heartbeat of a worker: every second it looks for waiting work and queues it by turns."""

from __future__ import annotations

import logging
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

from celery.worker import state
from django.conf import settings
from django.db import close_old_connections, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from annotate import judging
from annotate.imports import forget_removed
from annotate.server import idempotency, limits
from annotate.server.sessions import SessionStore
from evaluation import claims
from evaluation.agenda import QUICK, ROUND, Agenda, Work, look
from evaluation.turns import Turns, Whose, cost

logger = logging.getLogger(__name__)
chance = random.SystemRandom()  # forked workers must not draw alike

BEAT_SECONDS = 1.0
#: Tasks sent once a round for the same key.
ONCE_A_ROUND = ("refit_topic", "rank_study")
#: Seconds of fits, and their number, in one message: no other work waits longer for them, nor an answer for the
#: transaction that stores them. Nor do they take more memory: six topics with 300 systems that are fitted together hold
#: 120 MB, where a single one with 1,500 systems holds 470.
TOGETHER, MOST_TOGETHER = 0.5, 8
PULSE_SECONDS = 2.0
#: How often expired limits (wrong passwords), answers, sessions and removals are deleted.
FORGET_SECONDS = 60.0
#: Touched after each sign of life, for an outside check (of a container's health) that cannot read the database.
PULSE_FILE = os.environ.get("PREFERENDUM_PULSE_FILE", "")
#: A message without effect for this long was lost, or waits in a long queue: the next one may be sent.
LOST_SECONDS = 10.0
#: If work waits and this process receives none for this long, it no longer hears its broker and had better restart.
DEAF_SECONDS = 180.0
#: The same in beats, while nothing runs here and the broker accepts messages. (An acknowledgement that a frozen Redis
#: did not accept occupies a worker's only slot for messages until long after Redis is back.)
IDLE_BEATS = 15

_GONE = object()


class Heartbeat(threading.Thread):
    """Every second: queue tasks for waiting work, renew the claims of what runs here, give a sign of life.

    Quick and long work have separate shares of the workers' time: each worker has one process more than configured,
    there are no more long tasks under way than workers, and no more quick ones than the other processes do in a turn.
    So an owner's quick work waits for one turn of other owners' quick work, and for nothing else.
    """

    def __init__(self, publish: Callable[[Sequence[Work]], object], *, alone: bool) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self.stopping = threading.Event()
        self.name_of_process = f"{socket.gethostname()}:{os.getpid()}"
        self.forking = threading.Lock()
        self.alone = alone  # until the first beat
        self._publish = publish
        self._sent: dict[str, tuple[object, float]] = {}
        self._round = 0
        self._done_this_round: set[str] = set()
        self._quick_turns, self._long_turns = Turns(), Turns()
        self._pulse_at = float("-inf")
        self._forgot_at = float("-inf")
        self._heard = 0
        self._heard_at = time.monotonic()
        self._idle_beats = 0
        self._connections: Sequence[BaseDatabaseWrapper] = ()

    def run(self) -> None:
        self._connections = connections.all()
        for connection in self._connections:
            connection.inc_thread_sharing()  # the thread that forks closes it
        while True:
            with self.forking:
                try:
                    close_old_connections()
                    self.beat(time.monotonic())
                except Exception:
                    logger.exception("this heartbeat failed; the next one is in a second")
                    connections.close_all()
            if self.stopping.wait(BEAT_SECONDS):
                connections.close_all()
                return

    def before_fork(self) -> None:
        """Never fork during a beat: the child would inherit locks that nothing there releases; nor with an open
        database connection, which must not be carried across a fork."""
        self.forking.acquire()
        for connection in self._connections:
            connection.close()

    def beat(self, now: float) -> None:
        """One beat at `now` (seconds of a monotonic clock)."""
        if self.alone:
            # No other worker uses this database: every claim is a dead worker's.
            claims.free_claims()
            self.alone = False
        if now - self._pulse_at >= PULSE_SECONDS:
            claims.give_sign_of_life(self.name_of_process)
            self._pulse_at = now
            if PULSE_FILE:
                Path(PULSE_FILE).touch()
        claims.renew_claims(claims_at_work())
        self.look_for_work(now)
        if now - self._forgot_at >= FORGET_SECONDS:
            self._forgot_at = now
            limits.forget()
            idempotency.forget()
            SessionStore.clear_expired()
            forget_removed()
            judging.forget_trials()

    def look_for_work(self, now: float) -> None:
        """Queue a task for all waiting work, unless one was queued already and has had no effect yet."""
        agenda = look()
        since = {work.claim: work.since for work in agenda.waiting}
        self._sent = {
            claim: (mark, at)
            for claim, (mark, at) in self._sent.items()
            if since.get(claim, _GONE) == mark and now - at < LOST_SECONDS
        }
        for works in _together(self._choose(agenda, self._new(agenda, now))):
            self._publish_or_wait(works, now)
            self._sent |= {work.claim: (work.since, now) for work in works}
            self._done_this_round |= {work.claim for work in works if work.task in ONCE_A_ROUND}
        self._notice_deafness(agenda, now)

    def _new(self, agenda: Agenda, now: float) -> list[Work]:
        """Waiting work that was not sent yet, nor in this round if once a round is enough."""
        if self._round != (this_round := int(now // ROUND.total_seconds())):
            self._round, self._done_this_round = this_round, set()
        had_their_turn = self._sent.keys() | self._done_this_round
        new = [work for work in agenda.waiting if work.claim not in had_their_turn]
        if any(work.task == "refit_topic" for work in new):
            # Even if ranked in this round already: there is more to rank as soon as these are fitted.
            new += [work for work in agenda.waiting if work.task == "rank_study" and work not in new]
        return new

    def _choose(self, agenda: Agenda, new: Sequence[Work]) -> list[Work]:
        """The work to send now: owners and their studies by turns, as much as the workers do until the next beats."""
        under_way = [*agenda.running, *(work for work in agenda.waiting if work.claim in self._sent)]
        workers = max(1, claims.workers_alive())
        room = QUICK * settings.WORKER_PROCESSES * workers - sum(cost(work) for work in under_way if not work.is_long)
        places = workers - sum(work.is_long for work in under_way)
        levels = (lambda work: agenda.owners.get(work.study, 0)), attrgetter("study")
        quick = self._quick_turns.order(_one_unknown(levels[0], (work for work in new if not work.is_long)), *levels)
        long = self._long_turns.order((work for work in new if work.is_long), *levels)
        chosen: list[Work] = []
        while room > 0 and (work := next(quick, None)):
            chosen.append(work)
            room -= cost(work)
        chosen += [work for work, _place in zip(long, range(places), strict=False)]
        return _our_share(chosen, workers)

    def _publish_or_wait(self, works: Sequence[Work], now: float) -> None:
        try:
            self._publish(works)
        except Exception:
            self._heard_at, self._idle_beats = now, 0  # a broker that is away does not make this worker deaf
            raise

    def _notice_deafness(self, agenda: Agenda, now: float) -> None:
        # Long work may wait because other long work is running.
        waits = any(not work.is_long for work in agenda.waiting) or (agenda.waiting and not agenda.running)
        heard = sum(state.total_count.values())
        if heard != self._heard or not waits:
            self._heard, self._heard_at, self._idle_beats = heard, now, 0
            return
        self._idle_beats = 0 if claims_at_work() else self._idle_beats + 1
        silence = now - self._heard_at
        if self._idle_beats > IDLE_BEATS or silence > DEAF_SECONDS:
            logger.critical("work is waiting and the broker gave this worker none for %d s: leaving", silence)
            os.kill(os.getpid(), signal.SIGTERM)


def _one_unknown(whose: Whose, works: Iterable[Work]) -> Iterator[Work]:
    """Choose, of each kind of work with unknown duration, only an owner's first: it shows how long the others will
    take.
    """
    unknown: set[tuple[str, int]] = set()
    for work in works:
        if work.seconds is not None:
            yield work
        elif (work.task, whose(work)) not in unknown:
            unknown.add((work.task, whose(work)))
            yield work


def _together(works: Iterable[Work]) -> list[list[Work]]:
    """The works by messages: quick fits of one study's topics are loaded and stored together, as many as take
    `TOGETHER` seconds, in the place of the first."""
    messages: list[list[Work]] = []
    of_study: dict[int, list[Work]] = {}
    for work in works:
        is_joined = work.task == "refit_topic" and not work.is_long
        message = of_study.get(work.study, []) if is_joined else []
        if not message or sum(map(cost, message)) + cost(work) > TOGETHER or len(message) == MOST_TOGETHER:
            messages.append(message := [])
        message.append(work)
        if is_joined:
            of_study[work.study] = message
    return messages


def _our_share(works: list[Work], workers: int) -> list[Work]:
    """A random share: all workers together do all of it, and little should be sent by two of them."""
    ours = -(-len(works) // workers)
    return [works[place] for place in sorted(chance.sample(range(len(works)), ours))]


def claims_at_work() -> set[str]:
    """The claims of the tasks running in this process."""
    return {claim for own in _snapshot(state.active_requests) for claim in str(own.id).partition(" ")[0].split(",")}


def _snapshot(requests: Iterable[Any]) -> list[Any]:
    """The elements of a set that another thread changes: if Python notices a change midway, read it again."""
    while True:
        try:
            return list(requests)
        except RuntimeError:
            continue
