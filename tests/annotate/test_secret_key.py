"""What a crash, a full disk or a slip leaves of the secret key is refused in words before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotate.server.keys import load_secret_key, with_password

ROOT = Path(__file__).resolve().parents[2]
LEFT = {
    b"": "is empty; delete it, and the next start creates a new key",
    b"half of a key": "has 13 characters; it needs at least 50",
    b"\0" * 86: "is not text; it is damaged",
    b"\x8f" * 86: "is not text; it is damaged",
}


def keep(folder: Path, key: bytes) -> Path:
    (folder / "secret_key").write_bytes(key)
    (folder / "secret_key").chmod(0o600)
    return folder / "secret_key"


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFERENDUM_SECRET_KEY", raising=False)
    monkeypatch.delenv("PREFERENDUM_SECRET_KEY_FILE", raising=False)


@pytest.mark.parametrize(("key", "said"), LEFT.items())
def test_a_key_that_was_half_written_is_refused(
    key: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = keep(tmp_path, key)
    with pytest.raises(ImproperlyConfigured, match=f"{file}.* {said}"):
        load_secret_key(tmp_path)
    assert file.read_bytes() == key
    if key:
        monkeypatch.setenv("PREFERENDUM_SECRET_KEY_FILE", str(file))
        with pytest.raises(ImproperlyConfigured, match=f"{file}.* {said}"):
            load_secret_key(tmp_path / "elsewhere")


@pytest.mark.parametrize("key", ["a" * 50, "key of\nseveral lines, as openssl writes it " * 2, "ßchlüssel" * 6])
def test_any_text_that_is_long_enough_will_do(key: str, tmp_path: Path) -> None:
    keep(tmp_path, f"{key}\n".encode())
    assert load_secret_key(tmp_path) == key.strip()


def test_nothing_starts_with_half_a_key(tmp_path: Path) -> None:
    keep(tmp_path, b"half of a key")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFERENDUM_")}
    done = subprocess.run(
        [sys.executable, "-c", "import annotate.wsgi"],
        cwd=ROOT,
        env=environment | {"PREFERENDUM_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "annotate.settings"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].endswith("has 13 characters; it needs at least 50.")


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("postgres://preferendum@db/preferendum", "postgres://preferendum:a%40b%2Fc%20d@db/preferendum"),
        ("postgres://me:old@db:5433/p?sslmode=require", "postgres://me:a%40b%2Fc%20d@db:5433/p?sslmode=require"),
        ("redis://redis:6379/0", "redis://:a%40b%2Fc%20d@redis:6379/0"),
    ],
)
def test_a_password_of_a_file_is_put_into_the_address(
    url: str, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("A_PASSWORD_FILE", raising=False)
    assert with_password(url, "A_PASSWORD_FILE") == url
    monkeypatch.setenv("A_PASSWORD_FILE", str(tmp_path / "password"))
    (tmp_path / "password").write_text("a@b/c d\n")
    assert with_password(url, "A_PASSWORD_FILE") == whole
    (tmp_path / "password").write_text("\n")
    with pytest.raises(ImproperlyConfigured, match=r"password, which A_PASSWORD_FILE names, is empty"):
        with_password(url, "A_PASSWORD_FILE")
