"""What every test may ask for: the real web server, the real worker, a real browser, all on the test database."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import requests

from annotate.management.commands.test import PARTS, TOLD
from lab.services import free_port, memory
from tests.guard import sitecustomize as guard

# Playwright runs an event loop in the thread of the test, where Django would refuse to talk to the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

ROOT = Path(__file__).resolve().parent.parent
#: Data that are too large for a clone, or not ours to give on; tests marked `shared` name what they read there.
SHARED = ROOT.parent / "shared" / "data"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Where to tell the figures of this run; not of those that tests start.
FIGURES = os.environ.pop(TOLD, "")
MUST_RUN = set(os.environ.get("PREFERENDUM_MUST_RUN", "").split(","))
needs_valkey = pytest.mark.skipif(
    not shutil.which("valkey-server") and "valkey" not in MUST_RUN, reason="no Valkey here (Debian 13: valkey-server)"
)


# No property fails because the machine was busy.
hypothesis.settings.register_profile(
    "whatever-time-it-takes", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("whatever-time-it-takes")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all is imported
    (ROOT / "build").mkdir(exist_ok=True)
    if guard.LOG not in os.environ:
        os.environ[guard.LOG] = str(ROOT / "build" / f"reached-out-{os.getpid()}.txt")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT / "tests" / "guard"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No test may pass over in silence that it, or what it started, wanted to speak to another machine."""
    log = Path(os.environ[guard.LOG])
    if log.exists():
        print(f"\nThe tests reached out to other machines:\n{log.read_text()}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        log.unlink()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=PARTS, help="only tests of this part (manage.py test --help)")


#: Where tests start whole installations themselves.
STARTING = (
    "tests/browser",
    "tests/faults",
    "tests/operators",
    "tests/test_start.py",
    "tests/annotate/test_supervisor.py",
)


#: What asks for pages and the API, address by address.
PAGES = re.compile(r"tests/annotate/test_(page_|api|access|analyses|\w*(hostile|_pages)\.)")


#: What brings a database with it.
DATABASES = {"db", "transactional_db", "django_db_setup", "product"}


def meets_database(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("django_db") or DATABASES & set(getattr(item, "fixturenames", ())))


def is_chosen(item: pytest.Item, part: str) -> bool:
    """Whether a test belongs to a part. What starts processes and meets no database is not repeated on PostgreSQL."""
    again = part == "processes" and os.environ.get("DATABASE_URL", "").startswith("postgres")
    return part_of(item) == part and (meets_database(item) or not again)


def part_of(item: pytest.Item) -> str:
    """What a test needs: a browser, or real processes, or only a database, or nothing but this process."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if item.nodeid.startswith("tests/browser"):
        return "browser"
    if "processes" in fixtures or item.nodeid.startswith(STARTING):
        return "processes"
    return part_with_tables(item.nodeid) if meets_database(item) else "alone"


def part_with_tables(path: str) -> str:
    if path.startswith("tests/evaluation"):
        return "results"
    return "pages" if PAGES.match(path) else "tables"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whether this part can have no test in a file, which is not even imported then."""
    part = config.getoption("--part")
    if not part or collection_path.suffix != ".py":
        return None
    path = collection_path.relative_to(ROOT).as_posix()
    if path.startswith("tests/browser") != (part == "browser"):
        return True
    return (part in ("pages", "tables", "results") and part != part_with_tables(path)) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose a part; leave out what needs a browser, or data, where there are none, unless it must run."""
    if part := config.getoption("--part"):
        config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item, part)])
        items[:] = [item for item in items if is_chosen(item, part)]
    no_browser = pytest.mark.skip(reason="no Chromium here (Debian: apt-get install chromium)")
    for item in items:
        if item.get_closest_marker("browser") and not (CHROMIUM or "browser" in MUST_RUN):
            item.add_marker(no_browser)
        if (marked := item.get_closest_marker("shared")) and "shared" not in MUST_RUN:
            for name in marked.args:
                if not (SHARED / name).exists():
                    item.add_marker(pytest.mark.skip(reason=f"../shared/data/{name} is not here"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look for garbage less often, and not in what was imported: it took an eighth of all processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)  # as in a web process
    gc.enable()


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """Tell `manage.py test`, which sums up its parts, how many passed and were left out, and what failed."""
    if not FIGURES:
        return
    stats = terminalreporter.stats
    failed = []
    for report in [*stats.get("failed", ()), *stats.get("error", ())]:
        crash = getattr(report.longrepr, "reprcrash", None)
        failed.append(f"{report.nodeid} {crash.message if crash else ''}".partition("\n")[0])
    passed, skipped = (len(stats.get(outcome, ())) for outcome in ("passed", "skipped"))
    Path(FIGURES).write_text(json.dumps({"passed": passed, "skipped": skipped, "failed": failed}))


@pytest.fixture(autouse=True)
def own_files(settings: Any, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Uploads and exports of a test go to a folder of its own, or to the one shared with the real processes."""
    shared = "processes" in request.fixturenames
    settings.MEDIA_ROOT = request.getfixturevalue("processes").files if shared else tmp_path / "files"


@pytest.fixture(autouse=True)
def same_draws_in_every_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What chance draws in this process hangs on the test alone: one that fails can be repeated."""
    seed(monkeypatch, request.node.nodeid)


def seed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from annotate.judging import checks, choosing, drawing

    seeded = random.Random(name)
    for module in (checks, choosing, drawing):
        monkeypatch.setattr(module, "chance", seeded)


@pytest.fixture(autouse=True, scope="session")
def turns_without_end() -> Iterator[None]:
    """How much the worker does in one turn hangs on how busy the machine is; tests of turns set their own."""
    from evaluation import tasks

    with pytest.MonkeyPatch.context() as patched:
        for name in ("TURN", "LONG_TURN"):
            patched.setattr(tasks, name, math.inf)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """SQLite's file lies in memory, where there is some: nothing else differs, and no test waits for a disk."""
    from django.db import connection

    here = connection.settings_dict["TEST"]
    if connection.vendor == "sqlite" and (room := memory()):
        here["NAME"] = str(room / f"preferendum-{Path(here['NAME']).name}")


@pytest.fixture(autouse=True, scope="session")
def tables_can_be_emptied() -> Iterator[None]:
    """Between tests that commit, Django deletes all rows, also those that are only ever added."""
    from django.test import TransactionTestCase

    from annotate.database.append_only import erasing

    empty = TransactionTestCase._fixture_teardown

    def teardown(case: TransactionTestCase) -> None:
        with erasing():
            empty(case)

    TransactionTestCase._fixture_teardown = teardown
    yield
    TransactionTestCase._fixture_teardown = empty


@dataclass(frozen=True)
class Processes:
    """The environment in which real processes share the test's database and files."""

    environment: dict[str, str]
    files: Path
    logs: Path

    def start(self, name: str, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        """Start a command of the environment in a process group of its own; what it says goes to a log."""
        with (self.logs / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env=self.environment | environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()


@pytest.fixture(scope="session")
def processes(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Processes:
    """An installation's environment on the test database, with its static files collected."""
    from django.conf import settings
    from django.db import connection

    folder = tmp_path_factory.mktemp("installation")
    name = str(connection.settings_dict["NAME"])
    if connection.vendor == "sqlite":
        url = f"sqlite:///{name}"
    else:
        parts = connection.settings_dict
        host, port = parts["HOST"] or "", parts["PORT"] or ""
        password = f":{parts['PASSWORD']}" if parts["PASSWORD"] else ""
        url = f"postgres://{parts['USER']}{password}@{host}{':' if port else ''}{port}/{name}"
    port = free_port()
    environment = os.environ | {
        "DATABASE_URL": url,
        "BROKER_URL": settings.BROKER_URL,
        "PREFERENDUM_DATA": str(folder),
        "PREFERENDUM_FILES": str(folder / "files"),
        "PREFERENDUM_STATIC": str(folder / "static"),
        "PREFERENDUM_SECRET_KEY": settings.SECRET_KEY,
        "PREFERENDUM_ORIGIN": f"http://127.0.0.1:{port}",
        "PREFERENDUM_BIND": f"127.0.0.1:{port}",
        "PREFERENDUM_PACE_SECONDS": "0",
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
    }
    subprocess.run(
        [sys.executable, "manage.py", "collectstatic", "--noinput", "-v0"], cwd=ROOT, env=environment, check=True
    )
    return Processes(environment, folder / "files", folder)


def answers(url: str) -> bool:
    """Whether a server that was just started answers; one on a busy machine may be up and late with its first page."""
    with suppress(OSError):
        return requests.get(url, timeout=5).ok
    return False


@dataclass(frozen=True)
class Web:
    """The real web server; `url` has no slash at its end."""

    url: str
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def web_process(processes: Processes) -> Iterator[Web]:
    process = processes.start(
        "web",
        *("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"),
        PREFERENDUM_EMAIL="smtp+plain://127.0.0.1:9",  # where nobody listens: pages offer e-mail, and none goes out
    )
    web = Web(processes.environment["PREFERENDUM_ORIGIN"], process)
    deadline = time.monotonic() + 90
    while True:
        try:
            urllib.request.urlopen(web.url + "/sign-in/", timeout=5).close()
            break
        except urllib.error.HTTPError as answer:
            pytest.fail(f"the web server answers {answer.code}: {(processes.logs / 'web.log').read_text()[-2000:]}")
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail("the web server did not start: " + (processes.logs / "web.log").read_text()[-2000:])
            time.sleep(0.05)
    yield web
    stop(process)


@pytest.fixture
def web(transactional_db: None, web_process: Web) -> Web:
    """A real web server on the test's database."""
    return web_process


@pytest.fixture
def worker(transactional_db: None, processes: Processes) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker with its heartbeat and its broker on the test's database, gone when the test is over.

    It has given its first sign of life: what is tested is what it does, not how fast it starts.
    """
    from annotate.models import WorkerPulse

    process = processes.start("worker", "celery", "-A", "evaluation.app", "worker", "--loglevel", "WARNING")
    for _ in range(600):
        if WorkerPulse.objects.exists():
            break
        if process.poll() is not None:
            pytest.fail("the worker ended: " + (processes.logs / "worker.log").read_text()[-2000:])
        time.sleep(0.1)
    else:
        pytest.fail("the worker did not start within a minute")
    yield process
    stop(process)
