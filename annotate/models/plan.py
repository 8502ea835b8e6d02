"""What researchers mean to find out, said before they look. Written by annotate.plans."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study

LONGEST = 20_000
_FROM_1 = [MinValueValidator(1), MaxValueValidator(100_000_000)]


class Plan(models.Model):
    """A study's plan. Once it is frozen it never changes; what becomes different is a `Deviation`.

    `judgments`, `annotators`: how many are planned, of those that count. `snapshot`: the settings, and the names of
    topics and systems, as they were when it was frozen. `digest`: SHA-256 of all of this.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="plan")
    hypotheses = models.TextField(
        _("hypotheses"),
        max_length=LONGEST,
        blank=True,
        help_text=_("What you expect, and what would show that you are wrong."),
    )
    judgments = models.PositiveIntegerField(_("judgments planned"), null=True, blank=True, validators=_FROM_1)
    annotators = models.PositiveIntegerField(_("annotators planned"), null=True, blank=True, validators=_FROM_1)
    exclusions = models.TextField(
        _("who is excluded"),
        max_length=LONGEST,
        blank=True,
        help_text=_("The rules by which judgments of an annotator will not count, before you know whom they meet."),
    )
    frozen_at = models.DateTimeField(null=True, blank=True)
    snapshot = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.study}: {self.digest or 'not frozen'}"

    @property
    def is_frozen(self) -> bool:
        return self.frozen_at is not None


class Deviation(models.Model):
    """What a researcher says was done otherwise than planned, and when they said so."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="deviations")
    text = models.TextField(_("what is different, and why"), max_length=LONGEST)
    user: models.ForeignKey[Any, Any] = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.plan_id}: {self.at:%Y-%m-%d}"
