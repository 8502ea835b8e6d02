"""docker-compose.yml, as far as it can be run without containers: its scripts on a real PostgreSQL and a real Redis."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from django.conf import settings
from django.core.management import get_commands
from redis import AuthenticationError, Redis, RedisError
from ruamel.yaml import YAML

from annotate import invitations
from annotate.models import Judgment
from annotate.server import connections, gunicorn
from benchmarks.serving import Browser, judge_and_show
from evaluation.app import HARD_LIMIT, app
from lab.harness.versions import STATIC, WRITTEN_BY, next_version
from lab.services import PgBouncer, free_port, proxied, running, system_program, wait_until
from tests import studies
from tests.conftest import MUST_RUN, ROOT, Processes, needs_valkey, stop

COMPOSE: dict[str, Any] = YAML(typ="safe").load((ROOT / "docker-compose.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()
DOCS = (ROOT / "docs" / "operators.md").read_text()
PATIENCE = 120.0
#: What a page names of styles, scripts and pictures.
NAMED = re.compile(r'(?:src|href)="(/static/[^"]+)"')
READING = 1.1  # seconds; who answers sooner than a second after their last answer is asked to read

#: A study with judgments to make; prints the path of an invitation to it.
STUDY = """
from annotate import invitations
from annotate import studies as verbs
from tests import studies
made = studies.study(judgments_per_topic=100_000, pairs_per_annotator=10_000)
studies.wide_topic(made, 40)
print(invitations.invitation_path(invitations.invite(made, made.created_by)))
"""
#: How many judgments the new version has stored.
BY_NEW = f"""
from django.db import connection
cursor = connection.cursor()
cursor.execute({WRITTEN_BY!r})
print(cursor.fetchone()[0])
"""
#: How far things are: judgments stored, and whether the newest fit rests on all of them.
STATE = """
from annotate.models import Judgment, Topic, WorkerPulse
print(Judgment.objects.count(), Topic.objects.behind().count(), WorkerPulse.objects.count())
"""


class Site:
    """What the compose file describes, started by its own scripts, each in a process group of its own.

    `tree`: the version of the program that is run and started from now on.
    """

    tree = ROOT

    def __init__(self, room: Path, database: str, broker: str) -> None:
        self.room, self.processes = room, []  # type: ignore[var-annotated]
        (room / "secret_key").write_text("a key that is long enough for everybody here " * 2)
        (room / "secret_key").chmod(0o600)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PREFERENDUM")},
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DATABASE_URL": database,
            "BROKER_URL": broker,
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "PREFERENDUM_DATA": str(room),
            "PREFERENDUM_SECRET_KEY_FILE": str(room / "secret_key"),
            "PREFERENDUM_WEB_PROCESSES": "1",
            "PREFERENDUM_LOG_FORMAT": "json",
        }

    def script(self, name: str, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run([f"deploy/{name}"], **more)

    def shell(self, code: str) -> str:
        done = self.run([sys.executable, "manage.py", "shell", "--no-imports", "-c", code])
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
        environment = self.environment | more
        return subprocess.run(
            command, cwd=self.tree, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )

    def start(self, name: str, **more: str) -> subprocess.Popen[bytes]:
        with (self.room / f"{name}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [f"deploy/{name}"],
                cwd=self.tree,
                env=self.environment | more,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def start_web(self) -> tuple[subprocess.Popen[bytes], int]:
        port = free_port()
        bind = {"PREFERENDUM_BIND": f"127.0.0.1:{port}"}
        process = self.start("web", **bind)
        wait_until(lambda: self.script("web-healthy", **bind).returncode == 0, "a web process")
        return process, port

    def stop(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def fetch(path: str, ports: list[int]) -> None:
    """A file that a page names, from each of these processes; it must be what its name says."""
    for port in dict.fromkeys(ports):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            content = answer.read()
        except ConnectionError:
            if port in ports:
                raise
            continue  # it was replaced meanwhile
        finally:
            connection.close()
        assert answer.status == 200, f"{path} from port {port}: {answer.status}"
        assert f".{hashlib.md5(content).hexdigest()[:12]}." in path


def wait_for_more(acknowledged: list[int], failures: list[Exception], what: str) -> None:
    """Until everybody has judged two pairs more, or somebody met an error."""
    before = list(acknowledged)
    wait_until(lambda: all(now >= then + 2 for now, then in zip(acknowledged, before, strict=True)) or failures, what)
    assert failures == []


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running() as (postgres, redis):
        site = Site(tmp_path, postgres.url, redis.url)
        yield site
        site.stop()


on_services = pytest.mark.skipif(
    not os.environ.get("DATABASE_URL", "").startswith("postgres"), reason="`manage.py test --services` runs it"
)


@on_services
@pytest.mark.usefixtures("django_db_setup")  # beside the other tests that start processes
def test_judging_goes_on_while_a_new_version_takes_over(site: Site) -> None:
    done = site.script("release")
    assert done.returncode == 0, done.stderr
    pulses = [site.room / f"pulse{number}" for number in range(2)]
    assert site.script("worker-healthy", PREFERENDUM_PULSE_FILE=str(pulses[0])).returncode != 0
    workers = [site.start("worker", PREFERENDUM_PULSE_FILE=str(pulse)) for pulse in pulses]
    (old, port), (other, other_port) = site.start_web(), site.start_web()
    invitation = site.shell(STUDY)
    ports = [port, other_port]
    started = list(ports)  # who starts later knows the files of the earlier version, too
    acknowledged, failures, stopping = [0, 0], [], threading.Event()
    named: set[str] = set()

    def judge(number: int) -> None:
        """Somebody behind a balancer that sends each request to the next web process."""
        browser = Browser("127.0.0.1", ports[number])

        def go_to_the_next() -> None:
            browser.port = ports[number]
            if browser.connection.port != browser.port:
                browser.connection.close()
                browser.connection.port = browser.port

        page = browser.begin(invitation)
        while not stopping.is_set():
            time.sleep(READING)
            try:
                go_to_the_next()
                page = judge_and_show(browser, page)
                acknowledged[number] += 1
                go_to_the_next()
                _status, _headers, text = browser.ask("show", "GET", page)
                for path in NAMED.findall(text):
                    fetch(path, [later for later in started[started.index(browser.port) :] if later in ports])
                    named.add(path)
            except Exception as failure:
                failures.append(failure)
                break
        browser.connection.close()

    people = [threading.Thread(target=judge, args=[number]) for number in range(2)]
    for person in people:
        person.start()
    try:
        wait_until(lambda: min(acknowledged) >= 3 or bool(failures), "the first judgments")
        # The new version expands the tables in its own release step, while the old one goes on.
        site.tree = next_version(ROOT, site.room / "next")
        done = site.script("release")
        assert done.returncode == 0, done.stderr
        wait_for_more(acknowledged, failures, "judgments by the old version on the new tables")
        assert site.shell(BY_NEW) == "0"
        # Old and new beside each other, behind the same balancer.
        new, new_port = site.start_web()
        started.append(new_port)
        ports[0] = new_port
        wait_for_more(acknowledged, failures, "judgments by both versions")
        assert int(site.shell(BY_NEW)) >= 1  # of two; the first may have been on its way to the old version
        _newer, newer_port = site.start_web()
        started.append(newer_port)
        ports[1] = newer_port
        for process in (old, other):
            process.terminate()
            assert process.wait(60) == 0
        pulses.append(site.room / "pulse2")
        site.start("worker", PREFERENDUM_PULSE_FILE=str(pulses[2]))
        wait_until(lambda: site.script("worker-healthy", PREFERENDUM_PULSE_FILE=str(pulses[2])).returncode == 0, "it")
        for process in workers:
            process.terminate()
            process.wait(60)
        wait_for_more(acknowledged, failures, "judgments by the new version alone")
        assert new.poll() is None
    finally:
        stopping.set()
        for person in people:
            person.join()
    assert failures == []
    for name in STATIC:
        stem, ending = name.split(".")
        assert len([path for path in named if re.fullmatch(rf"/static/{stem}\.\w+\.{ending}", path)]) == 2
    wait_until(lambda: site.shell(STATE).split()[1] == "0", "the workers")
    stored, _behind, _workers = map(int, site.shell(STATE).split())
    assert stored == sum(acknowledged)
    assert site.script("worker-healthy", PREFERENDUM_PULSE_FILE=str(pulses[2])).returncode == 0
    doctor = site.run([sys.executable, "manage.py", "doctor", "--no-color"])
    assert re.search(r"fine +worker +\d running", doctor.stdout), doctor.stdout  # who ended is remembered for a while
    assert re.search(r"fine +broker +answers", doctor.stdout), doctor.stdout
    assert re.search(r"fine +clock", doctor.stdout), doctor.stdout


#: A study whose topic has a reference; prints its number and an invitation to it.
WITH_REFERENCE = """
from preferendum import formats
from annotate import imports, invitations
from tests import studies
made = studies.study(judgments_per_topic=100_000, pairs_per_annotator=10_000)
topics = [
    formats.Topic(
        f"T{number}",
        documents=(formats.Text("d", sentences=tuple(f"Word{i} of word{i + 1}." for i in range(8))),),
        references=(formats.Text("A", sentences=("Word1 of word2.",)),),
        summaries=(formats.Summary("lead", sentences=("Word0 of word1.",)), formats.Summary("b", text="Word5 of it.")),
    )
    for number in range(3)
]
imports.store(made, formats.Bundle(topics=tuple(topics)))
print(made.pk, made.created_by.username, invitations.invitation_path(invitations.invite(made, made.created_by)))
"""
#: Topics to be scored, topics whose sentences are ranked, and what the worker fails at.
COMPUTED = """
from annotate.models import Claim, Result, Topic
ranked = Result.objects.filter(analysis="sentence-ranking").count()
print(Topic.objects.behind().count(), ranked, *Claim.objects.filter(attempts__gt=1).values_list("name", flat=True))
"""


@on_services
@pytest.mark.skipif(
    not (system_program("pgbouncer") or "pooler" in MUST_RUN),
    reason="no PgBouncer here (Debian: apt-get install pgbouncer)",
)
@pytest.mark.usefixtures("django_db_setup")
@pytest.mark.parametrize(
    ("mode", "broker"), [pytest.param("session", "valkey-server", marks=needs_valkey), ("transaction", "redis-server")]
)
def test_with_a_pooler_and_either_broker_people_judge_and_scores_are_computed(
    mode: str, broker: str, tmp_path: Path
) -> None:
    with running(broker=broker) as (postgres, redis):
        pooler = PgBouncer(postgres.folder.parent / "pooler", postgres, mode)
        pooler.start()
        site = Site(tmp_path, pooler.url, redis.url)
        try:
            assert (done := site.script("release")).returncode == 0, done.stderr
            study, owner, invitation = site.shell(WITH_REFERENCE).split()
            _process, port = site.start_web()
            site.start("worker")
            annotator = Browser("127.0.0.1", port)
            page = annotator.begin(invitation)
            for _judgment in range(12):
                time.sleep(READING)
                page = judge_and_show(annotator, page)
            wait_until(lambda: site.shell(COMPUTED) == "0 3", "scores and Sentence ranking")
            researcher = Browser("127.0.0.1", port)
            researcher.ask("sign in", "GET", "/sign-in/")
            researcher.ask(
                "sign in", "POST", "/sign-in/", researcher.form(username=owner, password="a long enough password")
            )
            _status, _headers, board = researcher.ask("board", "GET", f"/studies/{study}/leaderboard/")
            assert "lead" in board
            annotator.connection.close()
            researcher.connection.close()
            doctor = site.run([sys.executable, "manage.py", "doctor", "--no-color"]).stdout
            assert re.search(r"fine +tasks", doctor), doctor
            assert (done := site.run([sys.executable, "manage.py", "verify_log"])).returncode == 0, done.stderr
            assert left_behind(pooler) == []
            done = site.run(["deploy/backup", str(tmp_path)])
            assert "a PgBouncer" in done.stderr
        finally:
            site.stop()
            pooler.stop()


def left_behind(pooler: PgBouncer) -> list[tuple[str, ...]]:
    """What another program that comes by the pooler finds changed in its sessions."""
    asked = (
        "SELECT name, setting FROM pg_settings WHERE source = 'session' AND name ~ 'timeout|search_path|preferendum'"
    )
    with ExitStack() as stack:
        others = [stack.enter_context(psycopg.connect(pooler.url)) for _ in range(8)]
        return [row for other in others for row in other.execute(asked).fetchall()]


def ours() -> dict[str, Any]:
    return {name: one for name, one in COMPOSE["services"].items() if one.get("image", "").startswith("preferendum")}


def test_every_container_of_ours_starts_a_script_that_is_there() -> None:
    assert set(ours()) == {"release", "web", "worker", "backup"}
    for service in ours().values():
        commands = [service["command"]]
        if "healthcheck" in service:
            commands.append(service["healthcheck"]["test"][1:])
        for command in commands:
            assert len(command) == 1
            assert os.access(ROOT / command[0], os.X_OK), command
    assert 'CMD ["deploy/web"]' in DOCKERFILE


def test_containers_start_again_and_in_order_and_scale() -> None:
    services = COMPOSE["services"]
    assert all("restart" in service for service in services.values())
    for name in ("web", "worker"):
        assert services[name]["depends_on"]["release"]["condition"] == "service_completed_successfully"
        assert "healthcheck" in services[name]
        assert "container_name" not in services[name]
        assert "ports" not in services[name], "one host port would not scale"
    assert "--appendonly yes --maxmemory-policy noeviction" in services["redis"]["command"][2]


def seconds(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(s|m)", duration).groups()  # type: ignore[union-attr]
    return int(number) * {"s": 1, "m": 60}[unit]


def test_containers_are_given_the_time_to_end_that_their_programs_take() -> None:
    web, worker = seconds(ours()["web"]["stop_grace_period"]), seconds(ours()["worker"]["stop_grace_period"])
    assert web >= gunicorn.graceful_timeout + 5
    assert worker >= HARD_LIMIT + app.conf.worker_soft_shutdown_timeout + 5
    for given in re.findall(r"docker stop (.*)", DOCS):
        assert int(re.match(r"-t (\d+) \$old", given)[1]) == web  # type: ignore[index]


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_no_container_may_more_than_its_service_needs(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["read_only"] is True
    assert re.fullmatch(r"\$\{PREFERENDUM_\w+_CONTAINER_MEMORY:-\d+[mg]\}", service["mem_limit"])
    user = service.get("user") or re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)[0]
    assert user not in ("0", "root")
    for port in service.get("ports", []):
        assert re.match(r"\$\{PREFERENDUM_HTTPS?:-127\.0\.0\.1:", port), "nobody is let in before the operator says so"


def test_the_proxy_takes_what_the_web_processes_take() -> None:
    limits = connections.Limits()
    for line in (
        f"client_max_body_size {connections.BODY};",
        f"large_client_header_buffers 4 {connections.HEADER // 1024}k;",
        f"client_header_timeout {limits.arrival:.0f}s;",
        f"send_timeout {limits.taking:.0f}s;",
        f"proxy_read_timeout {limits.answering:.0f}s;",
    ):
        assert line in (ROOT / "deploy" / "nginx.conf").read_text()


@pytest.mark.skipif(
    not (system_program("nginx") or "proxy" in MUST_RUN), reason="no nginx here (Debian: apt-get install nginx-light)"
)
@pytest.mark.usefixtures("transactional_db")
def test_the_proxy_says_who_comes_whatever_visitors_say(processes: Processes) -> None:
    port = free_port()
    process = processes.start(
        "web behind the proxy",
        *("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"),
        PREFERENDUM_BIND=f"127.0.0.1:{port}",
        PREFERENDUM_ORIGIN="https://judge.example.org",
        PREFERENDUM_PROXIES=str(COMPOSE["x-preferendum"]["environment"]["PREFERENDUM_PROXIES"][-2]),
    )

    def answer(path: str, method: str = "GET", **headers: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=60)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers={"Host": "judge.example.org", **given})
            return connection.getresponse().status
        finally:
            connection.close()

    try:
        with proxied(port) as proxy:
            wait_until(lambda: answer("/health/ready") == 200, "the website")
            assert answer("/sign-in/") == 301, "without TLS people are sent to the site's address"
            said = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "judge.example.org", "Forwarded": "proto=https"}
            assert answer("/sign-in/", **said) == 301, "whatever they say of it"
        [line] = re.findall("set .visitors_scheme .http_x_forwarded_proto;", DOCS)
        with proxied(port, line) as proxy:
            assert answer("/sign-in/", X_Forwarded_Proto="https") == 200, "a proxy in front has the certificate"
            assert answer("/sign-in/", X_Forwarded_Proto="http") == 301
            assert answer("/sign-in/", "POST", Content_Length=str(connections.BODY + 1)) == 413
            guesses = [
                answer(f"/join/{number}/", X_Forwarded_Proto="https", X_Forwarded_For=f"192.0.2.{number}")
                for number in range(11)
            ]
            assert guesses == [404] * 10 + [429], "who makes up addresses is one visitor all the same"
    finally:
        stop(process)


@pytest.mark.skipif(
    not (system_program("nginx") or "proxy" in MUST_RUN), reason="no nginx here (Debian: apt-get install nginx-light)"
)
@pytest.mark.usefixtures("transactional_db")
def test_people_judge_below_a_path_of_a_host_that_has_other_sites(processes: Processes) -> None:
    """By the lines that operators are told to put into their proxy, at a Unix socket."""
    study = studies.study()
    studies.wide_topic(study, 4)
    link = f"/judge{invitations.invitation_path(invitations.invite(study, study.created_by))}"
    room = Path(tempfile.mkdtemp())
    room.chmod(0o755)  # the proxy is somebody else
    bound, told = f"unix:{room}/web.sock", "unix:/run/preferendum/web.sock"
    [location] = re.findall(r"^    location /judge/ \{\n.*?^    \}$", DOCS, re.MULTILINE | re.DOTALL)
    assert f"PREFERENDUM_BIND={told}" in DOCS
    command = ("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi")
    given = {"PREFERENDUM_BIND": bound, "PREFERENDUM_ORIGIN": "https://example.org/judge", "PREFERENDUM_PROXIES": "1"}
    process = processes.start("web below a path", *command, **given)
    sent = {"Host": "example.org", "Origin": "https://example.org"}

    def healthy() -> bool:
        asked = subprocess.run(["deploy/web-healthy"], cwd=ROOT, env=processes.environment | given, check=False)
        return asked.returncode == 0

    try:
        wait_until(healthy, "the website")
        with proxied(0, location.replace(told, bound).replace("$scheme", "https")) as proxy, ExitStack() as last:
            browser = Browser("127.0.0.1", proxy)
            last.callback(browser.connection.close)
            _status, headers, page = browser.ask("join", "GET", link, **sent)
            named = re.findall(r'(?:src|href|action|hx-\w+)="(/[^"]*)"', page)
            assert [address for address in named if not address.startswith("/judge/")] == []
            assert browser.ask("style", "GET", next(one for one in named if ".css" in one), **sent)[0] == 200
            [token] = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page))
            form = {"csrfmiddlewaretoken": token, "answer": "left", "revision": "1", "seconds": "3.5"}
            _status, begun, _page = browser.ask("begin", "POST", link, urlencode(form), **sent)
            answer = browser.ask("judge", "POST", begun["Location"], urlencode(form), **sent)
            assert {header["Location"].split("/")[1] for header in (begun, answer[1])} == {"judge"}
            cookies = [*headers.get_all("Set-Cookie"), *begun.get_all("Set-Cookie")]
            set_here = [name for cookie in cookies for name in re.findall(r"^__Secure-(\w+)=.*; Path=/judge/", cookie)]
            assert len(set_here) == len(cookies)
            assert set(set_here) == {"csrf", "session"}
            assert "Strict-Transport-Security" not in headers
    finally:
        stop(process)
        shutil.rmtree(room)
    assert Judgment.objects.count() == 1


def test_a_worker_has_room_for_what_its_processes_may_take() -> None:
    megabytes = int(re.fullmatch(r"\$\{\w+:-(\d+)m\}", ours()["worker"]["mem_limit"])[1])  # type: ignore[index]
    assert megabytes * 2**20 > settings.WORKER_MEMORY


def test_images_are_named_by_exact_versions_that_a_digest_may_replace() -> None:
    python = ours()["web"]["build"]["args"]["PYTHON_IMAGE"]
    images = [python, *(COMPOSE["services"][name]["image"] for name in ("db", "redis", "proxy"))]
    for image in images:
        variable, name = re.fullmatch(r"\$\{(PREFERENDUM_\w+_IMAGE):-(\w+:\d+\.\d+[\w.-]*)\}", image).groups()  # type: ignore[union-attr]
        assert variable in DOCS
        if image == python:
            assert DOCKERFILE.splitlines()[1:3] == [f"ARG PYTHON_IMAGE={name}", "FROM ${PYTHON_IMAGE}"]
    assert DOCKERFILE.count("FROM") == 1


def test_what_the_program_puts_aside_goes_to_a_disk_and_not_to_memory() -> None:
    (folder,) = re.findall(r"^ENV TMPDIR=(\S+)$", DOCKERFILE, re.MULTILINE)
    for service in ours().values():
        assert f"temporary:{folder}" in service["volumes"]


@dataclass(frozen=True)
class Said:
    """A command for containers, as docs/operators.md says it: `docker compose verb services command`."""

    verb: str
    services: list[str]
    command: list[str]


def said() -> Iterator[Said]:
    for line in re.findall(r"docker compose ([^`#&\n)]+)", DOCS):
        verb, *words = shlex.split(line)
        scaled = [word.partition("=")[0] for before, word in pairwise(words) if before == "--scale"]
        plain = [word for word in words if not word.startswith("-") and word.partition("=")[0] not in scaled]
        one = verb in ("run", "exec")
        yield Said(verb, scaled + (plain[:1] if one else plain), plain[1:] if one else [])


def test_what_operators_are_told_to_do_with_containers_can_be_done() -> None:
    found = list(said())
    assert {"up", "run", "ps", "build", "stop", "down"} <= {one.verb for one in found}
    for one in found:
        assert set(one.services) <= COMPOSE["services"].keys(), one
        assert one.verb not in ("run", "exec") or len(one.services) == 1, one
        if one.command:
            assert one.command[:2] == ["python", "manage.py"], one
            assert one.command[2] in get_commands(), one


def test_backups_go_to_a_folder_that_outlasts_containers_and_that_no_other_sees() -> None:
    (folder,) = (one for one in ours()["backup"]["volumes"] if isinstance(one, dict))
    assert folder == {"type": "bind", "source": "${PREFERENDUM_BACKUPS:-./backups}", "target": "/backups"}
    assert "files:/data/files" in ours()["backup"]["volumes"]
    others = [service for name, service in COMPOSE["services"].items() if name != "backup"]
    assert not [one for service in others for one in service.get("volumes", []) if "backups" in str(one)]
    for ignored in (".dockerignore", ".gitignore"):
        assert {"backups", "/backups/"} & set((ROOT / ignored).read_text().splitlines())
    # What the image's user may write to, and what docs and script call the folder.
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert f"install --directory --owner={user} --mode=700 backups\n" in DOCS
    assert "${1:-/backups}/" in (ROOT / "deploy" / "backup").read_text()
    backing_up = [one.command for one in said() if one.services == ["backup"]]
    assert [] in backing_up
    assert [command[3] for command in backing_up if "restore_backup" in command] == ["/backups/2026-11-21-1400.backup"]


@on_services
@pytest.mark.usefixtures("django_db_setup")
def test_a_timer_backs_up_into_files_that_only_their_owner_reads(site: Site, tmp_path: Path) -> None:
    assert site.script("release").returncode == 0
    site.shell(STUDY)
    backups = tmp_path / "backups"
    backups.mkdir()
    done = site.run(["deploy/backup", str(backups)])
    assert done.returncode == 0, done.stderr
    (file,) = backups.iterdir()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{4}\.backup", file.name)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "the newest is of" in site.run([sys.executable, "manage.py", "doctor", "--no-color"]).stdout
    again = site.run(["deploy/backup", str(tmp_path / "nowhere")])
    assert again.returncode != 0
    assert "No backup was made." in again.stderr


def test_secrets_reach_containers_as_files_and_never_the_image_or_a_variable() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {".env", "secrets", "tls"} <= set(ignored)
    (made,) = re.findall(r"^    for name in (.+); do$", DOCS, re.MULTILINE)
    assert set(made.split()) == COMPOSE["secrets"].keys()
    for name, secret in COMPOSE["secrets"].items():
        assert secret["file"] == f"${{PREFERENDUM_SECRETS:-./secrets}}/{name}"
        for service in ours().values():
            assert name in service["secrets"]
            assert f"/run/secrets/{name}" in service["environment"].values()
    given = {name for service in COMPOSE["services"].values() for name in service.get("environment", {})}
    assert {
        name for name in given if re.search("PASSWORD|SECRET_KEY$|TOKEN", name) and not name.endswith("_FILE")
    } == set()


@pytest.mark.skipif(not shutil.which("redis-server"), reason="no Redis server here")
def test_redis_answers_only_those_who_know_the_password(tmp_path: Path) -> None:
    """The compose file's own command, and Celery's command line, which reads `BROKER_URL` by itself."""
    password, port = tmp_path / "redis_password", free_port()
    shell, option, script = COMPOSE["services"]["redis"]["command"]
    script = script.replace("$$", "$").replace("/run/secrets", str(tmp_path))
    script = script.replace("redis-server -", f"redis-server - --bind 127.0.0.1 --port {port} --dir {tmp_path}")
    password.touch()
    refused = subprocess.run([shell, option, script], capture_output=True, text=True, check=False)
    assert "redis_password is empty or cannot be read" in refused.stderr
    password.write_text("a@pass/word: of its own\n")
    process = subprocess.Popen([shell, option, script], stdout=subprocess.DEVNULL)
    try:
        stranger = Redis(port=port)
        wait_until(lambda: isinstance(error_of(stranger.ping), AuthenticationError), "Redis")
        assert "of its own" not in Path(f"/proc/{process.pid}/cmdline").read_text()
        environment = {
            **os.environ,
            "BROKER_URL": f"redis://127.0.0.1:{port}/0",
            "BROKER_PASSWORD_FILE": str(password),
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "PREFERENDUM_DATA": str(tmp_path / "data"),
        }
        call = [sys.executable, "-m", "celery", "-A", "evaluation.app", "call", "nothing"]
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert Redis(port=port, password="a@pass/word: of its own").llen("celery") == 1
    finally:
        process.terminate()
        process.wait(60)


def error_of(act: Callable[[], object]) -> Exception | None:
    try:
        act()
    except RedisError as error:
        return error
    return None


def test_every_setting_reaches_the_containers() -> None:
    """Those of paths and of the form of logs are the image's."""
    programs = [path for room in ("annotate", "evaluation") for path in (ROOT / room).rglob("*.py")]
    read = {name for path in programs for name in re.findall(r'"(PREFERENDUM_[A-Z_]+)"', path.read_text())}
    image = {"PREFERENDUM_DATA", "PREFERENDUM_FILES", "PREFERENDUM_STATIC", "PREFERENDUM_LOG_FORMAT"}
    for service in ours().values():
        given = service["environment"].keys()
        assert read - image - given - {variable.removesuffix("_FILE") for variable in given} == set()
        optional = {name: value for name, value in service["environment"].items() if value is None}
        assert "PREFERENDUM_BACKUP_HOURS" in optional, "an empty text is no number"


def test_the_compose_file_is_one() -> None:
    command = [str(Path(sys.executable).parent / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, "docker-compose.yml"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_compose_itself_takes_the_file() -> None:
    """It reads the file and fills in variables; the containers themselves need an engine."""
    program = shutil.which("docker-compose")
    if program is None:
        assert "compose" not in MUST_RUN
        pytest.skip("no docker-compose here (Debian: apt-get install docker-compose)")
    given = {"PREFERENDUM_ORIGIN": "https://judge.example.org", "PREFERENDUM_BACKUP_HOURS": "48"}
    command = [program, "--profile", "backup", "config"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert YAML(typ="safe").load(done.stdout)["services"].keys() == COMPOSE["services"].keys()
    environment = YAML(typ="safe").load(done.stdout)["services"]["web"]["environment"]
    assert environment["PREFERENDUM_BACKUP_HOURS"] == "48"
    assert environment.get("PREFERENDUM_LEASE_SECONDS") is None
    without = subprocess.run([program, "config"], cwd=ROOT, capture_output=True, text=True)
    assert "PREFERENDUM_ORIGIN" in without.stderr
