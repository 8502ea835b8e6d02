"""What does it cost to score every topic as published, too, at each refit?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.refit [--sentences 300 1000] [--judgments 600] [--rounds 7]

A refit of made-up topics with twenty summaries, texts prepared as in a worker that has seen the topic before: the
recommended scores alone, and both, in turn, round after round. Processor time; the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from benchmarks.worlds import TRUTHS, world
from preferendum.evidence import AS_PUBLISHED, Evidence, Settings
from preferendum.scoring.evaluate import TopicResult, evaluate, prepare

SYSTEMS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--judgments", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| sentences | recommended alone | both | ratio |\n|---|---|---|---|")
    for n in options.sentences:
        alone, both = ways(n, options.judgments)
        alone(), both()
        times = [(seconds(alone), seconds(both)) for _ in range(options.rounds)]
        ms_alone, ms_both = (1000 * statistics.median(column) for column in zip(*times, strict=True))
        print(f"| {n:,} | {ms_alone:.0f} ms | {ms_both:.0f} ms | {ms_both / ms_alone:.2f} |", flush=True)


def ways(n: int, judgments: int) -> tuple[Callable[[], object], Callable[[], object]]:
    """A refit as recommended, and one in both ways."""
    rng = np.random.default_rng(n)
    made = world(TRUTHS[0], n, 1.0, rng)
    names = tuple(str(i) for i in range(n))
    topic = Evidence("t", names, made.texts, made.judgments(judgments, rng), made.summaries(SYSTEMS, rng))
    recommended, published = (prepare(topic, made.similarity, settings) for settings in (Settings(), AS_PUBLISHED))

    def alone() -> TopicResult:
        result = evaluate(topic, similarity=made.similarity, texts=recommended)
        assert result.errors is not None, "the pairs to ask next need them"
        return result

    def both() -> TopicResult:
        return evaluate(topic, AS_PUBLISHED, similarity=made.similarity, texts=published, beside=alone())

    return alone, both


def seconds(refit: Callable[[], object]) -> float:
    began = time.process_time()
    refit()
    return time.process_time() - began


if __name__ == "__main__":
    main()
