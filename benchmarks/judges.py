"""What machine judges add to people's answers, and whether what is said of both together holds.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.judges [--of worth time] [--studies 20] [--sizes 50 200 800]
        [--sets summeval arena]

Studies are drawn from real answers: of Arena, pairs with one person's vote each; of SummEval, random pairs of summaries
by a random one of three experts (relevance; equal ratings are a tie). A judge has judged everything. The truth are the
win rates of a fit to all answers by people. Judges are those that the sets have, and made ones from the first of these:
a `coin`; `turned` round; `first` (always the first shown; both orders are not asked); `ties` (its verdict in a tenth,
else a tie); `favours` (one system always wins; `named`: the study says that its maker made it); `half` (right in half
of the topics, turned in the others; where there are topics); `longer` (a standard deviation of the difference of log
lengths is added to its verdict; where there are texts).

worth: gain: mean squared error of differences of win rates, people alone / helped (its Monte Carlo error by the
jackknife over studies); said: the same by the intervals, from which "as sure as N answers" follows. covered: how often
95% intervals of helped differences hold the truth; worst: the same of the system where they do so least often. erring:
in how many studies Holm's tests call any two different that are equal (each system's truth is taken from its scores
first). wrong: significant differences in the wrong direction, of all pairs. power: pairs told apart, by people alone
and with help. All judges meet the same studies.

time: CPU seconds for 55 systems, 44 topics, 20,000 answers by people and a machine's 40,000: people alone, helped with
its multiple, and the cards and boards of ten machines, with 20,000 answers each, too.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.special import expit

from benchmarks.corpora import DATA
from benchmarks.direct import Rated
from preferendum.card import card_of
from preferendum.evidence import evidence
from preferendum.fit.effects import Places
from preferendum.formats import Topic
from preferendum.formats.records import Preference
from preferendum.judged import joined
from preferendum.results import Standing
from preferendum.scoring.helped import Alone, HelpedComparison, JudgeFit, help_of, helped_board, judge_fit
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import Answers, win_rates

SHARES = {"a": 1.0, "b": 0.0, "tie": 0.5, "neither": 0.5}
#: The system that a made judge favours, and the name of that judge where the study says so (`by_maker`).
BEST, NAMED = 3, "favours, named"


@dataclass(frozen=True)
class Corpus:
    """`answers`: all by people, from which `draw` takes some; `machines`: those of each judge; `lengths` (topics,
    systems): of the summaries in words, if known."""

    answers: Answers
    draw: Callable[[int, np.random.Generator], Places]
    machines: dict[str, Answers]
    lengths: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))


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
    lengths = np.ones((topics, s))
    for line in (DATA / "summeval" / "topics.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for summary in row["summaries"]:
            if row["topic_id"] in rated.topics and summary["system"] in rated.systems:
                place = rated.topics.index(row["topic_id"]), rated.systems.index(summary["system"])
                lengths[place] = max(len(summary["text"].split()), 1)
    return Corpus(whole, lambda n, draw: draw.choice(len(whole), n, replace=False), machines, lengths)


def made(corpus: Corpus) -> Iterator[tuple[str, Answers]]:
    """The judges there are, and made ones."""
    yield from corpus.machines.items()
    rng, own = np.random.default_rng(1), next(iter(corpus.machines.values()))
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
    if corpus.lengths.size:
        logs = np.log(corpus.lengths)
        more = logs[own.topic, own.first] - logs[own.topic, own.second]
        yield "longer", replace(own, outcome=(np.sign(2 * own.outcome - 1 + more / more.std()) + 1) / 2)


@dataclass
class Study:
    """What one study says: squared errors and variances of differences, alone and helped, and counts."""

    errors: tuple[float, float]
    variances: tuple[float, float]
    covered: np.ndarray
    erring: bool
    wrong: float
    power: tuple[float, float]


def study(answers: Answers, truth: np.ndarray, fit: JudgeFit, by_maker: list[str], human: Alone) -> Study:
    own_help = human.helped([fit], by_maker)
    assert not isinstance(own_help, str)
    alone, helped = human.rates.standing, own_help.rates.standing
    place = [answers.systems.index(name) for name in alone.systems]
    own, names = truth[place], alone.systems
    first, second = np.triu_indices(len(names), 1)
    gaps = own[first] - own[second]
    alone_board, board = human.comparison, own_help.comparison
    equal = HelpedComparison([less(helped, own)], Comparison([less(alone, own)]))
    off = [np.array(result.scores)[first] - np.array(result.scores)[second] - gaps for result in (alone, helped)]
    true_gap = {frozenset((names[a], names[b])): own[a] - own[b] for a, b in zip(first, second, strict=True)}
    order = {name: k for k, name in enumerate(names)}

    def signed(better: str, worse: str) -> float:
        gap = true_gap[frozenset((better, worse))]
        return gap if order[better] < order[worse] else -gap

    differences = board.differences()
    inside: list[list[bool]] = [[] for _ in truth]
    for result in differences:
        if result.low is not None and result.high is not None:
            holds = result.low <= signed(result.better, result.worse) <= result.high
            for name in (result.better, result.worse):
                inside[answers.systems.index(name)].append(holds)
    marked = [result for result in differences if result.significant]
    return Study(
        (float(np.square(off[0]).mean()), float(np.square(off[1]).mean())),
        (float(np.square(alone_board._contrasts.se).mean()), float(np.square(board._contrasts.se).mean())),
        np.array([np.mean(own) if own else np.nan for own in inside]),
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
    fits = {judge: judge_fit(own) for judge, own in made(corpus)}
    for size in sizes:
        results: dict[str, list[Study]] = {judge: [] for judge, own in fits.items() if np.nanstd(own.alpha) > 0.01}
        for k in range(studies):
            answers = corpus.answers.some(corpus.draw(size, np.random.default_rng(1000 * size + k)))
            human = Alone.of(answers)
            for judge, of_judge in results.items():
                by_maker = [answers.systems[BEST]] if judge == NAMED else []
                of_judge.append(study(answers, truth, fits[judge], by_maker, human))
        for judge in fits:
            if judge not in results:
                print(f"| {name} | {judge} | {size} | nothing is borrowed |  |  |  |  |  |  |")
                continue
            print(f"| {name} | {judge} | {size} | {' | '.join(cells(results[judge]))} |", flush=True)


def cells(results: list[Study]) -> Iterator[str]:
    """The figures of a row, with Monte Carlo errors."""
    n = len(results)
    gain, error = ratio(np.array([result.errors for result in results]))
    stated, _ = ratio(np.array([result.variances for result in results]))
    covered = np.array([result.covered for result in results])
    of_study, of_system = np.nanmean(covered, axis=1), np.nanmean(covered, axis=0)
    erring = np.mean([result.erring for result in results])
    power = np.mean([result.power for result in results], axis=0)
    yield f"{gain:.2f} ± {error:.2f}"
    yield f"{stated:.2f}"
    yield f"{of_study.mean():.3f} ± {of_study.std() / np.sqrt(n):.3f}"
    yield f"{of_system.min():.2f}"
    yield f"{erring:.2f} ± {np.sqrt(max(erring * (1 - erring), 1 / n) / n):.2f}"
    yield f"{np.mean([result.wrong for result in results]):.4f}"
    yield f"{power[0]:.2f}, {power[1]:.2f}"


def timed() -> None:
    rng, alpha = np.random.default_rng(0), np.random.default_rng(1).normal(size=55)
    names, topics = tuple(f"s{k:02}" for k in range(55)), tuple(f"t{k:02}" for k in range(44))

    def given(number: int, who: str, kind: dict[str, str]) -> list[Preference]:
        first, topic = rng.integers(55, size=number), rng.integers(44, size=number)
        second = (first + rng.integers(1, 55, size=number)) % 55
        wins = rng.random(number) < expit(alpha[first] - alpha[second])
        rows = zip(topic.tolist(), first.tolist(), second.tolist(), wins.tolist(), range(number), strict=True)
        return [
            Preference(
                topics[t],
                names[a],
                names[b],
                "a" if w else "b",
                who if kind else f"{who}{k % 20}",
                extra=kind,
                of="summaries",
            )
            for t, a, b, w, k in rows
        ]

    human = given(20_000, "A", {})
    machines = [given(40_000, f"m{k}", {"kind": "machine"}) for k in range(10)]
    for number, each in ((1, 40_000), (10, 20_000), (10, 40_000)):
        own = [rows[:each] for rows in machines[:number]]
        by_topic: dict[str, list[Preference]] = {topic: [] for topic in topics}
        for row in (*human, *(row for rows in own for row in rows)):
            by_topic[row.topic].append(row)
        all_topics = [evidence(Topic(name, (), (), ()), rows) for name, rows in by_topic.items()]
        judged = joined(all_topics, own, [f"m{k}" for k in range(number)])
        started = time.process_time()
        alone = judged.alone
        of_human = time.process_time() - started
        for k, helped in enumerate(judged.helped):
            assert not isinstance(helped, str)
            helped_board(help_of(f"m{k}", len(judged.answers), len(judged.of_machines[k]), helped), helped)
            helped.topics()
        of_boards = time.process_time() - started
        for k in range(number):
            card_of(f"m{k}", judged, k)
        whole = time.process_time() - started
        print(
            f"{number} machines, {each:,} answers each: people alone {of_human:.2f} s, helped {of_boards:.2f} s "
            f"({of_boards / of_human:.1f} times), with cards {whole:.2f} s; {len(alone.rates.judged)} systems"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", choices=["worth", "time"], default=["worth", "time"])
    parser.add_argument("--studies", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 800])
    parser.add_argument("--sets", nargs="+", choices=["summeval", "arena"], default=["summeval", "arena"])
    options = parser.parse_args()
    if "time" in options.of:
        timed()
    if "worth" not in options.of:
        return
    print("| set | judge | answers | gain | said | covered | worst | erring | wrong | power |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in options.sets:
        report({"arena": arena, "summeval": summeval}[name](), name, options.sizes, options.studies)


if __name__ == "__main__":
    main()
