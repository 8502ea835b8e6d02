"""Files on their way from a browser to the disk."""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler

#: A browser that goes on sending beyond so many times the limit is cut off instead of being told why.
PATIENCE = 4


class LimitedUpload(TemporaryFileUploadHandler):
    """Keep a file on the disk while it comes, up to the limit; beyond that count it and keep nothing.

    `imports.receive` then refuses it by its size, in words: cutting the connection at the limit would leave people
    with a browser's error page.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        end = start + len(raw_data)
        if end > PATIENCE * settings.UPLOAD_LIMIT:
            raise StopUpload(connection_reset=True)
        if end <= settings.UPLOAD_LIMIT:
            super().receive_data_chunk(raw_data, start)
