"""The brokers: Celery's queue in memory, and what must be right in a Redis before a worker uses it.

The embedded broker runs in the event loop that Celery uses for network brokers. kombu's own in-memory transport can
only wait in a blocking loop, for which Celery takes another kind of process pool: its children share a pipe and a lock,
so a child killed while it waits for work leaves the lock taken, and no task ever runs again (trial F06 fails with it).
In the event loop each child has its own pipe.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import Any

from celery import Celery
from kombu.exceptions import KombuError
from kombu.transport import TRANSPORT_ALIASES, memory

logger = logging.getLogger(__name__)


class Transport(memory.Transport):
    """Messages in memory, polled every `polling_interval` by the worker's event loop."""

    implements = memory.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(self.polling_interval, self.take, connection)

    def take(self, connection: Any) -> None:
        """Hand over queued messages, as many as the worker may receive."""
        with suppress(TimeoutError):  # nothing (more) there
            while True:
                self.drain_events(connection, timeout=0)


def install() -> None:
    """Make `memory://` mean this transport."""
    TRANSPORT_ALIASES["memory"] = f"{__name__}:{Transport.__name__}"


def set_aside_foreign_keys(app: Celery) -> None:
    """Rename those of our Redis keys that hold another type; new ones are then created by themselves.

    Celery exits each time it meets such a key (trial F11). The tables know all work whose messages are lost this way.
    Does nothing if Redis does not answer: the worker waits for it anyway.
    """
    with app.connection_for_write() as connection, suppress(KombuError, *connection.connection_errors):
        channel = connection.default_channel
        queue = app.conf.task_default_queue
        types = {channel._q_for_pri(queue, priority): b"list" for priority in channel.priority_steps} | {
            channel.keyprefix_queue % queue: b"set",
            channel.unacked_key: b"hash",
            channel.unacked_index_key: b"zset",
            channel.unacked_mutex_key: b"string",
        }
        for key, wanted in types.items():
            if (kind := channel.client.type(key)) not in (wanted, b"none"):
                aside = f"{key}.{kind.decode()}.{time.time_ns()}"
                logger.error("Redis's key %r is a %s: not ours, renamed to %r.", key, kind.decode(), aside)
                channel.client.rename(key, aside)
