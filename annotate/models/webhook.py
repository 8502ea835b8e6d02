"""Webhooks of a study, and what is sent to them. Written by annotate.webhooks."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Self

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.models.study import Study, finite

#: The pauses after the first, second, ... failed attempt, in seconds; after a day a message is given up.
PAUSES = (5, 60, 300, 1_800, 7_200, 21_600, 54_000)


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def due(self) -> Self:
        """Webhooks with messages to be sent now."""
        return self.filter(models.Exists(Delivery.objects.due().filter(webhook=models.OuterRef("pk"))))


class Webhook(models.Model):
    """An address that hears what happens in a study.

    `secret`: signs the messages, and must be kept as it is for that. `agreement_below`: announce when Krippendorff's
    alpha is below this; None: never. `holds`: the facts (event types) that it has heard of and that hold still.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(
        _("address"), max_length=500, help_text=_("Where a program of yours listens, such as https://example.org/hook.")
    )
    secret = models.CharField(max_length=80, editable=False)
    agreement_below = models.FloatField(
        _("agreement below"),
        null=True,
        blank=True,
        validators=[finite, MinValueValidator(-1.0), MaxValueValidator(1.0)],
        help_text=_("Sent once Krippendorff’s α is surely below this, with its whole interval. If empty, never."),
    )
    holds = models.JSONField(default=list, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.address


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self) -> Self:
        """Messages to be sent now. One that waits longer than any pause does so because the clock was set back."""
        now = timezone.now()
        pause = models.Q(due_at__gt=now, due_at__lte=now + timedelta(seconds=PAUSES[-1]))
        return self.filter(state=Delivery.State.WAITING).exclude(pause)


class Delivery(models.Model):
    """A message to a webhook: stored with the fact that it announces, sent by the worker, kept for a while as its log.

    `key` identifies it to its receiver however often it is sent; `body`: what is sent, to the letter; `attempts`:
    counted before they begin; `outcome` of the last one: an HTTP status, or one of `Outcome`; "" before.
    """

    class Event(models.TextChoices):
        DECIDED = "study.decided", _("all systems are decided")
        QUOTA = "quota.reached", _("all planned judgments are in")
        AGREEMENT = "agreement.below", _("agreement is below the bound")
        EXPORT = "export.ready", _("an export is ready")
        REFUSED = "upload.refused", _("an upload was refused")
        TEST = "webhook.test", _("a test")

    class State(models.TextChoices):
        WAITING = "waiting", _("not delivered yet")
        DELIVERED = "delivered", _("delivered")
        GIVEN_UP = "given up", _("given up")

    class Outcome(models.TextChoices):
        NO_ADDRESS = "no address", _("no address that we may send to")
        NO_ANSWER = "no answer", _("no answer")

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=20, choices=Event.choices)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=12, blank=True)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [models.Index(fields=["webhook"], name="delivery_waiting", condition=models.Q(state="waiting"))]

    def __str__(self) -> str:
        return f"{self.event} {self.state}"

    @property
    def outcome_words(self) -> str:
        """The outcome as pages show it."""
        words = dict(self.Outcome.choices)
        return str(words[self.outcome]) if self.outcome in words else self.outcome and f"HTTP {self.outcome}"
