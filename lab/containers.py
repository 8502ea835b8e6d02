"""The whole installation in containers, as docs/operators.md says it: started, judged, updated, backed up, restored.

    .venv/bin/python -m lab.containers

It needs root, an engine (Debian: apt-get install docker.io docker-compose openssl) and Chromium. Where no engine runs,
it starts one of its own; where there can be none, it says so and ends with 0. Where no registry can be reached, an
image of Debian's packages stands in for those of PostgreSQL, Redis, nginx and Python (apt-get install debootstrap).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.harness.versions import PARTS, WRITTEN_BY, next_version
from lab.services import Missing, free_port, wait_until

ROOT = Path(__file__).resolve().parents[1]
PROJECT, STAND_IN = "preferendum-lab", "preferendum-stand-in"
DOCKERFILE = """
FROM preferendum-debian
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip python-is-python3 postgresql \
    redis-server nginx-light curl && rm -rf /var/lib/apt/lists/* && mkdir -p /data /var/lib/postgresql/data \
    && chown redis /data && chown postgres /var/lib/postgresql/data && chmod 3777 /run/postgresql
ENV PIP_BREAK_SYSTEM_PACKAGES=1 PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/15/bin:$PATH
WORKDIR /data
CMD test -e $PGDATA/PG_VERSION || { initdb -U $POSTGRES_USER --pwfile=$POSTGRES_PASSWORD_FILE -A scram-sha-256 \
    && echo "host all all all scram-sha-256" >> $PGDATA/pg_hba.conf \
    && echo "CREATE DATABASE $POSTGRES_DB" | postgres --single postgres; } && exec postgres -c "listen_addresses=*"
"""
FILES = """
install --directory --mode=700 secrets
for name in secret_key postgres_password redis_password metrics_token oidc_secret; do
    openssl rand -hex 40 > secrets/$name && chmod 444 secrets/$name
done
install --directory --owner=10001 --mode=700 backups
install --directory --owner=101 --mode=500 tls
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout tls/privkey.pem -out tls/fullchain.pem
chown 101 tls/privkey.pem
pem=/etc/nginx/tls
echo "listen 8443 ssl; ssl_certificate $pem/fullchain.pem; ssl_certificate_key $pem/privkey.pem;" > tls/tls.conf
"""
STUDY = """
from preferendum import formats
from django.contrib.auth.models import User
from annotate import imports, invitations, studies
owner = User.objects.get(username="owner")
study = studies.create_study(owner, title="News", question="Which matters more?", pairs_per_annotator=1_000)
document = formats.Text("d", sentences=tuple(f"Sentence {i} has some words." for i in range(100)))
imports.store(study, formats.Bundle(topics=(formats.Topic("t", documents=(document,)),)))
print(invitations.invitation_path(invitations.invite(study, owner)))
"""
ANSWERS = "from annotate.models import Judgment as J; print(*J.objects.order_by('pk').values_list('answer', flat=True))"
BY_NEW = f"from django.db import connection as c; k = c.cursor(); k.execute({WRITTEN_BY!r}); print(k.fetchone()[0])"


def printed(*command: str, **options: Any) -> str:
    """What a command prints. Raises RuntimeError with its last words if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-3000:]}")
    return done.stdout.strip()


def answers(*command: str) -> bool:
    return bool(shutil.which(command[0])) and not subprocess.run(command, capture_output=True, check=False).returncode


@contextmanager
def engine() -> Iterator[None]:
    """The engine that runs here, or one that is started for this. Raises Missing where there is none."""
    if os.geteuid() == 0 and answers("docker", "info"):
        yield
        return
    if os.geteuid() or not shutil.which("dockerd"):
        raise Missing("no container engine here, or not root (Debian: apt-get install docker.io docker-compose)")
    with tempfile.TemporaryDirectory(prefix="preferendum-engine-") as room:
        os.environ["DOCKER_HOST"] = f"unix://{room}/socket"
        places = [f"--data-root={room}/data", f"--exec-root={room}/exec", f"--pidfile={room}/pid"]
        command = ["dockerd", f"--host={os.environ['DOCKER_HOST']}", *places]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: process.poll() is not None or Path(room, "socket").exists(), "the engine")
            if not answers("docker", "info"):
                raise Missing("no container engine can run here (dockerd says why)")
            yield
        finally:
            process.terminate()
            process.wait(60)


def stand_in() -> None:
    """One image of Debian's packages for all that a registry would give; it is kept."""
    if answers("docker", "image", "inspect", STAND_IN):
        return
    if not shutil.which("debootstrap"):
        raise Missing("no registry answers, and debootstrap is not here (Debian: apt-get install debootstrap)")
    with tempfile.TemporaryDirectory(prefix="preferendum-debian-") as room:
        printed("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", f"{room}/root")
        printed("sh", "-c", f"tar -C {room}/root -c . | docker import - preferendum-debian")
        shutil.rmtree(f"{room}/root")
        # Where the machine trusts a certificate of its own, so must pip in the containers.
        shutil.copy("/etc/ssl/certs/ca-certificates.crt", room)
        (Path(room) / "Dockerfile").write_text(DOCKERFILE)
        printed("docker", "build", "--tag", STAND_IN, room)


class Site:
    """An operator's folder, with everything that docs/operators.md tells them to put into it."""

    def __init__(self, folder: Path) -> None:
        self.folder, port = folder, free_port()
        self.origin = f"https://localhost:{port}"
        self.program = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
        folder.mkdir()
        for part in (*PARTS, "requirements", "Dockerfile", "docker-compose.yml", ".dockerignore"):
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy2)(ROOT / part, folder / part)
        printed("sh", "-euc", FILES, cwd=folder)
        ports = f"PREFERENDUM_HTTP=127.0.0.1:{free_port()}\nPREFERENDUM_HTTPS=127.0.0.1:{port}\n"
        images = ""
        if not answers("docker", "pull", "--quiet", "redis:7.4.9-bookworm"):
            stand_in()
            images = "".join(
                f"PREFERENDUM_{name}_IMAGE={STAND_IN}\n" for name in ("PYTHON", "POSTGRES", "REDIS", "PROXY")
            )
        names = f"COMPOSE_PROJECT_NAME={PROJECT}\nPREFERENDUM_ORIGIN={self.origin}\n"
        (folder / ".env").write_text(names + ports + images)

    def compose(self, words: str, *more: str) -> str:
        return printed(*self.program, *words.split(), *more, cwd=self.folder)

    def manage(self, words: str, *more: str) -> str:
        return self.compose(f"run --rm --no-deps -T web python manage.py {words}", *more)

    def start(self) -> None:
        self.compose("up --build --detach --scale web=2 --scale worker=2")
        self.wait_for(db=1, redis=1, web=2, worker=2, proxy=1)

    def update(self) -> None:
        """As under "Updating without downtime"."""
        old = self.compose("ps --quiet web").split()
        for words in ("build", "run --rm release", "up --detach --no-deps --no-recreate --scale web=4 web"):
            self.compose(words)
        self.wait_for(web=4)
        printed("docker", "stop", "-t", "30", *old)
        printed("docker", "rm", *old)
        self.compose("up --detach --no-deps --scale worker=2 worker")
        self.wait_for(web=2, worker=2)

    def wait_for(self, **services: int) -> None:
        """Until so many containers of each service are healthy."""
        these = ["--filter", "health=healthy", "--filter", f"label=com.docker.compose.project={PROJECT}"]
        command = ["docker", "ps", *these, "--format", '{{.Label "com.docker.compose.service"}}']
        wait_until(lambda: Counter(printed(*command).split()) >= Counter(services), f"healthy {services}", 300)


class Annotator:
    """Somebody who judges in Chromium, through the proxy. `confirmed`: answers the website took; `failed`: 5xx."""

    def __init__(self, browser: Any, origin: str, link: str) -> None:
        self.confirmed, self.failed = list[str](), list[int]()
        self.page = browser.new_context(base_url=origin, ignore_https_errors=True).new_page()
        self.page.on("response", lambda answer: answer.status > 499 and self.failed.append(answer.status))
        self.page.goto(link)
        self.page.get_by_role("button", name="Begin").click()

    def judge(self, times: int = 1) -> None:
        for _ in range(times):
            self.page.get_by_text(f"Pair {len(self.confirmed) + 1} of").wait_for(timeout=60_000)
            self.page.wait_for_timeout(1_100)  # who answers sooner is asked to read
            side = random.choice(["left", "right"])
            self.page.keyboard.press(f"Arrow{side.title()}")
            self.page.get_by_text(f"Pair {len(self.confirmed) + 2} of").wait_for(timeout=60_000)
            self.confirmed.append(side)

    def judge_while(self, act: Callable[[], object]) -> None:
        with ThreadPoolExecutor() as pool:
            done = pool.submit(act)
            while not done.done():
                self.judge()
            done.result()


def check(site: Site, confirmed: list[str], when: str) -> None:
    """Raises RuntimeError unless exactly what was confirmed is stored, in its order."""
    stored = site.manage("shell --no-imports -c", ANSWERS).split()
    if stored != confirmed:
        raise RuntimeError(f"{when}: {len(confirmed)} judgments were confirmed, {len(stored)} are stored")
    print(f"{when}: all {len(stored)} confirmed judgments are there, each once.")


def go_through(site: Site, room: Path, browser: Any) -> None:
    print("Building and starting, with two web and two worker containers.")
    site.start()
    site.manage("createsuperuser --noinput --username owner --email owner@example.org")
    annotator = Annotator(browser, site.origin, site.manage("shell --no-imports -c", STUDY))
    annotator.judge(5)
    check(site, annotator.confirmed, "After judging in Chromium")
    print("Updating to a next version while people judge.")
    shutil.copytree(next_version(site.folder, room / "next"), site.folder, dirs_exist_ok=True)
    annotator.judge_while(site.update)
    annotator.judge(3)
    check(site, annotator.confirmed, "After the update")
    if annotator.failed or int(site.manage("shell --no-imports -c", BY_NEW)) < 3:
        raise RuntimeError(f"the next version does not answer, or requests failed: {annotator.failed}")
    site.compose("run --rm -T backup")
    kept = list(annotator.confirmed)
    annotator.judge(2)
    print(site.manage("doctor --no-color"))
    print("Starting anew, from the backup.")
    site.compose("down --volumes")
    (backup,) = (site.folder / "backups").iterdir()
    site.compose(f"run --rm -T backup python manage.py restore_backup /backups/{backup.name}")
    site.start()
    check(site, kept, "After restoring")


def main() -> int:
    from playwright.sync_api import sync_playwright

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    try:
        with engine(), sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="preferendum-lab-") as room:
            site = Site(Path(room, "site"))
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            try:
                go_through(site, Path(room), browser)
            finally:
                browser.close()
                site.compose("down --volumes --rmi local")
    except Missing as missing:
        print(f"Not tried: {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
