"""The pairs on which annotators differ."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import Annotator, Study
from annotate.reports import agreement, rests_on
from annotate.views.research.pages import STUDY, keys, page


@in_study("annotators")
@require_safe
def study_disputed(request: HttpRequest, study: Study) -> HttpResponse:
    """The pairs that divide annotators most, or those on which the two annotators `a` and `b` differ."""
    asked = keys(request.GET.get(name, "") for name in ("a", "b"))
    both = [get_object_or_404(Annotator, study=study, pk=key) for key in asked] if len(asked) == 2 else []
    return page(
        request,
        study,
        "monitor/disputed.html",
        here="agreement-of-annotators",
        disputes=agreement.between(study, *both) if both else agreement.most_disputed(study),
        both=both,
        among=rests_on.among(study),
    )


urlpatterns = [path(STUDY + "disputed/", study_disputed, name="disputed")]
