"""Rate limits: per visitor, for guessing passwords, links and tokens, arriving, and calling the API; per user, for work
of the worker: copies, exports, generated summaries.

Counts are in the database, shared by all processes and machines without Redis, under a keyed hash of the visitor's
address (and of the name for a wrong password), never the address or name itself. Answers are not counted here:
`annotate.judging` makes annotators who judge too fast wait, and the page sends the answer again.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import wraps
from ipaddress import IPv6Address, ip_address
from threading import Lock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from annotate.models import Allowance, Study

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

P = ParamSpec("P")
R = TypeVar("R")
Verb = Callable[Concatenate[Study, "User", P], R]


@dataclass(frozen=True)
class Limit:
    """At most so many times in so many seconds, for each visitor; `why` says what was exceeded."""

    name: str
    times: int
    seconds: int
    why: str = gettext_noop("There were too many attempts from your network.")


#: Wrong links and tokens, and IDs that a crowd's link does not admit. Right ones are never refused: our links are too
#: long to be guessed.
GUESSES = Limit("guess", 10, 900)
#: Wrong passwords from one address, for all names together: a laboratory may share one.
WRONG_PASSWORDS = Limit("password", 50, 900)
#: Wrong passwords for one name from one address; after the fifth even the right password is refused.
WRONG_PASSWORDS_OF_NAME = Limit("password of a name", 5, 900)
#: Wrong passwords that a signed-in user gives on pages that require it again.
WRONG_OWN_PASSWORDS = Limit("own password", 5, 900)
#: Wrong codes of the second factor of one account, from any address: the sender knows the password.
WRONG_CODES = Limit(
    "code",
    5,
    900,
    gettext_noop(
        "There were too many wrong codes for this account. Go back to use a recovery code, which still works."
    ),
)
#: The uses of a code of an app while it is valid.
USED_CODES = Limit("use a code", 1, 120)
#: New annotators; a class or a laboratory may share one address.
ARRIVALS = Limit("arrive", 1000, 3600)
SIGN_UPS = Limit("sign up", 30, 3600)
#: Ways to the provider and failures on the way back, each of which asks the provider.
PROVIDER = Limit("sign in with a provider", 100, 900)
#: E-mails that a visitor requests, and those that one address gets, lest it be flooded through us.
EMAILS_ASKED = Limit("ask for an e-mail", 10, 3600)
EMAILS_TO = Limit("e-mail to", 3, 3600)
#: Answers to the demo's pairs on the start page, which store nothing else.
TRIALS = Limit("try", 600, 3600)
#: Work for the worker, for each user: copies, exports; baseline summaries and simulated judgments.
ALLOWED = gettext_noop("You have done this as often as this site allows in an hour.")
COPIES = Limit("copy", 30, 3600, ALLOWED)
EXPORTS = Limit("export", 60, 3600, ALLOWED)
WRITTEN = Limit("have written", 60, 3600, ALLOWED)
#: Tests of webhooks, which each send a request to an address of the user's choice.
WEBHOOK_TESTS = Limit("test a webhook", 20, 3600, ALLOWED)
#: Calls of the API, for each token.
CALLS = Limit("call", 3000, 60)
#: Each process stores so many calls at once: a request that only reads shall not wait for the disk.
TOGETHER = 50
MOST_KNOWN = 10_000
#: The unspecified IPv6 address, for visitors through a Unix socket, who have none.
NOWHERE = "::"


#: The bits of an IPv6 address that identify its network.
NETWORK = ~(2**64 - 1)


class TooOften(Exception):
    """Raised if a limit is used up; `seconds` until it starts again."""

    def __init__(self, limit: Limit, seconds: int) -> None:
        super().__init__(limit, seconds)
        self.limit, self.seconds = limit, seconds

    def __str__(self) -> str:
        minutes = math.ceil(self.seconds / 60)
        wait = ngettext("Wait %d minute, then try again.", "Wait %d minutes, then try again.", minutes) % minutes
        return f"{_(self.limit.why)} {wait}"


def visitor(request: HttpRequest) -> str:
    """The address of the client of a request, through as many proxies as the operator set.

    Each proxy appends its client to `X-Forwarded-For`. Entries further left came with the request and may be forged.
    """
    if settings.PROXIES > 0:
        addresses = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if len(addresses) >= settings.PROXIES and (address := _address(addresses[-settings.PROXIES])):
            return address
    return _address(request.META.get("REMOTE_ADDR", "")) or NOWHERE


def _address(written: str) -> str | None:
    """One spelling for each address, or None. IPv6 is cut to the network, whose owner may choose any address in it.

    A socket for both protocols writes IPv4 as IPv6; zones are not ours.
    """
    try:
        address = ip_address(written.strip())
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or IPv6Address(int(address) & NETWORK)
    return str(address)


def spend(limit: Limit, who: str, times: int = 1) -> None:
    """Count it. Raises `TooOften` if that exceeds the limit.

    Committed by itself, so that refused attempts count, too: call it outside of transactions.
    """
    key = _key(limit, who)
    now = timezone.now()
    ends = now + timedelta(seconds=limit.seconds)
    with transaction.atomic():
        mine = Allowance.objects.filter(pk=key)
        if not mine.filter(ends_at__gt=now).update(used=F("used") + times):
            _begin(key, times, ends)
        allowance = mine.get()
    _refuse_too_much(allowance, limit, now)


def for_each_user(limit: Limit) -> Callable[[Verb[P, R]], Verb[P, R]]:
    """Limit how often a user may call a verb; counted before the verb begins its transaction."""

    def limited(verb: Verb[P, R]) -> Verb[P, R]:
        @wraps(verb)
        def counted(study: Study, user: User, /, *args: P.args, **kwargs: P.kwargs) -> R:
            spend(limit, str(user.pk))
            return verb(study, user, *args, **kwargs)

        return counted

    return limited


def check(limit: Limit, who: str) -> None:
    """Count nothing. Raises `TooOften` if the limit is used up already."""
    now = timezone.now()
    for allowance in Allowance.objects.filter(pk=_key(limit, who), ends_at__gt=now):
        _refuse_too_much(allowance, limit, now, more=1)


def _key(limit: Limit, who: str) -> str:
    return salted_hmac(f"limit {limit.name}", who, algorithm="sha256").hexdigest()


def _refuse_too_much(allowance: Allowance, limit: Limit, now: datetime, more: int = 0) -> None:
    if allowance.used + more > limit.times:
        raise TooOften(limit, max(1, math.ceil((allowance.ends_at - now).total_seconds())))


def _begin(key: str, times: int, ends: datetime) -> None:
    """Start a count, and delete those that are over."""
    forget()
    try:
        with transaction.atomic():
            Allowance.objects.create(pk=key, used=times, ends_at=ends)
    except IntegrityError:  # another process began at the same moment
        Allowance.objects.filter(pk=key).update(used=F("used") + times)


def reset(limit: Limit, who: str) -> None:
    """Restart the count at 0."""
    Allowance.objects.filter(pk=_key(limit, who)).delete()


def forget() -> None:
    """Delete counts that are over."""
    Allowance.objects.filter(ends_at__lte=timezone.now()).delete()


class Tally:
    """Counts in memory, and spends many at once."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.counts: OrderedDict[str, int] = OrderedDict()
        self.waits: dict[str, float] = {}
        self.lock = Lock()

    def count(self, who: str) -> None:
        """Count one more. Raises `TooOften` as `spend` does, and then until the limit starts again, without a query."""
        now = time.monotonic()
        with self.lock:
            if (until := self.waits.get(who, 0.0)) > now:
                raise TooOften(self.limit, math.ceil(until - now))
            self.waits.pop(who, None)
            counted = self.counts.pop(who, 0) + 1
            if counted < TOGETHER:
                self.counts[who] = counted
                if len(self.counts) > MOST_KNOWN:
                    self.counts.popitem(last=False)
                return
        try:
            spend(self.limit, who, counted)
        except TooOften as often:
            with self.lock:
                self.waits[who] = now + often.seconds
            raise


calls = Tally(CALLS)
