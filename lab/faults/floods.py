"""One person who asks for much: F37, F38."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from lab.faults.files import Program
from lab.faults.long_work import LAG, Board
from lab.harness.footprint import Footprint
from lab.harness.product import Stuck, wait_until
from lab.harness.trials import Trial, fault

#: Run inside: studies of another owner, each with so many topics of so many made-up sentences.
MAKE = """
import random
from preferendum import formats
from annotate import imports
flooder, _ = User.objects.get_or_create(username="flooder")
rng, result = random.Random(1), []
for number, sentences in sizes:
    topics = []
    for name in range(number):
        texts = tuple(" ".join(f"w{rng.randint(0, 5000)}" for _ in range(12)) for _ in range(sentences))
        topics.append(formats.Topic(f"T{name}", documents=(formats.Text("d", sentences=texts),)))
    made = studies.make_study(flooder, title="Flood", question="Which?")
    imports.store(made, formats.Bundle(topics=tuple(topics)))
    result.append(made.pk)
"""
#: Run inside: the same person asks for copies of one of these and for exports of all, past the limits of an hour.
ASK = """
from annotate import exports
from annotate.models import Allowance
flooder = User.objects.get(username="flooder")
source = Study.objects.get(pk=made[0])
for number in range(copies):
    if number % 20 == 0:
        Allowance.objects.all().delete()
    studies.copy_study(source, flooder, title=f"Copy {number}", with_topics=True)
for key in made:
    exports.request_export(Study.objects.get(pk=key), flooder)
"""
#: Run inside: how many files of the flood are not worked on yet.
LEFT = """
from annotate.models import Export, Upload
owned = {"study__created_by__username": "flooder"}
result = Upload.waiting().filter(**owned).count() + Export.waiting().filter(**owned).count()
"""
#: Run inside: how much the worker still has to do.
WORK = """
from evaluation.agenda import look
result = len(look().waiting) + len(look().running)
"""
#: What the worker and the website may keep of these files for the next time.
MAY_KEEP = Footprint(memory=256 << 20)
#: Topics and sentences of each: the file of the large one took the website 0.3 s to write, in the one transaction.
LARGE, SMALL = (20, 700), (10, 100)
#: How many judgments are timed before the flood, and at least beside it.
JUDGMENTS = 300
#: Seconds in which the flood itself must be worked off, on a machine that has other things to do.
LONG = 600.0


def prepare(trial: Trial, sizes: list[tuple[int, int]], judgments: int) -> list[int]:
    """The trial's study, and those of the person who asks for much, all at rest."""
    trial.product.spent = True
    for footprint in trial.product.usual:
        trial.product.usual[footprint] += MAY_KEEP
    trial.study(sentences=40, judgments_per_topic=judgments)
    made: list[int] = trial.product.inside.run(MAKE, sizes=sizes)
    wait_until(lambda: trial.product.inside.run(WORK) == 0, "the worker is at rest", trial.busyness * LONG, 0.5)
    return made


def work_off(trial: Trial) -> None:
    """What was asked for comes to its end, too."""
    took = wait_until(
        lambda: trial.product.inside.run(LEFT) == 0, "the flood is worked off", trial.busyness * LONG, 0.5
    )
    trial.seen["ms more until the flood was worked off"] += round(1000 * took)


@fault("F37", "copies in a loop by one client, and ten exports and baselines at once: p95 of judging", seconds=90)
def copies(trial: Trial) -> None:
    """Judging in another study takes at most twice as long as without them."""
    made = prepare(trial, [LARGE, *[SMALL] * 10], judgments=2000)
    trial.expected.complete = False
    program = Program(trial, made[0])
    with trial.load(think=0.1):
        trial.until(30 / trial.wanted)
        alone = p95(trial, lambda: False)
        with looping(trial, program, made) as loop:
            beside = p95(trial, loop.is_alive)
    trial.seen["ms p95 without them"] = alone
    trial.seen["ms p95 with them"] = beside
    if beside > 2 * alone:
        trial.complaints.append(f"p95 of judging: {alone} ms, and {beside} ms beside copies, exports and baselines")
    work_off(trial)


@contextmanager
def looping(trial: Trial, program: Program, made: list[int]) -> Iterator[threading.Thread]:
    """One client that asks for exports and baselines of all these studies but the first, and copies that in a loop."""

    def ask(path: str, **given: object) -> None:
        status, _said = program.once("POST", path, json.dumps(given).encode())
        trial.seen[f"{path.split('/')[-2]} answered {status}"] += 1

    def flood() -> None:
        for key in made[1:]:
            ask(f"/api/v1/studies/{key}/exports/")
            ask(f"/api/v1/studies/{key}/uploads/baselines/", words=100)
        for number in range(COPIES):
            ask(f"{program.here}/copies/", title=f"Copy {number}", with_topics=True)

    loop = threading.Thread(target=flood, daemon=True)
    loop.start()
    try:
        yield loop
    finally:
        loop.join()


#: More than a person may make in an hour.
COPIES = 40


def p95(trial: Trial, goes_on: Callable[[], bool]) -> int:
    """Of the milliseconds that answers took, or tries to send one, from now on for some judgments or longer."""
    began, goal = trial.journal.now, trial.journal.acked + JUDGMENTS
    with suppress(Stuck):
        wait_until(lambda: trial.journal.acked >= goal and not goes_on(), "judgments", trial.busyness * 120)
    entries = [entry for entry in trial.journal.entries if entry["event"] in ("acked", "failed", "error")]
    took = sorted(entry["ms"] for entry in entries if entry["t"] - entry["ms"] / 1000 >= began)
    return round(took[int(0.95 * len(took))])


@fault("F38", "80 copies and 20 exports of one owner beside a study of another that is judged", release=10, seconds=90)
def flood(trial: Trial) -> None:
    """The board of the other owner's study follows within five seconds, and the flood is worked off."""
    made = prepare(trial, [SMALL] * 20, judgments=250)
    board = Board(trial)
    with trial.load(think=0.5):
        trial.until(0.05)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(trial.product.inside.run, ASK, made=made, copies=80)
            while not (asked.done() and trial.is_complete()):
                board.look()
                time.sleep(0.1)
            asked.result()
    with suppress(Stuck):
        wait_until(lambda: board.look() or not board.waiting, "the board", trial.busyness * LAG)  # type: ignore[func-returns-value]
    trial.seen["ms of lag (p95)"] += round(1000 * board.p95)
    trial.seen["ms of lag (most)"] += round(1000 * max(board.lags, default=0.0))
    if board.p95 >= trial.busyness * LAG:
        trial.complaints.append(f"the board was {board.p95:.1f} s behind (p95 of {len(board.lags)})")
    work_off(trial)
