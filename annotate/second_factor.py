"""The second factor of an account: codes of an app (TOTP, RFC 6238), passkeys (WebAuthn), and recovery codes.

allauth makes, keeps and checks them. Here is what it leaves to us: secrets are encrypted in the database, a code works
once and wrong ones are counted for all processes together, recovery codes let the owner in meanwhile, and the audit log
says what changed.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_used
from allauth.mfa.totp.forms import ActivateTOTPForm
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.server import limits

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def is_on(user: User) -> bool:
    """Whether the account requires a second factor."""
    return bool(Authenticator.objects.filter(user=user).exists())


@transaction.atomic
def remove(user: User) -> None:
    """Switch off the second factor of a user who has lost app, passkeys and recovery codes."""
    Authenticator.objects.filter(user=user).delete()


class SecondFactors(DefaultMFAAdapter):
    """How allauth keeps and names second factors here."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": _("This code is wrong, or was used already. Wait for the next one."),
    }

    def is_mfa_enabled(self, user: User | None, types: list[str] | None = None) -> bool:
        """Nobody is left if the account was deleted between the password and the code."""
        return user is not None and bool(super().is_mfa_enabled(user, types))

    def encrypt(self, text: str) -> str:
        return _keys().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return _keys().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:  # the secret key was lost: no code is right until the operator removes the second factor
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def get_totp_label(self, user: User) -> str:
        return user.get_username()

    def get_totp_issuer(self) -> str:
        return f"Preferendum {urlsplit(settings.ORIGIN).hostname}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": urlsplit(settings.ORIGIN).hostname or "", "name": "Preferendum"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return entity | {"name": user.get_username(), "display_name": user.get_username()}


class OnceForm:
    """Refuses a code that was used, and after five wrong ones of an account, from any visitor, all but recovery codes.

    Codes of an app can be guessed; recovery codes cannot, and let the owner in meanwhile.
    """

    user: User
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        code, who = "".join(filter(str.isalnum, self.cleaned_data["code"])), str(self.user.pk)
        is_recovery_code = len(code) == settings.MFA_RECOVERY_CODE_DIGITS
        if not is_recovery_code:
            limits.spend(limits.WRONG_CODES, who)  # before the look: no more are tried if many come at once
        try:
            super().clean_code()  # type: ignore[misc]
            if not is_recovery_code:
                limits.spend(limits.USED_CODES, f"{who} {code}")
        except (ValidationError, limits.TooOften) as error:
            if is_recovery_code:
                limits.spend(limits.WRONG_CODES, who)
            raise SecondFactors().validation_error("incorrect_code") from error
        limits.reset(limits.WRONG_CODES, who)
        return code


class SignInForm(OnceForm, AuthenticateForm):
    """The code after the password."""


class ConfirmForm(OnceForm, ReauthenticateForm):
    """The code before a change of the second factor."""


class SetUpForm(OnceForm, ActivateTOTPForm):
    """The first code of a new app."""


@receiver(post_save, sender=Authenticator)
def _log_saved(instance: Authenticator, created: bool, update_fields: frozenset[str] | None, **_signal: object) -> None:
    """Log a new second factor, and each use of a recovery code, the only other save of a whole row of this type."""
    if created:
        note(None, instance.user, "add second factor", type=instance.type)
    elif instance.type == Authenticator.Type.RECOVERY_CODES and update_fields is None:
        note(None, instance.user, "use recovery code", left=len(instance.wrap().get_unused_codes()))


@receiver(post_delete, sender=Authenticator)
def _log_deleted(instance: Authenticator, origin: object, **_signal: object) -> None:
    """Log a second factor that was removed, but not the end of its account."""
    if isinstance(origin, Authenticator) or getattr(origin, "model", None) is Authenticator:
        note(None, instance.user, "remove second factor", type=instance.type)


@receiver(authenticator_used)
def _remember_use(request: HttpRequest, authenticator: Authenticator, **_signal: object) -> None:
    """Keep with the request what proved the identity, for the log of sign-ins."""
    request.second_factor = authenticator.type  # type: ignore[attr-defined]


def _keys() -> MultiFernet:
    """The keys of the installation: the newest encrypts, each decrypts."""
    digests = (
        hashlib.sha256(b"second factor" + key.encode("utf-8", "surrogateescape")).digest()
        for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    )
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
