"""What the pages about annotators have in common."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from annotate.models import Study
from annotate.views.research.pages import page

STUDY = "studies/<int:study_id>/"


def monitor_page(request: HttpRequest, study: Study, template: str, **context: Any) -> HttpResponse:
    """A page under the tab of annotators."""
    return page(request, study, template, tab="annotators", **context)
