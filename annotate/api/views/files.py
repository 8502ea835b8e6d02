"""Uploads and exports."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django.utils.text import slugify
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import dataset, exports, imports
from annotate.api.parsers import FileParser
from annotate.api.serializers.files import (
    BaselinesSerializer,
    ColumnsSerializer,
    DatasetChoice,
    ExportSerializer,
    FileSerializer,
    SimulationSerializer,
    UploadSerializer,
)
from annotate.api.views.base import View
from annotate.models import Export, Upload
from annotate.refusal import Refusal
from annotate.reports.data import uploads_of

COLUMNS = 'Which columns of a table hold what, as JSON such as {"topic": "doc", "text": "summary"}.'


@extend_schema(tags=["uploads"])
class Uploads(View):
    post_ability = "edit"
    parser_classes = [MultiPartParser, FileParser]

    @extend_schema(operation_id="list_uploads", responses=UploadSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The uploads of a study, newest first."""
        return self.page(UploadSerializer, uploads_of(self.study(study_id)))

    @extend_schema(
        operation_id="upload",
        parameters=[
            OpenApiParameter("filename", str, description="The name of a file that is sent as the body."),
            OpenApiParameter("columns", str, description=COLUMNS),
        ],
        request={"multipart/form-data": FileSerializer, "application/octet-stream": OpenApiTypes.BINARY},
        responses={202: UploadSerializer},
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Send topics, summaries, human scores, preferences or another tool's votes or scores, as the form field `file`
        or as the request body.

        Votes of other tools (docs/formats.md has the table: Chatbot Arena, AlpacaEval, Argilla, Label Studio,
        Mechanical Turk, Potato, TL;DR, preference sets, verdicts side by side) bring their topics along, and so do
        scores by annotator of Pearmut and mt-metrics-eval; those of Appraise need topics. What was left out stands in
        `remarks`.

        The worker reads it. Then its `state` is `ready`, with a preview, or `refused`, with complaints, or `asked`: a
        table with columns that must be chosen. Confirm it to have it stored.
        """
        study = self.study(study_id, self.post_ability)
        file = self.sent_file()
        given = cast(Mapping[str, Any], request.data).get("columns") or request.query_params.get("columns")
        upload = imports.receive(study, self.user, file, _columns(given) if given else None)
        self.undo = partial(upload.file.delete, save=False)
        return self.show(UploadSerializer, upload, 202)


def _columns(given: str) -> dict[str, Any]:
    """The columns of a table by role, from JSON. Raises `ValidationError`."""
    try:
        columns = {
            role: [named] if isinstance(named, str) else named for role, named in dict(json.loads(given)).items()
        }
    except (TypeError, ValueError, RecursionError):
        columns = {"": None}
    if not all(
        isinstance(named, list) and all(isinstance(column, str) for column in named) for named in columns.values()
    ):
        raise ValidationError({"columns": [COLUMNS]})
    return columns


@extend_schema(tags=["uploads"])
class Columns(View):
    post_ability = "edit"

    @extend_schema(operation_id="choose_columns", request=ColumnsSerializer, responses={202: UploadSerializer})
    def post(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """Say which columns of an uploaded table hold what; the worker reads it again."""
        study, columns = self.study(study_id, self.post_ability), self.sent(ColumnsSerializer)["columns"]
        upload = get_object_or_404(Upload, key=key, study=study)
        imports.choose_columns(upload, self.user, columns)
        return self.show(UploadSerializer, upload, 202)


@extend_schema(tags=["uploads"])
class Baselines(View):
    post_ability = "edit"

    @extend_schema(operation_id="make_baselines", request=BaselinesSerializer, responses={202: UploadSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Have the worker write summaries by nine standard summarizers, for all topics that have none of them.

        The result is an upload like any other: its `state` becomes `ready`, and you confirm it.
        """
        study = self.study(study_id, self.post_ability)
        words = self.sent(BaselinesSerializer)["words"]
        return self.show(UploadSerializer, imports.ask_for_baselines(study, self.user, words), 202)


@extend_schema(tags=["uploads"])
class Simulated(View):
    post_ability = "edit"

    @extend_schema(operation_id="simulate_judgments", request=SimulationSerializer, responses={202: UploadSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Have the worker simulate judgments from the references or the Pyramids of all topics that have them.

        They are labelled as simulated everywhere, and count only if the study's `counted_kinds` says so. The result is
        an upload like any other: its `state` becomes `ready`, and you confirm it.
        """
        study = self.study(study_id, self.post_ability)
        upload = imports.ask_for_simulated(study, self.user, **self.sent(SimulationSerializer))
        return self.show(UploadSerializer, upload, 202)


@extend_schema(tags=["uploads"])
class OneUpload(View):
    @extend_schema(operation_id="read_upload", responses=UploadSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """The state of an upload, with its preview or its problems."""
        return self.show(UploadSerializer, get_object_or_404(Upload, key=key, study=self.study(study_id)))


@extend_schema(tags=["uploads"])
class Confirmation(View):
    post_ability = "edit"

    @extend_schema(operation_id="confirm_upload", request=None, responses={202: UploadSerializer})
    def post(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """Confirm the upload; the worker stores all of it."""
        upload = get_object_or_404(Upload, key=key, study=self.study(study_id, self.post_ability))
        imports.confirm(upload, self.user)
        return self.show(UploadSerializer, upload, 202)


@extend_schema(tags=["uploads"])
class Discard(View):
    post_ability = "edit"

    @extend_schema(operation_id="discard_upload", request=None, responses=UploadSerializer)
    def post(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """Discard the upload, if it is not confirmed."""
        upload = get_object_or_404(Upload, key=key, study=self.study(study_id, self.post_ability))
        imports.discard(upload, self.user)
        return self.show(UploadSerializer, upload)


@extend_schema(tags=["exports"])
class Exports(View):
    post_ability = "export"
    #: An export of what one may read changes nothing in the study: a read-only token may request it.
    changes_nothing = True

    @extend_schema(operation_id="list_exports", responses=ExportSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The exports that you requested, newest first; for owners, those of all members."""
        study = self.study(study_id, "export")
        return self.page(ExportSerializer, exports.exports_of(study, self.user))

    @extend_schema(operation_id="request_export", request=None, responses={202: ExportSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Request the whole study as a ZIP file; the worker writes it."""
        study = self.study(study_id, self.post_ability)
        return self.show(ExportSerializer, exports.request_export(study, self.user), 202)


@extend_schema(tags=["exports"])
class OneExport(View):
    @extend_schema(operation_id="read_export", responses=ExportSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """The state of an export."""
        study = self.study(study_id, "export")
        return self.show(ExportSerializer, get_object_or_404(exports.exports_of(study, self.user), key=key))


@extend_schema(tags=["exports"])
class ExportFile(View):
    @extend_schema(
        operation_id="fetch_export",
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The zip.")},
    )
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> FileResponse:
        """The ZIP file."""
        study = self.study(study_id, "export")
        export = get_object_or_404(exports.exports_of(study, self.user), key=key)
        if export.state != Export.State.READY:
            raise Refusal(_("This export is not ready: %(state)s.") % {"state": export.get_state_display()}, "state")
        return exports.download(export, f"{slugify(study.title)[:60] or 'study'}.zip")


@extend_schema(tags=["exports"])
class Dataset(View):
    @extend_schema(
        operation_id="fetch_dataset",
        parameters=[
            OpenApiParameter("texts", bool, description="Whether with texts; false if a licence forbids them.")
        ],
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, "The zip.")},
    )
    def get(self, request: Request, study_id: int) -> FileResponse:
        """The judgments that count as a dataset to publish, with its card and its description in Croissant, zipped."""
        study = self.study(study_id, "export")
        with_texts = self.checked(DatasetChoice, request.query_params.dict())["texts"]
        write = partial(dataset.write_zip, with_texts=with_texts)
        return exports.written(study, write, "dataset.zip", "application/zip")
