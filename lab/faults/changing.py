"""What people judge is taken away while they judge it and the worker works on it: F39 to F41."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from lab.harness import checker
from lab.harness.product import wait_until
from lab.harness.trials import Trial, fault

#: Removals, each of something else, in one trial; studies deleted in one trial.
REMOVALS, STUDIES = 24, 3

TOKEN = """
from annotate import accounts
result = accounts.create_token(User.objects.get(username="owner"), "a trial")[1]
"""


class Owner:
    """The owner of the trial's studies, by the API; every status that they met is in `met`."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.token = trial.product.inside.run(TOKEN)
        self.met = Counter[int]()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """The status and what was answered."""
        address = f"http://127.0.0.1:{self.trial.product.port}/api/v1/studies/{path}"
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(address, json.dumps(body or {}).encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, content = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, content = error.code, error.read()
        self.met[status] += 1
        if status >= 500:
            self.trial.complaints.append(f"{method} {path} answered {status}")
        return status, json.loads(content) if content.startswith(b"{") else {}

    def at_once(self, times: int, method: str, path: str, body: dict[str, Any] | None = None) -> list[Any]:
        """The same request so many times at once."""
        with ThreadPoolExecutor(times) as threads:
            return list(threads.map(lambda _time: self.ask(method, path, body), range(times)))

    def tell(self) -> None:
        for status, times in self.met.items():
            self.trial.seen[f"owner answered {status}"] += times


@fault("F39", "summaries, systems and topics are removed, twice at once, and restored while people judge", seconds=20)
def removal_beside_ranking(trial: Trial) -> None:
    """One of two removals at once is done; what was removed is restored, and the board follows from the judgments."""
    remove_and_restore(trial, trial.study(judgments_per_topic=60, sentences=14))


@fault("F41", "what F39 does, while people compare the summaries that come and go", seconds=20)
def removal_beside_comparing(trial: Trial) -> None:
    """The same: answers about a summary are history while it is gone, and count again once it is back."""
    asked = {"compares": "summaries", "judgments_per_topic": 60, "summary_judgments_per_topic": 60}
    trial.expected.lowered = True  # what comes back counts beside what was judged meanwhile
    remove_and_restore(trial, trial.study(sentences=27, systems=9, **asked))


def remove_and_restore(trial: Trial, given: dict[str, Any]) -> None:
    owner = Owner(trial)
    with trial.load(clients=4, think=0.3):
        trial.until(0.05)
        for kind, key in things(trial, given["study"]):
            time.sleep(trial.rng.uniform(0.0, 0.2))
            answers = owner.at_once(2, "POST", f"{given['study']}/removals/", {"kind": kind, "key": str(key)})
            done = [content for status, content in answers if status == 201]
            if len(done) != 1:
                trial.complaints.append(f"of two removals of a {kind} {len(done)} were done: {answers}")
                break
            time.sleep(trial.rng.uniform(0.0, 0.4))
            restored = owner.at_once(2, "POST", f"{given['study']}/removals/{done[0]['key']}/restore/")
            if [status for status, _content in restored] != [200, 200]:
                trial.complaints.append(f"a {kind} was not restored: {restored}")
            trial.seen[f"removed: {kind}"] += 1
    trial.observed.clear()  # a topic that was restored begins at a higher version, and is fitted anew
    owner.tell()


def things(trial: Trial, study: int) -> Iterator[tuple[str, int]]:
    """What is removed, one after the other: a restored system has another key."""
    queries = {
        "summary": "SELECT s.id FROM annotate_summary s JOIN annotate_topic t ON t.id = s.topic_id "
        "WHERE t.study_id = ? ORDER BY s.id",
        "system": "SELECT id FROM annotate_system WHERE study_id = ? ORDER BY id",
        "topic": "SELECT id FROM annotate_topic WHERE study_id = ? AND removal_id IS NULL ORDER BY id",
    }
    for turn in range(REMOVALS):
        kind = list(queries)[turn % len(queries)]
        rows = trial.product.tables.rows(queries[kind], study)
        yield kind, trial.rng.choice(rows)["id"]


@fault("F40", "studies are deleted, three times at once, while people join and judge and they are fitted", seconds=15)
def deletion_beside_judging(trial: Trial) -> None:
    """One deletion is done, the others find nothing; nobody meets an error, and nothing of the study is left."""
    owner = None
    for _study in range(STUDIES):
        trial.given = {}
        study = trial.study(judgments_per_topic=200, sentences=30)["study"]
        owner = owner or Owner(trial)
        goal = trial.journal.acked + trial.rng.randint(5, 40)
        with judged_by(trial, 4):
            wait_for(trial, goal)
            with judged_by(trial, 6):
                time.sleep(trial.rng.uniform(0.0, 0.2))
                answers = owner.at_once(3, "DELETE", f"{study}/", {"title": "A trial"})
                time.sleep(0.3)
        statuses = sorted(status for status, _content in answers)
        if statuses != [204, 404, 404]:
            trial.complaints.append(f"three deletions at once were answered {statuses}")
        trial.complaints += left_of(trial, study)
    seen = trial.facts()
    trial.complaints += [f"I13: {complaint}" for complaint in checker.no_trouble(seen)]
    owner.tell()  # type: ignore[union-attr]  # there was a study
    trial.seen["confirmed"] = trial.journal.acked
    trial.given = {}  # there are no rows to look at


@contextmanager
def judged_by(trial: Trial, number: int) -> Iterator[None]:
    """So many people join and judge meanwhile, whatever is there to be judged."""
    several = [trial.client(moody=False) for _ in range(number)]
    for client in several:
        client.start()
    try:
        yield
    finally:
        for client in several:
            client.done.set()
            client.over.set()
            client.join(30)


def wait_for(trial: Trial, goal: int) -> None:
    """Until so many answers were confirmed."""
    wait_until(lambda: trial.journal.acked >= goal, f"{goal} judgments", pause=0.005)


def left_of(trial: Trial, study: int) -> Iterator[str]:
    """Rows of the study that are still there, and whether the log says once that it was deleted."""
    for table in ("topic", "annotator", "system", "invitation", "ranking", "removal", "upload"):
        rows = trial.product.tables.value(f"SELECT COUNT(*) FROM annotate_{table} WHERE study_id = ?", study)
        if rows:
            yield f"{rows} rows of {table} are left"
    noted = trial.product.tables.rows("SELECT detail FROM annotate_auditentry WHERE action = 'delete study'")
    details = [json.loads(row["detail"]) if isinstance(row["detail"], str) else row["detail"] for row in noted]
    if [detail["study"] for detail in details].count(study) != 1:
        yield "the log does not say once that the study was deleted"
