"""How many people can judge at once, how long do they wait, and how soon does the leaderboard know?

    python -m benchmarks.load [--on sqlite services] [--web 2] [--annotators 200] [--pace 8] [--seconds 60]

Starts the product as it is run (gunicorn, a worker with its heartbeat; SQLite and the embedded broker, or a PostgreSQL
and a Redis of its own) on real news, and lets annotators judge as the page's own script does: the pair to come is
fetched ahead, one request takes an answer and brings the pair after it. They think for `--pace` seconds on average,
exponentially distributed, or not at all (`--pace 0`), and ask for a view that does nothing in between, which passes
through the same middleware and waits in the same queues. The clients run on the same machine.

Printed for each combination: judgments a second; how long half, 95 and 99 of 100 requests took; the same beside the
view that does nothing; how long after a judgment was stored the topic's and the study's leaderboard knew it; what the
processes took of memory and, for each judgment, of the processors.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.serving import ROOT, Browser, wait_for
from lab.services import free_port, running

TOPICS = ROOT / "annotate" / "demo" / "wikinews.jsonl"
ADDRESS = re.compile(r'<form id="answer" method="post" action="([^"]+)"')
NOTHING, JUDGE, SHOW = "a view that does nothing", "judge, draw and show", "show a pair"
AT_ONCE = 500  # topics in one file: a file may have 50 MB
SETTLING = 5.0  # seconds of judging before anything is counted
LOOK = 0.2  # seconds between two looks at the versions; each takes the machine a few milliseconds
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Case:
    """One combination to be measured; `pace`: mean seconds of thought, 0 for none; `compares`: as of a study, where
    each pair is judged a hundred times, since a topic has few pairs of summaries."""

    on: str
    web: int
    annotators: int
    pace: float
    seconds: float
    topics: int
    worker: bool = True
    compares: str = ""


@dataclass
class Measured:
    """What one combination gave. Times in seconds, memory in bytes, `cpu` in seconds a judgment."""

    case: Case
    judgments: int = 0
    lasted: float = 0.0
    took: dict[str, list[float]] = field(default_factory=dict)
    topic_lag: list[float] = field(default_factory=list)
    study_lag: list[float] = field(default_factory=list)
    cpu: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)


# What is measured.


class Annotator:
    """Judges as the page's script does, in a thread of its own."""

    def __init__(self, host: str, port: int, link: str, case: Case, seed: int) -> None:
        self.browser, self.case, self.chance = Browser(host, port), case, random.Random(seed)
        self.here = self.browser.begin(link)
        self.show()
        _status, _headers, part = self.browser.ask("ahead", "POST", f"{self.here}ahead/", self.form(), **self.htmx())
        self.ahead = self.address(part)

    def show(self) -> None:
        self.browser.ask(SHOW, "GET", self.here)

    def judge(self) -> None:
        """Give an answer; the pair that was fetched ahead is shown meanwhile, and the one after it comes back."""
        form = self.form(revision="1", answer=self.chance.choice(["left", "right"]), seconds="3.5")
        shown = self.ahead
        _status, _headers, text = self.browser.ask(JUDGE, "POST", self.here, form, **self.htmx(), Judge_Showing=shown)
        answer = json.loads(text)
        self.here, self.ahead = answer["here"], self.address(answer["ahead"])

    def think(self) -> None:
        if self.case.pace:
            time.sleep(self.chance.expovariate(2 / self.case.pace))

    def work(self, until: float) -> None:
        time.sleep(self.chance.random() * min(self.case.pace, SETTLING))
        while time.monotonic() < until:
            self.think()
            self.browser.ask(NOTHING, "GET", "/nothing/")
            self.think()
            self.judge()

    def form(self, **fields: str) -> str:
        return self.browser.form(**fields)

    @staticmethod
    def htmx() -> dict[str, str]:
        return {"HX_Request": "true"}

    @staticmethod
    def address(part: str) -> str:
        match = ADDRESS.search(part)
        if match is None:
            raise RuntimeError(f"no pair came: {part[:300]}")
        return match.group(1)


class Watch:
    """Looks at the versions in the tables while people judge, and says how far the leaderboards were behind."""

    def __init__(self) -> None:
        self.stored: dict[int, list[tuple[float, int]]] = {}
        self.fitted: dict[int, list[tuple[float, int]]] = {}
        self.sums: list[tuple[float, int]] = []
        self.ranked: list[tuple[float, int]] = []

    def look(self) -> None:
        from django.db.models import Sum

        from annotate.models import ItemSetProgress, Ranking, Tally

        now = time.monotonic()
        for topic, version in Tally.objects.values_list("item_set_id", "data_version"):
            self._note(self.stored.setdefault(topic, []), now, version)
        for topic, version in ItemSetProgress.objects.values_list("item_set_id", "fitted_version"):
            self._note(self.fitted.setdefault(topic, []), now, version)
        # A ranking's version is the sum of the fits' that it knows: one that has reached this sum knows them all.
        self._note(self.sums, now, ItemSetProgress.objects.aggregate(sum=Sum("fitted_version"))["sum"] or 0)
        self._note(self.ranked, now, Ranking.objects.values_list("version", flat=True).first() or 0)

    @staticmethod
    def _note(rows: list[tuple[float, int]], now: float, version: int) -> None:
        if not rows or version > rows[-1][1]:
            rows.append((now, version))

    def lags(self, since: float) -> tuple[list[float], list[float]]:
        """Seconds from the moment a version was seen stored to the one it was seen fitted, and ranked."""
        topic, study = [], []
        for key, rows in self.stored.items():
            fits = self.fitted.get(key, [])
            for at, version in rows:
                fit = next((when for when, fitted in fits if fitted >= version), None)
                if at < since or fit is None:
                    continue
                topic.append(fit - at)
                summed = next((total for when, total in reversed(self.sums) if when <= fit), 0)
                ranking = next((when for when, total in self.ranked if total >= summed), None)
                if ranking is not None:
                    study.append(ranking - at)
        return topic, study


@dataclass
class Machine:
    """The processes of one installation by what they are."""

    roots: dict[str, int]

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time used so far."""
        return {name: sum(seconds for seconds, _bytes in family(pid)) for name, pid in self.roots.items()}

    def memory(self) -> dict[str, int]:
        """Bytes that are the processes' own or, where shared, their share."""
        return {name: sum(size for _seconds, size in family(pid)) for name, pid in self.roots.items()}


def family(root: int) -> Iterator[tuple[float, int]]:
    """Seconds of processor time and proportional bytes of a process and everything it started."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            columns = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            pss = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue
        # Its own time, and that of children which have ended.
        yield sum(map(int, columns[11:15])) / TICKS, int(pss.group(1)) * 1024 if pss else 0


# One combination, in a process of its own.


@contextmanager
def installation(case: Case, folder: Path) -> Iterator[tuple[int, str, Machine]]:
    """The product with a study on it; its port, an invitation, its processes."""
    with ExitStack() as stack:
        port, roots = free_port(), {}
        environment = {
            "PREFERENDUM_DATA": str(folder),
            "PREFERENDUM_ORIGIN": f"http://127.0.0.1:{port}",
            "PREFERENDUM_BIND": f"127.0.0.1:{port}",
            "PREFERENDUM_WEB_PROCESSES": str(case.web),
            "DJANGO_SETTINGS_MODULE": "annotate.settings",
            "OPENBLAS_NUM_THREADS": "1",
            "PREFERENDUM_PACE_SECONDS": "0",  # who thinks for an exponentially distributed time is sometimes quick
        }
        if case.on == "services":
            postgres, redis = stack.enter_context(running())
            environment |= {"DATABASE_URL": postgres.url, "BROKER_URL": redis.url}
            roots = {"postgres": postgres.process.pid, "redis": redis.process.pid}  # type: ignore[union-attr]
        os.environ |= environment
        link = make_study(case.topics, case.compares)
        web = start(
            stack,
            folder / "web.log",
            "gunicorn",
            "-c",
            "python:annotate.server.gunicorn",
            "benchmarks.serving:application",
        )
        roots["web"] = web.pid
        if case.worker:
            command = ("celery", "-A", "evaluation.app", "worker", "--loglevel", "ERROR")
            roots["worker"] = start(stack, folder / "worker.log", *command).pid
        wait_for("127.0.0.1", port)
        yield port, link, Machine(roots)


def start(stack: ExitStack, log: Path, *command: str) -> subprocess.Popen[bytes]:
    stderr = stack.enter_context(log.open("wb"))
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=stderr)
    stack.callback(process.wait, 30)
    stack.callback(process.terminate)
    return process


def make_study(topics: int, compares: str = "") -> str:
    """Real news, as often as it takes, with room for every judgment; the path of an invitation."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from annotate import imports, invitations, studies
    from preferendum import formats

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.create(username="owner", is_superuser=True)
    room = {"judgments_per_topic": 1_000_000, "pairs_per_annotator": 1_000}
    if compares:
        room |= {"summary_judgments_per_topic": 1_000_000, "judgments_per_pair": 100}
    study = studies.create_study(owner, title="Load", question="Which?", compares=compares or "sentences", **room)
    lines = [json.loads(line) for line in TOPICS.read_text().splitlines()]
    source = Path(os.environ["PREFERENDUM_DATA"]) / "topics.jsonl"
    for start in range(0, topics, AT_ONCE):
        several = range(start, min(start + AT_ONCE, topics))
        records = [json.dumps(lines[number % len(lines)] | {"topic_id": f"T{number}"}) for number in several]
        source.write_text("".join(f"{record}\n" for record in records))
        imports.store(study, formats.read(source))
    return invitations.invitation_path(invitations.invite(study, owner))


def measure(case: Case) -> Measured:
    with tempfile.TemporaryDirectory() as folder, installation(case, Path(folder)) as (port, link, machine):
        people = [Annotator("127.0.0.1", port, link, case, seed) for seed in range(case.annotators)]
        watch = Watch()
        began = time.monotonic()
        since, until = began + SETTLING, began + SETTLING + case.seconds
        problems: list[BaseException] = []
        threads = [threading.Thread(target=carefully, args=(annotator.work, until, problems)) for annotator in people]
        for thread in threads:
            thread.start()
        while time.monotonic() < since:
            watch.look()
            time.sleep(LOOK)
        for annotator in people:
            annotator.browser.took = {}
        before = machine.cpu()
        while time.monotonic() < until and not problems:
            watch.look()
            time.sleep(LOOK)
        after, memory, lasted = machine.cpu(), machine.memory(), time.monotonic() - since
        took: dict[str, list[float]] = {}
        for annotator in people:
            for kind, several in list(annotator.browser.took.items()):
                took.setdefault(kind, []).extend(several)
        end = time.monotonic() + 30
        while any(thread.is_alive() for thread in threads) or time.monotonic() < until + 5:
            watch.look()
            time.sleep(LOOK)
            if time.monotonic() > end:
                break
        if problems:
            raise problems[0]
        topic_lag, study_lag = watch.lags(since)
        if case.compares == "both":  # the two boards have versions of their own, which add up to nothing
            study_lag = []
        judgments = len(took.get(JUDGE, ()))
        cpu = {name: (after[name] - before[name]) / max(1, judgments) for name in after}
        return Measured(case, judgments, lasted, took, topic_lag, study_lag, cpu, memory)


def carefully(work: Any, until: float, problems: list[BaseException]) -> None:
    try:
        work(until)
    except BaseException as problem:
        problems.append(problem)


# Printing.


def at(share: float, several: list[float]) -> float:
    ordered = sorted(several)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def report(measured: Measured) -> None:
    case = measured.case
    of = f" ({case.compares})" if case.compares else ""
    pace = f"{case.pace:g} s of thought" if case.pace else "as fast as they can"
    print(
        f"\n{case.on}, {case.web} web process{'es' * (case.web > 1)}, {case.annotators} annotators, {pace}, "
        f"{case.topics:,} topics{of}: {measured.judgments / measured.lasted:.1f} judgments a second "
        f"over {measured.lasted:.0f} s"
    )
    print(f"  {'':26}{'number':>8}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}{'p95 to nothing':>16}")
    basis = at(0.95, measured.took.get(NOTHING, []))
    for kind in (NOTHING, JUDGE):
        several = measured.took.get(kind, [])
        p50, p95, p99 = (at(share, several) * 1000 for share in (0.5, 0.95, 0.99))
        ratio = p95 / 1000 / basis
        print(f"  {kind:26}{len(several):>8,}{p50:>9.1f}{p95:>9.1f}{p99:>9.1f}{ratio:>16.2f}")
    for name, lag in (("topic", measured.topic_lag), ("study", measured.study_lag)):
        if lag:
            p50, p95, worst = statistics.median(lag), at(0.95, lag), max(lag)
            print(f"  judgment to the {name}'s leaderboard: p50 {p50:.2f} s, p95 {p95:.2f} s, worst {worst:.2f} s")
    parts = (
        f"{name} {measured.cpu[name] * 1000:.1f} ms, {measured.memory[name] / 2**20:.0f} MiB" for name in measured.cpu
    )
    print(f"  processor time a judgment (views that do nothing among it), memory: {'; '.join(parts)}", flush=True)


def in_process(case: Case) -> None:
    """Each combination starts from a fresh process: Django is set up for one database only."""
    command = [sys.executable, "-m", "benchmarks.load", "--case", json.dumps(asdict(case))]
    subprocess.run(command, cwd=ROOT, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "services"], default=["sqlite", "services"])
    parser.add_argument("--web", type=int, nargs="+", default=[2], help="web processes")
    parser.add_argument("--annotators", type=int, nargs="+", default=[200])
    parser.add_argument("--pace", type=float, nargs="+", default=[8.0], help="mean seconds of thought; 0: none")
    parser.add_argument("--topics", type=int, nargs="+", default=[3])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--no-worker", action="store_true")
    parser.add_argument("--compares", nargs="+", choices=["sentences", "both"], default=[""])
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        report(measure(Case(**json.loads(options.case))))
        return
    for on in options.on:
        for web in options.web:
            for annotators in options.annotators:
                for pace in options.pace:
                    for topics in options.topics:
                        for compares in options.compares:
                            worker = not options.no_worker
                            in_process(Case(on, web, annotators, pace, options.seconds, topics, worker, compares))


if __name__ == "__main__":
    main()
