#!/bin/sh
# irrCAC 0.4.4, which holds scipy at 1.12.0 and so needs Python 3.11 or 3.12; seen 2026-11-28
#
# One would guess: the p-values of all coefficients in one package answer the same question.
# What happens: those of Gwet's AC1, Fleiss' kappa, Conger's kappa and Krippendorff's alpha are two-sided, that of
#   Brennan-Prediger is one-sided. With the same estimate and standard error it is half as large.
# What it means: below, ten items, three coefficients of 0.6 with z = 2.25: only Brennan-Prediger is "significant" at 5%,
#   and its own interval reaches below zero. Double it before you put it in a table beside the others.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    irrCAC==0.4.4 scipy==1.12.0 numpy==1.26.4 pandas==2.3.3 || exit 2
"$room/venv/bin/python" - <<'PYTHON'
import sys

import pandas as pd
from irrCAC.raw import CAC

labels = pd.DataFrame([[1, 1]] * 4 + [[2, 2]] * 4 + [[1, 2], [2, 1]])
found = {}
for name in ("gwet", "fleiss", "bp"):
    found[name] = getattr(CAC(labels), name)()["est"]
    print(f"{name:6}", {key: found[name][key] for key in ("coefficient_value", "z", "p_value", "confidence_interval")})
same = len({(each["coefficient_value"], each["z"]) for each in found.values()}) == 1
half = abs(found["bp"]["p_value"] / found["fleiss"]["p_value"] - 0.5) < 0.001
if not (same and half):
    sys.exit("Changed: the p-value of Brennan-Prediger is no longer half of the others at the same z.")
PYTHON
