"""Pairs whose right answer is known: for practice, or hidden among the others."""

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

from annotate import judging
from annotate.access import in_study
from annotate.forms import GoldPairForm, UploadForm
from annotate.models import GoldPair, Study, Topic
from annotate.views.refusals import refusals_shown
from annotate.views.research.complaints import in_words
from annotate.views.research.pages import keys, page, user_of
from preferendum import formats
from preferendum.formats.checks.complaints import Complaints, Place, escaped

#: A table of pairs is small; a larger file is something else.
MOST_BYTES = 5_000_000


@in_study("settings")
@require_http_methods(["GET", "HEAD", "POST"])
def gold_pairs(request: HttpRequest, study: Study) -> HttpResponse:
    """The gold pairs; add one of the chosen topic, or a table of them."""
    if request.method == "POST" and request.FILES:
        return _take_table(request, study)
    chosen = request.POST.get("topic") or request.GET.get("topic", "")
    topic = study.topics.select_related("study").filter(pk__in=keys([chosen])).first()
    topic = topic or study.topics.select_related("study").first()
    form = GoldPairForm(topic, request.POST or None) if topic else None
    if topic and form and form.is_valid():
        with refusals_shown(form):
            judging.prepare_pair(study, user_of(request), **form.cleaned_data)
            messages.success(request, _("The pair was added."))
            return redirect(f"{reverse('gold_pairs', args=[study.pk])}?topic={topic.pk}")
    return _show(request, study, topic, form)


@in_study("settings")
@require_POST
def gold_pair_delete(request: HttpRequest, study: Study, gold_pair_id: int) -> HttpResponse:
    """Delete a gold pair."""
    gold_pair = get_object_or_404(GoldPair, pk=gold_pair_id, item_set__study=study)
    judging.delete_gold_pair(gold_pair, user_of(request))
    messages.success(request, _("The pair was deleted. Existing answers to it are kept."))
    return redirect("gold_pairs", study_id=study.pk)


def _take_table(request: HttpRequest, study: Study) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    file = request.FILES.get("file")
    if not form.is_valid() or file is None or (file.size or 0) > MOST_BYTES:
        messages.error(request, _("Upload one table of pairs, of at most 5 MB."))
        return redirect("gold_pairs", study_id=study.pk)
    place = Place(Complaints(), escaped(file.name or "table"))
    try:
        count = judging.import_gold_pairs(study, user_of(request), io.BytesIO(file.read()), place)
    except formats.Refused as refused:
        complaints = [in_words(asdict(complaint)) for complaint in refused.complaints]
        return _show(request, study, study.topics.select_related("study").first(), None, complaints)
    message = ngettext("%(count)d pair was added.", "%(count)d pairs were added.", count)
    messages.success(request, message % {"count": count})
    return redirect("gold_pairs", study_id=study.pk)


def _show(
    request: HttpRequest,
    study: Study,
    topic: Topic | None,
    form: forms.Form | None,
    complaints: Sequence[Mapping[str, Any]] = (),
) -> HttpResponse:
    gold_pairs = GoldPair.objects.filter(item_set__study=study).select_related(
        "item_set__topic", "better__document", "worse__document"
    )
    uses = gold_pairs.order_by().aggregate(
        practice=Count("pk", filter=Q(use=GoldPair.Use.TRAINING)), gold=Count("pk", filter=Q(use=GoldPair.Use.GOLD))
    )
    must_match = judging.practice_to_match(study, uses["practice"])
    return page(
        request,
        study,
        "research/people/gold_pairs.html",
        status=400 if complaints else 200,
        topics=study.topics.order_by("position"),
        topic=topic,
        form=form or (GoldPairForm(topic) if topic else None),
        gold_pairs=gold_pairs.order_by("use", "item_set", "pk"),
        uses=uses,
        must_match=must_match,
        misses=uses["practice"] - must_match,
        complaints=complaints,
        here="gold_pairs",
    )


_PAGE = "studies/<int:study_id>/gold-pairs/"
urlpatterns = [
    path(_PAGE, gold_pairs, name="gold_pairs"),
    path(_PAGE + "<int:gold_pair_id>/delete/", gold_pair_delete, name="gold_pair_delete"),
]
