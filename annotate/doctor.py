"""What may be wrong with an installation, one finding a line: fine, or what is wrong and how to mend it."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotate import __version__, backups, durability
from annotate import health as condition
from annotate.models import Act, Judgment, Study, WorkerPulse

LEAST_FREE = 1_073_741_824  # bytes; with less, uploads are refused
LEAST_SHARE = 0.1
SLOWEST_WRITE = 1.0  # seconds
LARGEST_OFFSET = 2.0  # seconds between the database's clock and ours


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `wrong` is empty where it is fine, else `mend` says what to do."""

    about: str
    said: str = ""
    wrong: str = ""
    mend: str = ""


Look = Callable[[], Iterator[Finding]]


def examine(*more: Look) -> list[Finding]:
    """Look at everything, in an order in which what comes first explains what comes later."""
    findings = list(_database())
    if findings[0].wrong:
        return [*findings, *_installed()]
    for look in (_migrations, _durability, _clock):
        findings += look()
    if not any(one.wrong for one in findings if one.about == "migrations"):
        found = condition.look(Study.objects.all())
        findings += [*_worker(found), *_work(found), *_backup()]
    for look in more:
        findings += look()
    return [*findings, *_installed()]


def _installed() -> Iterator[Finding]:
    for look in (_disk, _static_files, _secret_key):
        yield from look()


def _database() -> Iterator[Finding]:
    """Whether it can be reached and written to, in good time; what is written here is taken back."""
    try:
        is_new = "django_migrations" not in connection.introspection.table_names()
        seconds = 0.0 if is_new else durability.try_a_write()
    except DatabaseError as error:
        where = "the server in DATABASE_URL" if connection.vendor != "sqlite" else connection.settings_dict["NAME"]
        mend = f"See that {where} is there, can be written to and has room; nothing works without it."
        yield Finding("database", wrong=str(error).strip(), mend=mend)
        return
    if seconds > SLOWEST_WRITE:
        mend = "See what else uses its disk, and whether somebody holds a lock."
        yield Finding("database", wrong=f"a write took {seconds:.1f} s", mend=mend)
    else:
        yield Finding("database", f"{connection.display_name}, a write took {seconds * 1000:.0f} ms")


def _migrations() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        names = ", ".join(f"{migration.app_label}.{migration.name}" for migration, _ in missing[:3])
        yield Finding("migrations", wrong=f"{len(missing)} are missing ({names} …)", mend="python3 manage.py migrate")
    else:
        yield Finding("migrations", "the tables are up to date")


def _durability() -> Iterator[Finding]:
    found = durability.complaints(connection)
    mend = "Set it in the server's configuration; the website and the worker do not start before that."
    if found:
        yield Finding("durability", wrong=" ".join(found), mend=mend)
    else:
        yield Finding("durability", "what is confirmed is on the disk")


def _clock() -> Iterator[Finding]:
    """The leases of pairs are the database's time, what a page says of them ours."""
    if connection.vendor == "sqlite":
        yield Finding("clock", "the database has none of its own")
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        offset = (cursor.fetchone()[0] - timezone.now()).total_seconds()
    if abs(offset) > LARGEST_OFFSET:
        mend = "Let both machines follow a time server (timedatectl set-ntp true)."
        yield Finding("clock", wrong=f"the database's is {offset:+.1f} s off ours", mend=mend)
    else:
        yield Finding("clock", f"the database's is {offset:+.2f} s off ours")


def _worker(found: condition.Health) -> Iterator[Finding]:
    alive = [one for one in found.workers if one.is_alive]
    other = sorted({one.program_version for one in alive} - {__version__})
    if not alive:
        last = WorkerPulse.objects.order_by("-at").first()
        wrong = f"none is running; the last one was heard of {last.at:%Y-%m-%d %H:%M:%S} UTC" if last else "none yet"
        mend = "Start one: python -m celery -A evaluation.worker worker (`serve` starts it along)."
        yield Finding("worker", wrong=wrong, mend=mend)
    elif other:
        mend = "Stop it and start it again from this program."
        yield Finding("worker", wrong=f"one runs version {other[0]}, this is {__version__}", mend=mend)
    else:
        yield Finding("worker", f"{len(alive)} running")


def _work(found: condition.Health) -> Iterator[Finding]:
    if found.is_late:
        mend = "If a worker is running it will catch up; more of them share the work (docs/operators.md)."
        wrong = f"a judgment has been in no score for {found.lag} s; {len(found.pending)} topics wait"
        yield Finding("scores", wrong=wrong, mend=mend)
    else:
        yield Finding("scores", f"{len(found.pending)} topics wait, the oldest judgment for {found.lag or 0} s")
    if found.failures:
        first = found.failed[0].problem if found.failed else "files or rankings"
        mend = "/health/ says of each what and why; most are tried again by themselves."
        yield Finding("tasks", wrong=f"{found.failures} failed: {first}", mend=mend)
    else:
        yield Finding("tasks", "none failed")


def _backup() -> Iterator[Finding]:
    """Whether judgments have been in no backup for too long, as far as the log of acts tells."""
    if not settings.BACKUP_HOURS:
        yield Finding("backup", "not looked at: PREFERENDUM_BACKUP_HOURS is 0")
        return
    last = backups.newest_backup()
    since = last or Act.objects.order_by("at").first()
    is_new = Judgment.objects.filter(pk__gt=last.detail["judgment"] if last else 0).exists()
    said = f"the newest is of {last.at:%Y-%m-%d %H:%M} UTC" if last else "none was made yet"
    if is_new and since and timezone.now() - since.at > timedelta(hours=settings.BACKUP_HOURS):
        mend = "Let a timer run `python3 manage.py backup FILE`, onto another disk (docs/operators.md)."
        yield Finding("backup", wrong=f"{said}, and judgments came since", mend=mend)
    else:
        yield Finding("backup", said if is_new or last else f"{said}; nothing is judged")


def _disk() -> Iterator[Finding]:
    place = settings.DATA_DIR
    while not place.exists():
        place = place.parent
    usage = shutil.disk_usage(place)
    said = f"{usage.free / 1e9:.1f} GB free at {place}"
    if usage.free < LEAST_FREE or usage.free < LEAST_SHARE * usage.total:
        mend = "Make room. Uploads are refused first; judgments are taken until the database refuses."
        yield Finding("disk", wrong=said, mend=mend)
    else:
        yield Finding("disk", said)


def _static_files() -> Iterator[Finding]:
    ours = sorted(settings.BASE_DIR.joinpath("static").rglob("*.*"))
    stale = [name for path in ours if _differs(name := str(path.relative_to(settings.BASE_DIR / "static")), path)]
    if stale:
        mend = "python3 manage.py collectstatic --noinput, and start the website again"
        yield Finding("static files", wrong=f"{stale[0]} is missing or old in {settings.STATIC_ROOT}", mend=mend)
    else:
        yield Finding("static files", f"{len(ours)} as they should be")


def _differs(name: str, path: Path) -> bool:
    collected = Path(settings.STATIC_ROOT) / name
    return not collected.is_file() or collected.read_bytes() != path.read_bytes()


def _secret_key() -> Iterator[Finding]:
    path = settings.DATA_DIR / "secret_key"
    if not path.exists():
        yield Finding("secret key", "comes from the environment, or from the file that it names")
    elif stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield Finding("secret key", wrong=f"{path} may be read by others", mend=f"chmod 600 {path}")
    else:
        yield Finding("secret key", "its owner alone may read it")
