"""What does a file of a large study's texts take, and a later file into that study?

    python -m benchmarks.storing [--topics 500] [--systems 60] [--on sqlite services] [--by web api] [--tree FOLDER]

Uploads the texts that `benchmarks.large` makes, asks for the preview, confirms and stores them with the worker's own
task; then a file with one more system, one with one more topic, and the second one's again. Printed of each step:
seconds of the processor in Python and in the database server, and queries; and the process's memory. `--tree`: another
checkout, to compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from lab.services import running

ROOT = Path(__file__).resolve().parent.parent
API = "/api/v1"


def main() -> None:
    """Measure every combination in a process and a database of its own."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--systems", type=int, default=60)
    parser.add_argument("--on", nargs="+", choices=("sqlite", "services"), default=["sqlite", "services"])
    parser.add_argument("--by", nargs="+", choices=("web", "api"), default=["web", "api"])
    parser.add_argument("--compares", default="both")
    parser.add_argument("--tree", type=Path, default=ROOT)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _measure(options)
        return
    for on in options.on:
        for by in options.by:
            print(f"\n{options.tree.name}, {on}, {by}", flush=True)
            _in_a_process(on, by, options)


def _in_a_process(on: str, by: str, options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = f"sqlite:///{folder}/study.sqlite3"
        if on == "services":
            server, _redis = stack.enter_context(running())
            url = server.url
        command = [sys.executable, __file__, "--inside", "--by", by, "--compares", options.compares]
        command += ["--topics", str(options.topics), "--systems", str(options.systems)]
        environment = {"PREFERENDUM_DATA": folder, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "annotate.settings"}
        environment |= {"PYTHONPATH": f"{options.tree}:{ROOT}", "PYTHONSAFEPATH": "1"}
        subprocess.run(command, cwd=options.tree, env=os.environ | environment, check=True)


def texts(topics: int, systems: int) -> tuple[list[dict[str, Any]], random.Random]:
    """The topics of `benchmarks.large`, as our files have them, and the chance that goes on from there."""
    chance = random.Random(0)
    return [_topic(f"T{k}", systems, chance) for k in range(topics)], chance


def _topic(name: str, systems: int, chance: random.Random) -> dict[str, Any]:
    words = [f"{a}{b}{c}" for a in ("ba", "de", "ki", "lo") for b in ("ra", "ne", "mi", "tu") for c in ("s", "n", "l")]

    def text(sentences: int) -> str:
        return " ".join(" ".join(chance.choices(words, k=10)).capitalize() + "." for _ in range(sentences))

    return {
        "topic_id": name,
        "documents": [{"id": "d", "text": text(10)}],
        "summaries": [{"system": f"s{k}", "text": text(2)} for k in range(systems)],
    }


def _lines(topics: list[dict[str, Any]]) -> tuple[str, bytes]:
    return "topics.jsonl", "\n".join(map(json.dumps, topics)).encode()


def _table(later: dict[str, str]) -> tuple[str, bytes]:
    """One more system's summaries, by topic."""
    rows = ["topic,system,text", *(f"{topic},later,{text} Yes." for topic, text in later.items())]
    return "summaries.csv", "\n".join(rows).encode()


def _measure(options: argparse.Namespace) -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import setup_test_environment

    from tests.annotate import making

    setup_test_environment()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    study = making.study(compares=options.compares)
    client = Client()
    client.force_login(making.owner(study))
    own, chance = texts(options.topics, options.systems)
    later = {topic["topic_id"]: topic["summaries"][0]["text"] for topic in own}
    new = [_topic("later", options.systems, chance)]
    # Whatever is made once in a process is not counted.
    warm = making.study(making.owner(study), title="Warm", compares=options.compares)
    for name, content in (_lines([_topic("W", 2, chance)]), _table({"W": "No."})):
        _send(client, warm.pk, name, content, options.by, is_shown=False)
    print(f"memory at first {_memory()} MB")
    files = {"all": _lines(own), "one more system": _table(later), "one more topic": _lines(new)}
    for name, file in (*files.items(), ("all again", files["all"])):
        print(name, flush=True)
        _send(client, study.pk, *file, options.by)
        print(f"  memory {_memory()} MB, at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}")


def _memory() -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) >> 10 for line in file if line.startswith("VmRSS"))


def _send(client: Any, study: int, name: str, content: bytes, by: str, is_shown: bool = True) -> None:
    """Upload, read, look, confirm, store."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.urls import reverse

    from annotate.models import Upload

    with suppress(ModuleNotFoundError):  # of older checkouts
        from evaluation.worker import tasks
    with suppress(ImportError):
        from evaluation import tasks

    steps = is_shown
    address = reverse("upload_new" if by == "web" else "api_uploads", args=[study])
    with _step("sent", steps):
        response = client.post(address, {"file": SimpleUploadedFile(name, content)})
    assert response.status_code in (201, 202, 302), (response.status_code, response.content[:500])
    upload = Upload.objects.filter(study=study).latest("pk")
    with _step("read", steps):
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "ready", (upload.state, upload.complaints)
    own = {"study_id": study, "key": upload.key}
    with _step("shown", steps):
        response = client.get(reverse("upload" if by == "web" else "api_upload", kwargs=own))
    assert response.status_code == 200, response.status_code
    with _step("confirmed", steps):
        client.post(reverse("upload_confirm" if by == "web" else "api_upload_confirm", kwargs=own))
    with _step("stored", steps):
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == "stored", (upload.state, upload.problem)


@contextmanager
def _step(name: str, is_shown: bool) -> Iterator[None]:
    from django.db import connection, reset_queries
    from django.test.utils import CaptureQueriesContext

    reset_queries()
    in_server = _in_server()
    with CaptureQueriesContext(connection) as asked:
        began = time.process_time()
        yield
        seconds = time.process_time() - began
    if is_shown:
        print(
            f"  {name:10} {seconds:7.3f} s, database {_in_server() - in_server:6.2f} s, {len(asked)} queries",
            flush=True,
        )


def _in_server() -> float:
    """Seconds of the processor of the database server's process for this connection; 0 with SQLite."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
