#!/bin/sh
# crowd-kit 1.4.2 (with numpy 2.4.6, pandas 3.1.1), seen 2026-11-28
#
# One would guess: BradleyTerry(n_iter=10000, tol=1e-12) fits until the scores stand still, as its documentation says.
# What happens: it always stops after its second round. n_iter above 2 and tol change nothing, loss_history_ stays
#   empty, nothing is said. Strengths stay far too close together, distant systems are tied, and even the winner can be
#   wrong: below, the system that the likelihood puts third is first.
# What it means: the scores and ranks are not Bradley-Terry's. A tool that agrees with them has the same fault, one that
#   disagrees may be right. For a fit take choix, or iterate yourself.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
pip="$room/venv/bin/python -m pip --quiet --disable-pip-version-check install --no-compile"
$pip numpy==2.4.6 pandas==3.1.1 scikit-learn==1.9.1 attrs==26.1.0 nltk==3.10.4 tqdm==4.70.1 choix==0.4.1 || exit 2
$pip --no-deps crowd-kit==1.4.2 || exit 2 # its other requirements serve models of language, which nothing here uses
"$room/venv/bin/python" - <<'PYTHON'
import sys

import choix
import numpy as np
import pandas as pd
from crowdkit.aggregation import BradleyTerry


def compare(title, counts):
    """Print what both packages make of {(i, j): (how often i won, how often j won)}."""
    won = [pair for (i, j), (x, y) in counts.items() for pair in [(i, j)] * x + [(j, i)] * y]
    table = pd.DataFrame([{"worker": "w", "left": min(p), "right": max(p), "label": p[0]} for p in won])
    two, many = (BradleyTerry(n_iter=n, tol=1e-12).fit_predict(table).sort_index().to_numpy() for n in (2, 10000))
    right = np.exp(choix.ilsr_pairwise(len(many), won))
    right /= right.sum()
    print(title)
    for name, scores in (("crowd-kit, n_iter=2", two), ("crowd-kit, n_iter=10000", many), ("choix", right)):
        print(f"  {name:24}", " ".join(f"{score:.3f}" for score in scores))
    return two, many, right


chain = compare("eight systems, each beats the next by 3 to 1", {(i, i + 1): (3, 1) for i in range(7)})
cycle = compare("four systems", {(1, 3): (1, 11), (0, 3): (3, 1), (1, 2): (1, 7), (0, 2): (6, 6)})
same = all((two == many).all() for two, many, _ in (chain, cycle))
tied = np.ptp(chain[1][2:6]) < 0.001 and chain[2][2] > 25 * chain[2][5]
upset = cycle[1].argmax() == 3 and cycle[2].argsort()[-3] == 3
if not (same and tied and upset):
    sys.exit("Changed: crowd-kit's BradleyTerry no longer stops after two rounds.")
PYTHON
