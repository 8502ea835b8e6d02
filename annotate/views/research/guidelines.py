"""A preview of texts for annotators while they are written."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_POST

from annotate.models import Recruitment, Study


class PreviewForm(forms.Form):
    """One of the texts, under its name in its own form."""

    guidelines = forms.CharField(required=False, max_length=Study._meta.get_field("guidelines").max_length)
    consent = forms.CharField(required=False, max_length=Recruitment._meta.get_field("consent").max_length)


@login_required
@require_POST
def markdown_preview(request: HttpRequest) -> HttpResponse:
    """The text as annotators will see it; a text that is too long is not shown."""
    form = PreviewForm(request.POST)
    text = "".join(form.cleaned_data.values()) if form.is_valid() else ""
    return render(request, "parts/markdown.html", {"text": text})


urlpatterns = [path("markdown/", markdown_preview, name="markdown_preview")]
