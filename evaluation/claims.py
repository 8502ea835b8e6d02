"""Claims of work, failures in a row, and signs of life of workers.

An attempt is counted before it begins, so that one that kills its process leaves a trace. Work of any kind waits after
failures in a row, longer each time.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotate.models import Claim, WorkerPulse
from preferendum.about import __version__

#: A claim not renewed for this long is void; the heartbeat renews those of its process every second.
LASTING = timedelta(seconds=10)
#: Signs of life and claims this old are deleted: the worker, or the row claimed, is gone.
FORGOTTEN = timedelta(hours=1)
#: The pauses after the first, second, ... failure in a row.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 30, 120, 600))
#: After this many failures in a row, new data no longer shorten the pause, and what a person requested is given up.
HOPEFUL = 3


@dataclass(slots=True)
class Attempt:
    """An attempt that has begun: the `number`-th since the last success.

    `was_killed`: the previous attempt never ended. Unless `succeed` or `postpone` is called, this one has failed.
    """

    name: str
    token: uuid.UUID
    number: int
    was_killed: bool
    outcome: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.outcome = {"retry_at": timezone.now() + pause(self.number)}

    def succeed(self) -> None:
        self.outcome = {"attempts": 0, "retry_at": None}

    def postpone(self, seconds: float) -> None:
        """It takes this many seconds or more, too long for now; this is no failure."""
        self.outcome = {"attempts": self.number - 1, "retry_at": None, "seconds": seconds}

    def wait_for_data(self) -> None:
        """The program is right, but these data or settings allow no result: wait until they change."""
        self.outcome = {"attempts": 1, "retry_at": timezone.now() + PAUSES[-1]}


@contextmanager
def attempt(name: str, study: int = 0, version: int = 0, token: uuid.UUID | None = None) -> Iterator[Attempt | None]:
    """Claim the named work of a study and count an attempt at this data version; None if another has claimed it or it
    must wait."""
    with attempts({name: (study, version)}, token) as begun:
        yield next(iter(begun), None)


@contextmanager
def attempts(wanted: Mapping[str, tuple[int, int]], token: uuid.UUID | None = None) -> Iterator[list[Attempt]]:
    """Claim work by name, each of a study at a data version; the attempts that have begun.

    `token`: identifies the claimant. A task redelivered after its process died has the same token and resumes its
    claims.
    """
    begun = _begin(wanted, token or uuid.uuid4())
    start = time.monotonic()
    try:
        yield begun
    finally:
        seconds = (time.monotonic() - start) / max(len(begun), 1)
        for (token, outcome), alike in groupby(begun, attrgetter("token", "outcome")):
            # Void from its start, so that setting the clock back cannot revive it.
            ended = {"until": F("since"), "seconds": seconds, **outcome}
            Claim.objects.filter(name__in=[own.name for own in alike], token=token).update(**ended)


@transaction.atomic
def _begin(wanted: Mapping[str, tuple[int, int]], token: uuid.UUID) -> list[Attempt]:
    now = timezone.now()
    claimed = Claim.objects.select_for_update(no_key=True).filter(name__in=wanted).order_by("name")
    if new := sorted(wanted.keys() - {claim.name for claim in claimed}):
        void = (Claim(name=name, token=token, since=now, until=now) for name in new)
        Claim.objects.bulk_create(void, ignore_conflicts=True)  # another process may be faster
    begun, rows = [], []
    for claim in claimed.all() if new else claimed:
        study, version = wanted[claim.name]
        if (claim.token == token or not is_held(claim, now)) and is_due(claim, version, now):
            own = Attempt(claim.name, token, claim.attempts + 1, was_killed=claim.until > claim.since)
            # After one killed attempt the next starts at once.
            retry_at = now + pause(own.number) if claim.attempts else None
            columns = {"study": study, "version": version, "token": token, "attempts": own.number, "retry_at": retry_at}
            rows.append(Claim(name=own.name, since=now, until=now + LASTING, **columns))
            begun.append(own)
    changed = ["study", "version", "token", "since", "until", "attempts", "retry_at"]
    Claim.objects.bulk_create(rows, update_conflicts=True, unique_fields=["name"], update_fields=changed)
    return begun


def is_held(claim: Claim, now: datetime) -> bool:
    """Whether the claim is valid. One further ahead than claims ever are was taken before the clock was set back."""
    return now < claim.until <= now + LASTING


def is_due(claim: Claim, version: int, now: datetime) -> bool:
    """Whether the next attempt may start: none failed, the pause is over (or longer than any pause: the clock was set
    back), or there are new data."""
    if claim.retry_at is None or not now < claim.retry_at <= now + PAUSES[-1]:
        return True
    return claim.attempts <= HOPEFUL and claim.version < version


def pause(failures: int) -> timedelta:
    """The pause after this many failures in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


def renew_claims(names: Iterable[str]) -> None:
    """Renew those of these claims that are still valid."""
    wanted = list(names)
    if wanted:
        now = timezone.now()
        Claim.objects.filter(name__in=wanted, until__gt=now).update(until=now + LASTING)


def free_claims() -> None:
    """Release every claim; only for a worker that knows it is the only one."""
    now = timezone.now()
    Claim.objects.filter(until__gt=now).update(until=now)


def give_sign_of_life(name: str) -> None:
    """Record that this worker process lives; delete dead workers, and claims unused for as long."""
    now = timezone.now()
    WorkerPulse.objects.update_or_create(name=name, defaults={"at": now, "program_version": __version__})
    WorkerPulse.objects.filter(at__lt=now - FORGOTTEN).delete()
    Claim.objects.filter(until__lt=now - FORGOTTEN).delete()


def workers_alive() -> int:
    """The number of worker processes with a recent sign of life."""
    return WorkerPulse.objects.filter(at__gte=timezone.now() - LASTING).count()
