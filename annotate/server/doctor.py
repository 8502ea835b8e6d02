"""Checks of an installation, one finding a line: fine, or what is wrong and how to mend it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import requests
from django.conf import settings
from django.core.mail import get_connection
from django.db import DatabaseError, connection
from django.utils import timezone

from annotate.database import durability
from annotate.database.tables import missing_migrations
from annotate.models import Judgment, Study, WorkerPulse
from annotate.reports import worker as condition
from annotate.server import backups, email
from annotate.server.private_files import open_to_others
from preferendum.about import COMMAND, FILES, __version__

LEAST_FREE = 1_073_741_824  # bytes; with less, uploads are refused
LEAST_SHARE = 0.1
SLOWEST_WRITE = 1.0  # seconds
LARGEST_OFFSET = 2.0  # seconds between the database's clock and this machine's


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: `wrong` is empty if it is fine, else `mend` says what to do."""

    about: str
    detail: str = ""
    wrong: str = ""
    mend: str = ""


Look = Callable[[], Iterator[Finding]]


def examine(*more: Look) -> list[Finding]:
    """Run all checks, in an order in which earlier findings explain later ones."""
    findings = list(_database())
    if findings[0].wrong:
        return [*findings, *_installed()]
    for look in (_migrations, _durability, _clock):
        findings += look()
    if not any(finding.wrong for finding in findings if finding.about == "migrations"):
        health = condition.look(Study.objects.all())
        findings += [*_worker(health), *_work(health), *_backup(), *_email(), *_provider()]
    for look in more:
        findings += look()
    return [*findings, *_installed()]


def _installed() -> Iterator[Finding]:
    for look in (_disk, _static_files, _private_files):
        yield from look()


def _database() -> Iterator[Finding]:
    """Whether the database can be reached and written to, in good time."""
    try:
        is_new = "django_migrations" not in connection.introspection.table_names()
        seconds = 0.0 if is_new else durability.try_a_write()
    except DatabaseError as error:
        where = "the server in DATABASE_URL" if connection.vendor != "sqlite" else connection.settings_dict["NAME"]
        mend = f"See that {where} exists, can be written to and has room; nothing works without it."
        yield Finding("database", wrong=str(error).strip(), mend=mend)
        return
    if seconds > SLOWEST_WRITE:
        mend = "Check what else uses its disk, and whether somebody holds a lock."
        yield Finding("database", wrong=f"a write took {seconds:.1f} s", mend=mend)
    else:
        yield Finding("database", f"{connection.display_name}, a write took {seconds * 1000:.0f} ms")


def _migrations() -> Iterator[Finding]:
    if missing := missing_migrations():
        wrong = f"{len(missing)} are missing ({', '.join(missing[:3])} …)"
        yield Finding("migrations", wrong=wrong, mend=f"{COMMAND} migrate")
    else:
        yield Finding("migrations", "the tables are up to date")


def _durability() -> Iterator[Finding]:
    complaints = durability.complaints(connection)
    mend = "Set it in the server's configuration; the website and the worker do not start without it."
    if complaints:
        yield Finding("durability", wrong=" ".join(complaints), mend=mend)
    else:
        yield Finding("durability", "confirmed judgments are on the disk")


def _clock() -> Iterator[Finding]:
    """Leases of pairs use the database's clock, and pages use ours."""
    if connection.vendor == "sqlite":
        yield Finding("clock", "the database has none of its own")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        offset = (cursor.fetchone()[0] - timezone.now()).total_seconds()
    if abs(offset) > LARGEST_OFFSET:
        mend = "Let both machines follow a time server (timedatectl set-ntp true)."
        yield Finding("clock", wrong=f"the database's is {offset:+.1f} s off this machine's", mend=mend)
    else:
        yield Finding("clock", f"the database's is {offset:+.2f} s off this machine's")


def _worker(health: condition.Health) -> Iterator[Finding]:
    alive = [worker for worker in health.workers if worker.is_alive]
    other = sorted({worker.program_version for worker in alive} - {__version__})
    if not alive:
        last = WorkerPulse.objects.order_by("-at").first()
        wrong = f"none is running; the last one was seen {last.at:%Y-%m-%d %H:%M:%S} UTC" if last else "none yet"
        mend = "Start one: python -m celery -A evaluation.app worker (`serve` also starts one)."
        yield Finding("worker", wrong=wrong, mend=mend)
    elif other:
        mend = "Restart it from this program."
        yield Finding("worker", wrong=f"one runs version {other[0]}, this is {__version__}", mend=mend)
    else:
        yield Finding("worker", f"{len(alive)} running")


def _work(health: condition.Health) -> Iterator[Finding]:
    if health.is_late:
        mend = "A running worker will catch up; more workers share the work (docs/operators.md)."
        wrong = f"a judgment has not been scored for {health.lag} s; {len(health.pending)} topics wait"
        yield Finding("scores", wrong=wrong, mend=mend)
    else:
        yield Finding("scores", f"{len(health.pending)} topics wait, the oldest judgment for {health.lag or 0} s")
    if health.unread:
        mend = "The worker's log has the error; the other studies' work is done, and this is tried again."
        names = ", ".join(f"{study} (/studies/{study.pk}/)" for study in health.unread)
        yield Finding("tasks", wrong=f"the worker cannot read the work of {names}", mend=mend)
    elif health.failures:
        kinds = [f"{claim.name}, {claim.attempts} times in a row" for claim in health.failing] or ["files or rankings"]
        first = health.failed[0].problem if health.failed else kinds[0]
        mend = "/health/ or the worker's log gives the reasons; most are tried again automatically."
        yield Finding("tasks", wrong=f"{health.failures} failed: {first}", mend=mend)
    else:
        yield Finding("tasks", "none failed")


def _backup() -> Iterator[Finding]:
    """Whether judgments are in no backup at all, or have not been for too long, according to the audit log."""
    if not settings.BACKUP_HOURS:
        yield Finding("backup", "not checked: PREFERENDUM_BACKUP_HOURS is 0")
        return
    last = backups.newest_backup()
    is_new = Judgment.objects.lasting().filter(pk__gt=last.detail["judgment"] if last else 0).exists()
    detail = f"the newest is of {last.at:%Y-%m-%d %H:%M} UTC" if last else "there is none yet"
    is_old = last is None or timezone.now() - last.at > timedelta(hours=settings.BACKUP_HOURS)
    if is_new and is_old:
        mend = f"Let a timer run `{COMMAND} backup FILE`, to another disk (docs/operators.md)."
        yield Finding("backup", wrong=f"{detail}, and there are judgments{' since' if last else ''}", mend=mend)
    else:
        yield Finding("backup", detail if last else f"{detail}; there are no judgments")


def _email() -> Iterator[Finding]:
    """Whether the e-mail server, if one is set, accepts a connection; no e-mail is sent."""
    if not email.is_set_up():
        yield Finding("e-mail", f"not set up: forgotten passwords are set by `{COMMAND} changepassword NAME`")
        return
    mail = get_connection()
    try:
        mail.open()
        mail.close()
    except OSError as error:
        mend = "Check PREFERENDUM_EMAIL (docs/operators.md) and whether this machine may reach that server."
        yield Finding("e-mail", wrong=f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}: {error}", mend=mend)
    else:
        yield Finding("e-mail", f"{settings.EMAIL_HOST} takes it, from {settings.DEFAULT_FROM_EMAIL}")


def _provider() -> Iterator[Finding]:
    """Whether the OpenID provider, if one is set, answers here as the issuer that it is set as."""
    if settings.OIDC is None:
        return
    try:
        metadata = requests.get(settings.OIDC.metadata, timeout=5).json()
        issuer = metadata["issuer"]
    except (requests.RequestException, ValueError, TypeError, KeyError) as error:
        mend = "Check PREFERENDUM_OIDC_ISSUER (docs/operators.md) and whether this machine may reach the provider."
        yield Finding("provider", wrong=f"{settings.OIDC.metadata}: {error!r}", mend=mend)
        return
    if issuer != settings.OIDC.issuer:
        mend = f"Set PREFERENDUM_OIDC_ISSUER={issuer}, letter by letter; until then nobody can sign in with it."
        yield Finding("provider", wrong=f"{settings.OIDC.issuer} names itself {issuer}", mend=mend)
    else:
        yield Finding("provider", f"{settings.OIDC.name} ({issuer}) answers")


def _disk() -> Iterator[Finding]:
    place = settings.DATA_DIR
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    detail = f"{usage.free / 1e9:.1f} GB free at {place}"
    if usage.free < LEAST_FREE or usage.free < LEAST_SHARE * usage.total:
        mend = "Free some space. Uploads are refused first; judgments are accepted until the database refuses them."
        yield Finding("disk", wrong=detail, mend=mend)
    else:
        yield Finding("disk", detail)


def _static_files() -> Iterator[Finding]:
    files = sorted(FILES.joinpath("static").rglob("*.*"))
    stale = [name for path in files if _differs(name := str(path.relative_to(FILES / "static")), path)]
    if stale:
        mend = f"{COMMAND} collectstatic --noinput, and restart the website"
        yield Finding("static files", wrong=f"{stale[0]} is missing or old in {settings.STATIC_ROOT}", mend=mend)
    else:
        yield Finding("static files", f"{len(files)} files are up to date")


def _differs(name: str, path: Path) -> bool:
    collected = Path(settings.STATIC_ROOT) / name
    return not collected.is_file() or collected.read_bytes() != path.read_bytes()


def _private_files() -> Iterator[Finding]:
    paths = [settings.DATA_DIR / "secret_key"]
    if connection.vendor == "sqlite":
        paths += [
            settings.DATA_DIR,
            *(Path(f"{connection.settings_dict['NAME']}{end}") for end in ("", "-wal", "-shm")),
        ]
    if paths := list(open_to_others(paths)):
        mend = "; ".join(f"chmod {'700' if path.is_dir() else '600'} {path}" for path in paths)
        yield Finding("files", wrong=f"{', '.join(path.name for path in paths)} may be read by others", mend=mend)
    else:
        yield Finding("files", "only their owner can read them")
