"""Webhooks of a study."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import webhooks
from annotate.api.serializers.webhooks import (
    DeliverySerializer,
    NewWebhookSerializer,
    ShownWebhookSerializer,
    WebhookSerializer,
)
from annotate.api.views.base import View
from annotate.models import Delivery, Webhook


class _OneWebhook(View):
    post_ability = "settings"

    def webhook(self, study_id: int, webhook_id: int) -> Webhook:
        return get_object_or_404(Webhook, study=self.study(study_id, "settings"), pk=webhook_id)


@extend_schema(tags=["webhooks"])
class Webhooks(View):
    takes_key = False  # secrets are never stored with answers

    @extend_schema(operation_id="list_webhooks", responses=WebhookSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The webhooks of the study, without their secrets."""
        study = self.study(study_id, "settings")
        return self.page(WebhookSerializer, Webhook.objects.filter(study=study).order_by("pk"))

    @extend_schema(operation_id="create_webhook", request=NewWebhookSerializer, responses={201: ShownWebhookSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Set a webhook. The secret that signs its messages is only in this answer."""
        study = self.study(study_id, "settings")
        made = webhooks.create(study, self.user, **self.sent(NewWebhookSerializer))
        return self.show(ShownWebhookSerializer, made, 201)


@extend_schema(tags=["webhooks"])
class OneWebhook(_OneWebhook):
    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, study_id: int, webhook_id: int) -> Response:
        """Delete the webhook with its log. What waits is not sent."""
        webhooks.delete(self.webhook(study_id, webhook_id), self.user)
        return Response(status=204)


@extend_schema(tags=["webhooks"])
class Secret(_OneWebhook):
    takes_key = False

    @extend_schema(operation_id="replace_webhook_secret", request=None, responses=ShownWebhookSerializer)
    def post(self, request: Request, study_id: int, webhook_id: int) -> Response:
        """Replace the secret. The new one is only in this answer, and signs all messages from now on."""
        webhook = webhooks.replace_secret(self.webhook(study_id, webhook_id), self.user)
        return self.show(ShownWebhookSerializer, webhook)


@extend_schema(tags=["webhooks"])
class Deliveries(_OneWebhook):
    @extend_schema(operation_id="list_webhook_deliveries", responses=DeliverySerializer(many=True))
    def get(self, request: Request, study_id: int, webhook_id: int) -> Response:
        """The last messages to the webhook, newest first, and what became of them."""
        webhook = self.webhook(study_id, webhook_id)
        return self.page(DeliverySerializer, Delivery.objects.filter(webhook=webhook).order_by("-pk"))

    @extend_schema(operation_id="test_webhook", request=None, responses={202: DeliverySerializer})
    def post(self, request: Request, study_id: int, webhook_id: int) -> Response:
        """Have the worker send a test, at once."""
        webhook = self.webhook(study_id, webhook_id)
        return self.show(DeliverySerializer, webhooks.send_test(webhook.study, self.user, webhook), 202)
