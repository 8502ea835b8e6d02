"""A real installation in a folder of its own, whose parts can be killed, frozen and started again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.harness.disk import SmallDisk
from lab.harness.footprint import Footprint
from lab.harness.tables import Away, Tables
from lab.services import PostgreSQL, Redis, free_port

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PATIENCE = 180.0  # a process that takes 2 s to start takes a minute on a machine with other things to do
#: Seconds that a drawn pair is kept for its annotator here, so that a trial can wait for one to run out.
LEASE = 4


class Stuck(Exception):
    """What had to happen did not happen in time."""


def wait_until(condition: Callable[[], bool], what: str, patience: float = PATIENCE, pause: float = 0.03) -> float:
    """Wait until it is so; how long that took. Raises `Stuck`."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > patience:
            raise Stuck(f"{what}: not within {patience:.0f} s")
        time.sleep(pause)
    return time.monotonic() - began


@dataclass
class Product:
    """One installation. `on`: "sqlite" (with the embedded broker) or "services" (PostgreSQL and Redis).

    `programs`: what its supervisor keeps running, each "web..." or "worker..."; `wsgi`: what gunicorn serves, and
    `app`: what Celery runs, which may be wrappers from the folder `inject` that crash when they are told to;
    `checkout`: the tree whose code runs, which may be a copy with a mistake in it. `megabytes`: of a disk of its own
    for all that is kept, if any; `clocks`: whether the website and the worker have clocks that can be moved. `usual`:
    what its processes took before the first fault; `spent`: no further trial can be made with it.
    """

    on: str = "sqlite"
    checkout: Path = ROOT
    programs: tuple[str, ...] = ("web", "worker")
    wsgi: str = "annotate.wsgi"
    app: str = "evaluation.app"
    megabytes: int = 0
    clocks: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    room: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="preferendum-faults-")))
    port: int = field(default_factory=free_port)
    postgres: PostgreSQL | None = None
    redis: Redis | None = None
    supervisor: subprocess.Popen[bytes] | None = None
    usual: dict[str, Footprint] = field(default_factory=dict)
    spent: bool = False

    def __post_init__(self) -> None:
        self.room.chmod(0o755)
        self.data = self.room / "data"
        self.data.mkdir(exist_ok=True)
        self.disk = SmallDisk(self.data, self.megabytes) if self.megabytes else None
        if self.on == "services":
            self.postgres, self.redis = PostgreSQL(self.data / "postgres"), Redis(self.data / "redis")
            url, broker = self.postgres.url, self.redis.url
        else:
            url, broker = f"sqlite:///{self.data / 'preferendum.sqlite3'}", "memory://"
        self.tables = Tables(url)
        self.log, self.control = self.room / "product.log", self.room / "control.json"
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith("PREFERENDUM_")} | {
            "DATABASE_URL": url,
            "BROKER_URL": broker,
            "PREFERENDUM_DATA": str(self.data),
            "FAULTS_CLOCK": str(self.room / "clock"),
            "PREFERENDUM_ORIGIN": f"http://127.0.0.1:{self.port}",
            "PREFERENDUM_BIND": f"127.0.0.1:{self.port}",
            "PREFERENDUM_LEASE_SECONDS": str(LEASE),
            "PREFERENDUM_PACE_SECONDS": "0",
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "PYTHONPATH": os.pathsep.join(map(str, (self.checkout, HERE / "inject"))),
            "FAULTS_CONTROL": str(self.control),
            "FAULTS_TREES": str(self.room / "trees.json"),
            "OPENBLAS_NUM_THREADS": "1",
            **self.environment,
        }
        self.inside = Inside(self)

    # Starting and stopping

    def __enter__(self) -> Product:
        try:
            self.make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.inside.end()
        if self.redis:
            self.redis.stop()
        if self.postgres:
            self.postgres.stop()
        if self.disk:
            self.disk.unmount()
        shutil.rmtree(self.room, ignore_errors=True)

    def make(self) -> None:
        """From nothing to an installation that serves."""
        template = self.template()
        if template.exists():
            self.copy(template, self.data)
            if self.postgres:
                self.postgres.start()
        else:
            self.migrate()
            self.keep_as(template)
        if self.redis:
            self.redis.start()
        self.start()
        self.wait_for_worker()
        if self.disk:
            self.disk.settle()

    def migrate(self) -> None:
        if self.postgres:
            self.postgres.make()
            self.postgres.start()
        self.inside.ask("migrate")

    def template(self) -> Path:
        """Where a migrated, empty installation of this checkout lies: migrating takes longer than most trials."""
        digest = hashlib.sha256(self.on.encode())
        for part in ("annotate/migrations", "annotate/models", "annotate/database/append_only.py", "static"):
            place = self.checkout / part
            for file in sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]:
                if "__pycache__" not in file.parts:
                    digest.update(str(file.relative_to(self.checkout)).encode() + file.read_bytes())
        return Path(tempfile.gettempdir()) / f"preferendum-template-{os.getuid()}-{digest.hexdigest()[:20]}"

    def keep_as(self, template: Path) -> None:
        """Copy what was made just now to where the next installation finds it; whoever is first has done it."""
        if self.postgres:
            self.postgres.stop()
        making = Path(tempfile.mkdtemp(prefix=f"{template.name}-"))
        making.chmod(0o755)
        self.copy(self.data, making)
        try:
            making.rename(template)
        except OSError:
            shutil.rmtree(making)
        if self.postgres:
            self.postgres.start()

    @staticmethod
    def copy(source: Path, target: Path) -> None:
        """The database and the static files, with their owners."""
        parts = [source / name for name in ("static", "postgres", "preferendum.sqlite3")]
        subprocess.run(["cp", "-a", *(str(part) for part in parts if part.exists()), str(target)], check=True)

    def start(self) -> None:
        """Start the supervisor, and wait for the website."""
        wanted = json.dumps({"programs": self.programs, "wsgi": self.wsgi, "app": self.app, "clocks": self.clocks})
        for name in self.programs:
            self.set_clock(name, 0)
        self.supervisor = self.popen([sys.executable, str(HERE / "supervise.py"), wanted])
        self.wait_for_web()

    def popen(self, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        """A process in the product's environment, in a group of its own; what it says goes to the log."""
        with self.log.open("ab") as log:
            streams: dict[str, Any] = {"stdout": log, "stderr": log} | options
            return subprocess.Popen(command, cwd=self.checkout, env=self.variables, start_new_session=True, **streams)

    def set_clock(self, name: str, offset: float) -> None:
        """Set the clock of "web" or "worker" to so many seconds before or after the true time."""
        clock = self.room / f"clock.{name}"
        clock.with_suffix(".new").write_text(str(offset))
        clock.with_suffix(".new").rename(clock)

    def stop(self) -> None:
        """As an operator stops it: SIGTERM to the supervisor, which stops everything else in order."""
        if self.supervisor and self.supervisor.poll() is None:
            self.supervisor.terminate()
            try:
                self.supervisor.wait(40)
            except subprocess.TimeoutExpired:
                self.kill_everything()

    def kill_everything(self) -> None:
        """As the power cord would end the processes of one machine: all of them at once, and nothing starts again."""
        assert self.supervisor
        kill([self.supervisor.pid, *descendants(self.supervisor.pid)])
        self.supervisor.wait()

    # Another version

    def release(self, tree: Path) -> None:
        """Bring the tables up to what the code of another tree needs, as its release step does."""
        environment = self.variables | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(tree),
        }
        subprocess.run(["deploy/release"], cwd=tree, env=environment, check=True, capture_output=True)

    def replace(self, name: str, tree: Path) -> None:
        """End "web" or "worker" as a deploy does, and wait until it runs again with the other tree's code."""
        trees = Path(self.variables["FAULTS_TREES"])
        named = json.loads(trees.read_text()) if trees.exists() else {}
        trees.with_suffix(".new").write_text(json.dumps({**named, name: str(tree)}))
        trees.with_suffix(".new").rename(trees)
        parts = self.web_masters if name == "web" else self.workers
        old = parts()
        kill(old, signal.SIGTERM)
        wait_until(lambda: bool(parts()) and not {*old} & {*parts()}, f"the {name} process of another version")
        self.wait_for_web()
        self.wait_for_worker()

    # Its processes

    @property
    def mark_of_processes(self) -> str:
        """What all of them, and no others, have in their environment."""
        return f"FAULTS_CONTROL={self.control}"

    def _parts(self, word: str) -> list[int]:
        if not self.supervisor or self.supervisor.poll() is not None:
            return []
        return [pid for pid in children(self.supervisor.pid) if word in command_line(pid)]

    def web_masters(self) -> list[int]:
        return self._parts("gunicorn")

    def web_processes(self) -> list[int]:
        return [pid for master in self.web_masters() for pid in children(master)]

    def workers(self) -> list[int]:
        """Celery's main processes."""
        return self._parts("celery")

    def pool(self) -> list[int]:
        """Celery's pool children, in which the mathematics runs."""
        return [pid for worker in self.workers() for pid in children(worker)]

    # How it does

    def wait_for_web(self) -> float:
        return wait_until(lambda: self.asked("/health/ready") == 200, "the website answers")

    def wait_for_parts(self) -> None:
        """Until every process that should be there is there."""
        workers = sum(program.startswith("worker") for program in self.programs)
        wait_until(
            lambda: len(self.web_processes()) >= 2 and len(self.workers()) == workers and len(self.pool()) >= workers,
            "all processes run",
        )

    def asked(self, path: str) -> int:
        """The status that the website answers with; 0 where it does not."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=3) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def wait_for_worker(self) -> float:
        """Until as many workers as there should be have given a sign of life, each since it was started."""
        wanted = sum(program.startswith("worker") for program in self.programs)
        return wait_until(lambda: len(self.signs_of_life() & {str(pid) for pid in self.workers()}) >= wanted, "worker")

    def signs_of_life(self) -> set[str]:
        """The pids of the workers that have ever given one."""
        with suppress(Away):
            return {row["name"].rpartition(":")[2] for row in self.tables.rows("SELECT name FROM annotate_workerpulse")}
        return set()

    def said_since(self, mark: int) -> str:
        """What the processes have written into their log since it had this length."""
        with self.log.open("rb") as log:
            log.seek(mark)
            return log.read().decode(errors="replace")

    def mark(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0


class Inside:
    """The helper in the product's environment; started when it is first asked, and again if it has died."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, deed: str, **given: Any) -> Any:
        """What a deed of inside.py gives. Raises RuntimeError with its traceback."""
        if self.process is None or self.process.poll() is not None:
            self.process = self.product.popen(
                [sys.executable, str(HERE / "inside.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps({"do": deed, "with": given}).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the helper died over {deed}: {self.product.said_since(0)[-2000:]}")
        answer = json.loads(line)
        if "failed" in answer:
            raise RuntimeError(f"{deed} failed inside: {answer['failed']}")
        return answer["gave"]

    def run(self, code: str, **names: Any) -> Any:
        """Run a few lines there that leave what they found in `result`."""
        return self.ask("run", code=code, **names)

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            assert self.process.stdin
            assert self.process.stdout
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def children(pid: int) -> list[int]:
    """All children, whichever thread forked them."""
    pids: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            pids += map(int, (thread / "children").read_text().split())
    return pids


def descendants(pid: int) -> list[int]:
    pids = children(pid)
    return pids + [descendant for child in pids for descendant in descendants(child)]


def command_line(pid: int) -> str:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""
