"""The second factor of an account: codes of an app (TOTP, RFC 6238), and recovery codes in case the app is lost.

Each code works once. Recovery codes are stored as hashes; with 120 bits, they need no slow one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import textwrap
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyotp
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import SecondFactor
from annotate.refusal import Refusal, invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RECOVERY_CODES = 10
#: Base 32 writes 15 bytes in so many letters.
RECOVERY_LENGTH = 24
#: So many steps of half a minute a clock may be off in either direction.
DRIFT = 1


def new_secret() -> str:
    """The secret that app and site share, in base 32."""
    return pyotp.random_base32()


def link(user: User, secret: str) -> str:
    """The link that an app reads from a QR code."""
    issuer = f"Preferendum {urlsplit(settings.ORIGIN).hostname}"
    return pyotp.TOTP(secret).provisioning_uri(name=user.get_username(), issuer_name=issuer)


def is_on(user: User) -> bool:
    """Whether the account requires a code."""
    return SecondFactor.objects.filter(user=user).exists()


@transaction.atomic
def switch_on(user: User, secret: str, code: str) -> list[str]:
    """Require codes from now on; the recovery codes. Raises `Refusal` for a wrong `code`: the app is not set up."""
    step = _step_of(secret, code, after=0)
    if step is None:
        raise wrong_code()
    codes = [base64.b32encode(secrets.token_bytes(15)).decode().lower() for _number in range(RECOVERY_CODES)]
    kept = {"secret": secret, "used_step": step, "recovery": [_digest(code) for code in codes]}
    SecondFactor.objects.update_or_create(user=user, defaults=kept)
    note(None, user, "switch on second factor")
    return ["-".join(textwrap.wrap(code, 6)) for code in codes]


@transaction.atomic
def switch_off(user: User, code: str) -> None:
    """Require no codes any more. Raises `Refusal` for a wrong code."""
    if not take(user, code):
        raise wrong_code()
    remove(user)


@transaction.atomic
def remove(user: User) -> None:
    """Switch off the second factor of a user who has lost app and recovery codes."""
    SecondFactor.objects.filter(user=user).delete()
    note(None, user, "switch off second factor")


def is_recovery_code(code: str) -> bool:
    """Whether the code is as long as a recovery code, and so cannot be guessed."""
    return len(_plain(code)) == RECOVERY_LENGTH


@transaction.atomic
def take(user: User, code: str) -> bool:
    """Whether the code is right, which uses it up. The row is locked: two requests cannot both use one."""
    factor = SecondFactor.objects.select_for_update(no_key=True).filter(user=user).first()
    if factor is None:
        return False
    if (digest := _digest(code)) in factor.recovery:
        factor.recovery.remove(digest)
        note(None, user, "use recovery code", left=len(factor.recovery))
    elif (step := _step_of(factor.secret, code, factor.used_step)) is not None:
        factor.used_step = step
    else:
        return False
    factor.save()
    return True


def _step_of(secret: str, code: str, after: int) -> int | None:
    """The half-minute step of this code, among those around now and later than `after`."""
    totp = pyotp.TOTP(secret)
    now = int(time.time()) // totp.interval
    for step in range(max(now - DRIFT, after + 1), now + DRIFT + 1):
        if hmac.compare_digest(totp.generate_otp(step).encode(), _plain(code)):
            return step
    return None


def _plain(code: str) -> bytes:
    return "".join(code.split()).replace("-", "").lower().encode("utf-8", "surrogatepass")


def _digest(code: str) -> str:
    return hashlib.sha256(_plain(code)).hexdigest()


def wrong_code() -> Refusal:
    """The refusal of every wrong code."""
    return invalid("code", _("This code is wrong, or was used already. Wait for the next one."))
