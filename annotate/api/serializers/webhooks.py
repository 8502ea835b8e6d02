"""Webhooks, and what was sent to them."""

from __future__ import annotations

from rest_framework import serializers

from annotate.api.serializers.strict import Shown, Strict
from annotate.models import Delivery, Webhook


class DeliverySerializer(Shown[Delivery]):
    """A message to a webhook. `outcome` of the last attempt: an HTTP status, `no address` that we may send to, or `no
    answer`; "" before. It is given up after a day."""

    class Meta:
        model = Delivery
        fields = ["key", "event", "state", "attempts", "outcome", "created_at", "tried_at"]


class WebhookSerializer(Shown[Webhook]):
    """A webhook, without its secret."""

    class Meta:
        model = Webhook
        fields = ["id", "address", "agreement_below", "created_at"]


class ShownWebhookSerializer(WebhookSerializer):
    """A webhook with its secret, which is shown only once."""

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]


class NewWebhookSerializer(Strict[Webhook], serializers.ModelSerializer[Webhook]):
    """The address, and perhaps the bound of agreement (Krippendorff's alpha) below which a message is sent."""

    class Meta:
        model = Webhook
        fields = ["address", "agreement_below"]
