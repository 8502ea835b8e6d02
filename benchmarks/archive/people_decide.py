"""Do people decide, or would the board stand without them?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.people_decide [--sets summeval summeval_op squality wikinews]
        [--judgments 200] [--seeds 3] [--draws 1000]

Every score from answers simulated from the references, and from shams that no score should do well on: a coin, always
the longer sentence, always the shorter one, the references' answers turned round, none at all. For each: agreement with
people (equation 1) with 95% intervals over systems and topics (topics alone for two systems), the mean over seeds;
Kendall's tau of the systems' order with that by the references' answers; the share of pairs of systems that are called
different (over judgments, the family-wise error held at 5%). Beside them ROUGE and JS, which need no answers. `gain` is
how much better a score agrees with people by the references' answers than by its best sham. WikiNews (the demo's
topics) has no human scores.

The systems that people were, and references that are among the judged summaries, are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchmarks.corpora import PEERS, SETS, read
from preferendum.evidence import AS_PUBLISHED, Evidence, Judgments, Settings
from preferendum.fit import preference_matrix
from preferendum.fit.chances import Chances
from preferendum.fit.similarity import Similarity, similarity
from preferendum.methods.meta.agreement import agreement
from preferendum.methods.meta.resampling import Resamples
from preferendum.methods.meta.scores import Scores, collect, judged_topics
from preferendum.metrics.registry import metric
from preferendum.results import Standing
from preferendum.scoring import importance, simulate
from preferendum.scoring.evaluate import evaluate
from preferendum.scoring.ranking import Comparison

Matrix = NDArray[np.float64]
SCORES = ("importance", "combined", "coverage", "as published")


def by_references(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    sentences = [sentence for reference in topic.references for sentence in reference]
    return simulate.judge(simulate.value_by_references(alike, sentences), count, seed)


def turned(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    straight = by_references(topic, alike, count, seed)
    return replace(straight, outcome=1 - straight.outcome)


def longer(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    return simulate.judge(np.array([float(len(sentence)) for sentence in topic.sentences]), count, seed)


def shorter(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    return simulate.judge(-np.array([float(len(sentence)) for sentence in topic.sentences]), count, seed)


def coin(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    judged = simulate.judge(np.arange(len(topic.sentences), dtype=np.float64), count, seed)
    rng = np.random.default_rng((1, *seed))
    return replace(judged, outcome=rng.integers(0, 2, len(judged)).astype(np.float64))


def none(topic: Evidence, alike: Similarity, count: int, seed: tuple[int, ...]) -> Judgments:
    return simulate.judge(np.zeros(len(topic.sentences)), 0, seed)


ANSWERS: Mapping[str, Callable[[Evidence, Similarity, int, tuple[int, ...]], Judgments]] = {
    "references": by_references,
    "coin": coin,
    "longer": longer,
    "shorter": shorter,
    "turned round": turned,
    "none": none,
}
SHAMS = [answers for answers in ANSWERS if answers != "references"]


@dataclass(frozen=True)
class Board:
    """One score's table (s, t), the order of the systems that it makes, and the pairs that it calls different."""

    scores: Matrix
    different: float

    @property
    def means(self) -> NDArray[np.float64]:
        return np.nanmean(self.scores, axis=1)


def standings(topic: Evidence, shared: importance.SharedWords, alike: Similarity) -> dict[str, Standing]:
    """What each score says of one topic."""
    n, judgments = len(topic.sentences), topic.judgments
    chances = Chances.without_judgments(n)
    if len(judgments):
        estimate = preference_matrix.estimate(judgments, n, alike, Settings())
        chances = estimate.chances
    scores = importance.score(shared, chances, len(judgments))
    return {
        "importance": scores.of("importance").standing,
        "combined": scores.of("combined").standing,
        "coverage": scores.of("coverage").standing,
        "as published": evaluate(topic, AS_PUBLISHED, similarity=alike).standing,
    }


def board(of_topics: Sequence[Standing], systems: Sequence[str]) -> Board:
    table = np.full((len(systems), len(of_topics)), np.nan)
    for column, standing in enumerate(of_topics):
        table[[systems.index(system) for system in standing.systems], column] = standing.scores
    significant = [difference.significant for difference in Comparison(of_topics).differences()]
    return Board(table, float(np.mean([different or False for different in significant])))


def boards(
    topics: Sequence[Evidence], systems: Sequence[str], count: int, seeds: int
) -> dict[tuple[str, str], list[Board]]:
    """By score and kind of answers, one board a seed."""
    made: dict[tuple[str, str], list[Board]] = {}
    alike = [similarity(topic.sentences) for topic in topics]
    shared = [importance.share_words(topic) for topic in topics]
    for answers, judge in ANSWERS.items():
        for seed in range(seeds):
            scored = [
                standings(
                    replace(topic, judgments=judge(topic, similar, count, simulate.seed_for(seed, topic.topic_id))),
                    words,
                    similar,
                )
                for topic, words, similar in zip(topics, shared, alike, strict=True)
            ]
            for score in SCORES:
                made.setdefault((score, answers), []).append(board([topic[score] for topic in scored], systems))
    return made


def tau(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """0 where all systems are alike."""
    if np.ptp(np.round(b, 12)) == 0:
        return 0.0
    return float(kendalltau(np.round(a, 12), np.round(b, 12)).statistic)


def cell(value: float, resampled: Matrix) -> str:
    low, high = np.nanquantile(resampled, [0.025, 0.975])
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def print_agreement(made: Mapping[tuple[str, str], list[Board]], people: Scores, draws: int) -> None:
    (human,) = people.human.values()
    shape = human.shape
    # Of two systems drawn from two, half the draws have only one.
    once, drawn = Resamples.whole(*shape), Resamples.drawn(*shape, "both" if shape[0] > 2 else "topics", draws, 0)

    def mean(tables: Sequence[Matrix], resamples: Resamples) -> NDArray[np.float64]:
        return np.mean([agreement(human, table, resamples).mean for table in tables], axis=0)

    print(f"| agreement with people | {' | '.join(ANSWERS)} | gain |\n|---|{'---|' * (len(ANSWERS) + 1)}")
    for score in SCORES:
        tables = {answers: [board.scores for board in made[score, answers]] for answers in ANSWERS}
        values = {answers: float(mean(tables[answers], once)[0]) for answers in ANSWERS}
        resampled = {answers: mean(tables[answers], drawn) for answers in ANSWERS}
        best = max(SHAMS, key=values.__getitem__)
        cells = [cell(values[answers], resampled[answers]) for answers in ANSWERS]
        gain = cell(values["references"] - values[best], resampled["references"] - resampled[best])
        print(f"| {score} | {' | '.join(cells)} | {gain} |")
    for name, table in people.metrics.items():
        print(f"| {name} | {cell(float(mean([table], once)[0]), mean([table], drawn))} |" + " |" * len(ANSWERS))


def print_boards(made: Mapping[tuple[str, str], list[Board]]) -> None:
    print(f"\n| tau with references' order / pairs different | {' | '.join(ANSWERS)} |\n|---|{'---|' * len(ANSWERS)}")
    for score in SCORES:
        cells = []
        for answers in ANSWERS:
            pairs = list(zip(made[score, "references"], made[score, answers], strict=True))
            orders = np.mean([tau(right.means, other.means) for right, other in pairs])
            different = (
                ""
                if score in ("coverage", "as published")
                else f" / {np.mean([other.different for _, other in pairs]):.0%}"
            )
            cells.append(f"{orders:+.2f}{different}")
        print(f"| {score} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--judgments", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    for name in options.sets:
        begun = time.process_time()
        chosen = SETS[name]
        topics = read(chosen.path, chosen.without)
        people = None
        systems = list(dict.fromkeys(summary.system for topic in topics for summary in topic.summaries))
        if chosen.dimension:
            topics = judged_topics(topics, [chosen.dimension], chosen.without)
            people = collect(topics, [chosen.dimension], [metric(peer) for peer in PEERS])
            systems = list(people.systems)
        made = boards(topics, systems, options.judgments, options.seeds)
        seconds = time.process_time() - begun
        print(
            f"\n## {name}: {chosen.dimension or 'no human scores'}, {len(topics)} topics, {len(systems)} systems, "
            f"{options.judgments} judgments a topic, {options.seeds} seeds; {seconds:.0f} s of CPU\n"
        )
        if people:
            print_agreement(made, people, options.draws)
        print_boards(made)


if __name__ == "__main__":
    main()
