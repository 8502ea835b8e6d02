"""Static files while versions come and go: what a page names is there, whole, whichever process is asked."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.http import HttpResponse, HttpResponseBase
from django.test import RequestFactory, override_settings

from annotate.server.static_files import Middleware

Ask = Callable[[str], HttpResponseBase]


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    settings.WHITENOISE_AUTOREFRESH = False
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "annotate.server.static_files.Storage"}}
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    release(tmp_path / "first", "body { color: red }")
    return tmp_path / "static"


def release(sources: Path, style: str) -> str:
    """Collect a version's one stylesheet; the address under which its pages name it."""
    sources.mkdir(exist_ok=True)
    (sources / "some.css").write_text(style)
    with override_settings(STATICFILES_DIRS=[sources]):
        call_command("collectstatic", interactive=False, verbosity=0)
        return staticfiles_storage.url("some.css")


def process() -> Ask:
    """A web process that starts now."""
    middleware = Middleware(lambda request: HttpResponse("no such page", status=404))
    return lambda path: middleware(RequestFactory().get(path))


def content(answer: HttpResponseBase) -> str:
    assert answer.status_code == 200
    text = b"".join(answer).decode()
    answer.close()
    return text


def test_each_version_has_the_files_of_the_others(root: Path) -> None:
    old = release(root.parent / "first", "body { color: red }")
    before = process()
    new = release(root.parent / "second", "body { color: green }")
    after = process()
    assert old != new
    for ask in (before, after):
        assert content(ask(old)) == "body { color: red }"
        assert content(ask(new)) == "body { color: green }"


def test_who_starts_before_anything_is_collected_finds_it_all_the_same(root: Path, settings: Any) -> None:
    settings.STATIC_ROOT = root.parent / "empty"
    settings.STATIC_ROOT.mkdir()
    early = process()
    assert "red" in content(early(release(root.parent / "first", "body { color: red }")))


def test_who_starts_while_files_are_collected_finds_them_later(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(folder: str) -> Iterator[object]:
        yield from ()
        raise FileNotFoundError(folder)

    address = release(root.parent / "first", "body { color: red }")
    monkeypatch.setattr("whitenoise.base.scantree", gone)
    assert "red" in content(process()(address))


@pytest.mark.parametrize(
    "path",
    [
        "/static/../secret.0123456789ab.css",
        "/static//secret.0123456789ab.css",
        "/static/folder/../../secret.0123456789ab.css",
        "/static/%2e%2e/secret.0123456789ab.css",
        "/static/..\\secret.0123456789ab.css",
        "/static/some.css/x.0123456789ab.css",
        "/static/folder.0123456789ab.css",
        "/static/plain.css",
        "/static/nul\0.0123456789ab.css",
        f"/static/{'long' * 100}.0123456789ab.css",
        f"/static/{'deep/' * 2000}x.0123456789ab.css",
        "/elsewhere/late.0123456789ab.css",
    ],
)
def test_nothing_else_is_looked_for(root: Path, path: str) -> None:
    ask = process()
    (root.parent / "secret.0123456789ab.css").write_text("nobody's")
    (root / "folder").mkdir()
    (root / "folder.0123456789ab.css").mkdir()
    for name in ("plain.css", "late.0123456789ab.css"):
        (root / name).write_text("came later")
    assert ask(path).status_code == 404


def test_made_up_names_leave_nothing_behind(root: Path) -> None:
    middleware = Middleware(lambda request: HttpResponse(status=404))
    known = dict(middleware.files)
    for number in range(100):
        assert middleware(RequestFactory().get(f"/static/some.{number:012x}.css")).status_code == 404
    assert middleware.files == known


@contextmanager
def looking_all_the_time(at: Callable[[], object]) -> Iterator[list[BaseException]]:
    problems: list[BaseException] = []
    stopping = threading.Event()

    def look() -> None:
        while not stopping.is_set() and not problems:
            try:
                at()
            except Exception as problem:
                problems.append(problem)

    eye = threading.Thread(target=look)
    eye.start()
    try:
        yield problems
    finally:
        stopping.set()
        eye.join()


def test_what_is_collected_again_is_whole_at_every_moment(root: Path) -> None:
    style = "body { color: red }\n" * 10_000
    address = release(root.parent / "first", style)
    file, names = root.parent / address.strip("/"), root / "staticfiles.json"
    listed = names.read_text()

    def look() -> None:
        assert file.read_text() == style
        assert gzip.decompress(file.with_name(f"{file.name}.gz").read_bytes()).decode() == style
        assert names.read_text() == listed

    with looking_all_the_time(look) as problems:
        for _ in range(20):
            release(root.parent / "first", style)
    assert problems == []
    assert list(root.rglob("*.part")) == []
