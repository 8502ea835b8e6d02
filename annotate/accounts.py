"""Accounts of users, and the tokens with which their programs sign in."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import AccountName, AccountSession, Study, Token
from annotate.refusal import Refusal, cleaned, invalid
from annotate.server import limits

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

#: The prefix of every token, so that a leaked one can be found and distinguished from other secrets.
PREFIX = "prf_"
TOKENS_EACH = 50
#: Without a pause between notes of use, every reading request would write.
USE_NOTED_EVERY = timedelta(minutes=1)
EMAIL_LINKS = signing.TimestampSigner(salt="e-mail address")
EMAIL_LINK_SECONDS = 24 * 3600
#: Letters, most of them Cyrillic and Greek, that look like these Latin ones in one case or the other.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏԛԝвкмнтоανρκιυχτıɑ", "aeopcyxijsdhlqwbkmhtoavpkiuxtia")
#: Scripts that are written together.
EAST_ASIAN = {"CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}


def folded(name: str) -> str:
    """The name as names are compared: in one case and width, with lookalike letters made Latin."""
    return _in_one_case(name).translate(LOOKALIKES)


def username_of(typed: str) -> str:
    """The user name that is meant by what was typed; unchanged if there is no such name."""
    named = Q(username=typed) | Q(account_name__folded=folded(typed))
    names = list(get_user_model().objects.filter(named).values_list("username", flat=True))
    return typed if typed in names or not names else names[0]


def check_name(instance: User, raw: bool = False, **_signal: object) -> None:
    """Raises `ValidationError` for a new account's name that could be mistaken for another's.

    Called before every account is saved, so that `createsuperuser` reports the error, too.
    """
    if raw or not instance._state.adding:
        return
    letters = (unicodedata.name(letter, "") for letter in _in_one_case(instance.username) if letter.isalpha())
    scripts = {re.split("[ -]", name)[0] for name in letters}
    if len(scripts) > 1 and not scripts <= EAST_ASIAN:
        raise ValidationError({"username": _("Use letters of one alphabet only.")})
    if AccountName.objects.filter(folded=folded(instance.username)).exists():
        raise ValidationError({"username": _("This name is taken.")})


def keep_name(instance: User, created: bool, **_signal: object) -> None:
    """Store the compared form of the name."""
    if created:
        AccountName.objects.create(user=instance, folded=folded(instance.username))
    else:
        AccountName.objects.filter(user=instance).update(folded=folded(instance.username))


@transaction.atomic
def create_token(
    user: User, name: str, *, study: Study | None = None, read_only: bool = False, expires_at: datetime | None = None
) -> tuple[Token, str]:
    """A new token and its secret, which is shown only now: only its hash is stored.

    `study` restricts it to that study; `read_only` to requests that change nothing.
    """
    if expires_at is not None and expires_at <= timezone.now():
        raise invalid("expires_at", _("This time is in the past."))
    name = cleaned("name", name)
    if not name or len(name) > 100:
        raise invalid("name", _("Enter a name of at most 100 characters."))
    if Token.objects.filter(user=user, revoked_at__isnull=True).count() >= TOKENS_EACH:
        raise Refusal(_("You have reached the maximum number of tokens. Revoke one first."), "too_many")
    secret = PREFIX + secrets.token_urlsafe(32)
    token = Token.objects.create(
        user=user, name=name, digest=_digest(secret), study=study, read_only=read_only, expires_at=expires_at
    )
    note(study, user, "create token", token=token.pk, name=token.name, read_only=read_only)
    return token, secret


def find_token(secret: str) -> Token | None:
    """The token with this secret, if it was not revoked and its user is active; it may have expired.

    It is looked up by hash, so that no secrets are compared.
    """
    token = (
        Token.objects.select_related("user", "study")
        .filter(digest=_digest(secret), revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if token is not None and not token.is_expired:
        now = timezone.now()
        unnoted = Q(last_used_at__isnull=True) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
        if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
            Token.objects.filter(unnoted, pk=token.pk).update(last_used_at=now)
    return token


@transaction.atomic
def revoke_token(token: Token, user: User) -> None:
    """Revoke a token. Revoking twice changes nothing."""
    if Token.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now()):
        note(token.study, user, "revoke token", token=token.pk, name=token.name)
    token.refresh_from_db()


def revoke_tokens(user: User, study: Study) -> int:
    """Revoke this user's tokens for this study; their number."""
    return Token.objects.filter(user=user, study=study, revoked_at__isnull=True).update(revoked_at=timezone.now())


def note_sign_in(user: User, by: str) -> None:
    """Log that a user signed in: by `password`, by a `link` made on the machine, or by the OpenID `provider`."""
    note(None, user, "sign in", by=by)


@transaction.atomic
def end_sessions(user: User, sessions: QuerySet[AccountSession]) -> None:
    """End these sessions of the user."""
    _ended, rows = Session.objects.filter(account_session__in=sessions.filter(user=user)).delete()
    note(None, user, "end sessions", number=rows.get("sessions.Session", 0))


def is_own_password(user: User, password: str) -> bool:
    """Whether this is the password of a signed-in user. Raises `TooOften` after five wrong ones on any page.

    A browser that was left signed in shall not be a place to find the password out by trying.
    """
    limits.spend(limits.WRONG_OWN_PASSWORDS, str(user.pk))
    is_right = user.check_password(password)
    if is_right:
        limits.reset(limits.WRONG_OWN_PASSWORDS, str(user.pk))
    return is_right


@transaction.atomic
def change_password(user: User, password: str, by: str = "password") -> None:
    """Set a new password, authorized `by` the old one or an `email`.

    This ends all sessions, but keeps the user's tokens: programs know no password.
    """
    user.set_password(password)
    user.save(update_fields=["password"])
    Session.objects.filter(account_session__user=user).delete()
    note(None, user, "change password", by=by)


def email_token(user: User, email: str) -> str:
    """The token of a link to this address; opening it proves that the user reads its e-mails.

    It contains a hash of the password, so that it is never valid for another account with this number after a restore.
    """
    held = {"user": user.pk, "email": email, "before": user.email, "password": user.get_session_auth_hash()}
    return EMAIL_LINKS.sign_object(held)


def read_email_token(user: User, token: str) -> str | None:
    """The new address of this account; None if the link is not ours, another account's, expired or used."""
    try:
        held = EMAIL_LINKS.unsign_object(token, max_age=EMAIL_LINK_SECONDS)
    except signing.BadSignature:
        return None
    own = {"user": user.pk, "email": held["email"], "before": user.email, "password": user.get_session_auth_hash()}
    return str(held["email"]) if held == own else None


@transaction.atomic
def set_email(user: User, email: str) -> None:
    """Set the address for links to a new password; "" for none. The log does not contain it."""
    user.email = email
    user.save(update_fields=["email"])
    note(None, user, "change e-mail address", has_address=bool(email))


@transaction.atomic
def sign_up(username: str, password: str | None, *, email: str = "", invited: bool = False) -> User:
    """Create an account. Raises `Refusal` if the installation is closed and the visitor was not invited.

    In an open installation, new users may create studies; an invitation gives its own role only. Without a password,
    only the OpenID provider opens the account.
    """
    if not (settings.SIGN_UP_OPEN or invited):
        raise Refusal(_("Sign-up is closed here. Ask for an invitation."), "closed")
    users = get_user_model()
    user = users(username=users.normalize_username(username), email=users.objects.normalize_email(email))
    try:
        # The name first: a password can only be compared with a valid name.
        user.full_clean(exclude=["password"])
        check_name(user)
        if password is not None:
            validate_password(password, user)
    except ValidationError as error:
        messages = error.message_dict if hasattr(error, "error_dict") else {"password": error.messages}
        raise Refusal(_("Some values are not valid."), "invalid", messages) from error
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except (IntegrityError, ValidationError) as error:  # another visitor took the name a moment ago
        raise invalid("username", _("This name is taken.")) from error
    if settings.SIGN_UP_OPEN:
        user.user_permissions.add(_create_studies())
    note(None, user, "sign up")
    return user


@transaction.atomic
def let_create_studies(user: User, may: bool) -> None:
    """Give a user the right to create studies, or take it away; nothing if it is so already."""
    has = user.user_permissions.filter(pk=_create_studies().pk).exists()
    if may and not has:
        user.user_permissions.add(_create_studies())
    elif has and not may:
        user.user_permissions.remove(_create_studies())
    if has != may:
        note(None, user, "change right to create studies", may=may)


def _create_studies() -> Permission:
    return Permission.objects.get(content_type__app_label="annotate", codename="add_study")


def _in_one_case(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _digest(secret: str) -> str:
    """A 256-bit secret cannot be guessed, so it needs no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
