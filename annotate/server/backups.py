"""Backups: the database at one moment, with the uploads and exports that it names, in one file.

The database chooses the moment and keeps storing judgments meanwhile; all that was acknowledged before a backup began
is in it. Files are copied after the database, so that none that it names is missing. The secret key is left out, since
a stolen backup must not sign links; keep it apart. The file's `manifest.json` (counts, a checksum, the migrations) is
compared with what a restore finds. The audit log records each backup and its last judgment, from which
`annotate.server.doctor` sees that backups have stopped.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from django.utils.crypto import salted_hmac
from psycopg.conninfo import make_conninfo

from annotate.audit_log import note
from annotate.models import AuditEntry, Judgment
from preferendum.about import __version__

logger = logging.getLogger(__name__)

#: What the log calls a backup.
ACTION = "back up"
#: Tables whose numbers of rows a backup states.
COUNTED = ("annotate_study", "annotate_topic", "annotate_judgment", "auth_user")
#: What a connection is made with that only the driver understands.
DRIVER = ("context", "cursor_factory", "prepare_threshold")


class NotPossible(Exception):
    """Why a backup or restore failed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup states about itself. `key` names the secret key that signed its installation's links."""

    engine: str
    at: str
    program: str
    migrations: list[str]
    rows: dict[str, int]
    sha256: str
    key: str


def backup(target: Path) -> Manifest:
    """Write everything but the secret key into `target`, which only its owner may read.

    The file appears under its name once it is complete and on the disk. Raises `NotPossible` if it cannot be made.
    """
    if target.exists():
        raise NotPossible(f"{target} already exists.")
    newest = Judgment.objects.order_by("-pk").values_list("pk", flat=True).first()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as room:
        dump, whole = Path(room) / "database", Path(room) / "whole"
        manifest = _manifest(_dump(dump), dump)
        descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as archive:
            _add_text(archive, "manifest.json", json.dumps(asdict(manifest), indent=1))
            archive.add(dump, "database")
            if settings.MEDIA_ROOT.is_dir():
                archive.add(settings.MEDIA_ROOT, "files")
        with whole.open("rb") as written:
            os.fsync(written.fileno())
        whole.replace(target)
    try:
        note(None, None, ACTION, file=target.name, judgment=newest or 0)
    except DatabaseError:
        logger.exception("The backup is complete, but could not be entered in the audit log")
    return manifest


def newest_backup() -> AuditEntry | None:
    """The entry of the last backup made from here: its `detail` names the newest `judgment` at that time."""
    return AuditEntry.objects.filter(study=None, action=ACTION).order_by("-number").first()


def restore(source: Path) -> tuple[Manifest, list[str]]:
    """Restore a backup into this installation, which must be empty; its manifest, and warnings for the operator.

    Raises `NotPossible`, with nothing changed, if the file is no complete backup, or from another kind of database or a
    newer program, or if the installation holds anything.
    """
    with tempfile.TemporaryDirectory(prefix="restore-") as name:
        room = Path(name)
        manifest = _unpack(source, room)
        _refuse_what_cannot_be(manifest, room / "database")
        _put_database(room / "database")
        _put_files(room / "files")
    call_command("migrate", interactive=False, verbosity=0)
    return manifest, list(_remarks(manifest))


def _manifest(rows: dict[str, int], dump: Path) -> Manifest:
    return Manifest(
        engine=connection.vendor,
        at=timezone.now().isoformat(timespec="seconds"),
        program=__version__,
        migrations=sorted(".".join(migration) for migration in MigrationLoader(connection).applied_migrations),
        rows=rows,
        sha256=_digest(dump),
        key=_key_name(),
    )


def _key_name() -> str:
    return salted_hmac("annotate.server.backups", "the key of an installation").hexdigest()[:16]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), 0o600
    archive.addfile(entry, io.BytesIO(text.encode()))


# Backing up the database


def _dump(dump: Path) -> dict[str, int]:
    """Write the database at one moment to `dump`; its numbers of rows."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(_sqlite_file())) as live, closing(sqlite3.connect(dump)) as copy:
            live.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            _refuse_broken(copy)
            return _count(copy.cursor())
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        rows = _count(cursor)
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        _postgres("pg_dump", "-Fc", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", "-f", str(dump))
        return rows


def _count(cursor: Any) -> dict[str, int]:
    rows = {}
    for table in COUNTED:
        cursor.execute(f"SELECT COUNT(*) FROM {table}")  # noqa: S608 - names of ours
        rows[table] = cursor.fetchone()[0]
    return rows


def _sqlite_file() -> str:
    return str(connection.settings_dict["NAME"])


def _refuse_broken(database: sqlite3.Connection) -> None:
    (result,) = database.execute("PRAGMA integrity_check").fetchone()
    if result != "ok" or database.execute("PRAGMA foreign_key_check").fetchone():
        raise NotPossible(f"The database is damaged ({result}).")


def _postgres(program: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs on our database; the password is passed in the environment."""
    connection.ensure_connection()
    if getattr(connection, "is_pooled", False):
        # It sets an empty search path, for its whole session: whoever gets that session next would find no tables.
        raise NotPossible(f"{program} cannot go through a PgBouncer: let DATABASE_URL name PostgreSQL itself here.")
    given = connection.get_connection_params()
    password = given.pop("password", None)
    address = make_conninfo(**{name: value for name, value in given.items() if name not in DRIVER})
    try:
        done = subprocess.run(  # noqa: S603
            [program, "--dbname", address, *arguments],
            env=os.environ | ({"PGPASSWORD": password} if password else {}),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise NotPossible(f"{program} is not installed here (Debian: apt-get install postgresql-client).") from None
    if done.returncode:
        raise NotPossible(f"{program}: {done.stderr.strip()}")


def _put_database(dump: Path) -> None:
    if connection.vendor == "sqlite":
        connection.close()
        with closing(sqlite3.connect(dump)) as copy, closing(sqlite3.connect(_sqlite_file())) as live:
            copy.backup(live)
        Path(_sqlite_file()).chmod(0o600)
    else:
        options = ("--no-owner", "--no-privileges", "--clean", "--if-exists", "--single-transaction")
        _postgres("pg_restore", *options, str(dump))
        connection.close()  # it has plans of the tables that were there before


# Restoring


def _unpack(source: Path, room: Path) -> Manifest:
    try:
        with tarfile.open(source) as archive:
            for member in archive:
                _extract(archive, member, room)
        return Manifest(**json.loads((room / "manifest.json").read_text()))
    except (OSError, EOFError, tarfile.TarError, ValueError, TypeError) as problem:
        raise NotPossible(f"{source} is not a complete backup: {problem}") from problem


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, room: Path) -> None:
    """Write a file or a folder below `room`. Raises `NotPossible` for anything else, which no backup holds.

    Python before 3.11.4 has no filters for `extractall`.
    """
    target = room / member.name
    if not (member.isreg() or member.isdir()) or room.resolve() not in (target.resolve(), *target.resolve().parents):
        raise NotPossible(f"{member.name!r} in this file is no file or folder of a backup.")
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
    elif content := archive.extractfile(member):
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)


def _refuse_what_cannot_be(manifest: Manifest, dump: Path) -> None:
    if manifest.sha256 != _digest(dump):
        raise NotPossible("The database in this backup was changed: the file is damaged.")
    if manifest.engine != connection.vendor:
        raise NotPossible(
            f"This is a backup of {manifest.engine}, and DATABASE_URL is {connection.vendor}. "
            "(To move a study from one to the other, use export_study and import_study.)"
        )
    known_migrations = {".".join(migration) for migration in MigrationLoader(None).disk_migrations}
    if unknown := [migration for migration in manifest.migrations if migration not in known_migrations]:
        raise NotPossible(
            f"This backup comes from a newer program ({manifest.program}): {unknown[-1]} is unknown here."
        )
    tables = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        for table in tables.intersection(COUNTED):
            cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608 - names of ours
            if cursor.fetchone():
                raise NotPossible("This installation is not empty: restore into a new one.")
    if settings.MEDIA_ROOT.is_dir() and any(settings.MEDIA_ROOT.iterdir()):
        raise NotPossible(f"{settings.MEDIA_ROOT} is not empty: restore into a new installation.")


def _put_files(files: Path) -> None:
    for path in sorted(files.rglob("*")):
        target = settings.MEDIA_ROOT / path.relative_to(files)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
            target.chmod(0o600)


def _remarks(manifest: Manifest) -> Iterator[str]:
    with connection.cursor() as cursor:
        rows = _count(cursor)
    if rows != manifest.rows:
        yield f"The backup says that it holds {manifest.rows}; there are {rows} rows."
    if manifest.key != _key_name():
        yield (
            "This installation has another secret key than the backup: invitation links that were sent no longer work, "
            "and everybody must sign in again. To avoid this, restore the old key."
        )
