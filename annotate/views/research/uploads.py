"""Uploads: a file is sent, read by the worker, previewed, confirmed, stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import imports, studies
from annotate.access import in_study
from annotate.forms import BaselinesForm, SimulationForm, UploadForm
from annotate.imports import simulated
from annotate.models import Annotator, Item, SourceDocument, Study, Topic, Upload
from annotate.reports.analyses import has_human_scores
from annotate.reports.data import in_words as in_words_of
from annotate.reports.study import UNDER_WAY, wanted_of, worker_is_there
from annotate.views.limited import limited
from annotate.views.refusals import refusals_shown
from annotate.views.research.complaints import filled, in_words
from annotate.views.research.pages import UNCHANGED, digest, is_seen, page, user_of
from preferendum.formats.readers.tools.catalogue import NAMED, readers
from preferendum.formats.settings import KINDS_COUNTED
from preferendum.results.statement import Judged

MEGABYTE = 1_000_000
#: What an upload brings to metrics and human scores.
_OF_METRICS = ("dimensions", "human_scores", "metrics", "pyramids")
DOCUMENTS_A_PAGE = 20
#: A longer sentence may be several that were not split.
LONG_SENTENCE = 500
#: What a column may be, in the order in which it is offered.
ROLE_NAMES = {
    "topic": gettext_noop("Topic"),
    "document": gettext_noop("Document (the text that is summarized)"),
    "reference_text": gettext_noop("Reference (a text)"),
    "system": gettext_noop("System"),
    "text": gettext_noop("Summary"),
    "systems": gettext_noop("Summaries of the system of this name"),
    "a": gettext_noop("First of the pair"),
    "b": gettext_noop("Second of the pair"),
    "winner": gettext_noop("Winner"),
    "annotator": gettext_noop("Annotator"),
    "dimension": gettext_noop("Dimension of human scores"),
    "metric": gettext_noop("Metric"),
    "score": gettext_noop("Score"),
    "assessor": gettext_noop("Assessor"),
}


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def upload_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Send a file; the page explains what it may contain."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if form.is_valid():
        with refusals_shown(form):
            upload = imports.receive(study, user_of(request), form.cleaned_data["file"])
            return redirect("upload", study_id=study.pk, key=upload.key)
    return _upload_page(request, study, status=422 if request.method == "POST" else 200, form=form)


def _upload_page(request: HttpRequest, study: Study, *, status: int, **form: forms.Form) -> HttpResponse:
    """The page with its three forms, one of them as sent, perhaps."""
    shown = {"form": UploadForm(), "baselines": BaselinesForm(), "simulation": SimulationForm()} | form
    return page(
        request,
        study,
        "research/texts/upload_new.html",
        here="uploads",
        status=status,
        limit=settings.UPLOAD_LIMIT // MEGABYTE,
        tools=[reader.name for reader in readers()],
        has_topics=Topic.objects.filter(study=study).exists(),
        can_simulate=any(simulated.topics_with(study, source).exists() for source in simulated.SOURCES),
        **shown,
    )


@limited
@in_study("edit")
@require_POST
def make_baselines(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the worker summarize the topics; the result is handled like an uploaded file."""
    form = BaselinesForm(request.POST)
    if form.is_valid():
        with refusals_shown(form):
            upload = imports.ask_for_baselines(study, user_of(request), form.cleaned_data["words"])
            return redirect("upload", study_id=study.pk, key=upload.key)
    return _upload_page(request, study, status=422, baselines=form)


@limited
@in_study("edit")
@require_POST
def make_simulated(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the worker simulate judgments; the result is handled like an uploaded file."""
    form = SimulationForm(request.POST)
    if form.is_valid():
        with refusals_shown(form):
            upload = imports.ask_for_simulated(study, user_of(request), **form.cleaned_data)
            return redirect("upload", study_id=study.pk, key=upload.key)
    return _upload_page(request, study, status=422, simulation=form)


@in_study("edit")
@require_safe
def upload(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """The file's progress, what was found in it, or every reason why it is refused."""
    upload = get_object_or_404(Upload, study=study, key=key)
    waits_for_worker = upload.state in UNDER_WAY
    missing = waits_for_worker and not worker_is_there()
    version = digest(upload.state, missing, upload.preview.get("written", ""))
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    preview, topics = upload.preview, upload.preview.get("topics", [])
    return page(
        request,
        study,
        "research/texts/upload_state.html" if "seen" in request.GET else "research/texts/upload.html",
        here="uploads",
        upload=upload,
        compares_metrics=has_human_scores(study) and any(preview.get(name) for name in _OF_METRICS),
        version=version,
        moves=waits_for_worker,
        worker_missing=missing,
        complaints=[in_words(complaint) for complaint in upload.complaints],
        **_columns(upload),
        remarks=[
            {"file": remark["file"], "said": filled(remark["said"], remark["params"])} for remark in _remarks(upload)
        ],
        sentences=sum(topic["sentences"] for topic in topics),
        not_judged=sum(topic.get("not_judged", 0) for topic in topics),
        **_cuts(request, upload),
        **_planned(study, topics),
        documents=sum(topic["documents"] for topic in topics),
        references=sum(topic["references"] for topic in topics),
        without_documents=sum(not topic["documents"] for topic in topics),
        without_text=(without_text := sum(topic.get("without_text", 0) for topic in topics)),
        named_topics=sum(bool(topic["name"]) for topic in topics),
        only_answers=without_text > 0 and without_text == sum(topic["summaries"] for topic in topics),
        content_units=any(topic.get("content_units") for topic in topics),
        pyramids=preview.get("pyramids", 0) + sum(bool(topic.get("content_units")) for topic in topics),
        simulated_uncounted=_are_simulated_uncounted(study, preview),
        by_kind=Judged(**preview["preferences_by_kind"]).words if "preferences_by_kind" in preview else "",
        changed=in_words_of(preview.get("replaced", {})),
        unchanged=in_words_of(preview.get("unchanged", {})),
        more_changes=sum(preview.get("replaced", {}).values()) - len(preview.get("replacements", ())),
        summaries=preview.get("summaries", 0) + sum(topic["summaries"] for topic in topics),
    )


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def upload_columns(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Say which column of a table is what."""
    upload = get_object_or_404(Upload, study=study, key=key)
    if request.method == "POST":
        columns: dict[str, list[str]] = {}
        for number, column in enumerate((upload.table or {"header": []})["header"]):
            columns.setdefault(request.POST.get(f"column-{number}", ""), []).append(column)
        with refusals_shown(request):
            imports.choose_columns(upload, user_of(request), columns)
        return redirect("upload", study_id=study.pk, key=key)
    return page(request, study, "research/texts/upload_columns.html", here="uploads", upload=upload, **_columns(upload))


def _columns(upload: Upload) -> dict[str, Any]:
    """The columns of a table, each with its role and its first values."""
    table = upload.table or {"header": [], "rows": [], "roles": {}}
    values = zip(*table["rows"], strict=True) if table["rows"] else [()] * len(table["header"])
    columns = [
        {"name": name, "role": table["roles"].get(name, ""), "values": held}
        for name, held in zip(table["header"], values, strict=True)
    ]
    of_file = NAMED if table.get("is_tool") else ROLE_NAMES
    return {"columns": columns, "roles": [(role, _(name)) for role, name in ROLE_NAMES.items() if role in of_file]}


@in_study("edit")
@require_POST
def upload_confirm(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Confirm that the preview shall be stored."""
    upload = get_object_or_404(Upload, study=study, key=key)
    with refusals_shown(request):
        imports.confirm(upload, user_of(request), drops_scores=request.POST.get("scores") == "drop")
    return redirect("upload", study_id=study.pk, key=key)


@in_study("edit")
@require_POST
def upload_discard(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Discard the file."""
    upload = get_object_or_404(Upload, study=study, key=key)
    with refusals_shown(request):
        imports.discard(upload, user_of(request))
        if studies.leave(study, user_of(request)):
            messages.success(request, _("The file was discarded, and the study that it began."))
            return redirect("studies")
        messages.success(request, _("The file was discarded. The study has not changed."))
        return redirect("study", study_id=study.pk)
    return redirect("upload", study_id=study.pk, key=key)


def _are_simulated_uncounted(study: Study, preview: Mapping[str, Any]) -> bool:
    """Whether the file has simulated judgments and the study counts none."""
    kind = Annotator.Kind.SIMULATED
    has_some = preview.get("preferences_by_kind", {}).get(kind, 0) > 0
    return has_some and kind not in KINDS_COUNTED[study.counted_kinds]


def _planned(study: Study, topics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many judgments the study wants of these topics, and how long they will take by the words to read."""
    paces = Item.objects.paces(study)
    sentences = sum(wanted_of(study, topic["sentences"] - topic.get("not_judged", 0)) for topic in topics)
    with_text = [topic["summaries"] - topic.get("without_text", 0) for topic in topics]
    summaries = sum(wanted_of(study, number, of_summaries=True) for number in with_text)
    seconds = sentences * paces.get(False, 0) + summaries * paces.get(True, 0)
    now = timezone.now()
    takes = timesince(now, now + timedelta(seconds=seconds), depth=1)
    return {"of_sentences": sentences, "of_summaries": summaries, "takes": takes}


def _cuts(request: HttpRequest, upload: Upload) -> dict[str, Any]:
    """The documents as split, to leaf through, the doubtful ones first; once stored, where the split can be changed."""
    documents = sorted(enumerate(upload.preview.get("cuts", [])), key=lambda numbered: -_doubtful(numbered[1]))
    chosen = Paginator(documents, DOCUMENTS_A_PAGE).get_page(request.GET.get("page"))
    stored = SourceDocument.objects.filter(topic__upload=upload, topic__upload__state=Upload.State.STORED)
    return {
        "chosen": chosen,
        "cut_documents": [
            document | {"number": number, "sentences": imports.previewed_sentences(document)}
            for number, document in chosen
        ],
        "first_document": stored.order_by("topic__position", "position").first(),
    }


def _doubtful(document: Mapping[str, Any]) -> int:
    """How many sentences of a document in a preview look as if they were none, or several."""
    return sum(bool(mark) or len(text) > LONG_SENTENCE for text, mark in document["sentences"])


def _remarks(upload: Upload) -> list[dict[str, Any]]:
    return list(upload.preview.get("remarks", []))


urlpatterns = [
    path("studies/<int:study_id>/uploads/new/", upload_new, name="upload_new"),
    path("studies/<int:study_id>/uploads/baselines/", make_baselines, name="make_baselines"),
    path("studies/<int:study_id>/uploads/simulated/", make_simulated, name="make_simulated"),
    path("studies/<int:study_id>/uploads/<uuid:key>/", upload, name="upload"),
    path("studies/<int:study_id>/uploads/<uuid:key>/columns/", upload_columns, name="upload_columns"),
    path("studies/<int:study_id>/uploads/<uuid:key>/confirm/", upload_confirm, name="upload_confirm"),
    path("studies/<int:study_id>/uploads/<uuid:key>/discard/", upload_discard, name="upload_discard"),
]
