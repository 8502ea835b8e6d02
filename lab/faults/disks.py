"""Disks that are full, fail, or have no place for files that come in: F18, F19, F19b."""

from __future__ import annotations

import hashlib
import shutil
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lab.faults.files import Program, bundle, imported, take_topics
from lab.harness.product import Product, Stuck, descendants, kill, wait_until
from lab.harness.tables import Away
from lab.harness.trials import Trial, fault

DISK = {"megabytes": 400}
#: One on which there is room for uploads: they are refused where less than a gigabyte is free.
ROOMY = {"megabytes": 1600}
#: What the logs say where there is no room, or nothing can be written.
NO_ROOM = (
    r"OperationalError|OSError|InterfaceError|psycopg\.|redis\.|kombu\.|ConnectionError|WorkerLost|ExceptionWithTrace"
    r"|Read-only file system|NotDrawn"
)


@contextmanager
def no_room(trial: Trial, latest: float = 0.5) -> Iterator[None]:
    """The body, at a random moment while people judge; whoever finds no room may say so in the logs."""
    trial.expected.tracebacks = NO_ROOM
    with trial.load():
        trial.until(trial.rng.uniform(0.1, latest))
        yield


def servers_back(product: Product) -> None:
    """Start again, as an operator would, what gave up without room to write."""
    for server in (product.postgres, product.redis):
        if server is not None and (process := server.process) is not None:
            # One that has run out of room may just be on its way out.
            answers = server.answers
            wait_until(lambda process=process, answers=answers: process.poll() is not None or answers(), "a server")
            if process.poll() is not None:
                server.start()


@fault(
    "F18",
    "the disk is full until people and files were refused, and some seconds more: database, broker and uploads",
    release=10,
    seconds=25,
    variant=ROOMY,
)
def full(trial: Trial) -> None:
    """A file that was read is confirmed meanwhile and another one is sent: each comes in whole, later or not at all."""
    disk = trial.product.disk
    assert disk is not None
    trial.study(sentences=12, judgments_per_topic=50)
    program = Program(trial)
    key = program.upload("topics.jsonl", bundle(trial, 2, sentences=14))
    wait_until(lambda: program.state(key) == "ready", "the preview", pause=0.1)
    with no_room(trial, 0.2):
        keep_nothing(trial)
        disk.fill()
        met = Met(trial, program, key)
        try:
            with suppress(Stuck):
                wait_until(met.enough, "people and files were refused", 30, pause=0.1)
            deadline = time.monotonic() + trial.rng.uniform(1.0, 4.0)
            while time.monotonic() < deadline:
                met.enough()
                time.sleep(0.1)
        finally:
            disk.free()
        servers_back(trial.product)
        trial.seen["confirmed while full"] += met.confirmed
        trial.seen["answers refused"] += met.answers
        for status, times in sorted(met.ready.items()):
            trial.seen[f"/health/ready answered {status}"] += times
        for status, times in sorted(met.uploads.items()):
            trial.seen[f"uploads answered {status}"] += times
        trial.complaints += met.complaints()
        come_in(trial, program, key)
        if imported(trial, f"{trial.name}more") != (0, 0):
            trial.complaints.append("something came of a file that nobody confirmed")
        trial.complaints += halves(trial)
        take_topics(trial)


def keep_nothing(trial: Trial) -> None:
    """Have the database use up what it keeps to write its log into; PostgreSQL in every second trial, which ends it."""
    with suppress(Away):
        if trial.product.postgres is None:
            trial.product.tables.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        elif trial.number % 2:
            trial.product.tables.write("SELECT pg_switch_wal()")


class Met:
    """What people and files meet while there is no room. `key`: of a file that was read, and is confirmed meanwhile."""

    def __init__(self, trial: Trial, program: Program, key: str) -> None:
        self.trial, self.program, self.key = trial, program, key
        self.uploads = Counter[int]()
        self.ready = Counter[int]()
        self.from_entry, self.acked = len(trial.journal.entries), trial.journal.acked

    @property
    def answers(self) -> int:
        """Requests of those who judge that were refused, or met nobody."""
        met = self.trial.journal.entries[self.from_entry :]
        return sum(entry["event"] in ("error", "failed", "unanswered") for entry in met)

    @property
    def confirmed(self) -> int:
        return self.trial.journal.acked - self.acked

    def enough(self) -> bool:
        """Take the room that was let go of, send and confirm files; whether all have been refused by now."""
        assert self.trial.product.disk
        if self.trial.product.postgres:
            keep_nothing(self.trial)
        self.trial.product.disk.fill()
        self.ready[self.trial.product.asked("/health/ready")] += 1
        more = bundle(self.trial, 2, name=f"{self.trial.name}more")
        self.uploads[self.program.try_upload("more.jsonl", more)[0]] += 1
        self.program.once("POST", f"{self.program.here}/uploads/{self.key}/confirm/", b"{}")
        return self.answers >= 3 and self.uploads.total() >= 3

    def complaints(self) -> Iterator[str]:
        if not self.answers:
            yield f"the disk was never full for those who judge: {self.confirmed} answers were confirmed meanwhile"
        if wrong := {*self.uploads} - {0, 503, 507}:
            yield f"a file that met a full disk was answered {sorted(wrong)}"
        if not {*self.uploads} & {503, 507}:
            yield "no file was refused"
        if 200 in self.ready and self.trial.product.postgres is None:
            yield f"/health/ready said {self.ready[200]} times that all is well on a full disk"


def come_in(trial: Trial, program: Program, key: str) -> None:
    """Now there is room: the file that was confirmed comes in whole, or is given up in words and nothing of it came."""
    if program.state(key) == "ready":
        program.confirm(key)
    wait_until(lambda: program.state(key) in ("stored", "failed"), "the import", pause=0.2)
    state = program.state(key)
    trial.seen[f"the file is {state}"] += 1
    topics = (2, 2) if state == "stored" else (0, 0)
    if imported(trial) != topics:
        trial.complaints.append(f"the file is {state}, of its two topics are there {imported(trial)}")


def halves(trial: Trial) -> Iterator[str]:
    """Files that nobody knows of, and rows whose file is not there as it came."""
    folder = trial.product.data / "files"
    rows = trial.product.tables.rows("SELECT file, sha256, state, study_id FROM annotate_upload")
    for row in rows:
        file = folder / row["file"]
        if row["study_id"] == trial.given["study"] and (
            not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != row["sha256"]
        ):
            yield f"{row['file']} is {row['state']}, and its file is not what came"
    recorded = {row["file"] for row in rows}
    recorded |= {f"{row['file']}.read" for row in rows if row["state"] in ("ready", "confirmed")}  # to be stored
    for file in (folder / "uploads").glob("*"):
        if str(file.relative_to(folder)) not in recorded:
            yield f"{file.name} lies among the uploads, and nobody knows of it"


@fault(
    "F19b",
    "the folder of uploads is gone, is no folder, or takes no new name (no inode left)",
    release=9,
    seconds=20,
    variant=ROOMY,
)
def no_folder(trial: Trial) -> None:
    """People go on judging; files are refused, or stored whole."""
    way = list(WAYS)[trial.number % len(WAYS)]
    trial.seen[way] += 1
    trial.study(sentences=12, judgments_per_topic=40)
    program, late = Program(trial), f"{trial.name}late"
    key = program.upload("topics.jsonl", bundle(trial, 2, sentences=12))
    wait_until(lambda: program.state(key) == "ready", "the preview", pause=0.1)
    with no_room(trial, 0.3):
        trial.expected.tracebacks += r"|NotADirectoryError|FileNotFoundError"  # the worker over the file that is lost
        before, from_entry = trial.journal.acked, len(trial.journal.entries)
        with WAYS[way](trial):
            status, _key = program.try_upload("late.jsonl", bundle(trial, 2, sentences=12, name=late))
            program.once("POST", f"{program.here}/uploads/{key}/confirm/", b"{}")
            # Somebody judges meanwhile, and the worker tries what it cannot do.
            with suppress(Stuck):
                wait_until(lambda: trial.journal.acked >= before + 5, "five judgments", 30)
            time.sleep(trial.rng.uniform(1.0, 3.0))
        met = trial.journal.entries[from_entry:]
        trial.seen[f"upload answered {status}"] += 1
        if status not in ((202,) if way == "gone" else (503, 507)):
            trial.complaints.append(f"{way}: a file was answered {status}")
        if refused := [entry for entry in met if entry["event"] == "error"]:
            trial.complaints.append(f"{way}: {len(refused)} requests of people who judge were refused")
        come_in(trial, program, key)
        again = program.upload("late.jsonl", bundle(trial, 2, sentences=12, name=late))
        wait_until(lambda: program.state(again) == "ready", "files come in again", pause=0.1)
        trial.complaints += [complaint for complaint in halves(trial) if way != "gone" or key not in complaint]
        take_topics(trial)


@contextmanager
def gone(trial: Trial) -> Iterator[None]:
    """It was removed, with what lay in it."""
    shutil.rmtree(trial.product.data / "files" / "uploads")
    yield


@contextmanager
def file_instead(trial: Trial) -> Iterator[None]:
    """A file has its name."""
    folder = trial.product.data / "files" / "uploads"
    folder.rename(folder.with_suffix(".away"))
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        folder.with_suffix(".away").rename(folder)


@contextmanager
def no_name(trial: Trial) -> Iterator[None]:
    """No inode is left: room for bytes, none for a file."""
    assert trial.product.disk
    trial.product.disk.fill_names()
    try:
        yield
    finally:
        trial.product.disk.free_names()


WAYS = {"gone": gone, "a file instead": file_instead, "no name left": no_name}


@contextmanager
def stopped(product: Product) -> Iterator[None]:
    """Nobody is in the middle of a write: ext4 may tell a program that is just then waiting that all went well."""
    assert product.supervisor
    starts = [product.supervisor, *(service.process for service in (product.postgres, product.redis) if service)]
    pids = [pid for process in starts if process for pid in (process.pid, *descendants(process.pid))]
    kill(pids, signal.SIGSTOP)
    try:
        wait_until(lambda: all(is_stopped(pid) for pid in pids), "all processes stand still")
        yield
    finally:
        kill(pids, signal.SIGCONT)


def is_stopped(pid: int) -> bool:
    """Whether none of its threads runs or waits for a disk any more; also where it has ended."""
    with suppress(OSError):
        states = [
            (thread / "stat").read_text().rpartition(")")[2].split()[0]
            for thread in Path(f"/proc/{pid}/task").iterdir()
        ]
        return set(states) <= {"T", "Z"}
    return True


@fault("F19", "the disk turns read-only after an error; checked, mounted and started again", release=10, variant=DISK)
def read_only(trial: Trial) -> None:
    product = trial.product
    assert product.disk is not None
    with no_room(trial):
        seen_before = len(trial.observed)
        with stopped(product):
            product.disk.fail()
        time.sleep(trial.rng.uniform(0.5, 2.0))
        product.kill_everything()
        product.inside.end()
        if product.postgres:
            product.postgres.kill()
        if product.redis:
            product.redis.kill()
        product.disk.mend()
        # Whoever looked meanwhile may have been shown what was never on the disk, and never confirmed.
        del trial.observed[seen_before:]
        if product.postgres:
            product.postgres.start()
        if product.redis:
            product.redis.start()
        product.start()
