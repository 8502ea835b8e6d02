"""How long does a whole evaluation of the size of TAC take?

    OPENBLAS_NUM_THREADS=1 python benchmarks/archive/tac_sized.py [--topics 44] [--systems 55] [--references 4]
        [--draws 1000]

Everything is made up: for each topic 10 documents of 20 sentences, 4 references and 55 summaries of about 100 words,
human scores that depend on a system's and a summary's quality, and 1,000 judgments simulated from the references. Each
stage of the journey is timed (CPU time of the one process, BLAS on one thread): sentences compared, judgments
simulated, preferences fitted and scored, ROUGE-1/2/SU4/L, divergences, then every figure of `agree` with intervals
over systems and topics, and the tests of all pairs of systems by people. Peers in the same run: rouge-metric's PyRouge
and rouge-score on a part of the summaries (extrapolated), and scipy for the correlations of the same resamples, called
for each resample as its documentation has it, on a few of them (extrapolated). What is equal: ROUGE to PyRouge's to
1e-5, agreement to a count pair by pair, Kendall's tau of the resamples to scipy's to 1e-12.
"""

from __future__ import annotations

import argparse
import platform
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import scipy
from rouge_metric import PyRouge
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.worlds import made_up
from preferendum.evidence import Evidence
from preferendum.fit.similarity import similarity
from preferendum.methods.analyses.metric_agreement.report import metric_agreement
from preferendum.methods.meta import agreement, correlation
from preferendum.methods.meta.resampling import Resamples, paired_tests
from preferendum.methods.meta.scores import collect
from preferendum.metrics.registry import metric
from preferendum.scoring import simulate
from preferendum.vocabulary.porter import stem

Result = TypeVar("Result")
METRICS = ["preferences", "rouge-1", "rouge-2", "rouge-su4", "rouge-l", "js", "kl"]
JUDGMENTS = 1000


def simulated(topics: list[Evidence]) -> list[Evidence]:
    judged = []
    for topic in topics:
        compared = similarity(topic.sentences)
        worth = simulate.value_by_references(
            compared, [sentence for reference in topic.references for sentence in reference]
        )
        judgments = simulate.judge(worth, JUDGMENTS, simulate.seed_for(0, topic.topic_id))
        judged.append(
            Evidence(topic.topic_id, topic.sentence_ids, topic.sentences, judgments, topic.summaries, topic.references)
        )
    return judged


def tokens(text: tuple[str, ...]) -> list[list[str]]:
    return [[stem(token) for token in sentence.lower().replace(".", " ").split()] for sentence in text]


def pyrouge(topics: list[Evidence], summaries: int) -> dict[str, np.ndarray]:
    """Recall of ROUGE-1, 2, SU4 and L for the first summaries of each topic."""
    scorer = PyRouge(rouge_n=[1, 2], rouge_l=True, rouge_su=True, skip_gap=4, mode="individual")
    columns: dict[str, list[list[float]]] = {key: [] for key in ("rouge-1", "rouge-2", "rouge-su4", "rouge-l")}
    for topic in topics:
        read = [tokens(reference) for reference in topic.references]
        own = [tokens(summary.sentences) for summary in topic.summaries[:summaries]]
        scored = scorer.evaluate_tokenized(own, [read] * len(own))
        for key, column in columns.items():
            column.append([summary[key]["r"] for summary in scored])
    return {key: np.array(column).T for key, column in columns.items()}


def rouge_score(topics: list[Evidence], summaries: int) -> None:
    scorer = RougeScorer(["rouge1", "rouge2", "rougeLsum"], use_stemmer=True)
    for topic in topics:
        references = ["\n".join(reference) for reference in topic.references]
        for summary in topic.summaries[:summaries]:
            scorer.score_multi(references, "\n".join(summary.sentences))


def by_scipy(human: np.ndarray, scored: np.ndarray, drawn: Resamples, draws: int) -> np.ndarray:
    """Kendall's tau of summaries and the agreement's companions, resample by resample and topic by topic."""
    taus = []
    for b in range(draws):
        systems = np.repeat(np.arange(len(human)), drawn.systems[b].astype(int))
        topics = np.repeat(np.arange(human.shape[1]), drawn.topics[b].astype(int))
        rows = []
        for t in topics:
            x, y = human[systems, t], scored[systems, t]
            stats.pearsonr(x, y)
            stats.spearmanr(x, y)
            rows.append(stats.kendalltau(x, y).statistic)
        taus.append(np.mean(rows))
    return np.array(taus)


def agreement_by_pairs(human: np.ndarray, scored: np.ndarray) -> float:
    shares = []
    for h, m in zip(human.T, scored.T, strict=True):
        earned = [
            0.5 if m[i] == m[j] else float((m[i] > m[j]) == (h[i] > h[j]))
            for i in range(len(h))
            for j in range(i)
            if h[i] != h[j]
        ]
        shares.append(np.mean(earned))
    return float(np.mean(shares))


def timed(compute: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    result = compute()
    return result, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=44)
    parser.add_argument("--systems", type=int, default=55)
    parser.add_argument("--references", type=int, default=4)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    texts = made_up(options.topics, options.systems, options.references)
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}; "
        f"{options.topics} topics x {options.systems} systems x {options.references} references, "
        f"200 sentences and {JUDGMENTS} judgments a topic; CPU time"
    )
    print("| stage | seconds | peers, extrapolated |")
    print("|---|---|---|")

    topics, spent = timed(lambda: simulated(texts))
    total = spent
    print(f"| sentences compared, judgments simulated | {spent:.2f} | |")
    matrices = {}
    for name in METRICS:
        collected, spent = timed(lambda name=name: collect(topics, ["overall"], [metric(name)]))
        total += spent
        matrices[name] = collected.metrics[name]
        print(f"| {name} | {spent:.2f} | |", flush=True)
    human = collected.human["overall"]

    several = [metric(name) for name in METRICS if name.startswith("rouge")]
    together, spent = timed(lambda: collect(topics, ["overall"], several))
    part, few = topics[:4], 10
    share = len(part) * few / (options.topics * options.systems)
    theirs, first = timed(lambda: pyrouge(part, few))
    _, second = timed(lambda: rouge_score(part, few))
    for name, expected in theirs.items():
        np.testing.assert_allclose(together.metrics[name][:few, : len(part)], expected, rtol=0, atol=1.1e-5)
    print(
        f"| ROUGE-1/2/SU4/L together | {spent:.2f} | PyRouge {first / share:.0f} s ({first / share / spent:.0f}x), "
        f"rouge-score without SU4 {second / share:.0f} s ({second / share / spent:.0f}x) |",
        flush=True,
    )

    resamples = Resamples.drawn(options.systems, options.topics, "both", options.draws, 0)
    scores = replace(collected, metrics=matrices, signatures=dict.fromkeys(matrices, ""))
    reports, spent = timed(lambda: [metric_agreement(name, scores, "overall", resamples) for name in matrices])
    total += spent
    tried = 10
    expected, peer = timed(lambda: by_scipy(human, matrices["rouge-2"], resamples, tried))
    rows = Resamples(resamples.systems[:tried], resamples.topics[:tried])
    mine = agreement.correlate(human, matrices["rouge-2"], "summary", correlation.kendall, rows)
    np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-12)
    by_pairs = agreement_by_pairs(human, matrices["rouge-2"])
    np.testing.assert_allclose(reports[METRICS.index("rouge-2")].agreement.value, by_pairs, rtol=0, atol=1e-12)
    whole = peer / tried * options.draws * len(METRICS)
    print(
        f"| all figures of agree, {options.draws} resamples | {spent:.2f} | scipy, the three correlations of summaries "
        f"alone: {whole:.0f} s ({whole / spent:.0f}x) |",
        flush=True,
    )
    pairs = options.systems * (options.systems - 1) // 2
    _, spent = timed(lambda: paired_tests(human, 40 * pairs, 0))
    total += spent
    print(f"| seven tests of {pairs:,} pairs of systems, {40 * pairs:,} draws | {spent:.2f} | |")
    print(f"| **all** | **{total:.1f}** | |")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(f"\nPeak memory of the process {peak:.0f} MB. Agreement of rouge-2 {by_pairs:.3f}.")


if __name__ == "__main__":
    main()
