"""The webhooks of a study: addresses that hear what happens in it, and what was sent to them."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotate import webhooks
from annotate.access import in_study
from annotate.forms import WebhookForm
from annotate.models import Study, Webhook
from annotate.views.limited import limited
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import STUDY, page, user_of

#: Lines of the log of each webhook.
SHOWN = 10


@in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def study_webhooks(request: HttpRequest, study: Study) -> HttpResponse:
    """The webhooks with their logs; the form sets a new one."""
    form = WebhookForm(request.POST or None)
    if form.is_valid():
        with refusals_shown(form):
            made = webhooks.create(study, user_of(request), **form.cleaned_data)
            return _shown(request, study, WebhookForm(), made)
    return _shown(request, study, form)


@in_study("settings")
@require_POST
def webhook_secret(request: HttpRequest, study: Study, webhook_id: int) -> HttpResponse:
    """Replace the secret of a webhook, and show the new one."""
    webhook = get_object_or_404(Webhook, study=study, pk=webhook_id)
    return _shown(request, study, WebhookForm(), webhooks.replace_secret(webhook, user_of(request)))


@limited
@in_study("settings")
@require_POST
def webhook_test(request: HttpRequest, study: Study, webhook_id: int) -> HttpResponse:
    """Have a test sent."""
    webhooks.send_test(study, user_of(request), get_object_or_404(Webhook, study=study, pk=webhook_id))
    messages.success(request, _("A test is on its way. Load this page again to see whether it arrived."))
    return redirect("study_webhooks", study_id=study.pk)


@in_study("settings")
@require_POST
def webhook_delete(request: HttpRequest, study: Study, webhook_id: int) -> HttpResponse:
    """Delete a webhook."""
    webhooks.delete(get_object_or_404(Webhook, study=study, pk=webhook_id), user_of(request))
    messages.success(request, _("The webhook was deleted. Nothing more is sent to it."))
    return redirect("study_webhooks", study_id=study.pk)


def _shown(request: HttpRequest, study: Study, form: forms.BaseForm, new: Webhook | None = None) -> HttpResponse:
    """The page; `new`: a webhook with a new secret, to be copied now."""
    lines = [
        (webhook, webhook.deliveries.order_by("-pk")[:SHOWN])
        for webhook in Webhook.objects.filter(study=study).order_by("pk")
    ]
    return page(request, study, "research/studies/webhooks.html", form=form, new=new, webhooks=lines, here="webhooks")


_PAGE = STUDY + "webhooks/"
urlpatterns = [
    path(_PAGE, study_webhooks, name="study_webhooks"),
    path(_PAGE + "<int:webhook_id>/secret/", webhook_secret, name="webhook_secret"),
    path(_PAGE + "<int:webhook_id>/test/", webhook_test, name="webhook_test"),
    path(_PAGE + "<int:webhook_id>/delete/", webhook_delete, name="webhook_delete"),
]
