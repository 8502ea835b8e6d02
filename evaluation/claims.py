"""Claims of work, failures in a row, and signs of life of workers.

An attempt is counted before it begins, so that one that kills its process leaves a trace. Work of any kind waits after
failures in a row, longer each time.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q
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
    must wait.

    `token`: identifies the claimant. A task redelivered after its process died has the same token and resumes its
    claim.
    """
    begun = _begin(name, study, version, token or uuid.uuid4())
    start = time.monotonic()
    try:
        yield begun
    finally:
        if begun is not None:
            # Void from its start, so that setting the clock back cannot revive it.
            ended = {"until": F("since"), "seconds": time.monotonic() - start, **begun.outcome}
            Claim.objects.filter(name=name, token=begun.token).update(**ended)


def _begin(name: str, study: int, version: int, token: uuid.UUID) -> Attempt | None:
    now = timezone.now()
    begun = {"study": study, "token": token, "since": now, "until": now + LASTING, "version": version}
    claim = Claim.objects.filter(name=name).first()
    if claim is None:
        try:
            with transaction.atomic():
                Claim.objects.create(name=name, attempts=1, **begun)
        except IntegrityError:
            return None
        return Attempt(name, token, 1, was_killed=False)
    if not is_due(claim, version, now):
        return None
    number = claim.attempts + 1
    # After one killed attempt the next starts at once.
    begun |= {"attempts": number, "retry_at": now + pause(number) if claim.attempts else None}
    # Expired; or further ahead than claims ever are, because the clock was set back.
    is_void = Q(until__lte=now) | Q(until__gt=now + LASTING)
    if not Claim.objects.filter(is_void | Q(token=token), pk=claim.pk).update(**begun):
        return None
    return Attempt(name, token, number, was_killed=claim.until > claim.since)


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
