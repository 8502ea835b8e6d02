"""Who is at work: claims on what is being done, and signs of life."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotate import __version__
from annotate.models import Claim, WorkerPulse
from annotate.prepared import Changes

#: A claim that nobody renews is void after so long; the heartbeat renews those of its process every second.
LASTING = timedelta(seconds=10)
#: A sign of life that old belongs to a worker that is gone, and a claim to something that is.
FORGOTTEN = timedelta(hours=1)


@contextmanager
def claimed(name: str, token: uuid.UUID | None = None) -> Iterator[bool]:
    """Whether the thing of that name is ours to work on for the time being; it is given back at the end.

    `token`: who we are. Whoever comes again under the same one (a task that is given out again after its process
    died) takes up the claim that it left.
    """
    token = token or uuid.uuid4()
    mine = _take(name, token)
    try:
        yield mine
    finally:
        if mine:
            # The row stays for whoever comes next, void by any clock: most things are claimed again and again.
            _give_back(name=name, token=token, void=timezone.now() - LASTING)


def _take(name: str, token: uuid.UUID) -> bool:
    now = timezone.now()
    if any(_take_over(name=name, token=token, now=now, until=now + LASTING)):
        return True
    try:
        with transaction.atomic():
            Claim.objects.create(name=name, token=token, since=now, until=now + LASTING)
    except IntegrityError:
        return False
    return True


def _void(now: Any, until: Any) -> Q:
    """Run out; or further ahead than claims ever are, because the clock has been set back since."""
    return Q(until__lte=now) | Q(until__gt=until)


_take_over = Changes(
    lambda name, token, now, until: [
        (
            Claim.objects.filter(_void(now, until) | Q(token=token), name=name),
            {"token": token, "since": now, "until": until},
        )
    ]
)
_give_back = Changes(lambda name, token, void: [(Claim.objects.filter(name=name, token=token), {"until": void})])


def renew_claims(names: Iterable[str]) -> None:
    """Go on claiming what this process is at."""
    wanted = list(names)
    if wanted:
        now = timezone.now()
        Claim.objects.filter(name__in=wanted, until__gt=now).update(until=now + LASTING)


def drop_claims() -> None:
    """Take everything from everybody; for a worker that knows itself to be the only one."""
    Claim.objects.all().delete()


def give_sign_of_life(name: str) -> None:
    """Say that this worker process lives; forget those that have long been gone, and what nobody has claimed since."""
    now = timezone.now()
    WorkerPulse.objects.update_or_create(name=name, defaults={"at": now, "program_version": __version__})
    WorkerPulse.objects.filter(at__lt=now - FORGOTTEN).delete()
    Claim.objects.filter(until__lt=now - FORGOTTEN).delete()


def workers_alive() -> int:
    """How many worker processes gave a sign of life of late."""
    return WorkerPulse.objects.filter(at__gte=timezone.now() - LASTING).count()
