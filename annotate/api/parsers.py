"""Strict parsers of request bodies."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, DataAndFiles

from preferendum import formats
from preferendum.formats.checks import limits, strict_json, text
from preferendum.formats.checks.complaints import Complaints, Place

CHUNK = 64 * 1024


class TooLarge(APIException):
    status_code = 413
    default_detail = gettext_lazy("The body is too large.")
    default_code = "too_large"


class StrictJSONParser(BaseParser):
    """An object by the standard: no key twice, no NaN, no bottomless nesting, no text that breaks a database."""

    media_type = "application/json"
    limit = 256 * 1024

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise TooLarge
        complaints = Complaints()
        place = Place(complaints, _("the body"))
        try:
            parsed = self._object(place, data)
        except formats.Refused:
            parsed = None
        if complaints.collected or parsed is None:
            raise ParseError(" ".join(map(formats.message, complaints.collected[:3])))
        return parsed

    def _object(self, place: Place, data: bytes) -> dict[str, Any] | None:
        decoded = text.decode(place, data, start=True)
        parsed = None if decoded is None else strict_json.parse_object(place, decoded)
        # No field is known here: every key and every text is cleaned.
        return None if parsed is None else strict_json.extras(place, parsed, frozenset())


class LargeJSONParser(StrictJSONParser):
    """The same for whole documents."""

    limit = 5 * 1024 * 1024


class FileParser(BaseParser):
    """The body as one file, never in memory. `?filename=` gives its name."""

    media_type = "*/*"
    #: Bytes; None: as much as an upload may have.
    limit: int | None = None

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> DataAndFiles[dict[str, Any], dict[str, File[Any]]]:
        request = (parser_context or {})["request"]
        kept = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the request's files
        size = 0
        while chunk := stream.read(CHUNK):
            size += len(chunk)
            if size > (self.limit or settings.UPLOAD_LIMIT):
                kept.close()
                raise TooLarge
            kept.write(chunk)
        kept.seek(0)
        file: File[Any] = File(kept, name=request.query_params.get("filename", ""))
        request._request._files = MultiValueDict({"file": [file]})
        return DataAndFiles({}, {"file": file})


class TableParser(FileParser):
    """The same for a table that is stored while its sender waits."""

    limit = limits.TABLE
