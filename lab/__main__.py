"""The command line of the trials: `python3 manage.py faults [ids...]`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lab.faults import load_registry
from lab.harness import mutants
from lab.harness.product import ROOT
from lab.harness.trials import BOTH, TIERS, Fault, Outcome, run


def main(arguments: list[str]) -> int:
    """Do what the command line asks for; 0 where no invariant broke."""
    options = parse(arguments)
    # As Ctrl-C: what was started is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.table:
        print(table(outcome for file in options.table for outcome in read(Path(file))))
        return 0
    if options.mutants:
        return int(not all(verdict.caught for verdict in mutants.run(options.ids, partial(print, flush=True))))
    registry = load_registry()
    if unknown := [name for name in options.ids if name not in registry]:
        sys.exit(f"There is no fault called {', '.join(unknown)}; there are: {', '.join(registry)}")
    chosen = [registry[name] for name in options.ids or registry]
    outcomes = run(
        chosen,
        BOTH if options.on == "both" else (options.on,),
        lambda fault: trials_of(fault, options),
        options.seed,
        lambda outcome: tell(outcome, options.report),
        Path(options.checkout),
        options.first,
    )
    print("\n" + table(outcomes))
    return int(any(outcome.broken for outcome in outcomes))


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="manage.py faults", description="Break a real installation on purpose.")
    parser.add_argument("ids", nargs="*", help="which faults (F01, C10, ...); all if none is named")
    parser.add_argument("--tier", choices=TIERS, default="quick", help="how many trials, where --trials does not say")
    parser.add_argument("--trials", type=int, help="trials of each fault on each backend")
    parser.add_argument("--on", choices=(*BOTH, "both"), default="both", help="SQLite, PostgreSQL and Redis, or both")
    parser.add_argument("--seed", type=int, default=1, help="everything of chance follows from it")
    parser.add_argument("--first", type=int, default=1, help="number of the first trial, to go on after an earlier run")
    parser.add_argument("--report", help="a file that gets one line of JSON a trial")
    parser.add_argument("--checkout", default=str(ROOT), help="the tree whose code is tried, if not this one")
    parser.add_argument(
        "--mutants", action="store_true", help="break promises in copies instead: M01, ...; who notices?"
    )
    parser.add_argument("--table", nargs="+", metavar="REPORT", help="only print the table of these reports")
    return parser.parse_args(arguments)


def trials_of(fault: Fault, options: argparse.Namespace) -> int:
    return int(options.trials if options.trials is not None else getattr(fault, options.tier))


def tell(outcome: Outcome, report: str | None) -> None:
    """Say what came of a trial, as it comes."""
    verdict = "ok" if not outcome.broken else "BROKEN"
    seen = ", ".join(f"{word}: {times}" for word, times in outcome.seen.items())
    print(f"{outcome.fault} {outcome.on} {outcome.number}: {verdict} in {outcome.seconds:.1f} s; {seen}", flush=True)
    for complaint in outcome.broken:
        print(f"    {complaint}", flush=True)
    if report:
        with Path(report).open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def read(report: Path) -> list[Outcome]:
    """What a run has written down."""
    return [Outcome(**json.loads(line)) for line in report.read_text().splitlines()]


def table(outcomes: Iterable[Outcome]) -> str:
    """A line a fault: how often it was tried, what was seen, what broke."""
    by_fault: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_fault.setdefault(outcome.fault, []).append(outcome)
    lines = ["| fault | tries (SQLite + services) | in trials | seen | broken |", "|---|---|---|---|---|"]
    for name, several in sorted(by_fault.items()):
        on: Counter[str] = Counter()
        for outcome in several:
            on[outcome.on] += outcome.tries
        lines.append(
            f"| {name} {several[0].title} | {sum(on.values())} ({on['sqlite']} + {on['services']}) "
            f"| {len(several)} | {seen_in(several)} | {broken_in(several)} |"
        )
    return "\n".join(lines)


def seen_in(several: list[Outcome]) -> str:
    """Sums over the trials; of times the median and the longest."""
    phrases = []
    for word in dict.fromkeys(word for outcome in several for word in outcome.seen):
        values = sorted(outcome.seen.get(word, 0) for outcome in several)
        if word.startswith("ms "):
            middle, longest = values[len(values) // 2], values[-1]
            phrases.append(f"{word[3:]} {duration(middle)} (longest {duration(longest)})")
        else:
            phrases.append(f"{word} {sum(values)}")
    return "; ".join(phrases)


def duration(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 100 else f"{milliseconds / 1000:.1f} s"


def broken_in(several: list[Outcome]) -> str:
    """Nothing, or in how many trials what kind of thing."""
    kinds = Counter(
        kind for outcome in several for kind in {complaint.partition(":")[0] for complaint in outcome.broken}
    )
    return ", ".join(f"{kind} in {times}" for kind, times in kinds.items()) or "nothing"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
