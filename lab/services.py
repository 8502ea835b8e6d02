"""A PostgreSQL and a Redis of one's own: started in a new folder on free ports, to be killed and started at will.

python -m lab.services COMMAND...    runs a command that finds both in DATABASE_URL and BROKER_URL
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

MEMORY, ROOM = Path("/dev/shm"), 2 << 30  # bytes that must be free there
PATIENCE = 120.0  # seconds; after a crash PostgreSQL first replays its log


class Missing(RuntimeError):
    """A server is not installed here."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until(is_so: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    """Look again and again, and give up after so many seconds."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f"still waiting for {what} after {seconds:.0f} s")
        time.sleep(0.05)


def end(process: subprocess.Popen[bytes] | None, number: int) -> None:
    """Send a signal to everything the process has started, and wait for the process itself."""
    if process and process.poll() is None:
        os.killpg(process.pid, number)
        process.wait(30)


@dataclass
class PostgreSQL:
    """A database server with settings as they are in production (fsync and all)."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgres://preferendum@127.0.0.1:{self.port}/postgres"

    @property
    def programs(self) -> Path:
        installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        plain = shutil.which("postgres")
        if not installed and not plain:
            raise Missing("no PostgreSQL server here (Debian: apt-get install postgresql)")
        return (installed[-1] if installed else Path(str(plain))).parent

    @property
    def owner(self) -> dict[str, str]:
        """PostgreSQL refuses to run as root; its package made a user for it."""
        return {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.owner:
            shutil.chown(self.folder, "postgres", "postgres")
        subprocess.run(
            [self.programs / "initdb", "-D", self.folder, "-U", "preferendum", "--auth=trust", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd="/",
            **self.owner,  # type: ignore[call-overload]
        )

    def start(self) -> None:
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    self.programs / "postgres",
                    *("-D", self.folder, "-p", str(self.port), "-k", self.folder),
                    *("-c", "listen_addresses=127.0.0.1", "-c", "max_connections=60"),
                ],
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
                **self.owner,  # type: ignore[call-overload]
            )
        wait_until(self.answers, "PostgreSQL to answer")

    def answers(self) -> bool:
        done = subprocess.run(
            [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False
        )
        return done.returncode == 0

    def kill(self) -> None:
        """As a crash would: every process at once, nothing written back."""
        end(self.process, signal.SIGKILL)

    def stop(self) -> None:
        """At once, but in order: a fast shutdown."""
        end(self.process, signal.SIGINT)


@dataclass
class PgBouncer:
    """A pooler before a PostgreSQL that gives each session or transaction (`mode`) the connection unused for longest,
    so that what one leaves behind meets another."""

    folder: Path
    server: PostgreSQL
    mode: str
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.server.url.replace(f":{self.server.port}/", f":{self.port}/")

    def start(self) -> None:
        program = system_program("pgbouncer")
        if not program:
            raise Missing("no PgBouncer here (Debian: apt-get install pgbouncer)")
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "users").write_text('"preferendum" ""\n')
        options = {
            "listen_addr": "127.0.0.1",
            "listen_port": self.port,
            "unix_socket_dir": "",
            "auth_type": "trust",
            "auth_file": self.folder / "users",
            "pool_mode": self.mode,
            "server_round_robin": 1,
        }
        lines = ["[databases]", f"* = host=127.0.0.1 port={self.server.port}", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in options.items()]
        (self.folder / "pgbouncer.ini").write_text("\n".join(lines))
        self.process = subprocess.Popen(
            [program, "-q", self.folder / "pgbouncer.ini"],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **self.server.owner,  # type: ignore[call-overload]
        )
        wait_until(lambda: answers_at(self.port), "PgBouncer")

    def stop(self) -> None:
        end(self.process, signal.SIGTERM)


@dataclass
class Redis:
    """A broker that keeps its log on disk, with `options` of its own; `program` may be Valkey's."""

    folder: Path
    program: str = "redis-server"
    port: int = field(default_factory=free_port)
    options: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        program = shutil.which(self.program)
        if not program:
            raise Missing(f"no {self.program} here (Debian: apt-get install {self.program})")
        self.folder.mkdir(parents=True, exist_ok=True)
        options = {
            "port": str(self.port),
            "bind": "127.0.0.1",
            "dir": str(self.folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "save": "",
            **self.options,
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        self.process = subprocess.Popen(
            [program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(self.answers, "Redis to answer")

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def freeze(self) -> None:
        os.killpg(self.process.pid, signal.SIGSTOP)  # type: ignore[union-attr]

    def thaw(self) -> None:
        os.killpg(self.process.pid, signal.SIGCONT)  # type: ignore[union-attr]

    def kill(self) -> None:
        end(self.process, signal.SIGKILL)

    def stop(self) -> None:
        end(self.process, signal.SIGTERM)


def memory() -> Path | None:
    """A file system in memory with room for a database of tests, if there is one."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM else None


@contextmanager
def running(in_memory: bool = False, broker: str = "redis-server") -> Iterator[tuple[PostgreSQL, Redis]]:
    """Both servers, new and empty, gone afterwards.

    `in_memory`: on a file system in memory, if there is one. Their settings are the same; only the disk, for which
    tests that empty all tables would wait most of their time, answers at once. A killed server loses nothing by it.
    """
    room = Path(tempfile.mkdtemp(prefix="preferendum-services-", dir=memory() if in_memory else None))
    room.chmod(0o755)
    postgres, redis = PostgreSQL(room / "postgres"), Redis(room / "redis", broker)
    try:
        postgres.make()
        postgres.start()
        redis.start()
        yield postgres, redis
    finally:
        redis.stop()
        postgres.stop()
        shutil.rmtree(room, ignore_errors=True)


def system_program(name: str) -> str | None:
    """Where it is, if it is here; ordinary users do not have its folder in their PATH."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")


@contextmanager
def proxied(port: int, *own_lines: str) -> Iterator[int]:
    """The proxy of docker-compose.yml in front of the website at this port, with these lines of the operator's own;
    the port of the proxy."""
    program = system_program("nginx")
    if not program:
        raise Missing("no nginx here (Debian: apt-get install nginx-light)")
    own = free_port()
    with tempfile.TemporaryDirectory(prefix="preferendum-proxy-") as room:
        Path(room).chmod(0o755)
        text = (Path(__file__).resolve().parents[1] / "deploy" / "nginx.conf").read_text()
        places = {"web:8000": f"127.0.0.1:{port}", "listen 8080": f"listen 127.0.0.1:{own}", "/tmp/": f"{room}/"}
        places |= {"/etc/nginx/tls/*.conf": f"{room}/own.conf"}
        for in_container, here in places.items():
            text = text.replace(in_container, here)
        (Path(room) / "nginx.conf").write_text(text)
        (Path(room) / "own.conf").write_text("\n".join(own_lines))
        command = [program, "-e", "stderr", "-c", f"{room}/nginx.conf", "-g", "daemon off;"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: answers_at(own), "the proxy")
            yield own
        finally:
            end(process, signal.SIGTERM)


def answers_at(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def main(command: list[str]) -> int:
    """Run a command on both servers, kept in memory where that can be; its exit status."""
    try:
        with running(in_memory=True) as (postgres, redis):
            services = {"DATABASE_URL": postgres.url, "BROKER_URL": redis.url}
            return subprocess.call(command, env=os.environ | services)
    except Missing as missing:
        sys.exit(str(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
