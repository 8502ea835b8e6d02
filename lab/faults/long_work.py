"""Long work of some studies beside another that is judged: F36."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field

from lab.harness.footprint import Footprint
from lab.harness.product import Stuck, wait_until
from lab.harness.tables import Away
from lab.harness.trials import Trial, fault

#: Seconds within which the board of a study that is judged follows, 95 times of 100, whatever others bring.
LAG = 5.0
#: Seconds in which the long work itself must come to its end, on a machine that has other things to do.
LONG = 300.0
SIZES = ((30, 1500), (10_000, 10))

#: Run inside: a study of one topic with so many sentences and systems, and with 100 preferences.
MAKE = """
import random
from preferendum import formats
from annotate import imports
rng = random.Random(sentences)
lengths = [rng.randint(4, 12) for _ in range(sentences)]
texts = [" ".join(f"w{int(rng.paretovariate(0.7)) % 20000}" for _ in range(length)) for length in lengths]
preferences = []
for _ in range(100):
    a, b = rng.sample(range(sentences), 2)
    preferences.append(formats.Preference("wide", f"d:{a}", f"d:{b}", rng.choice("ab"), annotator="p"))
summaries = tuple(formats.Summary(f"s{k}", sentences=tuple(rng.sample(texts, 3))) for k in range(systems))
topic = formats.Topic("wide", documents=(formats.Text("d", sentences=tuple(texts)),), summaries=summaries)
made = studies.make_study(User.objects.get(username="owner"), title="Wide", question="Which?")
imports.store(made, formats.Bundle(topics=(topic,), preferences=tuple(preferences)))
result = made.pk
"""


#: Bytes of long topics that the worker may keep for the next time: each of its two processes may have the similarities
#: of 4,000 of the 10,000 sentences, and what 2,000 of them tell of the systems (`evaluation.tasks` says how much it
#: keeps of all topics together).
MAY_KEEP = 2 * (8 * 4_000**2 + 4 * 2_000**2)


@dataclass
class Board:
    """How far the board of the trial's study is behind its judgments, each time that somebody looks."""

    trial: Trial
    waiting: dict[int, float] = field(default_factory=dict)
    lags: list[float] = field(default_factory=list)

    def look(self) -> None:
        with suppress(Away):
            now, study = time.monotonic(), self.trial.given["study"]
            version = sum(row["data_version"] for row in self.trial.versions())
            ranked = self.trial.product.tables.rows("SELECT version FROM annotate_ranking WHERE study_id = ?", study)
            shown = min((row["version"] for row in ranked), default=0)
            self.waiting.setdefault(version, now)
            for awaited in [awaited for awaited in self.waiting if awaited <= shown]:
                self.lags.append(now - self.waiting.pop(awaited))

    @property
    def p95(self) -> float:
        """With what is still waited for, as long as it has been."""
        now = time.monotonic()
        lags = sorted(self.lags + [now - since for since in self.waiting.values()])
        return lags[int(0.95 * (len(lags) - 1))]


@fault("F36", "1,500 systems, and 10,000 sentences, in studies beside one that is judged", release=10, seconds=90)
def starving(trial: Trial) -> None:
    """The board of the study that is judged follows as ever, and the long work comes to its end."""
    product = trial.product
    product.spent = True
    product.usual["worker"] += Footprint(memory=MAY_KEEP)
    trial.study(judgments_per_topic=60, sentences=16)
    board = Board(trial)
    with trial.load(think=0.5):
        trial.until(0.05)
        wide = [trial.product.inside.run(MAKE, sentences=n, systems=systems) for n, systems in SIZES]
        while not trial.is_complete():
            board.look()
            time.sleep(0.1)
    with suppress(Stuck):
        wait_until(lambda: board.look() or not board.waiting, "the board", trial.busyness * LAG)  # type: ignore[func-returns-value]
    trial.seen["ms of lag (p95)"] += round(1000 * board.p95)
    trial.seen["ms of lag (most)"] += round(1000 * max(board.lags, default=0.0))
    if board.p95 >= trial.busyness * LAG:
        trial.complaints.append(f"the board was {board.p95:.1f} s behind (p95 of {len(board.lags)})")
    for study, (n, systems) in zip(wide, SIZES, strict=True):
        took = wait_until(
            lambda study=study: is_ranked(trial, study), f"{n} sentences, {systems} systems", trial.busyness * LONG, 0.5
        )
        trial.seen[f"ms more until {systems} systems on {n} sentences were ranked"] += round(1000 * took)


def is_ranked(trial: Trial, study: int) -> bool:
    with suppress(Away):
        query = "SELECT COUNT(*) FROM annotate_ranking WHERE study_id = ? AND version > 0 AND problem = ''"
        return bool(trial.product.tables.value(query, study))
    return False
