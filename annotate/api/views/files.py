"""Uploads and exports."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from django.core.files import File
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

from annotate import exports, imports
from annotate.api.parsers import FileParser
from annotate.api.serializers.files import (
    BaselinesSerializer,
    ExportSerializer,
    FileSerializer,
    SimulationSerializer,
    UploadSerializer,
)
from annotate.api.views.base import View
from annotate.models import Export, Upload
from annotate.refusal import Refusal
from annotate.reports.data import uploads_of


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
        parameters=[OpenApiParameter("filename", str, description="The name of a file that is sent as the body.")],
        request={"multipart/form-data": FileSerializer, "application/octet-stream": OpenApiTypes.BINARY},
        responses={202: UploadSerializer},
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Send topics, summaries, human scores or preferences, as the form field `file` or as the request body.

        The worker reads it. Then its `state` is `ready`, with a preview, or `refused`, with complaints. Confirm it to
        have it stored.
        """
        study = self.study(study_id, self.post_ability)
        file = cast(Mapping[str, Any], request.data).get("file")
        if not isinstance(file, File):
            raise ValidationError({"file": [_("Send a file.")]})
        upload = imports.receive(study, self.user, file)
        self.undo = partial(upload.file.delete, save=False)
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
