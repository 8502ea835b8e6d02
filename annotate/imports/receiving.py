"""Receive files from browsers."""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler

#: A browser that sends more than so many times the limit is disconnected without a reason.
PATIENCE = 4


class LimitedUpload(TemporaryFileUploadHandler):
    """Write a file to the disk while it arrives, up to the limit; beyond that only count its bytes.

    `imports.receive` then refuses it by its size, in words: closing the connection at the limit would show users their
    browser's error page.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        end = start + len(raw_data)
        if end > PATIENCE * settings.UPLOAD_LIMIT:
            raise StopUpload(connection_reset=True)
        if end <= settings.UPLOAD_LIMIT:
            super().receive_data_chunk(raw_data, start)
