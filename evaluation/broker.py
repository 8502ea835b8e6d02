"""The embedded broker: Celery's queue in memory, in the event loop that its brokers on the network use.

kombu's own transport in memory can only wait in a blocking loop, and for that loop Celery takes another kind of
process pool: one whose children share a pipe and a lock, so that a child which is killed while it waits for work
leaves the lock taken and no task ever runs again. In the event loop each child has a pipe of its own.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, memory


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
    """Have `memory://` mean this transport.

    Under its usual name, because Celery's command line takes `BROKER_URL` from the environment, past what the app says.
    """
    TRANSPORT_ALIASES["memory"] = f"{__name__}:{Transport.__name__}"
