"""How long do 60,000 votes of the Arena's shape take from a file to a printed board, beside arena-rank and choix?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.ranking FILE [--python OTHER] [--votes 60000] [--runs 1]

FILE: a table with `a`, `b` and `people` (a, b, tie, neither), which is repeated until there are enough votes, each with
a question of its own and one of 13,000 judges. OTHER: a Python that has arena-rank 0.1 and choix (not among our
dependencies; `pip install arena-rank choix`). Each program starts anew, reads the CSV, fits and prints: ours the board
with intervals that allow for annotators and questions; arena-rank its ratings with intervals; choix the maximum
likelihood (`ilsr_pairwise`), without intervals. Seconds are of the whole process; memory is the largest of any so far.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WINNERS = {"a": "model_a", "b": "model_b", "tie": "tie", "neither": "both_bad"}
OURS = "import sys, preferendum as pf; print(pf.rank(sys.argv[1]))"
ARENA_RANK = """
import sys
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
data = PairDataset.from_pandas(pd.read_csv(sys.argv[1]))
fitted = BradleyTerry(n_competitors=len(data.competitors)).compute_ratings_and_cis(data, significance_level=0.05)
print(pd.DataFrame(fitted).sort_values("ratings", ascending=False))
"""
CHOIX = """
import sys, csv
import choix
rows = list(csv.DictReader(open(sys.argv[1])))
names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
place = {name: number for number, name in enumerate(names)}
wins = []
for row in rows:
    a, b = place[row["model_a"]], place[row["model_b"]]
    wins += {"model_a": [(a, b)], "model_b": [(b, a)]}.get(row["winner"], [(a, b), (b, a)])
print(sorted(zip(choix.ilsr_pairwise(len(names), wins, alpha=0.01), names)))
"""


def write(source: Path, votes: int, target: Path) -> None:
    """Write a file of so many votes."""
    with source.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with target.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["question_id", "model_a", "model_b", "winner", "judge", "turn", "language", "tstamp"])
        for number, row in zip(range(votes), itertools.cycle(rows), strict=False):
            judge = f"arena_user_{number * 7919 % 13_000}"
            winner = WINNERS[row["people"]]
            out.writerow([f"q{number}", row["a"], row["b"], winner, judge, 1, "English", 1_690_000_000 + number])


def seconds(python: str, program: str, file: Path) -> float:
    """Run a program on the file from start to end."""
    before = time.perf_counter()
    subprocess.run([python, "-c", program, str(file)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before


def main() -> None:
    """Print a line for each program, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--python", help="a Python that has arena-rank and choix")
    parser.add_argument("--votes", type=int, default=60_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    programs = [("ours", sys.executable, OURS)]
    if options.python:
        programs += [("arena-rank", options.python, ARENA_RANK), ("choix", options.python, CHOIX)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "votes.csv"
        write(options.file, options.votes, file)
        best = {}
        for name, python, program in programs:
            best[name] = min(seconds(python, program, file) for _run in range(options.runs))
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
            ratio = best["ours"] / best[name]
            print(f"{name:12} {best[name]:7.2f} s, ours / it {ratio:5.2f}; largest so far {peak:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
