"""Exports of a study: the archive that the worker writes, and its judgments as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Literal
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.views.decorators.http import require_http_methods, require_safe

from annotate import dataset, exports
from annotate.access import in_study
from annotate.models import Export, Study
from annotate.reports.study import worker_is_there
from annotate.views.limited import limited
from annotate.views.research.pages import UNCHANGED, digest, is_seen, page, user_of
from preferendum import formats
from preferendum.formats.readers.lines import Sink

SHOWN = 10
KINDS = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}


@limited
@in_study("export")
@require_http_methods(["GET", "HEAD", "POST"])
def study_export(request: HttpRequest, study: Study) -> HttpResponse:
    """Request the whole study as one file; list recent exports, updated while one is written."""
    if request.method == "POST":
        exports.request_export(study, user_of(request))
        return redirect("study_export", study_id=study.pk)
    newest = list(exports.exports_of(study, user_of(request))[:SHOWN])
    moves = any(export.state == Export.State.WAITING for export in newest)
    missing = moves and not worker_is_there()
    version = digest([(export.pk, export.state) for export in newest], missing)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    return page(
        request,
        study,
        "research/studies/exports.html" if "seen" in request.GET else "research/studies/export.html",
        exports=newest,
        moves=moves,
        worker_missing=missing,
        version=version,
        here="export",
        are_summaries_judged=exports.are_summaries_judged(study),
    )


@in_study("export")
@require_safe
def export_file(request: HttpRequest, study: Study, key: UUID) -> FileResponse:
    """The file, once written, for the user who requested it and for owners of the study."""
    export = get_object_or_404(exports.exports_of(study, user_of(request)), key=key, state=Export.State.READY)
    return exports.download(export, export.filename)


@in_study("export")
@require_safe
def judgments_file(request: HttpRequest, study: Study, form: Literal["jsonl", "csv"]) -> FileResponse:
    """The judgments that count, under pseudonyms, as preferences that can be uploaded again."""

    def write(study: Study, file: Sink) -> None:
        with_of = exports.are_summaries_judged(study)
        formats.write_preferences(exports.preferences(study), file, form, with_of=with_of)

    return exports.written(study, write, f"judgments.{form}", KINDS[form])


@in_study("export")
@require_safe
def dataset_file(request: HttpRequest, study: Study, part: str) -> FileResponse:
    """A part of the judgments as a dataset."""
    end, write, kind = _PARTS[part]
    return exports.written(study, write, end, kind)


#: The parts of a dataset: the end of its file's name, what writes it, and its media type.
_PARTS: Mapping[str, tuple[str, Callable[[Study, IO[bytes]], None], str]] = {
    "jsonl": ("judgments-with-texts.jsonl", dataset.write_judgments_jsonl, KINDS["jsonl"]),
    "csv": ("judgments-with-texts.csv", dataset.write_judgments_csv, KINDS["csv"]),
    "preferred": ("chosen-rejected.jsonl", dataset.write_preferred_jsonl, KINDS["jsonl"]),
    "card": ("README.md", dataset.write_card, "text/markdown; charset=utf-8"),
    "croissant": ("croissant.json", dataset.write_croissant, "application/ld+json"),
}
_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "export/", study_export, name="study_export"),
    path(_STUDY + "export/<uuid:key>.zip", export_file, name="export_file"),
    path(_STUDY + "export/judgments.jsonl", judgments_file, {"form": "jsonl"}, name="judgments_jsonl"),
    path(_STUDY + "export/judgments.csv", judgments_file, {"form": "csv"}, name="judgments_csv"),
    *(
        path(f"{_STUDY}export/{end}", dataset_file, {"part": part}, name=f"dataset_{part}")
        for part, (end, *_rest) in _PARTS.items()
    ),
]
