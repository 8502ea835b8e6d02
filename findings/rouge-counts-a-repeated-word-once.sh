#!/bin/sh
# rouge 1.0.1 beside rouge-score 0.1.2, seen 2026-11-28
#
# One would guess: ROUGE-1 counts tokens, so that a summary that repeats itself loses precision.
# What happens: the package rouge compares sets. A repeated word or pair of words counts once on either side, so
#   "police police police police police killed" has a precision of 1, and a text said twice equals the text said once.
#   rouge-score counts tokens, as ROUGE-1.5.5 does: 2 of 6. (The package has exclusive=False for this; the default is True.)
# What it means: looping output, the commonest failure of weak generators, is not punished; numbers from the two packages
#   do not belong in one table. Say which package made a ROUGE score.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    rouge==1.0.1 rouge-score==0.1.2 nltk==3.10.4 numpy==2.4.6 absl-py==2.5.1 || exit 2
"$room/venv/bin/python" - <<'PYTHON'
import sys

from rouge import Rouge
from rouge_score.rouge_scorer import RougeScorer

TEXTS = [
    ("police police police police police killed", "police killed the gunman"),
    ("the cat sat on the mat", "the cat sat on the mat the cat sat on the mat"),
]
precisions = []
for summary, reference in TEXTS:
    print(f"summary: {summary}\nreference: {reference}")
    for title, options in (("rouge", {}), ("rouge, exclusive=False", {"exclusive": False})):
        seen = Rouge(metrics=["rouge-1"], **options).get_scores(summary, reference)[0]["rouge-1"]
        print(f"  {title:22} recall {seen['r']:.3f} precision {seen['p']:.3f} F {seen['f']:.3f}")
        precisions.append((round(seen["r"], 3), round(seen["p"], 3)))
    counted = RougeScorer(["rouge1"]).score(reference, summary)["rouge1"]
    print(f"  {'rouge-score':22} recall {counted.recall:.3f} precision {counted.precision:.3f} F {counted.fmeasure:.3f}")
    precisions.append((round(counted.recall, 3), round(counted.precision, 3)))
if precisions[0] != (0.5, 1.0) or precisions[2] != (0.5, 0.333) or precisions[3] != (1.0, 1.0):
    sys.exit("Changed: rouge no longer counts a repeated word once, or rouge-score no longer each time.")
PYTHON
