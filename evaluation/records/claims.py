"""Who is at work: claims on what is being done, and signs of life."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotate import __version__
from annotate.models import Claim, WorkerPulse

#: A claim that nobody renews is void after so long; the heartbeat renews those of its process every second.
LASTING = timedelta(seconds=10)
#: A sign of life that old belongs to a worker that is gone.
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
            Claim.objects.filter(name=name, token=token).delete()


def _take(name: str, token: uuid.UUID) -> bool:
    now = timezone.now()
    claim = {"token": token, "since": now, "until": now + LASTING}
    if Claim.objects.filter(_void(now) | Q(token=token), name=name).update(**claim):
        return True
    try:
        with transaction.atomic():
            Claim.objects.create(name=name, **claim)
    except IntegrityError:
        return False
    return True


def _void(now: datetime) -> Q:
    """Run out; or further ahead than claims ever are, because the clock has been set back since."""
    return Q(until__lte=now) | Q(until__gt=now + LASTING)


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
    """Say that this worker process lives, and forget those that have long been gone."""
    now = timezone.now()
    WorkerPulse.objects.update_or_create(name=name, defaults={"at": now, "program_version": __version__})
    WorkerPulse.objects.filter(at__lt=now - FORGOTTEN).delete()


def workers_alive() -> int:
    """How many worker processes gave a sign of life of late."""
    return WorkerPulse.objects.filter(at__gte=timezone.now() - LASTING).count()
