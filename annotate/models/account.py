"""Names of accounts, and how programs sign in. Written by annotate.accounts."""

from __future__ import annotations

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class AccountName(models.Model):
    """A user name in the form in which names are compared, unique among accounts. Pages show the name itself."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="account_name"
    )
    folded = models.CharField(max_length=450, unique=True)

    def __str__(self) -> str:
        return self.folded


class AccountSession(models.Model):
    """The account and browser of a session of Django's. Written by annotate.server.sessions."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="account_session")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sessions")
    browser = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.created_at} {self.browser}"


class Token(models.Model):
    """A person's key to the API, kept as a hash only and shown once; `study` narrows it to one study."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(_("name"), max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    study = models.ForeignKey("annotate.Study", on_delete=models.CASCADE, null=True, blank=True, related_name="tokens")
    read_only = models.BooleanField(_("read-only"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
