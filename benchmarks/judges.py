"""What machine judges add to people's answers, and whether what is said of both together holds.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.judges [--studies 20] [--sizes 50 200 800] [--sets summeval arena]

Studies are drawn from real answers: of Arena, pairs with one person's vote each; of SummEval, random pairs of summaries
by a random one of three experts (relevance; equal ratings are a tie). A judge has judged everything. The truth are the
win rates of a fit to all answers by people. Judges are those that the sets have, and made ones from the first of these:
a `coin`; `turned` round; `first` (always the first shown; both orders are not asked); `ties` (its verdict in a tenth,
else a tie); `favours` (one system always wins; `named`: the study says that its maker made it); `half` (right in half
of the topics, turned in the others; where there are topics). Not tried: a judge that adds length.

gain: mean squared error of differences of win rates, people alone / helped (its Monte Carlo error by the jackknife over
studies); said: the same by the intervals, from which "as sure as N answers" follows. covered: how often 95% intervals
of helped differences hold the truth. erring: in how many studies Holm's tests call any two different that are equal
(each system's truth is taken from its scores first). wrong: significant differences in the wrong direction, of all
pairs. power: pairs told apart, by people alone and with help.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from benchmarks.corpora import DATA
from benchmarks.direct import Rated
from preferendum.fit.effects import Places
from preferendum.results import Standing
from preferendum.scoring.helped import HelpedComparison, Helper, JudgeFit, judge_fit
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import Answers, win_rates

SHARES = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}
#: The system that a made judge favours, and the name of that judge where the study says so (`by_maker`).
BEST, NAMED = 3, "favours, named"


@dataclass(frozen=True)
class Corpus:
    """`answers`: all by people, from which `draw` takes some; `machines`: those of each judge."""

    answers: Answers
    draw: Callable[[int, np.random.Generator], Places]
    machines: dict[str, Answers]


def arena() -> Corpus:
    with (DATA / "judges" / "arena.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    systems = tuple(sorted({row[side] for row in rows for side in "ab"}))
    place = {name: k for k, name in enumerate(systems)}
    first, second = (np.array([place[row[side]] for row in rows]) for side in "ab")
    outcome = {name: np.array([SHARES[row[name]] for row in rows]) for name in ("people", "gpt-4", "claude-3-opus")}
    m = len(rows)
    human = Answers(
        systems, ("",), np.zeros(m, np.int64), first, second, outcome.pop("people"), np.ones(m), np.full(m, -1)
    )
    machines = {name: replace(human, outcome=own) for name, own in outcome.items()}
    return Corpus(human, lambda n, rng: rng.choice(m, n, replace=False), machines)


def summeval() -> Corpus:
    rated = Rated.read("summeval", "relevance")
    raters, topics, s = rated.ratings.shape
    with (DATA / "judges" / "summeval_judges.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dimension"] == "relevance"]
    names = ("gpt-4o-mini", "mistral-v03")
    ratings = np.full((2, topics, s), np.nan)
    for row in rows:
        if row["topic"] in rated.topics and row["system"] in rated.systems:
            place = rated.topics.index(row["topic"]), rated.systems.index(row["system"])
            ratings[:, place[0], place[1]] = [float(row[name]) if row[name] else np.nan for name in names]
    rng = np.random.default_rng(0)
    pairs = np.array(list(combinations(range(s), 2)))

    def compared(number: int, of: np.ndarray) -> Answers:
        """All pairs of one rater or judge."""
        topic = np.repeat(np.arange(topics), len(pairs))
        a, b = np.tile(pairs, (topics, 1)).T
        turned = rng.random(len(topic)) < 0.5
        a, b = np.where(turned, b, a), np.where(turned, a, b)
        own = (np.sign(of[topic, a] - of[topic, b]) + 1) / 2
        kept = np.isfinite(own)
        m = int(kept.sum())
        return Answers(
            rated.systems, rated.topics, topic[kept], a[kept], b[kept], own[kept], np.ones(m), np.full(m, number)
        )

    parts = [compared(k, rated.ratings[k]) for k in range(raters)]
    columns = ("topic", "first", "second", "outcome", "weight", "annotator")
    whole = replace(parts[0], **{name: np.concatenate([getattr(part, name) for part in parts]) for name in columns})
    machines = {name: compared(-1, ratings[k]) for k, name in enumerate(names)}
    return Corpus(whole, lambda n, draw: draw.choice(len(whole), n, replace=False), machines)


def made(machines: dict[str, Answers]) -> Iterator[tuple[str, Answers]]:
    """The judges there are, and made ones."""
    yield from machines.items()
    rng, own = np.random.default_rng(1), next(iter(machines.values()))
    m = len(own)
    yield "coin", replace(own, outcome=(rng.random(m) < 0.5).astype(float))
    yield "turned", replace(own, outcome=1 - own.outcome)
    yield "first", replace(own, outcome=np.ones(m))
    yield "ties", replace(own, outcome=np.where(rng.random(m) < 0.9, 0.5, own.outcome))
    favoured = np.where(own.first == BEST, 1.0, np.where(own.second == BEST, 0.0, own.outcome))
    yield "favours", replace(own, outcome=favoured)
    yield NAMED, replace(own, outcome=favoured)
    if own.topics != ("",):
        half = rng.random(len(own.topics)) < 0.5
        yield "half", replace(own, outcome=np.where(half[own.topic], own.outcome, 1 - own.outcome))


@dataclass
class Study:
    """What one study says: squared errors and variances of differences, alone and helped, and counts."""

    errors: tuple[float, float]
    variances: tuple[float, float]
    covered: float
    erring: bool
    wrong: float
    power: tuple[float, float]


def study(answers: Answers, truth: np.ndarray, helper: Helper) -> Study:
    alone, helped = win_rates(answers).standing, win_rates(answers, fitter=helper.fit).standing
    place = [answers.systems.index(name) for name in alone.systems]
    own, names = truth[place], alone.systems
    first, second = np.triu_indices(len(names), 1)
    gaps = own[first] - own[second]
    alone_board, board = Comparison([alone]), HelpedComparison([helped], Comparison([alone]))
    equal = HelpedComparison([less(helped, own)], Comparison([less(alone, own)]))
    off = [np.array(result.scores)[first] - np.array(result.scores)[second] - gaps for result in (alone, helped)]
    true_gap = {frozenset((names[a], names[b])): own[a] - own[b] for a, b in zip(first, second, strict=True)}
    order = {name: k for k, name in enumerate(names)}

    def signed(better: str, worse: str) -> float:
        gap = true_gap[frozenset((better, worse))]
        return gap if order[better] < order[worse] else -gap

    differences = board.differences()
    inside = [
        result.low <= signed(result.better, result.worse) <= result.high
        for result in differences
        if result.low is not None and result.high is not None
    ]
    marked = [result for result in differences if result.significant]
    return Study(
        (float(np.square(off[0]).mean()), float(np.square(off[1]).mean())),
        (float(np.square(alone_board._contrasts.se).mean()), float(np.square(board._contrasts.se).mean())),
        float(np.mean(inside)),
        any(result.significant for result in equal.differences()),
        sum(signed(result.better, result.worse) < 0 for result in marked) / len(differences),
        (
            float(np.mean([bool(result.significant) for result in alone_board.differences()])),
            len(marked) / len(differences),
        ),
    )


def less(standing: Standing, truth: np.ndarray) -> Standing:
    """The standing with each system's truth taken from its score."""
    return replace(standing, scores=tuple((np.array(standing.scores) - truth + truth.mean()).tolist()), skew=None)


def ratio(pairs: np.ndarray) -> tuple[float, float]:
    """(first sum / second sum) and its error by the jackknife."""
    whole = pairs.sum(axis=0)
    left = (whole - pairs)[:, 0] / (whole - pairs)[:, 1]
    n = len(pairs)
    return float(whole[0] / whole[1]), float(np.sqrt((n - 1) * left.var()))


def report(corpus: Corpus, name: str, sizes: list[int], studies: int) -> None:
    truth = np.array(win_rates(corpus.answers).standing.scores)
    s = len(corpus.answers.systems)
    fits: dict[str, JudgeFit] = {judge: judge_fit(own) for judge, own in made(corpus.machines)}
    for size in sizes:
        for judge, own in fits.items():
            helper = Helper((own,), (np.arange(s) == BEST) & (judge == NAMED))
            if not np.nanstd(own.alpha) > 0.01:
                print(f"| {name} | {judge} | {size} | nothing is borrowed |  |  |  |  |  |")
                continue
            rngs = [np.random.default_rng(1000 * size + k) for k in range(studies)]
            results = [study(corpus.answers.some(corpus.draw(size, rng)), truth, helper) for rng in rngs]
            gain, error = ratio(np.array([result.errors for result in results]))
            stated, _ = ratio(np.array([result.variances for result in results]))
            covered = np.array([result.covered for result in results])
            power = np.mean([result.power for result in results], axis=0)
            print(
                f"| {name} | {judge} | {size} | {gain:.2f} ± {error:.2f} | {stated:.2f} | {covered.mean():.3f} ± "
                f"{covered.std() / np.sqrt(studies):.3f} | {np.mean([result.erring for result in results]):.2f} | "
                f"{np.mean([result.wrong for result in results]):.4f} | {power[0]:.2f}, {power[1]:.2f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 800])
    parser.add_argument("--sets", nargs="+", choices=["summeval", "arena"], default=["summeval", "arena"])
    options = parser.parse_args()
    print("| set | judge | answers | gain | said | covered | erring | wrong | power |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        report({"arena": arena, "summeval": summeval}[name](), name, options.sizes, options.studies)


if __name__ == "__main__":
    main()
