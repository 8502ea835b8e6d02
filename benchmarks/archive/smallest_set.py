"""How small is the smallest set of judgments that the first place hangs on, and how long does it take to find?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.smallest_set [--studies 50] [--first-seed 1000] [--topics 100]

**Beside every set there is**: small made-up studies (two topics of eight sentences, ten judgments each, four systems;
benchmarks/worlds.py). All sets smaller than the one that was found are tried, each with whole fits, up to three
judgments: a study counts as `checked` where none is left untried. Every set that was found is tried as well: without
it, whole fits must have another system first.

**How long**: `--topics` topics of 30 sentences, 1,000 judgments each, ten systems; the fits are at hand, as after an
examination. The time is that of the search, with the whole fits that prove it; beside it, in the same run, that of all
whole fits once.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np

from benchmarks.worlds import world
from preferendum.evidence import Evidence, Settings
from preferendum.results import Standing
from preferendum.scoring.evaluate import evaluate
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.smallest_set import JudgedTopic, smallest_set

LARGEST = 3


def study(
    topics: int, sentences: int, judgments: int, systems: int, seed: int, settings: Settings | None = None
) -> list[JudgedTopic]:
    """Made-up topics whose judgments go by 0, 1, 2 ..."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(topics):
        drawn = world("words", sentences, 1.5, rng)
        names = tuple(f"d:{index}" for index in range(sentences))
        answers, summaries = drawn.judgments(judgments, rng), drawn.summaries(systems, rng)
        evidence = Evidence(f"T{number}", names, drawn.texts, answers, summaries)
        keys = range(judgments * number, judgments * (number + 1))
        made.append(JudgedTopic(evidence, settings or Settings(), drawn.similarity, keys))
    return made


def firsts(topics: list[JudgedTopic]) -> Callable[[tuple[int, ...]], str]:
    """Which system whole fits put first without some judgments."""

    @cache
    def standing(number: int, left_out: tuple[int, ...]) -> Standing:
        topic = topics[number]
        some = topic.evidence.judgments.some(~np.isin(topic.keys, left_out))
        return evaluate(replace(topic.evidence, judgments=some), topic.settings, similarity=topic.similarity).standing

    def first(left_out: tuple[int, ...] = ()) -> str:
        standings = [
            standing(number, tuple(key for key in left_out if key in topic.keys)) for number, topic in enumerate(topics)
        ]
        return Comparison(standings).ranked()[0].system

    return first


def smaller(topics: list[JudgedTopic], size: int) -> int | None:
    """The size of the smallest set below `size` without which another system is first, if there is one."""
    first, keys = firsts(topics), [key for topic in topics for key in topic.keys]
    now = first()
    tried = (some for number in range(1, size) for some in combinations(keys, number))
    return next((len(some) for some in tried if first(some) != now), None)


def beside_all_sets(studies: int, first_seed: int) -> None:
    print(f"{studies} studies of 20 judgments: the size found, and that of the smallest of all sets\n")
    sizes: Counter[tuple[str, str]] = Counter()
    for seed in range(first_seed, first_seed + studies):
        topics = study(2, 8, 10, 4, seed)
        smallest = smallest_set(topics)
        if smallest is None:
            sizes["none", ""] += 1
            continue
        size = len(smallest.judgments)
        assert firsts(topics)(smallest.judgments) == smallest.instead != smallest.first, seed
        least = smaller(topics, min(size, LARGEST + 1))
        untried = f"over {LARGEST}" if size > LARGEST + 1 else str(size)
        sizes[str(size), untried if least is None else str(least)] += 1
    print("| found | smallest | studies |\n|---|---|---|")
    for (size, least), number in sorted(sizes.items()):
        print(f"| {size} | {least} | {number} |")


def time_of(topics: int) -> None:
    made = study(topics, 30, 1000, 10, 1)
    began = time.perf_counter()
    made = [JudgedTopic(topic.evidence, topic.settings, topic.similarity, topic.keys) for topic in made]
    fits = time.perf_counter() - began
    began = time.perf_counter()
    smallest = smallest_set(made)
    spent = time.perf_counter() - began
    size = len(smallest.judgments) if smallest else 0
    print(f"\n{1000 * topics:,} judgments: {size} found in {spent:.2f} s; all whole fits once {fits:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--topics", type=int, default=100)
    options = parser.parse_args()
    if options.studies:
        beside_all_sets(options.studies, options.first_seed)
    if options.topics:
        time_of(options.topics)


if __name__ == "__main__":
    main()
