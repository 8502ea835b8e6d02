"""How long do people wait who judge while a file of judgments is stored?

    python -m benchmarks.importing [--on sqlite services] [--judgments 60000 200000] [--into own other]

Starts the product as `benchmarks.load` does. Annotators judge as the page's own script does, first alone; then a file
of so many judgments is uploaded, read, confirmed and stored by the worker, into the study that they judge or into
another one, while they go on. Printed: how long the worker took, how long half and 95 of 100 answers took alone and
meanwhile, their ratio, the longest, and how many of the file's judgments were ever seen to count.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.load import JUDGE, TOPICS, Annotator, Case, at, carefully, installation
from benchmarks.serving import ROOT

ALONE, SETTLING = 60.0, 5.0  # seconds
GLANCE = 5.0  # seconds between two counts of what was stored, which take the database's time too
LONGEST = 3600.0
AUTHORS = 40


@dataclass(frozen=True)
class Trial:
    on: str
    judgments: int
    into: str
    annotators: int
    pace: float


def judgments(study: int, number: int) -> bytes:
    """So many preferences among the sentences of the study's topics, one line each."""
    from annotate.models import Item, Topic

    chance, lines = random.Random(0), []
    topics = list(Topic.objects.filter(study=study))
    names = [list(Item.objects.filter(item_set=topic.pk).names().values()) for topic in topics]
    for index in range(number):
        which = index % len(topics)
        a, b = chance.sample(names[which], 2)
        line = {"topic": topics[which].name, "a": a, "b": b, "winner": chance.choice("ab"), "seconds": 4.5}
        lines.append(json.dumps(line | {"annotator": f"w{chance.randrange(AUTHORS)}"}))
    return "\n".join(lines).encode()


def another_study() -> int:
    from django.contrib.auth.models import User

    from annotate import imports, studies
    from preferendum import formats

    study = studies.create_study(User.objects.get(), title="Other", question="Which?", judgments_per_topic=1_000_000)
    imports.store(study, formats.read(TOPICS))
    return study.pk


def store_upload(study: int, content: bytes, name: str = "preferences.jsonl") -> tuple[float, set[int]]:
    """Upload, confirm, wait; seconds from the confirmation on, and how many of its judgments counted on the way."""
    from django.contrib.auth.models import User
    from django.core.files.uploadedfile import SimpleUploadedFile

    from annotate import imports
    from annotate.models import Judgment, Study

    owner = User.objects.get()
    upload = imports.receive(Study.objects.get(pk=study), owner, SimpleUploadedFile(name, content))
    end = time.monotonic() + LONGEST
    counted = Judgment.objects.counted().filter(assignment__upload=upload)
    seen, began = set(), time.monotonic()
    while upload.state in ("waiting", "ready", "confirmed"):
        if upload.state == "ready":
            imports.confirm(upload, owner)
            began = time.monotonic()
        time.sleep(GLANCE if upload.state == "confirmed" else 1.0)
        upload.refresh_from_db()
        seen.add(counted.count())
        if time.monotonic() > end:
            break
    if upload.state != "stored":
        raise RuntimeError(f"{upload.state}: {upload.problem} {upload.complaints[:2]}")
    return time.monotonic() - began, seen


def measure(trial: Trial) -> None:
    case = Case(trial.on, 2, trial.annotators, trial.pace, ALONE, 3)
    with tempfile.TemporaryDirectory() as folder, installation(case, Path(folder)) as (port, link, _machine):
        from annotate.models import Study

        study = Study.objects.get().pk if trial.into == "own" else another_study()
        content = judgments(study, trial.judgments)
        with judging(case, port, link) as times:
            lasted, seen = store_upload(study, content)
            meanwhile = times.since()
        report(trial, lasted, seen, times.alone, meanwhile)


@dataclass
class Times:
    """What answers took, in seconds: while nothing else was done, and since somebody asked last."""

    annotators: list[Annotator]
    alone: list[float] = field(default_factory=list)

    def since(self) -> list[float]:
        return [seconds for annotator in self.annotators for seconds in annotator.browser.took.pop(JUDGE, [])]


@contextmanager
def judging(case: Case, port: int, link: str) -> Iterator[Times]:
    """People judge for a while with nothing beside them, and on while the body lasts."""
    times = Times([Annotator("127.0.0.1", port, link, case, seed) for seed in range(case.annotators)])
    problems: list[BaseException] = []
    stop = threading.Event()

    def work(annotator: Annotator, _until: float) -> None:
        while not stop.is_set():
            annotator.think()
            annotator.judge()

    threads = [
        threading.Thread(target=carefully, args=(partial(work, annotator), 0.0, problems))
        for annotator in times.annotators
    ]
    for thread in threads:
        thread.start()
    time.sleep(SETTLING)
    times.since()
    time.sleep(case.seconds)
    times.alone = times.since()
    try:
        yield times
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    if problems:
        raise problems[0]


def report(trial: Trial, lasted: float, seen: set[int], alone: list[float], meanwhile: list[float]) -> None:
    where = "the study that is judged" if trial.into == "own" else "another study"
    print(f"\n{trial.on}, {trial.judgments:,} judgments into {where}: stored in {lasted:.0f} s")
    report_times(alone, meanwhile)
    print(f"  seen to count on the way: {sorted(seen)}", flush=True)


def report_times(alone: list[float], meanwhile: list[float]) -> None:
    for name, several in (("alone", alone), ("meanwhile", meanwhile)):
        p50, p95, worst = (at(share, several) * 1000 for share in (0.5, 0.95, 1.0))
        print(f"  {name:10} {len(several):6,} answers: p50 {p50:.1f} ms, p95 {p95:.1f} ms, longest {worst:.0f} ms")
    print(f"  p95 meanwhile to alone: {at(0.95, meanwhile) / at(0.95, alone):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", nargs="+", choices=["sqlite", "services"], default=["sqlite", "services"])
    parser.add_argument("--judgments", type=int, nargs="+", default=[60_000, 200_000])
    parser.add_argument("--into", nargs="+", choices=["own", "other"], default=["own", "other"])
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--pace", type=float, default=2.0, help="mean seconds of thought between two answers, twice")
    parser.add_argument("--trial", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trial:
        measure(Trial(**json.loads(options.trial)))
        return
    for on in options.on:
        for into in options.into:
            for number in options.judgments:
                trial = Trial(on, number, into, options.annotators, options.pace)
                command = [sys.executable, "-m", "benchmarks.importing", "--trial", json.dumps(asdict(trial))]
                subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
