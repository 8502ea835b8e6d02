"""How fast is the similarity matrix of a topic, beside the same figures by scikit-learn?

    OPENBLAS_NUM_THREADS=1 python benchmarks/archive/similarity.py [--sizes 300 1000 3000] [--repeats 5]

The peer is scikit-learn as its documentation would have one do it: `TfidfVectorizer` and `linear_kernel` for the
cosine, `CountVectorizer(binary=True)` and one sparse product for the Jaccard index ("sparse"), or
`pairwise_distances(metric="jaccard")` ("as documented", up to 1,000 sentences: it takes minutes beyond). Both sides
begin with texts and end with the (n, n) mean of both. The text is made up: words by Zipf's law, 5 to 40 a sentence.
Times are those of the processor, on one thread, so that other programs disturb them little.
Every pair of matrices is checked to agree to 1e-12 before its time counts.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import linear_kernel

sys.path.insert(0, str(Path(__file__).parents[2]))

from preferendum.fit.similarity import similarity, whole

Matrix = NDArray[np.float64]
SLOW = 1000


def ours(sentences: list[str]) -> Matrix:
    return whole(similarity(sentences))


def sparse(sentences: list[str]) -> Matrix:
    cosine = linear_kernel(TfidfVectorizer(token_pattern=r"\w+").fit_transform(sentences))
    words = CountVectorizer(token_pattern=r"\w+", binary=True, dtype=np.float64).fit_transform(sentences)
    shared = (words @ words.T).toarray()
    sizes = np.asarray(words.sum(axis=1)).ravel()
    return (cosine + shared / (sizes[:, None] + sizes[None, :] - shared)) / 2


def as_documented(sentences: list[str]) -> Matrix:
    cosine = linear_kernel(TfidfVectorizer(token_pattern=r"\w+").fit_transform(sentences))
    words = CountVectorizer(token_pattern=r"\w+", binary=True).fit_transform(sentences).toarray().astype(bool)
    return (cosine + 1 - pairwise_distances(words, metric="jaccard")) / 2


def made_up(n: int, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    often = 1 / np.arange(1, 20_001)
    words = np.array([f"w{i}" for i in range(20_000)])
    draw = rng.choice(words, size=(n, 40), p=often / often.sum())
    return [" ".join(row[:length]) for row, length in zip(draw, rng.integers(5, 41, n), strict=True)]


def seconds(compute: Callable[[list[str]], Matrix], sentences: list[str], repeats: int) -> float:
    """The shortest of several runs: what the machine does when nothing else disturbs it."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        compute(sentences)
        times.append(time.process_time() - begin)
    return min(times)


def megabytes(compute: Callable[[list[str]], Matrix], sentences: list[str]) -> float:
    tracemalloc.start()
    compute(sentences)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        parser.error("set OPENBLAS_NUM_THREADS=1: processor time counts every thread")
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}; best of {options.repeats}; peak memory by tracemalloc"
    )
    print("| sentences | ours | scikit-learn, sparse | ratio | as documented | ratio | memory: ours, sparse |")
    print("|---|---|---|---|---|---|---|")
    for n in options.sizes:
        sentences = made_up(n)
        reference = ours(sentences)
        np.testing.assert_allclose(sparse(sentences), reference, rtol=0, atol=1e-12)
        mine, peer = (seconds(compute, sentences, options.repeats) for compute in (ours, sparse))
        documented, ratio = "-", "-"
        if n <= SLOW:
            np.testing.assert_allclose(as_documented(sentences), reference, rtol=0, atol=1e-12)
            slow = seconds(as_documented, sentences, 1)
            documented, ratio = f"{slow * 1e3:.0f} ms", f"{slow / mine:.0f}x"
        memory = f"{megabytes(ours, sentences):.0f}, {megabytes(sparse, sentences):.0f} MB"
        print(
            f"| {n:,} | {mine * 1e3:.1f} ms | {peer * 1e3:.1f} ms | {peer / mine:.1f}x "
            f"| {documented} | {ratio} | {memory} |"
        )


if __name__ == "__main__":
    main()
