"""The static files of every version that somebody may still be looking at, served by every version.

While a new version takes over, old and new processes answer side by side, and a page's styles and scripts are asked of
whichever is next. All share one folder (STATIC_ROOT) into which the release step of each version collects its files
under names that hold a digest of what they contain. So whatever a page names is there, if nothing is ever taken away,
if what is collected again is whole at every moment, and if a process looks once more for a name that it did not know.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from whitenoise.compress import Compressor
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

#: The path of a file whose name holds the digest of what is in it.
DIGESTED = re.compile(r"/[\w./-]+\.[0-9a-f]{12}\.[a-z0-9]+", re.ASCII)
#: What a file is called until it is whole.
PART = ".part"


class Middleware(WhiteNoiseMiddleware):
    """WhiteNoise, which lists the files once when it starts, and here looks again for what a later version brought.

    Only names with a digest are looked for, one or two questions to the file system each, and only what is there is
    remembered: whoever makes names up costs less than the page that tells them so.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.autorefresh:
            self.directories = [(os.path.join(os.path.abspath(self.static_root), ""), self.static_prefix)]

    def update_files_dictionary(self, root: str, prefix: str) -> None:
        """List the files. Where a release step is just writing some, none: they are found when they are asked for."""
        with suppress(FileNotFoundError):
            super().update_files_dictionary(root, prefix)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        url = request.path_info
        if not self.autorefresh and url not in self.files and url.startswith(self.static_prefix):
            self._look_again(url)
        answer: HttpResponseBase = super().__call__(request)
        return answer

    def _look_again(self, url: str) -> None:
        if DIGESTED.fullmatch(url):
            with suppress(OSError):  # a path that leads through a file, say
                if file := self.find_file(url):
                    self.files[url] = file


class Storage(CompressedManifestStaticFilesStorage):
    """Collects files while they are served: each is put in place whole, and none is taken away.

    Django would delete and write anew also what is as it was, and for a moment the list of all names.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"allow_overwrite": True})

    def delete(self, name: str) -> None:
        """Keep it: a version that is still there may name it. (So `collectstatic --clear` clears nothing.)"""

    def _save(self, name: str, content: Any) -> str:
        part = super()._save(f"{name}{PART}", content)
        os.replace(self.path(part), self.path(name))
        return name

    def create_compressor(self, **kwargs: Any) -> Compressor:
        return _Compressor(**kwargs)


class _Compressor(Compressor):
    def write_data(self, path: str, data: bytes, suffix: str, stat_result: os.stat_result) -> str:
        os.replace(super().write_data(path, data, f"{suffix}{PART}", stat_result), f"{path}{suffix}")
        return f"{path}{suffix}"
