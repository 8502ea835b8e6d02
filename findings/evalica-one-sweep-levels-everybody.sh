#!/bin/sh
# evalica 0.4.2, seen 2026-11-28
#
# One would guess: a system that won or lost all its comparisons gets a very high or very low Bradley-Terry score, and
#   the others keep theirs, or an error says that no finite fit exists.
# What happens: bradley_terry gives every system the same score, 1e-06 (its tolerance). After a system that always won it
#   even reports 2 rounds of 100, as if the fit had converged well; no warning. Both solvers, pyo3 and naive.
#   newman keeps the others' scores beside a system that always lost, but not beside one that always won.
# What it means: one newcomer with a clean sweep wipes out a leaderboard, and the tie looks like a result. Add a prior
#   (half a win each way), or look for sweeps before the fit; result.iterations does not tell.
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

OLD = [("a", "b", 60, 40), ("b", "c", 60, 40), ("a", "c", 70, 30)]
STUDIES = {
    "three systems": OLD,
    "and one that lost all": OLD + [(old, "new", 10, 0) for old in "abc"],
    "and one that won all": OLD + [("new", old, 10, 0) for old in "abc"],
}


def fit(method, study, solver):
    """Fit the scores of a study, given as (x, y, wins of x, wins of y)."""
    rows = [(x, y, who) for x, y, m, n in study for who in [Winner.X] * m + [Winner.Y] * n]
    return method(*zip(*rows), solver=solver)


levels = {}
for solver in ("pyo3", "naive"):
    for method in (evalica.bradley_terry, evalica.newman):
        for name, study in STUDIES.items():
            result = fit(method, study, solver)
            scores = {system: float(score) for system, score in result.scores.sort_index().items()}
            print(f"{solver:5} {method.__name__:13} {name:21}", result.iterations, "rounds", scores)
            levels[solver, method.__name__, name] = len(set(scores.values()))
still = all(
    levels[solver, "bradley_terry", name] == (3 if name == "three systems" else 1)
    for solver in ("pyo3", "naive")
    for name in STUDIES
)
if not still:
    sys.exit("Changed: evalica's bradley_terry now tells systems apart beside one that won or lost everything.")
PYTHON
