"""Who is at what, how often in a row an attempt came to nothing, and who is there at all.

An attempt is counted before it begins, so that one which kills its process leaves a trace, too. Whatever kind of work
it is, after the second failure in a row it waits, longer each time.
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

from annotate import __version__
from annotate.models import Claim, WorkerPulse

#: A claim that nobody renews is void after so long; the heartbeat renews those of its process every second.
LASTING = timedelta(seconds=10)
#: A sign of life that old belongs to a worker that is gone, and a claim to something that is.
FORGOTTEN = timedelta(hours=1)
#: How long after the first, second, ... failure in a row the next attempt may come.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 30, 120, 600))
#: After so many failures in a row new data no longer cut the pause short, and what a person asked for is given up.
HOPEFUL = 3


@dataclass(slots=True)
class Attempt:
    """An attempt that has begun: the `number`-th since the last that succeeded.

    `was_killed`: the one before it never came to an end. Unless `succeed` or `postpone` is called, it has failed.
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
        """It was too long for now, which is nobody's fault: it takes so many seconds, or more."""
        self.outcome = {"attempts": self.number - 1, "retry_at": None, "seconds": seconds}

    def wait_for_data(self) -> None:
        """The program is right, and the data or the settings will not do as they are: other ones are waited for."""
        self.outcome = {"attempts": 1, "retry_at": timezone.now() + PAUSES[-1]}


@contextmanager
def attempt(name: str, study: int = 0, version: int = 0, token: uuid.UUID | None = None) -> Iterator[Attempt | None]:
    """Claim the work of that name for a study and count an attempt at its data of this version; None where somebody
    else is at it or it must wait.

    `token`: who we are. Whoever comes again under the same one (a task that is given out again after its process
    died) takes up the claim that it left.
    """
    begun = _begin(name, study, version, token or uuid.uuid4())
    start = time.monotonic()
    try:
        yield begun
    finally:
        if begun is not None:
            # Void from its beginning on: no clock that is set back brings it to life again.
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
    # One that was killed once is begun again at once.
    begun |= {"attempts": number, "retry_at": now + pause(number) if claim.attempts else None}
    # Run out; or further ahead than claims ever are, because the clock has been set back since.
    is_void = Q(until__lte=now) | Q(until__gt=now + LASTING)
    if not Claim.objects.filter(is_void | Q(token=token), pk=claim.pk).update(**begun):
        return None
    return Attempt(name, token, number, was_killed=claim.until > claim.since)


def is_held(claim: Claim, now: datetime) -> bool:
    """Whether somebody is at it. A claim that is further ahead than claims ever are was taken before the clock was set
    back."""
    return now < claim.until <= now + LASTING


def is_due(claim: Claim, version: int, now: datetime) -> bool:
    """Whether the next attempt may come: none failed, it has waited long enough (or longer than anybody waits: the
    clock was set back), or there are new data."""
    if claim.retry_at is None or not now < claim.retry_at <= now + PAUSES[-1]:
        return True
    return claim.attempts <= HOPEFUL and claim.version < version


def pause(failures: int) -> timedelta:
    """How long to wait after so many in a row."""
    return PAUSES[min(max(failures, 1), len(PAUSES)) - 1]


def renew_claims(names: Iterable[str]) -> None:
    """Go on claiming what this process is at."""
    wanted = list(names)
    if wanted:
        now = timezone.now()
        Claim.objects.filter(name__in=wanted, until__gt=now).update(until=now + LASTING)


def free_claims() -> None:
    """Take everything from everybody; for a worker that knows itself to be the only one."""
    now = timezone.now()
    Claim.objects.filter(until__gt=now).update(until=now)


def give_sign_of_life(name: str) -> None:
    """Say that this worker process lives; forget those that have long been gone, and what nobody has claimed since."""
    now = timezone.now()
    WorkerPulse.objects.update_or_create(name=name, defaults={"at": now, "program_version": __version__})
    WorkerPulse.objects.filter(at__lt=now - FORGOTTEN).delete()
    Claim.objects.filter(until__lt=now - FORGOTTEN).delete()


def workers_alive() -> int:
    """How many worker processes gave a sign of life of late."""
    return WorkerPulse.objects.filter(at__gte=timezone.now() - LASTING).count()
