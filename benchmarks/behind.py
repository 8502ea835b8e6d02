"""How far is a topic's board behind its last answer, while thousands of topics are judged all the time?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.behind [--topics 3000] [--processes 1 4] [--faster 1] [--seconds 30]

200 annotators answer about a pair every 8 s (exponentially distributed), ten pairs of a topic in a run, on a clock of
the benchmark's own. Heartbeat, claims and fits are the worker's; so is the order of its messages. Each message takes a
process as long as the benchmark's process takes to do it, database (SQLite) among it, whatever else the machine does;
`--faster`: that many times less, for a machine that is known to be so much slower now. So one run tells of any number
of processes that have a core each. What the website, Redis and other work of the worker take is left out.
Made-up topics with 30 sentences and 10 summaries, the same ten with other names.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections import deque
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate.models import Annotator, Study

ALIKE, SENTENCES, SYSTEMS, ANNOTATORS, PACE, RUN, SETTLING = 10, 30, 10, 200, 8.0, 10, 5.0
#: Of keys: of the rows of ten topics in any table there are fewer.
APART = 10_000
TABLES = ("itemset", "topic", "tally", "sourcedocument", "item", "summary")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=3000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--faster", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _measure(options, Path(folder))


def _measure(options: argparse.Namespace, folder: Path) -> None:
    made, used = folder / "made.sqlite3", folder / "study.sqlite3"
    os.environ |= {
        "PREFERENDUM_DATA": str(folder),
        "DATABASE_URL": f"sqlite:///{used}",
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
    }
    import django

    django.setup()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connections

    from evaluation import agenda

    agenda.RANKINGS = agenda.OTHERS = ()  # only fits are measured
    call_command("migrate", verbosity=0)
    study, people = _study()
    connections.close_all()
    _multiply(used, options.topics // ALIKE)
    shutil.copy(used, made)
    for settings.WORKER_PROCESSES in options.processes:
        connections.close_all()
        shutil.copy(made, used)
        simulated = _Simulated(study, people, settings.WORKER_PROCESSES, options)
        simulated.run(SETTLING + options.seconds)
        simulated.tell(options.topics)


def _study() -> tuple[Study, list[Annotator]]:
    from annotate import imports
    from annotate.models import Annotator
    from preferendum import formats
    from tests.annotate import making

    chance = random.Random(0)
    study = making.study(judgments_per_pair=100)
    topics = tuple(
        formats.Topic(
            f"T{k}",
            (formats.Text("d", sentences=_text(SENTENCES, chance)),),
            summaries=tuple(formats.Summary(f"s{j}", sentences=_text(2, chance)) for j in range(SYSTEMS)),
        )
        for k in range(ALIKE)
    )
    imports.store(study, formats.Bundle(topics))
    people = [Annotator(study=study, pseudonym=f"a{k}") for k in range(ANNOTATORS)]
    return study, Annotator.objects.bulk_create(people)


def _text(sentences: int, chance: random.Random) -> tuple[str, ...]:
    words = [f"{a}{b}{c}" for a in ("ba", "de", "ki", "lo") for b in ("ra", "ne", "mi", "tu") for c in ("s", "n", "l")]
    return tuple(" ".join(chance.choices(words, k=10)).capitalize() + "." for _ in range(sentences))


def _multiply(path: Path, times: int) -> None:
    """Copy the topics' rows, with other keys, names and places."""
    database = sqlite3.connect(path)
    tables = [f"annotate_{table}" for table in TABLES]
    for table in tables:
        columns = [f'"{name}"' for _k, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        foreign = {f'"{row[3]}"' for row in database.execute(f"PRAGMA foreign_key_list({table})") if row[2] in tables}
        rows = database.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        database.executemany(
            f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
            [
                tuple(
                    _moved(table, name, value, k, name in foreign | {'"id"'})
                    for name, value in zip(columns, row, strict=True)
                )
                for k in range(1, times)
                for row in rows
            ],
        )
    database.commit()
    database.close()


def _moved(table: str, name: str, value: Any, k: int, is_key: bool) -> Any:
    if is_key:
        return None if value is None else value + k * APART
    if table == "annotate_topic" and name in ('"name"', '"position"'):
        return f"{value}.{k}" if name == '"name"' else value + k * ALIKE
    return value


class _Simulated:
    """Annotators and a worker on one clock, which moves from event to event."""

    def __init__(self, study: Study, people: list[Annotator], processes: int, options: argparse.Namespace) -> None:
        from annotate.models import Item, Topic
        from evaluation.heartbeat import Heartbeat

        self.people, self.faster = people, options.faster
        self.chance, self.free = random.Random(1), [0.0] * processes
        self.began = time.time()
        self.items: dict[int, list[int]] = {}
        for topic, item in Item.objects.filter(item_set__topic__in=Topic.objects.all()).values_list("item_set", "pk"):
            self.items.setdefault(topic, []).append(item)
        self.topics = [key for key, items in self.items.items() if len(items) == SENTENCES]
        self.queue: deque[Any] = deque()
        self.heartbeat = Heartbeat(self.queue.append, alone=False)
        self.heartbeat._notice_deafness = lambda *_: None  # no broker is asked
        self.stored: list[tuple[float, int, int]] = []
        self.published: dict[int, list[tuple[float, int]]] = {}
        self.runs = [(0, 0)] * len(people)
        self.beats: list[float] = []
        self.fitted = self.messages = 0
        self.busy = 0.0

    def run(self, seconds: float) -> None:
        """Answers, beats and messages in the order of their times."""
        import time_machine

        arrivals = [(self.chance.expovariate(1 / PACE), who) for who in range(len(self.people))]
        heapify(arrivals)
        heapify(self.free)
        beat = 0.0
        while True:
            message = max(self.free[0], self.queue[0][0]) if self.queue else float("inf")
            now = min(arrivals[0][0], beat, message)
            if now > seconds:
                return
            with time_machine.travel(self.began + now, tick=False):
                if now == arrivals[0][0]:
                    _at, who = heappop(arrivals)
                    self.answer(who, now)
                    heappush(arrivals, (now + self.chance.expovariate(1 / PACE), who))
                elif now == beat:
                    self.beat(now)
                    beat += 1.0
                else:
                    heappop(self.free)
                    heappush(self.free, now + self.work(self.queue.popleft()[1], now))

    def beat(self, now: float) -> None:
        sent: list[Any] = []
        self.heartbeat._publish = sent.append
        took = self.timed(lambda: self.heartbeat.beat(now))
        self.beats.append(took)
        self.queue.extend((now + took, works if isinstance(works, list) else [works]) for works in sent)

    def work(self, works: list[Any], now: float) -> float:
        """Do what a message asks for; the seconds that it takes."""
        from annotate.models import Claim, ItemSetProgress
        from evaluation import tasks

        keys = [work.key for work in works]
        took = self.timed(lambda: tasks.TASKS[works[0].task](*keys))
        Claim.objects.filter(name__in=[work.claim for work in works]).update(seconds=took / len(works))
        fits = ItemSetProgress.objects.filter(item_set__in=keys).values_list("item_set", "fitted_version")
        for key, version in fits:
            self.published.setdefault(key, []).append((now + took, version))
        self.fitted, self.messages, self.busy = self.fitted + len(keys), self.messages + 1, self.busy + took
        return took

    def timed(self, work: Any) -> float:
        began = time.process_time()
        work()
        return (time.process_time() - began) / self.faster

    def answer(self, who: int, now: float) -> None:
        """Store one answer of an annotator."""
        from django.utils import timezone

        from annotate.models import Assignment, Judgment, Pair, Tally

        topic, left = self.runs[who]
        topic, left = (topic, left) if left else (self.chance.choice(self.topics), RUN)
        self.runs[who] = topic, left - 1
        first, second = sorted(self.chance.sample(self.items[topic], 2))
        pair, _made = Pair.objects.get_or_create(
            item_set_id=topic, first_id=first, second_id=second, defaults={"need": 100}
        )
        if Assignment.objects.filter(pair=pair, annotator=self.people[who]).exists():
            return
        at = {"created_at": timezone.now(), "closed_at": timezone.now()}
        shown = Assignment.objects.create(
            item_set_id=topic, annotator=self.people[who], pair=pair, swapped=False, state="judged", revision=1, **at
        )
        answer = self.chance.choice(["left", "right"])
        Judgment.objects.create(assignment=shown, item_set_id=topic, answer=answer, seconds=3.0, at=timezone.now())
        tally = Tally.objects.get(item_set=topic)
        Tally.objects.filter(pk=tally.pk).update(data_version=tally.data_version + 1)
        self.stored.append((now, topic, tally.data_version + 1))

    def tell(self, topics: int) -> None:
        lags = sorted(self.lags())
        each, beats = 1000 * self.busy / self.fitted, 1000 * statistics.median(self.beats)
        print(
            f"{topics} topics, {len(self.free)} process(es): behind by {statistics.median(lags):.1f} s (median), "
            f"{lags[int(0.95 * len(lags))]:.1f} s (p95), {lags[-1]:.1f} s (worst) of {len(lags)} answers; "
            f"{self.fitted} fits in {self.messages} messages, {each:.0f} ms each; a beat takes {beats:.0f} ms",
            flush=True,
        )

    def lags(self) -> list[float]:
        """Seconds from an answer to the fit that knows it; to the end, where none does."""
        end = max(at for at, *_ in self.stored)
        return [
            next((at for at, fitted in self.published.get(topic, ()) if fitted >= version), end) - stored
            for stored, topic, version in self.stored
            if stored > SETTLING
        ]


if __name__ == "__main__":
    main()
