"""Pairs whose right answer the researchers know: for practice, or hidden among the others."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

import formats
from annotate import judging
from annotate.access import in_study
from annotate.forms import KnownPairForm, UploadForm, complain
from annotate.models import KnownPair, Study, Topic
from annotate.refusal import Refusal
from annotate.views.research.complaints import in_words
from annotate.views.research.pages import keys, page, person
from formats.complaints import Complaints, Place, escaped

#: A table of pairs is small; whatever is larger is something else.
MOST_BYTES = 5_000_000


@in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def known_pairs(request: HttpRequest, study: Study) -> HttpResponse:
    """What is prepared; prepare one more pair of the chosen topic, or a table of them."""
    if request.method == "POST" and request.FILES:
        return _take_table(request, study)
    chosen = request.POST.get("topic") or request.GET.get("topic", "")
    topic = study.topics.select_related("study").filter(pk__in=keys([chosen])).first()
    topic = topic or study.topics.select_related("study").first()
    form = KnownPairForm(topic, request.POST or None) if topic else None
    if topic and form and form.is_valid():
        try:
            judging.prepare_pair(study, person(request), **form.cleaned_data)
        except Refusal as refusal:
            complain(form, refusal)
        else:
            messages.success(request, _("The pair is prepared."))
            return redirect(f"{reverse('known_pairs', args=[study.pk])}?topic={topic.pk}")
    return _show(request, study, topic, form)


@in_study("settings")
@require_POST
def known_pair_forget(request: HttpRequest, study: Study, known_pair_id: int) -> HttpResponse:
    """Prepare a pair no longer."""
    known = get_object_or_404(KnownPair, pk=known_pair_id, topic__study=study)
    judging.forget_known_pair(known, person(request))
    messages.success(request, _("The pair is prepared no longer. Whoever has judged it keeps their answer."))
    return redirect("known_pairs", study_id=study.pk)


def _take_table(request: HttpRequest, study: Study) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    file = request.FILES.get("file")
    if not form.is_valid() or file is None or (file.size or 0) > MOST_BYTES:
        messages.error(request, _("Send one table of pairs, of at most 5 MB."))
        return redirect("known_pairs", study_id=study.pk)
    place = Place(Complaints(), escaped(file.name or "table"))
    try:
        count = judging.bring_known_pairs(study, person(request), io.BytesIO(file.read()), place)
    except formats.Refused as refused:
        complaints = [in_words(asdict(complaint)) for complaint in refused.complaints]
        return _show(request, study, study.topics.select_related("study").first(), None, complaints)
    said = ngettext("%(count)d pair is prepared.", "%(count)d pairs are prepared.", count)
    messages.success(request, said % {"count": count})
    return redirect("known_pairs", study_id=study.pk)


def _show(
    request: HttpRequest,
    study: Study,
    topic: Topic | None,
    form: forms.Form | None,
    complaints: Sequence[Mapping[str, Any]] = (),
) -> HttpResponse:
    known = KnownPair.objects.filter(topic__study=study).select_related("topic", "better", "worse")
    uses = known.order_by().aggregate(
        practice=Count("pk", filter=Q(use=KnownPair.Use.TRAINING)), gold=Count("pk", filter=Q(use=KnownPair.Use.GOLD))
    )
    return page(
        request,
        study,
        "research/known_pairs.html",
        status=400 if complaints else 200,
        topics=study.topics.order_by("position"),
        topic=topic,
        form=form or (KnownPairForm(topic) if topic else None),
        known=known.order_by("use", "topic__position", "pk"),
        uses=uses,
        complaints=complaints,
        tab="settings",
    )


_PAGE = "studies/<int:study_id>/known-pairs/"
urlpatterns = [
    path(_PAGE, known_pairs, name="known_pairs"),
    path(_PAGE + "<int:known_pair_id>/forget/", known_pair_forget, name="known_pair_forget"),
]
