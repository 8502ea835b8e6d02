"""The registry of faults, and one trial: a new study, clients at work, a fault, rest, and a verdict.

A fault is a function of a trial, told apart by its id:

    @fault("F01", "kill -9 one web process", quick=2, release=50, seconds=4)
    def one_web_process(trial: Trial) -> None:
        with trial.load():
            for _ in trial.strikes():
                kill([trial.rng.choice(trial.product.web_processes())])

Inside `load` clients judge; when it ends, the study is judged to its end and they go home. Everything of chance comes
from the trial's seed, so that a trial can be told to somebody else by its id, its backend and its number.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.harness import checker, footprint
from lab.harness.clients import Client, Journal
from lab.harness.product import LEASE, ROOT, Product, Stuck, wait_until
from lab.harness.seen import Expected, Seen
from lab.harness.tables import Away

BOTH = ("sqlite", "services")
TIERS = ("quick", "release")
#: Seconds in which clients get answers but none of them a pair, after which what is still wanted is stuck: by then
#: every lease has run out, and ten more have passed. Waiting for an answer does not count: the machine may be busy.
IN_TIME = LEASE + 10.0
#: Seconds after which nobody waits any longer, however busy the machine may be.
AT_MOST = 180.0
#: Seconds in which the worker must have caught up.
QUIET = 60.0


def busyness() -> float:
    """How many other programs share a core of this machine; 1 where none do. Every deadline is as many times longer."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass(frozen=True)
class Fault:
    """`quick`, `release`: trials on each backend of `on`; `variant`: what the product is made with, if not as usual."""

    id: str
    title: str
    cause: Callable[[Trial], object]
    on: tuple[str, ...] = BOTH
    quick: int = 1
    release: int = 10
    seconds: float = 5.0
    variant: tuple[tuple[str, Any], ...] = ()


REGISTRY: dict[str, Fault] = {}


def fault(id: str, title: str, **options: Any) -> Callable[[Callable[[Trial], object]], Callable[[Trial], object]]:  # noqa: A002
    """Enter a function into the registry."""
    variant = tuple(sorted(options.pop("variant", {}).items()))

    def enter(act: Callable[[Trial], object]) -> Callable[[Trial], object]:
        assert id not in REGISTRY or REGISTRY[id].cause.__qualname__ == act.__qualname__, f"{id} is taken"
        REGISTRY[id] = Fault(id, title, act, variant=variant, **options)
        return act

    return enter


@dataclass
class Trial:
    """One trial on a running product.

    `seen`: what happened, counted; `expected`: what is done on purpose; `complaints`: what the fault itself found;
    `tries`: how often the fault struck.
    """

    product: Product
    rng: random.Random
    name: str
    number: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    expected: Expected = field(default_factory=Expected)
    observed: list[tuple[int, int, int]] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    tries: int = 1
    given: dict[str, Any] = field(default_factory=dict)
    wanted: int = 0
    busyness: float = field(default_factory=busyness)

    def __post_init__(self) -> None:
        self.journal = Journal(self.product.room / f"{self.name}.jsonl")
        self.log_from = self.product.mark()

    # Setting up

    def study(self, topics: int = 2, sentences: int = 6, **settings: Any) -> dict[str, Any]:
        """The trial's study, made when it is first asked for: 2 x 12 judgments, two of each pair."""
        if not self.given:
            chosen = {"judgments_per_topic": 12, "judgments_per_pair": 2, "pairs_per_annotator": 1000} | settings
            self.given = self.product.inside.ask("make_study", topics=topics, sentences=sentences, **chosen)
            self.wanted = topics * chosen["judgments_per_topic"]
        return self.given

    def client(self, **options: Any) -> Client:
        """One more annotator, not yet begun. Every third has no script."""
        number = len(self.clients) + 1
        usual: dict[str, Any] = {"address": ("127.0.0.1", self.product.port), "script": number % 3 != 0}
        seed = random.Random(self.rng.random())
        made = Client(number, link=self.study()["link"], journal=self.journal, rng=seed, **usual | options)
        self.clients.append(made)
        return made

    # Load

    @contextmanager
    def load(self, clients: int = 3, **options: Any) -> Iterator[None]:
        """Clients judge while the body lasts, and then to the end of the study."""
        self.study()
        self.product.wait_for_parts()
        several = [self.client(**options) for _ in range(clients)]
        with self.watched():
            try:
                for client in several:
                    client.start()
                yield
                self.finish()
            finally:
                self.dismiss()

    def strikes(self, times: int = 1) -> Iterator[int]:
        """So many random moments while people judge, in order."""
        self.tries = 0
        for share in sorted(self.rng.uniform(0.08, 0.75) for _ in range(times)):
            self.until(share)
            self.tries += 1
            yield self.tries

    def until(self, share: float, patience: float = AT_MOST) -> None:
        """Wait until this share of what is wanted has been confirmed."""
        goal = max(1, round(share * self.wanted))
        wait_until(lambda: self.journal.acked >= goal, f"{goal} judgments", self.busyness * patience, pause=0.005)

    def finish(self) -> None:
        """Let the clients judge all that is wanted, as soon as they should once the website is back."""
        self.seen["ms to serve again"] += round(1000 * self.product.wait_for_web())
        if self.expected.complete:
            with suppress(Stuck):  # the checker says what is missing, in better words
                self.seen["ms to complete"] += round(1000 * self.wait_for_the_rest())
        for client in self.clients:
            client.done.set()

    def wait_for_the_rest(self) -> float:
        """Until all that is wanted is judged; raises `Stuck` where nobody has had a pair for too long."""
        began = moved = time.monotonic()
        before = self.journal.moves
        while not self.is_complete():
            now = time.monotonic()
            if self.journal.moves > before or any(client.waits for client in self.clients):
                before, moved = self.journal.moves, now
            if now - moved > self.busyness * IN_TIME or now - began > self.busyness * AT_MOST:
                raise Stuck("nothing moves")
            time.sleep(0.1)
        return time.monotonic() - began

    def dismiss(self) -> None:
        """Send the clients home once what they sent is confirmed."""
        deadline = time.monotonic() + self.busyness * AT_MOST
        for client in self.clients:
            client.done.set()
        for client in self.clients:
            if client.ident is not None:
                client.join(max(0.1, deadline - time.monotonic()))
        for client in self.clients:
            client.over.set()
            if client.ident is not None:
                client.join(20)

    def is_complete(self) -> bool:
        """Whether every topic has all the judgments that it wants."""
        with suppress(Away):
            counted = self.product.tables.rows(
                "SELECT COUNT(*) AS judgments FROM annotate_assignment a "
                "JOIN annotate_itemset t ON t.id = a.item_set_id "
                "JOIN annotate_annotator n ON n.id = a.annotator_id WHERE t.study_id = ? AND a.state = 'judged' "
                "AND a.holds_place AND n.excluded_at IS NULL GROUP BY t.id",
                self.given["study"],
            )
            topics = len(self.given["topics"])
            filled = [row for row in counted if row["judgments"] * topics >= self.wanted]
            return len(filled) == topics
        return False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look at the versions of the study's topics all the while."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.2):
                with suppress(Away):
                    self.observed += [(row["id"], row["data_version"], row["done"]) for row in self.versions()]

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()

    def versions(self) -> list[dict[str, Any]]:
        return self.product.tables.rows(
            "SELECT t.id, y.data_version, COALESCE(g.fitted_version, 0) AS done FROM annotate_itemset t "
            "JOIN annotate_tally y ON y.item_set_id = t.id "
            "LEFT JOIN annotate_itemsetprogress g ON g.item_set_id = t.id WHERE t.study_id = ?",
            self.given["study"],
        )

    # The end

    def is_quiet(self) -> bool:
        """Whether every topic is fitted and the study ranked as they stand."""
        with suppress(Away):
            versions = self.versions()
            if any(row["data_version"] != row["done"] for row in versions):
                return False
            fits = self.product.tables.value(
                "SELECT COUNT(*) FROM annotate_fit f "
                "JOIN annotate_itemset t ON t.id = f.item_set_id WHERE t.study_id = ?",
                self.given["study"],
            )
            ranked = self.product.tables.rows(
                "SELECT version FROM annotate_ranking WHERE study_id = ?", self.given["study"]
            )
            wanted = sum(row["done"] for row in versions)
            return not fits or (len(ranked) == 2 and all(row["version"] == wanted for row in ranked))
        return False

    def verdict(self) -> list[str]:
        """Wait for rest, and say what is broken."""
        if self.given:
            if self.expected.fitted:
                with suppress(Stuck):
                    took = wait_until(self.is_quiet, "the worker has caught up", self.busyness * QUIET, pause=0.2)
                    self.seen["ms until quiet"] += round(1000 * took)
            self.count()
            return self.complaints + checker.broken(self.facts())
        return self.complaints

    def facts(self) -> Seen:
        return Seen(
            self.product.tables,
            self.given["study"],
            self.journal,
            lambda topic: self.product.inside.ask("from_scratch", topic=topic),
            self.product.inside.run,
            self.not_back,
            self.observed,
            self.product.said_since(self.log_from),
            self.expected,
        )

    def not_back(self) -> list[str]:
        """What the product's processes take beyond what they took before the first fault."""
        return footprint.not_back(self.product.mark_of_processes, self.product.usual) if self.product.usual else []

    def count(self) -> None:
        """Put into words what the clients met."""
        for entry in self.journal.entries:
            match entry["event"]:
                case "acked":
                    self.seen["confirmed"] += 1
                    self.seen["confirmed as another"] += "stands" in entry["said"]
                case "failed" | "unanswered":
                    self.seen["unanswered"] += 1
                case "error":
                    self.seen[f"answered {entry['status']}"] += 1
                case "stale":
                    self.seen["answered 403"] += 1
        surplus = self.product.tables.value(
            "SELECT COUNT(*) FROM annotate_assignment a JOIN annotate_itemset t ON t.id = a.item_set_id "
            "WHERE t.study_id = ? AND a.state = 'judged' AND NOT a.holds_place",
            self.given["study"],
        )
        self.seen["surplus"] += surplus


@dataclass
class Outcome:
    """What came of one trial; one line of a report."""

    fault: str
    title: str
    on: str
    number: int
    seed: int
    seconds: float
    seen: dict[str, int]
    broken: list[str]
    tries: int = 1


def attempt(chosen: Fault, product: Product, number: int, seed: int) -> Outcome:
    """One trial from beginning to end; whatever goes wrong with the trial itself is told as broken too."""
    trial = Trial(product, random.Random(f"{seed} {chosen.id} {product.on} {number}"), f"{chosen.id}-{number}", number)
    began = time.monotonic()
    try:
        warm_up(product)
        chosen.cause(trial)
        complaints = trial.verdict()
    except Exception as error:
        complaints = [f"the trial fell over: {type(error).__name__}: {error}", traceback.format_exc()]
        trial.dismiss()
    trial.journal.close()
    seen = {word: times for word, times in trial.seen.items() if times}
    took = time.monotonic() - began
    return Outcome(chosen.id, chosen.title, product.on, number, seed, round(took, 2), seen, complaints, trial.tries)


def warm_up(product: Product) -> None:
    """Let a new product do everything once, and remember what its processes take when nothing has gone wrong yet."""
    if product.usual:
        return
    trial = Trial(product, random.Random(0), "before")
    trial.study(topics=1, sentences=5, judgments_per_topic=10)
    with trial.load(clients=6):
        pass
    complaints = trial.verdict()
    trial.journal.close()
    assert not complaints, f"before any fault: {complaints}"
    product.usual = footprint.footprints(product.mark_of_processes)


def run(
    chosen: Iterable[Fault],
    on: Iterable[str],
    trials: Callable[[Fault], int],
    seed: int,
    tell: Callable[[Outcome], object],
    checkout: Path = ROOT,
    first: int = 1,
) -> list[Outcome]:
    """Try faults, each so many times on each backend; products are kept for all trials that can share one.

    `first`: the number of the first trial of each, so that a later run goes on where an earlier one ended.
    """
    outcomes: list[Outcome] = []
    several = list(chosen)
    for backend in on:
        fitting = [fault for fault in several if backend in fault.on and trials(fault)]
        for variant in dict.fromkeys(fault.variant for fault in fitting):
            alike = [fault for fault in fitting if fault.variant == variant]
            # In turns, so that a run which is cut short has tried everything a little.
            turns = range(max(map(trials, alike)))
            todo = [(fault, first + turn) for turn in turns for fault in alike if turn < trials(fault)]
            while todo:
                with Product(on=backend, checkout=checkout, **dict(variant)) as product:
                    while todo:
                        fault, number = todo.pop(0)
                        outcomes.append(attempt(fault, product, number, seed))
                        tell(outcomes[-1])
                        if outcomes[-1].broken:
                            keep(product, outcomes[-1])
                        if outcomes[-1].broken or product.spent:
                            break  # the next one begins with a new installation
    return outcomes


def keep(product: Product, outcome: Outcome) -> None:
    """Keep the log and the journal of a trial that broke something, for whoever looks into it."""
    room = ROOT / "build" / "faults" / f"{outcome.fault}-{outcome.on}-{outcome.number}"
    room.mkdir(parents=True, exist_ok=True)
    (room / "outcome.json").write_text(json.dumps(asdict(outcome), indent=1))
    (room / "product.log").write_text(product.said_since(0)[-200_000:])
    journal = product.room / f"{outcome.fault}-{outcome.number}.jsonl"
    if journal.exists():
        (room / "journal.jsonl").write_text(journal.read_text())
