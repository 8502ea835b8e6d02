"""People, tabs and administrators who get into each other's way: C01, C03, C09-C14, C18, C21 and F21."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from lab.harness.clients import Answer, Browser, Client, Shown
from lab.harness.product import LEASE
from lab.harness.trials import Trial, fault

Send = Callable[[], Answer]


def at_once(jobs: Iterable[Send]) -> list[Answer]:
    """What each got; all begin at the same moment."""
    several = list(jobs)
    barrier, answers = threading.Barrier(len(several)), list[Answer]()

    def run(job: Send) -> None:
        barrier.wait(30)
        answers.append(job())

    threads = [threading.Thread(target=run, args=(job,)) for job in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == len(several), "some got no answer"
    return answers


def twin(client: Client) -> Browser:
    """Another connection of the same browser."""
    made = Browser(client.address, patience=60.0)
    made.cookies = dict(client.browser.cookies)
    return made


def begun(trial: Trial, number: int, *, paused: bool = False) -> list[Client]:
    """So many annotators, each with a pair before them or told that there is none.

    `paused`: while they read the invitation the study is paused, so that they come in without a pair. A paused study
    offers nobody new to begin, but whoever has the page before them may.
    """
    several = [trial.client(script=False) for _ in range(number)]
    for client in several:
        client.browser.patience = 60.0
        client.page("GET", client.link)
    if paused:
        set_state(trial, "paused")
    for client in several:
        client.begin()
    return several


def send(client: Client, shown: Shown, answer: str, browser: Browser | None = None) -> Answer:
    """One answer, journalled; whoever sends the same answer in copies journals them all as one."""
    name = {"key": shown.key, "revision": shown.revision, "answer": answer}
    fields = {"answer": answer, "revision": shown.revision, "ticket": shown.ticket, "seconds": 1.5}
    client.note("sent", **name)
    got = (browser or twin(client)).ask("POST", shown.url, fields | {"csrfmiddlewaretoken": client.token})
    if got.status < 400:
        client.note("acked", **name, status=got.status, said="", ms=0)
    elif got.status < 500:
        client.note("refused", **name, status=got.status)
    else:
        client.note("error", status=got.status, path=shown.url, retry_after="", ms=0)
    return got


def shown_to(client: Client) -> Shown:
    assert client.shown is not None, "no pair"
    return client.shown


def stored(trial: Trial, key: str) -> list[str]:
    """The answers of an assignment, by revision."""
    rows = trial.product.tables.rows(
        "SELECT j.answer, a.key FROM annotate_judgment j JOIN annotate_assignment a ON a.id = j.assignment_id "
        "JOIN annotate_itemset t ON t.id = a.item_set_id WHERE t.study_id = ? ORDER BY j.revision",
        trial.given["study"],
    )
    return [row["answer"] for row in rows if row["key"] == key]


@fault("C01", "one form sent 2, 4, 8 and 32 times at once: one row, and every copy is confirmed", quick=2, release=100)
def copies(trial: Trial) -> None:
    trial.expected.complete = False
    (client,) = begun(trial, 1)
    for number in (2, 4, 8, 32):
        shown = shown_to(client)
        answers = at_once([partial(send, client, shown, "left", twin(client)) for _ in range(number)])
        assert {answer.status for answer in answers} == {302}, Counter(answer.status for answer in answers)
        assert len({answer.location for answer in answers}) == 1, "copies were led to different pairs"
        assert stored(trial, shown.key) == ["left"]
        trial.seen["copies"] += number
        client.draw()


@fault(
    "C03", "the same pair answered otherwise in two browsers at once: one answer stands, both hear which", release=20
)
def two_browsers(trial: Trial) -> None:
    trial.expected.complete = False
    (client,) = begun(trial, 1)
    for _ in range(4):
        shown = shown_to(client)
        answers = at_once([partial(send, client, shown, side, twin(client)) for side in ("left", "right")])
        assert {answer.status for answer in answers} == {302}
        assert len(stored(trial, shown.key)) == 1
        client.draw()


@fault("C09", "the session is gone when the answer is sent again: its ticket says whose it is (C16)", release=10)
def no_session(trial: Trial) -> None:
    trial.expected.complete = False
    for client in begun(trial, 2):
        for _ in range(3):
            shown = shown_to(client)
            send(client, shown, "left")
            trial.product.tables.write("DELETE FROM django_session")
            # From the browser itself: the answer brings it a new session.
            assert send(client, shown, "left", client.browser).status == 302
            assert stored(trial, shown.key) == ["left"]
            client.draw()
            following = shown_to(client)
            trial.product.tables.write("DELETE FROM django_session")
            assert send(client, following, "right", client.browser).status == 302
            client.draw()


@fault("C10", "8 to 64 people reach for the last places at once", quick=2, release=100, seconds=8)
def last_place(trial: Trial) -> None:
    """Two sentences make one pair, which wants one to three judgments: everybody asks for it in the same moment."""
    hands, places = trial.rng.choice([8, 16, 32, 64]), trial.rng.randint(1, 3)
    trial.study(topics=1, sentences=2, systems=2, judgments_per_topic=places, judgments_per_pair=places)
    people = begun(trial, hands, paused=True)
    set_state(trial, "open")
    at_once([partial(reach, client) for client in people])
    for client in people:
        client.draw()
        if client.shown is not None:
            send(client, client.shown, "left")
            trial.seen["got a place"] += 1
    trial.seen["people"] += hands


@fault("C11", "what is wanted is raised, lowered, paused and opened again while people draw and judge", release=10)
def settings_change(trial: Trial) -> None:
    """In the end the most is wanted, and that comes."""
    trial.study(judgments_per_pair=1)
    with trial.load(clients=4):
        for need, per_topic in ((3, 20), (1, 8), (2, 16)):
            time.sleep(trial.rng.uniform(0.1, 0.5))
            change(trial, judgments_per_pair=need, judgments_per_topic=per_topic)
            set_state(trial, "paused")
            time.sleep(trial.rng.uniform(0.0, 0.3))
            set_state(trial, "open")
        change(trial, judgments_per_pair=3, judgments_per_topic=30)
        trial.wanted = 60
    trial.expected.lowered = True


@fault("C12", "somebody is excluded while they judge, and taken back in", release=10)
def excluded(trial: Trial) -> None:
    with trial.load(clients=4):
        trial.until(trial.rng.uniform(0.2, 0.5))
        annotator = trial.product.inside.run(EXCLUDE, study=trial.given["study"])
        time.sleep(trial.rng.uniform(0.2, 1.0))
        if trial.number % 2:
            trial.product.inside.run(READMIT, annotator=annotator)
            trial.expected.lowered = True  # pairs that were filled meanwhile keep both
    if trial.number % 2 == 0:
        trial.seen["stays excluded"] += 1


@fault("C13", "leases run out in the moment in which their answers arrive and others draw", release=10, seconds=12)
def expiry(trial: Trial) -> None:
    trial.expected.complete = False
    trial.study(topics=1, sentences=8, judgments_per_topic=28, judgments_per_pair=1)
    slow = begun(trial, 10)
    drawn = time.monotonic()
    quick = begun(trial, 10, paused=True)
    set_state(trial, "open")
    time.sleep(max(0.0, drawn + LEASE - 1.0 - time.monotonic()))
    jobs = [partial(late, client, shown_to(client), trial.rng.uniform(0, 1.0)) for client in slow]
    at_once([*jobs, *(partial(reach, client) for client in quick)])
    for client in quick:
        client.draw()
        if client.shown is not None:
            send(client, client.shown, "right")


@fault("C14", "whoever held a pair answers after somebody else has taken it over: surplus (C15)", release=10, seconds=9)
def taken_over(trial: Trial) -> None:
    trial.study(topics=1, sentences=2, systems=2, judgments_per_topic=1, judgments_per_pair=1)
    (first,) = begun(trial, 1)
    held = shown_to(first)
    time.sleep(LEASE + 0.3)
    (second,) = begun(trial, 1)
    send(second, shown_to(second), "right")
    assert send(first, held, "left").status == 302
    assert stored(trial, held.key) == ["left"]


@fault("C18", "people have what they judged erased while it is fitted", release=10)
def erased(trial: Trial) -> None:
    trial.expected.complete, trial.expected.unsent = False, 99
    with trial.load(clients=3):
        trial.until(0.5)
        for client in trial.clients[:2]:
            client.done.set()
        for client in trial.clients[:2]:
            client.join(20)
        keys = [client.home.split("/")[2] for client in trial.clients[:2]]
        for key in keys:
            trial.seen["erased"] += trial.product.inside.run(ERASE, key=key)
    gone = {entry["key"] for entry in trial.journal.entries if entry["client"] in (1, 2) and "key" in entry}
    trial.journal.entries = [entry for entry in trial.journal.entries if entry.get("key") not in gone]
    left = trial.product.tables.rows("SELECT key FROM annotate_assignment")
    assert not gone & {row["key"] for row in left}, "somebody was erased and has rows"


@fault("C21", "somebody signs in in a second tab while they judge: the token of the first is old", release=10)
def signed_in(trial: Trial) -> None:
    """A sign-in gives the browser another token and another session; the page fetches a new one and sends again."""
    trial.product.inside.run(
        "User.objects.filter(username='judge').exists() or "
        "User.objects.create_user('judge', password='a long enough password')"
    )
    trial.expected.complete = False
    for client in begun(trial, 3):
        shown = shown_to(client)
        tab = twin(client)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', tab.ask("GET", "/sign-in/").body)
        assert token
        fields = {"username": "judge", "password": "a long enough password", "csrfmiddlewaretoken": token[1]}
        assert tab.ask("POST", "/sign-in/", fields).status == 302
        client.browser.cookies = dict(tab.cookies)
        got = client.deliver(shown, "left", {})
        assert got is not None
        assert stored(trial, shown.key) == ["left"]
    trial.seen["old tokens met"] = len(trial.journal.of("stale"))


@fault("F21", "200 pairs are drawn and abandoned, and all leases run out at once", quick=1, release=10, seconds=14)
def abandoned(trial: Trial) -> None:
    """A whole topic's worth is out with people who never come back; whoever comes then must get it all."""
    trial.study(topics=2, sentences=16, judgments_per_topic=100, judgments_per_pair=1)
    trial.seen["abandoned"] = trial.product.inside.run(ABANDON, study=trial.given["study"])
    time.sleep(LEASE)
    with trial.load(clients=6):
        pass


OF_STUDY = "study = Study.objects.get(pk=study)\n"
ABANDON = (
    OF_STUDY
    + """
from annotate import judging
result = sum(hasattr(judging.draw(judging.join(study)), "key") for _ in range(200))
"""
)
EXCLUDE = """
from annotate import judging
from annotate.models import Annotator
one = Annotator.objects.filter(study=study, judged__gt=0).order_by("-judged").first()
judging.exclude(one, one.study.created_by, "a trial")
result = one.pk
"""
READMIT = """
from annotate import judging
from annotate.models import Annotator
one = Annotator.objects.get(pk=annotator)
judging.readmit(one, one.study.created_by, "a trial")
"""
ERASE = """
from annotate import judging
from annotate.models import Annotator
result = judging.erase(Annotator.objects.get(key=key))
"""


def set_state(trial: Trial, state: str) -> None:
    code = OF_STUDY + f"studies.set_state(study, study.created_by, {state!r})"
    trial.product.inside.run(code, study=trial.study()["study"])


def change(trial: Trial, **settings: int) -> None:
    code = OF_STUDY + f"studies.change_settings(study, study.created_by, **{settings!r})"
    trial.product.inside.run(code, study=trial.study()["study"])


def reach(client: Client) -> Answer:
    """Ask for a pair; what is shown is looked at later."""
    answer = twin(client).ask("POST", f"{client.home}draw/", {"csrfmiddlewaretoken": client.token})
    assert answer.status == 302, answer.status
    return answer


def late(client: Client, shown: Shown, seconds: float) -> Answer:
    time.sleep(seconds)
    return send(client, shown, "left")
