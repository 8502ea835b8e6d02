#!/bin/sh
# evalica 0.4.2, seen 2026-11-28
#
# One would guess: all rankings of evalica put the better system higher, as counting, bradley_terry, elo and pagerank do.
# What happens: eigen gives the highest score to the system that was beaten most, and the lowest to the best; with both
#   solvers. A system gains from the scores of those that beat it.
# What it means: a table that compares methods of ranking on the same judgments shows eigen upside down, with a rank
#   correlation of -1 to the rest. It is the direction, not the method, that differs.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    evalica==0.4.2 numpy==2.4.6 pandas==3.1.1 || exit 2
"$room/venv/bin/python" - <<'PYTHON'
import sys

import evalica
from evalica import Winner

STUDY = [("a", "b", 7, 3), ("b", "c", 7, 3), ("a", "c", 8, 2)]
rows = [(x, y, who) for x, y, m, n in STUDY for who in [Winner.X] * m + [Winner.Y] * n]
print("a beat b by 7 to 3, b beat c by 7 to 3, a beat c by 8 to 2")
orders = {}
for solver in ("pyo3", "naive"):
    for method in (evalica.counting, evalica.bradley_terry, evalica.elo, evalica.pagerank, evalica.eigen):
        scores = method(*zip(*rows), solver=solver).scores.sort_values(ascending=False)
        orders[solver, method.__name__] = "".join(scores.index)
        print(f"{solver:5} {method.__name__:13}", {system: round(float(score), 3) for system, score in scores.items()})
if any(order != ("cba" if method == "eigen" else "abc") for (_, method), order in orders.items()):
    sys.exit("Changed: evalica's eigen no longer orders the systems the other way round.")
PYTHON
