"""A network that breaks between annotators and the website: F14, F15, F16, F17."""

from __future__ import annotations

import time

from tests.faults.harness.proxy import Deed, Proxy, Request
from tests.faults.harness.trials import Trial, fault

SHARE = 0.2  # of requests that meet the fault, so that each trial sees several


@fault(
    "F14", "the connection is reset after an answer was sent, before it is confirmed", quick=2, release=60, seconds=4
)
def reset(trial: Trial) -> None:
    """Mostly after the website has answered; sometimes half of the request or half of the answer came through."""

    def decide(request: Request) -> Deed:
        if request.line.startswith("POST") and trial.rng.random() < SHARE:
            return Deed(trial.rng.choice(["reset", "reset", "torn", "halved"]))
        return Deed()

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy, trial.load(address=proxy.address):
        trial.until(0.9)
    count(trial, proxy)


@fault(
    "F15", "the confirmation comes after the page has given up waiting (20 s for 15, at a tenth)", release=10, seconds=8
)
def delay(trial: Trial) -> None:
    def decide(request: Request) -> Deed:
        late = request.is_judgment and trial.rng.random() < SHARE / 2
        return Deed("delay", 2.0) if late else Deed()

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy, trial.load(address=proxy.address, patience=1.5):
        trial.until(0.9)
    count(trial, proxy)


@fault("F16", "the website gets the same bytes twice, at once and again later", quick=2, release=60, seconds=8)
def double(trial: Trial) -> None:
    """Up to half as long again as a lease later; in every twentieth trial half a minute later."""

    def decide(request: Request) -> Deed:
        if not request.line.startswith("POST") or trial.rng.random() > 2 * SHARE:
            return Deed()
        if trial.rng.random() < 0.5:
            return Deed("double")
        return Deed("later", 30.0 if trial.number % 20 == 0 else trial.rng.uniform(0.1, 6.0))

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy:
        with trial.load(address=proxy.address):
            trial.until(0.9)
        proxy.settle()
    count(trial, proxy)
    for status, times in proxy.answered.items():
        trial.seen[f"repeats answered {status}"] += times


@fault("F17", "no network for half of the annotators, for longer than a lease", release=10, seconds=14)
def no_network(trial: Trial) -> None:
    with Proxy(("127.0.0.1", trial.product.port)) as proxy, trial.load(clients=2):
        for _ in range(2):
            trial.client(address=proxy.address, patience=2.0).start()
        trial.until(trial.rng.uniform(0.1, 0.4))
        proxy.off.set()
        time.sleep(trial.rng.uniform(5.0, 9.0))
        proxy.off.clear()
        # What was held back may take an answer back: people must still be there who judge that pair.
        proxy.settle()
    trial.seen["requests that waited"] += proxy.done["pass"]


def count(trial: Trial, proxy: Proxy) -> None:
    for kind, times in proxy.done.items():
        if kind != "pass":
            trial.seen[kind] += times
