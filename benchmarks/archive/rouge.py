"""How fast is exact ROUGE on 100-word summaries with 4 references and stemming, beside what others use?

    OPENBLAS_NUM_THREADS=1 python benchmarks/archive/rouge.py [--topics 2] [--summaries 55] [--repeats 5]

Peers: rouge-metric's `PyRouge`, which has neither the official tokens nor the official stems and is given ours (each
text is read once, and that time counts), pooling references as we do; and rouge-score's `RougeScorer.score_multi` with
its stemmer. Ours is timed in two ways: all summaries of a topic in one call, as a whole evaluation does it, and one
call a summary. The text is made up: words with English endings by Zipf's law. Times are CPU time of the one process,
the best of the repeats; so stems of words that were met before are remembered, ours and PyRouge's alike, and what the
first pass over new words costs is printed beside.

What is equal: every recall, precision and F of ours and PyRouge's, to 1e-5. rouge-score has another stemmer and takes
the best reference by F; without stems and with one reference its ROUGE-1 and ROUGE-2 are held to ours, to 1e-5.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rouge_metric import PyRouge
from rouge_score.rouge_scorer import RougeScorer

sys.path.insert(0, str(Path(__file__).parents[2]))

from preferendum.methods.metrics.rouge.scores import Measure, Score, scores
from preferendum.methods.metrics.rouge.units import RougeOptions
from preferendum.vocabulary.porter import stem

Text = list[str]
Topic = tuple[list[Text], list[Text]]
Scorer = Callable[[Topic, Sequence[Measure]], object]

ENDINGS = ["", "", "", "s", "ed", "ing", "ation", "ly", "ement", "ness", "ies", "ational", "er"]
KINDS: dict[str, tuple[Measure, ...]] = {
    "1, 2": ("rouge-1", "rouge-2"),
    "1, 2, L": ("rouge-1", "rouge-2", "rouge-l"),
    "1, 2, SU4": ("rouge-1", "rouge-2", "rouge-su4"),
    "1, 2, 3, 4, L, SU4": ("rouge-1", "rouge-2", "rouge-3", "rouge-4", "rouge-l", "rouge-su4"),
}


def made_up(topics: int, summaries: int, references: int = 4, seed: int = 0) -> list[Topic]:
    """Topics with 100-word texts of five sentences; each topic has favourite words of its own."""
    rng = np.random.default_rng(seed)
    roots = [
        "".join(rng.choice(list("bcdfglmnprstv")) + rng.choice(list("aeiou")) for _ in range(k % 3 + 1))
        for k in range(4000)
    ]
    words = np.array([root + str(rng.choice(ENDINGS)) for root in roots])
    often = 1 / np.arange(1, len(words) + 1)
    made = []
    for _ in range(topics):
        own = rng.choice(words, 80)

        def text(own: np.ndarray = own) -> Text:
            drawn = np.where(rng.random(100) < 0.4, rng.choice(own, 100), rng.choice(words, 100, p=often / often.sum()))
            return [" ".join(drawn[k : k + 20]).capitalize() + "." for k in range(0, 100, 20)]

        made.append(([text() for _ in range(summaries)], [text() for _ in range(references)]))
    return made


def ours(topic: Topic, kinds: Sequence[Measure]) -> dict[Measure, list[Score]]:
    return scores(*topic, kinds)


def ours_one_by_one(topic: Topic, kinds: Sequence[Measure]) -> None:
    for summary in topic[0]:
        scores([summary], topic[1], kinds)


def tokens(text: Text) -> list[list[str]]:
    """The official tokens and stems, in the plainest way."""
    kept = [[c if c.isascii() and c.isalnum() else " " for c in line.lower()] for line in text]
    return [[stem(token) for token in "".join(line).split()] for line in kept]


def pyrouge(topic: Topic, kinds: Sequence[Measure]) -> list[dict[str, dict[str, float]]]:
    summaries, references = topic
    scorer = PyRouge(
        rouge_n=[int(kind[-1]) for kind in kinds if kind[-1].isdigit() and "su" not in kind],
        rouge_l="rouge-l" in kinds,
        rouge_su="rouge-su4" in kinds,
        skip_gap=4,
        mode="individual",
    )
    read = [tokens(reference) for reference in references]
    return scorer.evaluate_tokenized([tokens(summary) for summary in summaries], [read] * len(summaries))


def rouge_score(topic: Topic, kinds: Sequence[Measure]) -> None:
    names = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-3": "rouge3", "rouge-4": "rouge4", "rouge-l": "rougeLsum"}
    scorer = RougeScorer([names[kind] for kind in kinds if kind in names], use_stemmer=True)
    references = ["\n".join(reference) for reference in topic[1]]
    for summary in topic[0]:
        scorer.score_multi(references, "\n".join(summary))


def check(topics: Sequence[Topic]) -> None:
    kinds = KINDS["1, 2, 3, 4, L, SU4"]
    plain = RougeScorer(["rouge1", "rouge2"], use_stemmer=False)
    for summaries, references in topics:
        mine, theirs = ours((summaries, references), kinds), pyrouge((summaries, references), kinds)
        for kind in kinds:
            expected = [[figures[kind][key] for key in "rpf"] for figures in theirs]
            np.testing.assert_allclose(mine[kind], expected, rtol=0, atol=1.1e-5)
        unstemmed = scores(summaries, references[:1], ["rouge-1", "rouge-2"], RougeOptions(stem=False))
        for k, summary in enumerate(summaries):
            scored = plain.score("\n".join(references[0]), "\n".join(summary))
            for measure, key in (("rouge-1", "rouge1"), ("rouge-2", "rouge2")):
                expected = (scored[key].recall, scored[key].precision, scored[key].fmeasure)
                np.testing.assert_allclose(unstemmed[measure][k], expected, rtol=0, atol=1.1e-5)


def microseconds(score: Scorer, topics: Sequence[Topic], kinds: Sequence[Measure], repeats: int) -> float:
    """CPU time of a summary, the best of several passes over all topics."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for topic in topics:
            score(topic, kinds)
        times.append(time.process_time() - start)
    return min(times) / sum(len(summaries) for summaries, _ in topics) * 1e6


def peak(score: Scorer, topic: Topic, kinds: Sequence[Measure]) -> float:
    tracemalloc.start()
    score(topic, kinds)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=2)
    parser.add_argument("--summaries", type=int, default=55)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    topics = made_up(options.topics, options.summaries)
    check(topics[:1])
    stem.cache_clear()
    stem("mice")  # reads the table of irregular forms
    new = microseconds(ours, topics, KINDS["1, 2"], 1) - microseconds(ours, topics, KINDS["1, 2"], options.repeats)
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, rouge-metric {version('rouge-metric')}, "
        f"rouge-score {version('rouge-score')}; {options.topics} topics x {options.summaries} summaries, CPU time, "
        f"best of {options.repeats}; equal to PyRouge and (without stems) to rouge-score; "
        f"new words cost {new:.0f} µs more"
    )
    print("| measures | ours | one by one | PyRouge | ratio | one by one | rouge-score | ratio | one by one | memory |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, kinds in KINDS.items():
        batch, single, first = (
            microseconds(score, topics, kinds, options.repeats) for score in (ours, ours_one_by_one, pyrouge)
        )
        second = microseconds(rouge_score, topics, kinds, 1)
        note = " *" if "rouge-su4" in kinds else ""  # rouge-score has no SU4
        print(
            f"| {name} | {batch:,.0f} µs | {single:,.0f} µs | {first:,.0f} µs | {first / batch:.1f}x "
            f"| {first / single:.1f}x | {second:,.0f} µs{note} | {second / batch:.1f}x | {second / single:.1f}x "
            f"| {peak(ours, topics[0], kinds):.1f}, {peak(pyrouge, topics[0], kinds):.1f} MB |"
        )
    print("* without SU4, which rouge-score does not have. Memory: ours for a whole topic, PyRouge")


if __name__ == "__main__":
    main()
