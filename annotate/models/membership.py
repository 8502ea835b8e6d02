"""Members of studies, and invitations."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study, new_link_key


class Membership(models.Model):
    """A user's role in a study, and their invitation. Written by annotate.members."""

    class Role(models.TextChoices):
        OWNER = "owner", _("owner")
        RESEARCHER = "researcher", _("researcher")
        ADMIN = "admin", _("admin")
        ANNOTATOR = "annotator", _("annotator")

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=12, choices=Role.choices)
    invitation = models.ForeignKey(
        "annotate.Invitation", on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "user"], name="membership_once_a_user")]

    def __str__(self) -> str:
        return f"{self.user} · {self.role}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def usable(self) -> Self:
        """Invitations that are valid now."""
        return self.filter(
            models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=timezone.now()),
            models.Q(max_uses__isnull=True) | models.Q(uses__lt=models.F("max_uses")),
            revoked_at__isnull=True,
        )


class Invitation(models.Model):
    """A link to join a study. It is signed, never stored, so that a leaked table lets nobody in.

    Written by annotate.invitations.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(
        _("role"), max_length=12, choices=Membership.Role.choices, default=Membership.Role.ANNOTATOR
    )
    link_key = models.CharField(max_length=32, default=new_link_key, editable=False, db_index=True)
    label = models.CharField(_("label"), max_length=100, blank=True)
    expires_at = models.DateTimeField(_("valid until"), null=True, blank=True)
    max_uses = models.PositiveIntegerField(_("maximum number of people"), null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_uses__isnull=True) | models.Q(uses__lte=models.F("max_uses")),
                name="invitation_never_overused",
            )
        ]

    def __str__(self) -> str:
        return self.label or f"invitation {self.pk}"

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_used_up(self) -> bool:
        return self.max_uses is not None and self.uses >= self.max_uses
