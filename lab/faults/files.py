"""Files that come in and go out while things break: F26, F27, F29, F30, F35 and C17, C20."""

from __future__ import annotations

import hashlib
import json
import re
import resource
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lab.harness.checker import INVARIANTS
from lab.harness.clients import CSRF_TOKEN, Browser
from lab.harness.product import Product, Stuck, kill, wait_until
from lab.harness.trials import QUIET, Trial, fault

TOKEN = """
from annotate import accounts
study = Study.objects.get(pk=study)
_token, result = accounts.create_token(study.created_by, "a trial")
"""
KILLED = r"WorkerLost|ExceptionWithTrace|OperationalError|MemoryError|OSError"


class Program:
    """The program of who made a study, the trial's or another, with a token of the API."""

    def __init__(self, trial: Trial, study: int | None = None) -> None:
        self.root = f"http://127.0.0.1:{trial.product.port}"
        self.study = study or trial.study()["study"]
        self.token = trial.product.inside.run(TOKEN, study=self.study)
        self.here = f"/api/v1/studies/{self.study}"

    def once(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> tuple[int, bytes]:
        """The status of one answer, 0 where none comes, and what it says."""
        request = urllib.request.Request(self.root + path, body, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            request.add_header("Content-Type", kind)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError:
            return 0, b""

    def ask(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        """What the answer says, asked again while the website is away; bytes where it is no JSON."""
        answers: list[bytes] = []

        def tried() -> bool:
            status, answer = self.once(method, path, body, kind)
            if 400 <= status < 500 and status != 429:
                raise RuntimeError(f"{path}: {status} {answer[:300]!r}")
            if 200 <= status < 300:
                answers.append(answer)
            return bool(answers)

        wait_until(tried, f"{method} {path}", pause=0.2)
        with suppress(ValueError):
            return json.loads(answers[0])
        return answers[0]

    def upload(self, name: str, content: bytes) -> str:
        """Send a file; its key."""
        return str(self.ask("POST", f"{self.here}/uploads/", *form(name, content))["key"])

    def try_upload(self, name: str, content: bytes) -> tuple[int, str]:
        """Send a file once: the status of the answer, and its key where it was taken."""
        status, answer = self.once("POST", f"{self.here}/uploads/", *form(name, content))
        return status, json.loads(answer)["key"] if status == 202 else ""

    def state(self, key: str) -> str:
        return str(self.ask("GET", f"{self.here}/uploads/{key}/")["state"])

    def confirm(self, key: str) -> None:
        self.ask("POST", f"{self.here}/uploads/{key}/confirm/", b"{}")


def form(name: str, content: bytes) -> tuple[bytes, str]:
    """A file as a page's form sends it, and the type of that."""
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    return head + content + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


def bundle(trial: Trial, topics: int, sentences: int = 60, name: str = "") -> bytes:
    """Topics of short sentences, none of them there yet."""
    lines, name = [], name or trial.name
    for number in range(topics):
        text = " ".join(f"Sentence {i} of {name} {number}." for i in range(sentences))
        lines.append({"topic_id": f"{name}-{number}", "documents": [{"id": "d1", "text": text}]})
    return "\n".join(map(json.dumps, lines)).encode()


def imported(trial: Trial, name: str = "") -> tuple[int, int]:
    """How many of the file's topics are there for everybody, and how many with documents."""
    like = f"{name or trial.name}-%"
    rows = trial.product.tables.rows(
        "SELECT t.id, (SELECT COUNT(*) FROM annotate_sourcedocument d WHERE d.topic_id = t.id) AS documents "
        "FROM annotate_topic t WHERE t.study_id = ? AND t.name LIKE ? AND NOT EXISTS "
        "(SELECT 1 FROM annotate_upload u WHERE u.id = t.upload_id AND u.judgments_stored IS NOT NULL)",
        trial.given["study"],
        like,
    )
    return len(rows), sum(row["documents"] == 1 for row in rows)


def one_of_the_processes(trial: Trial) -> None:
    """kill -9 the web process, the worker, or the child that reads and stores."""
    product = trial.product
    whom = trial.rng.choice(["web", "worker", "child"])
    trial.seen[f"killed: {whom}"] += 1
    if whom == "web":
        kill(product.web_processes())
    elif whom == "worker":
        kill([*product.workers(), *product.pool()])
    else:
        kill(product.pool()[:1])


@fault(
    "F26", "an import killed at a random moment, and the same file sent again: all of it once", release=10, seconds=20
)
def torn_import(trial: Trial) -> None:
    """Together with C20: the file comes twice, and only one of the two may bring it in. The other is refused, if it was
    read before, or changes nothing: what a study has may come again."""
    trial.expected.tracebacks, trial.expected.complete = KILLED, False
    program, topics = Program(trial), 40
    content = bundle(trial, topics)
    keys = [program.upload("topics.jsonl", content)]
    time.sleep(trial.rng.uniform(0, 0.5))
    one_of_the_processes(trial)
    keys.append(program.upload("topics.jsonl", content))
    wait_until(lambda: all(program.state(key) != "waiting" for key in keys), "the previews")
    for key in keys:
        program.confirm(key)
    for _ in range(2):
        time.sleep(trial.rng.uniform(0, 0.6))
        one_of_the_processes(trial)
        assert imported(trial) in ((0, 0), (topics, topics)), f"half an import: {imported(trial)}"
    wait_until(lambda: all(program.state(key) in ("stored", "refused") for key in keys), "the imports")
    assert "stored" in [program.state(key) for key in keys]
    assert imported(trial) == (topics, topics)
    wait_until(lambda: not uncut(trial), "the texts are cut")


def uncut(trial: Trial) -> int:
    return int(
        trial.product.tables.value(
            "SELECT COUNT(*) FROM annotate_topic t WHERE t.study_id = ? AND NOT EXISTS "
            "(SELECT 1 FROM annotate_item s WHERE s.item_set_id = t.id)",
            trial.given["study"],
        )
    )


@fault(
    "F27",
    "8 exports at once under load, downloads broken off, the worker killed: each file whole",
    release=10,
    seconds=20,
)
def exports(trial: Trial) -> None:
    trial.expected.tracebacks = KILLED
    program = Program(trial)
    with trial.load(think=0.2):
        trial.until(0.2)
        keys = [program.ask("POST", f"{program.here}/exports/", b"{}")["key"] for _ in range(8)]
        one_of_the_processes(trial)
        places = [f"{program.here}/exports/{key}/" for key in dict.fromkeys(keys)]
        wait_until(
            lambda: all(program.ask("GET", place)["state"] == "ready" for place in places), "the exports", pause=0.2
        )
        for place in places:
            break_off(program, f"{place}file/")
            whole = program.ask("GET", f"{place}file/")
            assert hashlib.sha256(whole).digest() == hashlib.sha256(program.ask("GET", f"{place}file/")).digest()
            trial.seen["judgments in exports"] += judgments_in(trial, whole)


def break_off(program: Program, path: str) -> None:
    request = urllib.request.Request(program.root + path, headers={"Authorization": f"Bearer {program.token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read(100)


def judgments_in(trial: Trial, archive: bytes) -> int:
    """How many rows of judgments an archive has; all of them are rows of the database."""
    room = trial.product.room / "export.zip"
    room.write_bytes(archive)
    with zipfile.ZipFile(room) as opened:
        assert opened.testzip() is None
        (name,) = [member for member in opened.namelist() if member.endswith("judgments.jsonl")]
        lines = [json.loads(line) for line in opened.read(name).splitlines()]
    stored = trial.product.tables.value(
        "SELECT COUNT(*) FROM annotate_judgment j JOIN annotate_itemset t ON t.id = j.item_set_id WHERE t.study_id = ?",
        trial.given["study"],
    )
    assert len(lines) <= stored
    return len(lines)


@fault("C17", "a file with more topics is brought into a study that people are judging", release=10, seconds=15)
def import_while_judged(trial: Trial) -> None:
    program = Program(trial)
    with trial.load(think=0.1):
        trial.until(0.3)
        key = program.upload("topics.jsonl", bundle(trial, 2, sentences=8))
        wait_until(lambda: program.state(key) == "ready", "the preview", pause=0.2)
        program.confirm(key)
        wait_until(lambda: program.state(key) == "stored", "the import", pause=0.2)
        wait_until(lambda: not uncut(trial), "the texts are cut")
        take_topics(trial)


def take_topics(trial: Trial) -> None:
    """From now on the study's topics are all that are there, with those that were brought in."""
    before = len(trial.given["topics"])
    rows = trial.product.tables.rows("SELECT id FROM annotate_topic WHERE study_id = ?", trial.given["study"])
    trial.given["topics"] = [row["id"] for row in rows]
    trial.wanted = trial.wanted // before * len(rows)


#: Bytes that a process of the worker may take beyond what it has: less than the text of the file.
SCARCE = 1_000_000


@fault("F29", "the worker has hardly any memory left while it reads a large file", release=10, seconds=25)
def no_memory(trial: Trial) -> None:
    """What people judge goes on; the file is stored once there is memory, or refused in words, and never in part."""
    trial.expected.tracebacks = KILLED + r"|celery\.redirected"  # where there is none to write a line of a log with
    program, topics = Program(trial), 150
    content = bundle(trial, topics, sentences=1000)
    with trial.load(think=0.1):
        trial.until(0.1)
        children = trial.product.pool()
        for pid in children:
            resource.prlimit(pid, resource.RLIMIT_AS, (address_space(pid) + SCARCE, resource.RLIM_INFINITY))
        try:
            key = program.upload("topics.jsonl", content)
            with suppress(Stuck):  # a busy machine comes to the file late
                wait_until(lambda: times_without_memory(trial) > 0, "no memory", 20, pause=0.2)
            time.sleep(trial.rng.uniform(0, 3))
        finally:
            for pid in children:
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_until(lambda: program.state(key) != "waiting", "the preview", pause=0.3)
        trial.seen[f"the file is {program.state(key)}"] += 1
        trial.seen["times that there was no memory"] += times_without_memory(trial)
        if not times_without_memory(trial):
            trial.complaints.append("there was memory enough: nothing was tried here")
    assert imported(trial) == (0, 0)


def times_without_memory(trial: Trial) -> int:
    return len(re.findall(r"^MemoryError", trial.product.said_since(trial.log_from), re.MULTILINE))


def address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


#: What must be so in an installation that was restored from a backup, where nobody has done anything yet.
OF_BACKUPS = ("I3", "I4", "I6", "I8", "I10")


@fault("F30", "a backup taken at a random moment under load, restored elsewhere", release=10, seconds=30)
def backup(trial: Trial) -> None:
    """Everything that was confirmed before it began is there, the books balance, and its worker fits what is there."""
    product = trial.product
    copy = str(product.room / f"{trial.name}.backup")
    with trial.load(think=0.1):
        trial.until(trial.rng.uniform(0.1, 0.8))
        before = {(entry["key"], entry["revision"]) for entry in trial.journal.of("acked")}
        product.inside.run(COMMAND, command="backup", file=copy)
    with empty(product) as other:
        other.inside.run(COMMAND, command="restore_backup", file=copy)
        rows = other.tables.rows(
            "SELECT a.key, j.revision FROM annotate_judgment j JOIN annotate_assignment a ON a.id = j.assignment_id"
        )
        lost = before - {(row["key"], row["revision"]) for row in rows}
        trial.complaints += [f"{key[:8]}.{revision} was confirmed and is not in the backup" for key, revision in lost]
        if other.redis:
            other.redis.start()
        other.start()
        restored = Trial(other, trial.rng, f"{trial.name}-restored", given=trial.given)
        with suppress(Stuck):
            took = wait_until(restored.is_quiet, "the worker has fitted what was restored", QUIET, pause=0.2)
            trial.seen["ms until the restored was quiet"] += round(1000 * took)
        seen = restored.facts()
        for name in OF_BACKUPS:
            trial.complaints += [f"restored, {name}: {complaint}" for complaint in INVARIANTS[name](seen)]
        restored.journal.close()
    trial.seen["rows of judgments restored"] += len(rows)


INVITE = """
from annotate import invitations
study = Study.objects.get(pk=study)
invitation = invitations.invite(study, study.created_by, role=role)
result = invitation.pk, invitations.invitation_path(invitation)
"""
OTHER_STUDY = "result = studies.make_study(User.objects.get(username='owner'), title='Another', question='Which?').pk"


#: A link that confirms an address, for an account that is newer than the backup.
CONFIRM = """
from annotate import accounts
user = User.objects.create_user(name, password="four unrelated words")
result = user.pk, "/account/email/" + accounts.email_token(user, "after@example.org") + "/"
"""
#: Whoever gets the number after the restore, and their session.
NEW_ACCOUNT = """
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
user = User.objects.create_user("restored", password="four unrelated words")
session = import_module(settings.SESSION_ENGINE).SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session.create()
result = user.pk, session.session_key
"""
ADDRESSES = "result = list(User.objects.exclude(email='').values_list('username', 'email'))"


@fault("F35", "a backup is restored, and somebody comes with a link that is newer than it", release=10, seconds=20)
def old_links(trial: Trial) -> None:
    """The link's number is given anew: to an invitation of another study, or to another account, whoever is signed in.

    The link must not open that one, nor set that one's address.
    """
    product = trial.product
    copy = str(product.room / f"{trial.name}.backup")
    with trial.load(think=0.1):
        trial.until(trial.rng.uniform(0.1, 0.6))
        product.inside.run(COMMAND, command="backup", file=copy)
        number, link = product.inside.run(INVITE, study=trial.given["study"], role="annotator")
        account, confirm = product.inside.run(CONFIRM, name=trial.name)
    with empty(product) as other:
        other.variables["PREFERENDUM_SECRET_KEY_FILE"] = str(product.data / "secret_key")  # which links are signed with
        other.inside.run(COMMAND, command="restore_backup", file=copy)
        other.inside.ask("migrate")
        if other.redis:
            other.redis.start()
        other.start()
        other.wait_for_web()
        study = other.inside.run(OTHER_STUDY)
        numbers = [other.inside.run(INVITE, study=study, role="owner")[0] for _ in range(3)]
        if number not in numbers:
            trial.complaints.append(f"{numbers} is not {number}: nothing was tried here")
        wait_until(lambda: other.asked(trial.given["link"]) > 0, "the page of the old link")
        if (status := other.asked(trial.given["link"])) != 200:
            trial.complaints.append(f"a link as old as the backup was answered {status}: nothing was tried here")
        if (status := other.asked(link)) != 404:
            trial.complaints.append(f"a link that is newer than the backup was answered {status}")
        trial.complaints += confirmed(other, account, confirm)


def confirmed(other: Product, account: int, link: str) -> Iterator[str]:
    """What is wrong after a click on a link that confirms the address of an account that is gone, and on its button."""
    restored, session = other.inside.run(NEW_ACCOUNT)
    if restored != account:
        yield f"account {restored} is not {account}: nothing was tried here"
    for cookies in ({}, {"session": session}):
        browser = Browser(("127.0.0.1", other.port))
        browser.cookies |= cookies
        page = browser.ask("GET", "/about/" if cookies else "/sign-in/")
        token = CSRF_TOKEN.search(page.body)
        answers = [browser.ask("GET", link), browser.ask("POST", link, {"csrfmiddlewaretoken": token and token[1]})]
        browser.close()
        if (statuses := [answer.status for answer in answers]) != ([404, 404] if cookies else [302, 302]):
            yield f"a link that confirms an address of an account that is gone was answered {statuses}"
    if addresses := other.inside.run(ADDRESSES):
        yield f"a link of an account that is gone set an address: {addresses}"


COMMAND = "from django.core.management import call_command\ncall_command(command, file)"


@contextmanager
def empty(product: Product) -> Iterator[Product]:
    """Another installation of the same kind, of which nothing is there yet and nothing runs but its database."""
    other = Product(on=product.on, checkout=product.checkout)
    try:
        if other.postgres:
            other.postgres.make()
            other.postgres.start()
        yield other
    finally:
        other.__exit__()
