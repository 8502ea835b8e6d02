#!/bin/sh
# arena-rank 0.1.1 (with jax 0.8.1, pandas 3.1.1), seen 2026-11-29
#
# One would guess: a system with a single vote, which it won, gets an interval so wide that it says nothing, or an error,
#   since its Bradley-Terry rating has no upper bound.
# What happens: it gets some 2,900 points, and both ends of its 95% interval are within a point of that; the variance is
#   0. Systems with a hundred votes have intervals of 70 points. The others' ratings fall by some 950 points, as the mean
#   stays at 1,000. The same with ten wins of ten; one lost vote in a hundred, and the interval is as wide as it should be.
# What it means: the narrowest intervals may be those of the systems of which least is known. Leave out systems that won
#   or lost all their votes, or take intervals that allow for this (a prior, or profile likelihoods).
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

BEFORE = [("x", "y", "model_a")] * 60 + [("x", "y", "model_b")] * 40


def rated(title, votes):
    """Print each system's rating with its interval, and return them."""
    data = PairDataset.from_pandas(pd.DataFrame(BEFORE + votes, columns=["model_a", "model_b", "winner"]))
    board = BradleyTerry(n_competitors=data.n_competitors).compute_ratings_and_cis(data)
    names, *figures = (board[key] for key in ("competitors", "ratings", "rating_lower", "rating_upper"))
    rows = {name: tuple(map(float, own)) for name, *own in zip(names, *figures)}
    print(title)
    for name, (rating, lower, upper) in rows.items():
        print(f"  {name:4}{rating:8.1f} [{lower:.1f}, {upper:.1f}]")
    return rows


rated("x won 60 of 100 against y", [])
once = rated("the same, and one vote for new against x", [("new", "x", "model_a")])
often = rated("the same, and ten votes for new against x", [("new", "x", "model_a")] * 10)
lost = [("new", "x", "model_a")] * 99 + [("new", "x", "model_b")]
mostly = rated("the same, and 99 votes of 100 for new against x", lost)
is_certain = all(own["new"][2] - own["new"][1] < 1 < 60 < own["x"][2] - own["x"][1] for own in (once, often))
if not (is_certain and once["new"][0] > 2000 and mostly["new"][2] - mostly["new"][1] > 200):
    sys.exit("Changed: arena-rank's interval of a system that won all its votes is no longer a point.")
PYTHON
