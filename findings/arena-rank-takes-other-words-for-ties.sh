#!/bin/sh
# arena-rank 0.1.1 (with jax 0.8.1, pandas 3.1.1), seen 2026-11-29
#
# One would guess: rows without a winner are left out, and a word for the winner that is none of its own (`model_a`,
#   `model_b`, `tie`, `both_bad`) raises an error.
# What happens: every other value is a tie, without a word: an empty cell, `A`, `left`, `Model_A`, the winner's name. A table
#   whose winners are all written otherwise gives every system the same rating.
# What it means: unfinished votes in an export pull systems together, and a mistake in the words looks like a finding. Give
#   `outcome_map` a function that raises an error, and drop rows without a winner first.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
pip="$room/venv/bin/python -m pip --quiet --disable-pip-version-check install --no-compile"
$pip arena-rank==0.1.1 jax==0.8.1 jaxlib==0.8.1 jaxtyping==0.3.11 optax==0.2.8 \
  numpy==2.3.3 scipy==1.17.1 pandas==3.1.1 || exit 2
JAX_PLATFORMS=cpu "$room/venv/bin/python" - <<'PYTHON'
import sys

import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset


def lead(title, *winners):
    """Print by how many points x is above y."""
    votes = pd.DataFrame([("x", "y", winner) for winner in winners], columns=["model_a", "model_b", "winner"])
    data = PairDataset.from_pandas(votes)
    x, y = BradleyTerry(n_competitors=2).compute_ratings_and_cis(data)["ratings"]
    print(f"{title:48}{float(x - y):7.1f}")
    return float(x - y)


votes = ["model_a"] * 6 + ["model_b"] * 2
right = lead("6 of 8 votes for x", *votes)
ties = lead("and 24 ties", *votes, *["tie"] * 24)
empty = lead("and 24 rows without a winner", *votes, *[None] * 24)
words = [lead(f"6 of 8 votes for x, written {a} and {b}", *[a] * 6, *[b] * 2) for a, b in (("A", "B"), ("x", "y"))]
if not (right > 150 > 60 > empty and abs(empty - ties) < 0.01 and all(abs(own) < 0.01 for own in words)):
    sys.exit("Changed: arena-rank no longer takes every other value for a tie.")
PYTHON
