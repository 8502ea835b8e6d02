"""What answers about whole summaries tell, and whether what is said of them holds.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.direct [--of agreement asking coverage coin later time] [--studies 100]
        [--seeds 10]

agreement: with people (equation 1, mean over topics). The ratings of one real rater a topic, drawn at random, answer;
15 % of the answers are a coin's, equal ratings are a tie; the truth is the mean of the other raters, who gave no
answer. Pairs are those that a study asks for (`next_pairs`). Beside it the best metric of the registry that sees no
human score, on the same truths, and each topic fitted by itself.

asking: the mean squared error of systems' win rates if pairs are chosen before the first answer (`next_pairs`), by the
answers so far (the same rule with p (1 - p) times the variance of alpha_i - alpha_j of a fit after every answer of all
topics), and at random. Answers are those of one random rater a topic, as above; the truth are the win rates of all
raters on all topics, 15 % of the answers being a coin's. Ratios with Monte Carlo standard errors, over the same raters.

coverage, coin: made-up studies. alpha normal (standard deviation 1), deviations of summaries .7, each annotator with a
taste of their own for every system (.5) and care of .5, 1 or 2 times the utilities; all pairs equally likely. `heavy`:
Student's t with 3 and 4 degrees of freedom for alpha and deviations instead, and each annotator sees each summary in
their own way besides (.5). The truth is what infinitely many annotators would say of infinitely many topics. Counted
are how often intervals of win rates and of differences cover; in how many studies Holm's tests call systems different
that are equal (each system's truth is taken from its score first); and the share of pairs that are told apart.

later: half of the systems is judged, 10 answers a topic as above; the others are predicted. Agreement of the predicted
order in each topic with all raters; how often stated intervals hold the win rate that 20 answers a topic about all
systems give.

time: CPU seconds of one fit, its ranking and the next eight pairs of every topic, and the most memory that it took.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from scipy.special import expit

from benchmarks.corpora import DATA, DOCUMENTS, PEERS, POOLS, read
from preferendum.evidence import Evidence
from preferendum.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Variances
from preferendum.fit.kernel import expected
from preferendum.methods.meta.agreement import agreement
from preferendum.methods.meta.resampling import Resamples
from preferendum.methods.meta.scores import collect, judged_topics
from preferendum.metrics import registry
from preferendum.scoring.asking_summaries import next_pairs
from preferendum.scoring.content import content
from preferendum.scoring.later_systems import Prediction, predict
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import Answers, WinRates, win_rates

SETS = (("summeval", "relevance"), ("summeval_op", "relevance"), ("summeval_op", "aspect_coverage"))
HUMAN = "human-summaries"
COIN = 0.15
SIZES = (2, 5, 10, 20)
#: Beside `PEERS`: what needs no references.
OTHERS = tuple(name for name in (*DOCUMENTS, *POOLS) if name not in PEERS)
NONE = np.zeros(0, dtype=np.int64)
NO_ANSWERS = Answers((), (), NONE, NONE, NONE, np.zeros(0), np.zeros(0), NONE)
CARE = (0.5, 1.0, 2.0)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)


@dataclass(frozen=True)
class Rated:
    """Real ratings (raters, topics, systems) of a set."""

    name: str
    dimension: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    ratings: np.ndarray

    @classmethod
    def read(cls, name: str, dimension: str) -> Rated:
        lines = [json.loads(line) for line in (DATA / name / "topics.jsonl").read_text(encoding="utf-8").splitlines()]
        own = {
            (rating["annotator"], line["topic_id"], summary["system"]): rating[dimension]
            for line in lines
            for summary in line["summaries"]
            if summary["system"] != HUMAN
            for rating in summary["raters"]
        }
        raters, topics, systems = (tuple(sorted({key[k] for key in own})) for k in range(3))
        ratings = np.array([[[own[r, t, s] for s in systems] for t in topics] for r in raters], dtype=float)
        return cls(name, dimension, systems, topics, ratings)

    def drawn(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The rater of each topic, and the mean of the others (topics, systems)."""
        who = rng.integers(len(self.ratings), size=len(self.topics))
        others = (self.ratings.sum(axis=0) - self.ratings[who, np.arange(len(who))]) / (len(self.ratings) - 1)
        return who, others

    def answers(self, who: np.ndarray, some: np.ndarray, size: int, rng: np.random.Generator) -> Answers:
        """So many a topic, about some of the systems, by these raters."""
        texts = {topic: {self.systems[k]: k for k in some} for topic in self.topics}
        queues = next_pairs(texts, NO_ANSWERS, size, int(rng.integers(1 << 32)))
        rows = [(self.topics.index(t), *map(self.systems.index, pair)) for t, pairs in queues.items() for pair in pairs]
        return self.answered(who, np.array(rows), rng)

    def answered(self, who: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> Answers:
        """Pairs: topic, first, second (m, 3)."""
        topic, first, second = rows.T
        own = self.ratings[who[topic], topic]
        ahead = own[np.arange(len(topic)), first] - own[np.arange(len(topic)), second]
        outcome = (np.sign(ahead) + 1) / 2
        is_coin = rng.random(len(topic)) < COIN
        outcome[is_coin] = rng.integers(0, 2, is_coin.sum())
        return Answers(self.systems, self.topics, topic, first, second, outcome, np.ones(len(topic)), who[topic])

    def agreement(self, table: np.ndarray, truth: np.ndarray) -> float:
        """Of a table (topics, systems), nan where there is nothing, with people."""
        shown = np.where(np.isfinite(table), truth, np.nan)
        return float(agreement(shown.T, table.T, Resamples.whole(*table.T.shape)).mean[0])

    def table(self, answers: Answers) -> np.ndarray:
        """(topics, systems): win rates, all topics judged together."""
        table = np.full((len(self.topics), len(self.systems)), np.nan)
        for row, (_, scores) in zip(
            table, win_rates(answers, np.ones(table.shape, dtype=np.bool_)).by_topic(), strict=True
        ):
            row[[self.systems.index(system) for system in scores.systems]] = scores.score
        return table

    def alone(self, answers: Answers) -> np.ndarray:
        """The same, each topic by itself; what no answer is about is average."""
        table = np.full((len(self.topics), len(self.systems)), 0.5)
        for number, row in enumerate(table):
            own = answers.topic == number
            columns = (getattr(answers, name)[own] for name in ("first", "second", "outcome", "weight", "annotator"))
            some = Answers(answers.systems, ("T",), np.zeros(own.sum(), dtype=np.int64), *columns)
            standing = win_rates(some, variances=Variances(1.0, 0.01)).standing
            row[[self.systems.index(system) for system in standing.systems]] = standing.scores
        return table


def of_asking(options: argparse.Namespace) -> None:
    print(
        "| set | answers a topic | fixed, 1e-3 | adaptive, 1e-3 | random, 1e-3 | fixed / adaptive | adaptive / random |"
    )
    print(f"|{'---|' * 7}")
    for rated in (Rated.read(*own) for own in SETS):
        share = (np.sign(rated.ratings[..., :, None] - rated.ratings[..., None, :]).mean(axis=(0, 1)) + 1) / 2
        s = len(rated.systems)
        truth = COIN / 2 + (1 - COIN) * (share.sum(axis=1) - 0.5) / (s - 1)
        for size in (5, 8):
            errors = []
            for seed in range(options.seeds):
                own = []
                for rule in (fixed, adaptive, at_random):
                    rng = np.random.default_rng((seed, size))
                    who, _ = rated.drawn(rng)
                    rates = win_rates(rule(rated, who, size, rng))
                    standing = dict(zip(rates.standing.systems, rates.standing.scores, strict=True))
                    shown = np.array([standing.get(name, 0.5) for name in rated.systems])
                    own.append(np.square(shown - truth).mean())
                errors.append(own)
            by_rule = np.array(errors)
            mean, se = by_rule.mean(axis=0), by_rule.std(axis=0, ddof=1) / len(by_rule) ** 0.5
            cells = [f"{1e3 * m:.3f} ± {1e3 * e:.3f}" for m, e in zip(mean, se, strict=True)]
            cells += [ratio(by_rule[:, 0], by_rule[:, 1]), ratio(by_rule[:, 1], by_rule[:, 2])]
            print(f"| {rated.name} {rated.dimension} | {size} | {' | '.join(cells)} |", flush=True)


def ratio(a: np.ndarray, b: np.ndarray) -> str:
    """Of means of paired errors, by the delta method."""
    own = a.mean() / b.mean()
    return f"{own:.2f} ± {np.std(a - own * b, ddof=1) / b.mean() / len(a) ** 0.5:.2f}"


def fixed(rated: Rated, who: np.ndarray, size: int, rng: np.random.Generator) -> Answers:
    return rated.answers(who, np.arange(len(rated.systems)), size, rng)


def at_random(rated: Rated, who: np.ndarray, size: int, rng: np.random.Generator) -> Answers:
    """All pairs of a topic equally likely, none twice."""
    every = np.array(list(combinations(range(len(rated.systems)), 2)))
    rows = [(t, *every[k]) for t in range(len(who)) for k in rng.choice(len(every), size, replace=False)]
    return rated.answered(who, np.array(rows), rng)


def adaptive(rated: Rated, who: np.ndarray, size: int, rng: np.random.Generator) -> Answers:
    """The systems with the fewest answers, then the least certain pair by a fit after every answer of all topics."""
    a, b = np.array(list(combinations(range(len(rated.systems)), 2))).T
    s, topics = len(rated.systems), len(who)
    drawn, count = np.zeros((topics, len(a))), np.zeros(s)
    alpha, covariance, item = np.zeros(s), USUAL_SYSTEM * np.identity(s), USUAL_ITEM
    given: Answers | None = None
    for _ in range(size):
        rows = []
        for t in range(topics):
            p = expit(alpha[a] - alpha[b])
            told = p * (1 - p) * (covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
            told *= 1 + 1e-6 * rng.random(len(a))
            k = np.lexsort((-told, count[a] + count[b], drawn[t]))[0]
            drawn[t, k] += 1
            count[[a[k], b[k]]] += 1
            apart = covariance[a[k]] - covariance[b[k]]
            noise = 1 / (p[k] * (1 - p[k])) + 2 * item
            covariance = covariance - np.outer(apart, apart) / (noise + apart[a[k]] - apart[b[k]])
            rows.append((t, a[k], b[k]))
        new = rated.answered(who, np.array(rows), rng)
        given = new if given is None else joined(given, new)
        rates = win_rates(given)
        place = [rated.systems.index(name) for name in rates.standing.systems]
        alpha, covariance, item = np.zeros(s), USUAL_SYSTEM * np.identity(s), rates.effects.variances.item
        alpha[place] = rates.effects.alpha
        covariance[np.ix_(place, place)] = rates.effects.covariance
    assert given is not None
    return given


def joined(given: Answers, new: Answers) -> Answers:
    columns = ("topic", "first", "second", "outcome", "weight", "annotator")
    both = {name: np.concatenate([getattr(given, name), getattr(new, name)]) for name in columns}
    return replace(given, **both)


def of_agreement(options: argparse.Namespace) -> None:
    heads = ["one rater", "metrics", *map(str, SIZES), *(f"by itself: {size}" for size in (5, 20))]
    print(f"| set | {' | '.join(heads)} | best metric |\n|{'---|' * (len(heads) + 2)}")
    for rated in (Rated.read(*own) for own in SETS):
        rows, every = [], np.arange(len(rated.systems))
        tables = metric_tables(rated)
        by_metric = dict.fromkeys(tables, 0.0)
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            who, truth = rated.drawn(rng)
            row = [rated.agreement(rated.ratings[who, np.arange(len(who))], truth)]
            given = {size: rated.answers(who, every, size, rng) for size in SIZES}
            row += [rated.agreement(rated.table(answers), truth) for answers in given.values()]
            row += [rated.agreement(rated.alone(given[size]), truth) for size in (5, 20)]
            rows.append(row)
            for name, table in tables.items():
                by_metric[name] += rated.agreement(table, truth) / options.seeds
        best = max(by_metric, key=by_metric.__getitem__)
        cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(*mean_and_error(np.array(rows)), strict=True)]
        cells.insert(1, f"{max(by_metric[name] for name in PEERS):.3f}")
        print(f"| {rated.name} {rated.dimension} | {' | '.join(cells)} | {best} {by_metric[best]:.3f} |", flush=True)


def metric_tables(rated: Rated) -> dict[str, np.ndarray]:
    """(topics, systems) of each metric."""
    topics = judged_topics(read(DATA / rated.name / "topics.jsonl", (HUMAN,)), [rated.dimension], (HUMAN,))
    metrics = registry.prepared(map(registry.metric, (*PEERS, *OTHERS)), topics)
    scored = collect(topics, [rated.dimension], metrics)
    rows = [scored.systems.index(system) for system in rated.systems]
    columns = [scored.topics.index(topic) for topic in rated.topics]
    return {name: table[np.ix_(rows, columns)].T for name, table in scored.metrics.items()}


def mean_and_error(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """With its Monte Carlo standard error."""
    return rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))


@dataclass(frozen=True)
class World:
    """A made-up study; `tie`: how clear a preference must be; `missing`: share of the summaries."""

    systems: int
    topics: int
    answers: int
    annotators: int
    taste: float = 0.5
    care: tuple[float, ...] = CARE
    tie: float = 0.0
    missing: float = 0.0
    heavy: bool = False
    deviation: float = 0.7
    spread: float = 1.0

    def study(self, rng: np.random.Generator) -> tuple[Answers, np.ndarray]:
        """Its answers, and the true win rates (s,)."""
        s, topics, m = self.systems, self.topics, self.answers
        alpha = self.spread * (0.7 * rng.standard_t(3, s) if self.heavy else rng.standard_normal(s))
        theta = alpha + self._deviations(rng, (topics, s))
        taste = self._tastes(rng, alpha)
        own = 0.5 * self.heavy * rng.standard_normal((self.annotators, topics, s))
        has = rng.random((topics, s)) >= self.missing
        has[:, :2] |= has.sum(axis=1, keepdims=True) < 2
        lots = (np.where(own, rng.random((m, s)), np.inf) for own in has)
        first, second = np.concatenate([np.argsort(lot, axis=1)[:, :2].copy() for lot in lots]).T
        topic = np.repeat(np.arange(topics), m)
        who = self._who(rng, topic)
        seen = [theta[topic, k] + taste[who, k] + own[who, topic, k] for k in (first, second)]
        gap = rng.choice(self.care, self.annotators)[who] * (seen[0] - seen[1])
        lot, won = rng.random(len(gap)), expit(gap - self.tie)
        outcome = np.where(lot < won, 1.0, np.where(lot < won + expit(-gap - self.tie), 0.0, 0.5))
        names = tuple(f"S{k:03}" for k in range(s)), tuple(f"T{k:03}" for k in range(topics))
        answers = Answers(*names, topic, first, second, outcome, np.ones(len(topic)), who)
        return answers, self._truth(alpha, rng)

    def _tastes(self, rng: np.random.Generator, alpha: np.ndarray) -> np.ndarray:
        """(annotators, systems)."""
        return np.asarray(self.taste * rng.standard_normal((self.annotators, self.systems)))

    def _who(self, rng: np.random.Generator, topic: np.ndarray) -> np.ndarray:
        """The annotator of each answer."""
        return rng.integers(self.annotators, size=len(topic))

    def _deviations(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        if not self.heavy:
            return np.asarray(self.deviation * rng.standard_normal(shape))
        return np.asarray(self.deviation * rng.standard_t(4, shape) / np.sqrt(2))

    def _truth(self, alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        spread, weights = np.sqrt(2) * np.hypot(self.taste, self.deviation) * NODES, WEIGHTS / WEIGHTS.sum()
        if self.heavy:
            others = np.hypot(self.taste, 0.5) * np.sqrt(2) * rng.standard_normal(2000)
            spread = self._deviations(rng, (2000,)) - self._deviations(rng, (2000,)) + others
            weights = np.full(2000, 1 / 2000)
        rates = np.zeros((len(alpha),) * 2)
        for care, (gap, weight) in product(self.care, zip(spread, weights, strict=True)):
            x = care * (alpha[:, None] - alpha + gap)
            rates += weight * (1 + expit(x - self.tie) - expit(-x - self.tie)) / 2 / len(self.care)
        return np.asarray((rates.sum(axis=1) - rates.diagonal()) / (len(alpha) - 1))


def figures(world: World, seed: int) -> tuple[float, ...]:
    """Of one study."""
    answers, truth = world.study(np.random.default_rng((seed, world.systems, world.topics, world.annotators)))
    standing = win_rates(answers).standing
    own = dict(zip(answers.systems, truth.tolist(), strict=True))
    covered = [mean.low <= own[mean.system] <= mean.high for mean in Comparison([standing]).means()]
    off = tuple(score - own[system] for system, score in zip(standing.systems, standing.scores, strict=True))
    equal = Comparison([replace(standing, scores=off)]).differences()
    apart = [pair for pair in Comparison([standing]).differences() if pair.significant]
    return (
        float(np.mean(covered)),
        float(np.mean([pair.low is not None and pair.low <= 0 for pair in equal])),
        float(any(pair.significant for pair in equal)),
        float(any(own[pair.better] < own[pair.worse] for pair in apart)),
        len(apart) / len(equal),
    )


FIGURES = ("win rates", "differences", "family-wise error", "wrong way round", "power")


def print_worlds(worlds: dict[str, World], studies: int) -> None:
    print(f"| world | systems | topics | answers a topic | annotators | {' | '.join(FIGURES)} |")
    print(f"|{'---|' * (5 + len(FIGURES))}")
    for name, world in worlds.items():
        number = max(studies // 4, 25) if world.systems > 20 else studies
        mean, error = mean_and_error(np.array([figures(world, seed) for seed in range(number)]))
        cells = [f"{own:.3f} ({mc:.3f})" for own, mc in zip(mean, error, strict=True)]
        sizes = (world.systems, world.topics, world.answers, world.annotators)
        print(f"| {name} | {' | '.join(map(str, sizes))} | {' | '.join(cells)} |", flush=True)


def of_coverage(options: argparse.Namespace) -> None:
    plain = {"taste": 0.0, "care": (1.0,)}
    worlds = {
        "one annotator": World(12, 20, 20, 1, **plain),
        "one annotator, few topics": World(5, 5, 40, 1, **plain),
        "one annotator, 5 answers": World(12, 20, 5, 1, **plain),
        "tastes, 2": World(12, 20, 20, 2),
        "tastes, 5": World(12, 20, 20, 5),
        "tastes, 5, few systems": World(5, 20, 20, 5),
        "tastes, 20": World(12, 20, 20, 20),
        "tastes, 20, few systems": World(5, 20, 20, 20),
        "tastes, 20, many topics": World(12, 100, 5, 20),
        "tastes, 20, many answers": World(12, 10, 100, 20),
        "strong tastes, 10": World(12, 20, 20, 10, taste=1.0),
        "ties": World(12, 20, 20, 20, tie=1.0),
        "missing": World(12, 20, 20, 20, missing=0.3),
        "ties, missing": World(5, 20, 20, 20, tie=1.0, missing=0.3),
        "heavy": World(12, 20, 20, 20, heavy=True),
        "heavy, 5": World(5, 20, 20, 5, heavy=True),
        "small differences": World(12, 20, 20, 20, spread=0.2),
        "many systems": World(55, 20, 50, 20),
        "many systems, one annotator": World(55, 20, 50, 1, **plain),
    }
    print_worlds(worlds, options.studies)


def of_coin(options: argparse.Namespace) -> None:
    coin = {"taste": 0.0, "care": (0.0,)}
    sizes = ((5, 20, 10), (12, 20, 20), (12, 100, 5), (55, 20, 50))
    worlds = {
        f"coin, {systems} x {topics}, {annotators}": World(systems, topics, answers, annotators, **coin)
        for annotators, (systems, topics, answers) in product((1, 5, 20), sizes)
    }
    print_worlds(worlds, options.studies)


def of_later(options: argparse.Namespace) -> None:
    print("| set | shared by judged | coverage | predicted | intervals hold | mean width | predicted from |")
    print(f"|{'---|' * 7}")
    for rated in (Rated.read(*own) for own in SETS):
        topics = [
            replace(topic, summaries=tuple(own for own in topic.summaries if own.system != HUMAN))
            for topic in read(DATA / rated.name / "topics.jsonl", (HUMAN,))
        ]
        rows, features = [], Counter[str | None]()
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            later = rng.permutation(len(rated.systems))[::2]
            judged = np.setdiff1d(np.arange(len(rated.systems)), later)
            rates = win_rates(rated.answers(rated.drawn(rng)[0], judged, 10, rng))
            prediction = predict(rates, topics)
            assert prediction is not None
            features[prediction.feature] += 1
            whole = win_rates(rated.answers(rated.drawn(rng)[0], np.arange(len(rated.systems)), 20, rng))
            tables = consensus(rated, topics, prediction.summaries, judged)
            agreed = [rated.agreement(table, rated.ratings.mean(axis=0)) for table in tables]
            rows.append([*agreed, *held(prediction, rates, whole)])
        cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(*mean_and_error(np.array(rows)), strict=True)]
        used = ", ".join(f"{feature}: {number}" for feature, number in features.most_common())
        print(f"| {rated.name} {rated.dimension} | {' | '.join(cells)} | {used} |", flush=True)


def consensus(
    rated: Rated, topics: Sequence[Evidence], expected_order: Mapping[str, Mapping[str, float]], judged: np.ndarray
) -> list[np.ndarray]:
    """(topics, systems) of those that nobody judged: words shared, coverage, as predicted."""
    tables = [np.full((len(rated.topics), len(rated.systems)), np.nan) for _ in range(3)]
    names = [rated.systems[k] for k in judged]
    for topic in topics:
        row = rated.topics.index(topic.topic_id)
        stems = {own.system: {w for s in own.sentences for w in content(s, "en")} for own in topic.summaries}
        source = Counter(word for sentence in topic.sentences for word in content(sentence, "en"))
        for system, order in expected_order[topic.topic_id].items():
            own, column = stems[system], rated.systems.index(system)
            tables[0][row, column] = sum(len(own & stems[other]) for other in names)
            tables[1][row, column] = sum(source[word] for word in own)
            tables[2][row, column] = order
    return tables


def held(prediction: Prediction, rates: WinRates, whole: WinRates) -> tuple[float, float]:
    """How often the intervals hold the win rate against the judged systems, and how wide they are."""
    alpha = dict(zip(whole.standing.systems, whole.effects.alpha.tolist(), strict=True))
    others = np.array([alpha[system] for system in rates.standing.systems])
    holds = []
    for own in prediction.systems:
        gaps = alpha[own.system] - others
        true = expected(gaps, np.full(len(gaps), 2 * whole.effects.variances.item))[0].mean()
        holds.append(own.low <= true <= own.high)
    return float(np.mean(holds)), float(np.mean([own.high - own.low for own in prediction.systems]))


def of_time(options: argparse.Namespace) -> None:
    print(
        "| systems | topics | answers | fit, s | ranking, s | topics' summaries, s | next pairs, s | most memory, MB |"
    )
    print(f"|{'---|' * 8}")
    for systems, topics, answers in ((12, 32, 640), (55, 44, 20_000), (1500, 100, 30_000), (1500, 100, 150_000)):
        given, _ = World(systems, topics, answers // topics, 20, missing=0.0).study(np.random.default_rng(0))
        seconds = [time.process_time()]
        rates = win_rates(given)
        seconds.append(time.process_time())
        Comparison([rates.standing]).ranked()
        seconds.append(time.process_time())
        for _ in rates.by_topic():
            pass
        seconds.append(time.process_time())
        texts = {topic: {system: system for system in given.systems} for topic in given.topics}
        next_pairs(texts, given, 8, 0)
        seconds.append(time.process_time())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        cells = [f"{own:.2f}" for own in np.diff(seconds)]
        print(f"| {systems} | {topics} | {len(given)} | {' | '.join(cells)} | {memory:.0f} |", flush=True)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "agreement": of_agreement,
    "asking": of_asking,
    "coverage": of_coverage,
    "coin": of_coin,
    "later": of_later,
    "time": of_time,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for part in options.of:
        print(f"\n## {part}\n", flush=True)
        PARTS[part](options)


if __name__ == "__main__":
    main()
