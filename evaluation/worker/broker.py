"""The brokers: Celery's queue in memory, and what must be right about a Redis before a worker asks it.

The embedded one works in the event loop that Celery's brokers on the network use. kombu's own transport in memory can
only wait in a blocking loop, and for that loop Celery takes another kind of process pool: one whose children share a
pipe and a lock, so that a child which is killed while it waits for work leaves the lock taken and no task ever runs
again (trial F06 fails with it). In the event loop each child has a pipe of its own.
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
    """Messages in memory, looked for each `polling_interval` by the worker's event loop."""

    implements = memory.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(self.polling_interval, self.take, connection)

    def take(self, connection: Any) -> None:
        """Hand over what lies in the queues, as far as the worker may be given more."""
        with suppress(TimeoutError):  # nothing (more) there
            while True:
                self.drain_events(connection, timeout=0)


def install() -> None:
    """Have `memory://` mean this transport."""
    TRANSPORT_ALIASES["memory"] = f"{__name__}:{Transport.__name__}"


def set_aside_foreign_keys(app: Celery) -> None:
    """Rename those of Redis's keys that we use and that hold something of another type; a new one follows by itself.

    Celery leaves as soon as it meets such a key, each time anew (trial F11). No message is lost by it that the tables do
    not know.
    Says nothing where Redis cannot be asked: the worker waits for it anyway.
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
