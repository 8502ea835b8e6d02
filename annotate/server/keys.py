"""The installation's secrets: its key, made once and stored in a file that only its owner may read, and others read
from files: the scraper's token, and the passwords of database and broker."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

from django.core.exceptions import ImproperlyConfigured

SHORTEST = 50
SHORTEST_TOKEN = 20


def load_secret_key(directory: Path) -> str:
    """The secret key from the environment, from the file it names, or from `directory`, created if needed.

    Raises `ImproperlyConfigured` for a key that is too short or no text, for a `directory` that cannot be used, and if
    other users may read the key in it; the operator protects a file that the environment names (a Docker secret, say).
    """
    if key := os.environ.get("PREFERENDUM_SECRET_KEY"):
        return _good(key, "PREFERENDUM_SECRET_KEY")
    if path := os.environ.get("PREFERENDUM_SECRET_KEY_FILE"):
        return _good(_text_of(Path(path)), path)
    try:
        return _good(_read_or_make(directory / "secret_key"), str(directory / "secret_key"))
    except OSError as error:
        why = f"{directory} cannot be used ({error.strerror})"
        raise ImproperlyConfigured(f"{why}; name another folder for the data in PREFERENDUM_DATA.") from error


def load_metrics_token() -> str:
    """The token that a scraper sends to read /metrics; "" if empty.

    Raises `ImproperlyConfigured` for one that could be guessed.
    """
    token = read_secret("PREFERENDUM_METRICS_TOKEN")
    if 0 < len(token) < SHORTEST_TOKEN:
        raise ImproperlyConfigured(f"PREFERENDUM_METRICS_TOKEN needs at least {SHORTEST_TOKEN} characters.")
    return token


def read_secret(variable: str) -> str:
    """The secret in the environment's `variable`, or in the file that the variable with _FILE names; "" if empty."""
    secret, path = os.environ.get(variable, ""), os.environ.get(f"{variable}_FILE")
    return Path(path).read_text().strip() if path and not secret else secret


def with_password(url: str, variable: str) -> str:
    """The URL with the password from the file that the environment's `variable` names; unchanged without one.

    Raises `ImproperlyConfigured` for a file without a password, and `OSError` for one that cannot be read.
    """
    path = os.environ.get(variable)
    if not path:
        return url
    password = Path(path).read_text().strip()
    if not password:
        raise ImproperlyConfigured(f"{path}, which {variable} names, is empty; a password was expected.")
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username or ''}:{quote(password, safe='')}@{host}").geturl()


def _read_or_make(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # O_EXCL decides between processes that start at once: one writes, the others read.
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(64))
        file.flush()
        os.fsync(file.fileno())
    _sync(path.parent)
    return _read(path)


def _sync(directory: Path) -> None:
    """Flush the file's name to the disk, too: what a lost key has signed is worthless."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise ImproperlyConfigured(f"{path} can be read by others; only its owner should (chmod 600).")
    for _ in range(20):  # another process may be between making the file and writing it
        if key := _text_of(path):
            return key
        time.sleep(0.05)
    raise ImproperlyConfigured(f"{path} is empty; delete it, and the next start creates a new key.")


def _text_of(path: Path) -> str:
    return path.read_text(errors="surrogateescape").strip()


def _good(key: str, source: str) -> str:
    if len(key) < SHORTEST:
        raise ImproperlyConfigured(
            f"The secret key of {source} has {len(key)} characters; it needs at least {SHORTEST}."
        )
    # After a crash, a file may have its length but only zeros in it: a key that is known to all.
    if not all(character.isprintable() or character.isspace() for character in key):
        raise ImproperlyConfigured(f"The secret key of {source} is not text; it is damaged.")
    return key
