"""A machine judge held against people: what `judge_card` gives, in Python and on the command line (docs/model.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from scipy.special import expit

from preferendum.evidence import Evidence
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import HALF, LETTERS, SHARES, share_of_first
from preferendum.formats.judge import judge_in
from preferendum.formats.records import Preference
from preferendum.judged import Beside, beside
from preferendum.reading import Source, read, refused
from preferendum.results.judge_card import (
    AGREES,
    FEW_SYSTEMS,
    FEWEST_PAIRS,
    FIRST_NAMED,
    FIRST_WINS,
    LESS,
    MORE,
    TIES,
    TOO_EARLY,
    Bias,
    JudgeCard,
    Row,
)
from preferendum.results.statistics import LEVEL, wilson
from preferendum.scoring.win_rate import Flags, Matrix, Vector
from preferendum.show.analyses.judge_card import tables
from preferendum.show.helped import why_nothing_is_borrowed
from preferendum.show.printed import Printed
from preferendum.statistics import EQUAL

#: Fewer answers than this say nothing about sides, ties and turned pairs.
FEWEST_ANSWERS = 100
#: Fewer topics than this have no interval over topics, and fewer systems none of their order.
FEWEST_TOPICS = FEWEST_IN_ORDER = 5
#: The share of a judge's answers whose pair is asked both ways round, from which sides are told from systems.
NEARLY_ALL = 0.9
RESAMPLES = 1000
#: So many sums of samples are held in memory at once.
MOST_AT_ONCE = 5_000_000
#: The alternative-annotator test: how many annotators it takes, and answers of each; its margins.
FEWEST_ANNOTATORS, FEWEST_OF_EACH = 3, 30
MARGINS = (0.1, 0.2)

Pair = tuple[str, str, str]
#: A value and the ends of its interval.
Interval = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, repr=False, eq=False)
class Card(Printed):
    """A judge's card, as `judge_card` gives it. `rows`: the figures; `biases`: how it favours each system."""

    rows: tuple[Row, ...]
    biases: tuple[Bias, ...]


@on_one_thread
def judge_card(judgments: Source, *, judge: str, topics: Source | None = None, by_maker: Sequence[str] = ()) -> Card:
    """Hold a machine judge against people: agreement, sides, ties, bias a system, and what its help adds.

    Parameters
    ----------
    judgments : Data, path, DataFrame or iterable of dict
        What `read` gave, or what it takes: people's judgments of whole outputs, and the judge's (`kind` machine), whose
        pairs are the same ones where both name their topic; or a study's archive.
    judge : str
        The judge's name, its `annotator`.
    topics : Data, path, DataFrame or iterable of dict, optional
        Topics with the summaries that were judged: whether the judge prefers longer ones.
    by_maker : sequence of str, optional
        Systems by the judge's maker, and those that its judgments or the archive name as `made`.

    Returns
    -------
    Card
        Prints as a table: each figure with its 95% interval, what people have, and on how many pairs or answers it
        rests; `too early` where these are too few. Its second table is the bias for each system.

    Raises
    ------
    preferendum.Refused
        For judgments that cannot be read, or a judge that is not among them.

    Examples
    --------
    >>> import preferendum as pf
    >>> people = [{"topic": f"t{k}", "a": "x", "b": "y", "winner": "a", "annotator": "Ann"} for k in range(20)]
    >>> card = pf.judge_card(people + [one | {"annotator": "gpt", "kind": "machine"} for one in people], judge="gpt")
    >>> card.to_dicts()[0]["note"]
    'too early'
    """
    data = read(judgments)
    judged = beside(data, (judge,), texts=None if topics is None else read(topics))
    if not judged.human:
        expected = "people's judgments about whole outputs (of: summaries)"
        raise refused(data.name, "no judgments about whole outputs by people", expected, field="of")
    record = card_of(judge, judged, by_maker=by_maker)
    return Card(tables(record), (), record.rows, record.biases)


def card_of(judge: str, judged: Beside, number: int = 0, by_maker: Sequence[str] = ()) -> JudgeCard:
    """One of these machines, the first by default, held against people, who have judged. `by_maker`: systems by its
    maker, too."""
    machine, shared = judged.machines[number], _Shared.of(judged, number)
    about, days = judge_in(machine), sorted(row.at[:10] for row in machine if row.at)
    of_systems, own = _of_systems(judged, number, shared, by_maker)
    of_answers = *_agreements(shared), _less_than_others(shared), *_sides(judged, number)
    rows = *of_answers, *_lengths(judged.evidence, shared), *of_systems, *_alternative(shared)
    own = tuple(replace(bias, by_maker=bias.system in {*about.made, *by_maker}) for bias in own)
    is_nameless = not any(row.topic for row in judged.human)
    ends = (days[0], days[-1]) if days else ("", "")
    return JudgeCard(judge, rows, own, len(machine), len(judged.human), is_nameless, about, *ends)


def _pair(row: Preference) -> Pair:
    return row.topic, min(row.a, row.b), max(row.a, row.b)


def _share(row: Preference) -> float:
    """The share of the win that the first by name has."""
    return share_of_first(LETTERS[row.winner], row.a > row.b)


@dataclass(frozen=True)
class _Shared:
    """The pairs with names of topics that the judge and people judged: the judge's mean share, and each annotator's
    first."""

    judge: Mapping[Pair, float]
    human: Mapping[Pair, Mapping[str, float]]

    @cached_property
    def mean(self) -> Mapping[Pair, float]:
        """People's mean share."""
        return {pair: sum(rows.values()) / len(rows) for pair, rows in self.human.items()}

    @classmethod
    def of(cls, judged: Beside, number: int) -> _Shared:
        machine: dict[Pair, list[float]] = defaultdict(list)
        for row in judged.machines[number]:
            if row.topic:
                machine[_pair(row)].append(_share(row))
        human: dict[Pair, dict[str, float]] = defaultdict(dict)
        for place, row in enumerate(judged.human):
            if (pair := _pair(row)) in machine:
                human[pair].setdefault(row.annotator or f"\0{place}", _share(row))
        return cls({pair: sum(machine[pair]) / len(machine[pair]) for pair in human}, human)


def _over_topics(topics: Sequence[str], columns: Sequence[Vector], value: Callable[..., Any]) -> Interval:
    """A value of the sums of columns of entries, by the bootstrap over topics."""
    names, of_topic = np.unique(np.array(topics), return_inverse=True)
    return _bootstrap(np.column_stack([np.bincount(of_topic, own, len(names)) for own in columns]), value)


def _bootstrap(sums: Matrix, value: Callable[..., Any]) -> Interval:
    """A value of sums, one row a topic, and its 95% interval by the bootstrap over topics; none of few topics, nor
    where all topics are alike: that says nothing of others."""
    topics, columns = sums.shape
    with np.errstate(divide="ignore", invalid="ignore"):
        own = float(value(*sums.sum(axis=0)))
        if not np.isfinite(own):
            return None, None, None
        if topics < FEWEST_TOPICS:
            return own, None, None
        drawn = np.random.default_rng(0).multinomial(topics, np.full(topics, 1 / topics), size=RESAMPLES)
        parts = np.array_split(drawn, 1 + RESAMPLES * columns // MOST_AT_ONCE)
        values = np.concatenate([value(*(part @ sums).T) for part in parts])
    low, high = np.quantile(values[np.isfinite(values)], [LEVEL / 2, 1 - LEVEL / 2]).tolist()
    return (own, low, high) if high - low > EQUAL else (own, None, None)


def _mean(total: Vector, number: Vector) -> Vector:
    return total / number


def _row(what: str, topics: Sequence[str], values: Sequence[float], other: float | None, pairs: int) -> Row:
    """A share of answers with its interval over topics, Wilson's where all are alike, or that it is too early."""
    if pairs < FEWEST_PAIRS:
        return Row(what, None, None, None, None, pairs, "%", TOO_EARLY)
    own, low, high = _over_topics(topics, [np.array(values), np.ones(len(values))], _mean)
    if own is not None and low is None and len(set(topics)) >= FEWEST_TOPICS:
        low, high = wilson(own * pairs, pairs)
    return Row(what, own, low, high, other, pairs, "%")


def _agreements(shared: _Shared) -> Iterator[Row]:
    with_judge = [(pair, shared.judge[pair], own) for pair, rows in shared.human.items() for own in rows.values()]
    among = [(pair, a, b) for pair, rows in shared.human.items() for a, b in combinations(rows.values(), 2)]

    def decided(rows: list[tuple[Pair, float, float]]) -> list[tuple[Pair, float, float]]:
        return [row for row in rows if HALF not in row[1:]]

    def equal(rows: list[tuple[Pair, float, float]]) -> list[float]:
        return [float(np.sign(a - HALF) == np.sign(b - HALF)) for _pair, a, b in rows]

    def mean(rows: list[tuple[Pair, float, float]]) -> float | None:
        return float(np.mean(equal(rows))) if len({row[0] for row in rows}) >= FEWEST_PAIRS else None

    for what, own, others in (
        (AGREES, decided(with_judge), decided(among)),
        ("agrees with people, ties as such", with_judge, among),
    ):
        topics = [pair[0] for pair, _a, _b in own]
        yield _row(what, topics, equal(own), mean(others), len({row[0] for row in own}))
    n = len(shared.human)
    if n < FEWEST_PAIRS:
        yield Row("agrees beyond chance", None, None, None, None, n, "", TOO_EARLY)
        return
    beyond = _beyond_chance(with_judge)
    other = _beyond_chance(among)[0] if mean(among) is not None else None
    yield Row("agrees beyond chance", *beyond, other, n, "")


def _beyond_chance(rows: Sequence[tuple[Pair, float, float]]) -> Interval:
    """Cohen's kappa (1960) of answers of two, where neither side of a pair is likelier, with its interval."""
    sides = np.array([(a, b) for _pair, a, b in rows])
    tie, same = sides == HALF, np.sign(sides[:, 0] - HALF) == np.sign(sides[:, 1] - HALF)

    def kappa(agreed: Vector, of_first: Vector, of_second: Vector, number: Vector) -> Vector:
        a, b = of_first / number, of_second / number
        chance = a * b + (1 - a) * (1 - b) / 2
        return (agreed / number - chance) / (1 - chance)

    return _over_topics([pair[0] for pair, _a, _b in rows], [same, *tie.T, np.ones(len(sides))], kappa)


def _less_than_others(shared: _Shared) -> Row:
    """The mean over people of how much better they agree with others than the judge does, on the same pairs."""
    entries = [
        (pair, name, np.mean([_same(own, other) - _same(shared.judge[pair], other) for other in others]))
        for pair, rows in shared.human.items()
        for name, own in rows.items()
        if (others := [other for key, other in rows.items() if key != name])
    ]
    pairs = len({pair for pair, _name, _value in entries})
    what = "agrees with people less than they do by"
    if pairs < FEWEST_PAIRS:
        return Row(what, None, None, None, None, pairs, "%", TOO_EARLY)
    topics, of_topic = np.unique([pair[0] for pair, _name, _value in entries], return_inverse=True)
    names, who = np.unique([name for _pair, name, _value in entries], return_inverse=True)
    t, g = len(topics), len(names)
    totals = (
        np.bincount(of_topic * g + who, weights, t * g).reshape(t, g)
        for weights in ([value for _pair, _name, value in entries], np.ones(len(entries)))
    )

    def mean_over_annotators(*sums: Vector) -> Vector:
        return np.asarray(np.nanmean(np.array(sums[:g]) / np.array(sums[g:]), axis=0))

    return Row(what, *_bootstrap(np.hstack([*totals]), mean_over_annotators), None, pairs, "%")


def _same(a: float, b: float) -> float:
    return float(np.sign(a - HALF) == np.sign(b - HALF))


def _counted(what: str, hits: Flags, of_others: Flags | None = None) -> Row:
    """A share with Wilson's interval (1927); a note where it is surely not people's."""
    n = len(hits)
    if n < FEWEST_ANSWERS:
        return Row(what, None, None, None, None, n, "%", TOO_EARLY)
    low, high = wilson(float(hits.sum()), n)
    human, note = None, ""
    if of_others is not None and len(of_others) >= FEWEST_ANSWERS:
        human = float(of_others.mean())
        others_low, others_high = wilson(float(of_others.sum()), len(of_others))
        note = MORE if low > others_high else LESS if high < others_low else ""
    return Row(what, float(hits.mean()), low, high, human, n, "%", note)


def _sides(judged: Beside, number: int) -> Iterator[Row]:
    rows = judged.machines[number]
    judge, human = (np.array([SHARES[LETTERS[row.winner]] for row in own]) for own in (rows, judged.human))
    decided, others = judge[judge != HALF], human[human != HALF]
    in_order = {(row.topic, row.a, row.b): SHARES[LETTERS[row.winner]] for row in rows if row.topic}
    both = [
        (own, 1 - in_order[topic, b, a])
        for (topic, a, b), own in in_order.items()
        if a < b and (topic, b, a) in in_order
    ]
    # a file may name the better one first; sides that were drawn here, or asked both ways, say nothing of systems
    is_drawn = 2 * len(both) >= NEARLY_ALL * len(rows) or all("reason" in row.extra for row in (*rows, *judged.human))
    yield _counted(FIRST_WINS if is_drawn else FIRST_NAMED, decided == 1, others == 1)
    yield _counted("the same when the two are turned", np.array([a == b for a, b in both]))
    tied = [(a, b) for a, b in both if a + b == 1]
    yield _counted("of ties over both orders, those that are flips", np.array([a != b for a, b in tied]))
    yield _counted(TIES, judge == HALF, human == HALF)


def _lengths(topics: Sequence[Evidence], shared: _Shared) -> Iterator[Row]:
    """The slope of (judge's share - people's) on the difference of log lengths, where texts are there."""
    lengths = {
        (topic.topic_id, summary.system): sum(map(len, summary.sentences))
        for topic in topics
        for summary in topic.summaries
    }
    pairs = [pair for pair in shared.human if all(lengths.get((pair[0], system)) for system in pair[1:])]
    if not pairs:
        return
    what = "prefers the longer beyond people, wins a standard deviation"
    if len(pairs) < FEWEST_PAIRS:
        yield Row(what, None, None, None, None, len(pairs), "", TOO_EARLY)
        return
    longer = np.array([np.log(lengths[topic, a] / lengths[topic, b]) for topic, a, b in pairs])
    longer = longer / (np.sqrt(np.square(longer).mean()) or 1.0)
    more = np.array([shared.judge[pair] - shared.mean[pair] for pair in pairs])

    topics_of = [pair[0] for pair in pairs]
    yield Row(what, *_over_topics(topics_of, [longer * more, np.square(longer)], _mean), None, len(pairs), "")


def _of_systems(
    judged: Beside, number: int, shared: _Shared, by_maker: Collection[str]
) -> tuple[list[Row], tuple[Bias, ...]]:
    """How the judge orders systems, its bias for each, and what its help adds."""
    helped, alone, n = judged.helped_by(number, by_maker), judged.alone.rates, len(judged.answers)
    if isinstance(helped, str):
        why = f"{TOO_EARLY}: {why_nothing_is_borrowed(helped)}"
        return [Row("order of systems", None, None, None, None, n, "", why)], ()
    own = judged.fits[number].alpha[alone.judged]
    is_judged = np.isfinite(own)
    alpha, covariance = alone.effects.alpha[is_judged], alone.effects.covariance[np.ix_(is_judged, is_judged)]
    rows = [_order(alpha, covariance, own[is_judged], n)]
    errors = float((np.trace(covariance) - covariance.sum() / len(alpha)) / (len(alpha) - 1))
    real, what = float(alpha.var(ddof=1)) - errors, "correlation of systems, people's errors taken off"
    if real > errors / 2:
        r = float(np.cov(alpha, own[is_judged])[0, 1] / np.sqrt(real * own[is_judged].var(ddof=1)))
        rows.append(Row(what, max(min(r, 1.0), -1.0), None, None, None, n, ""))
    else:
        rows.append(Row(what, None, None, None, None, n, "", TOO_EARLY))
    rows.append(_within(shared, dict(zip(alone.standing.systems, alone.effects.alpha.tolist(), strict=True)), own))
    equivalent = helped.comparison.equivalent_answers
    rows.append(Row("with it people's answers are as sure as so many", equivalent, None, None, None, n, "answers"))
    return rows, helped.biases


def _order(alpha: Vector, covariance: Matrix, of_judge: Vector, n: int) -> Row:
    """Kendall's tau-b of both orders of systems, and what two studies of people would have."""
    what = "order of systems (tau); people: of two such studies"
    draws = np.random.default_rng(0).multivariate_normal(alpha, covariance, size=RESAMPLES, method="eigh")
    a, b = np.triu_indices(len(alpha), 1)
    of_alpha, signs, judge = (np.sign(own[..., a] - own[..., b]) for own in (alpha, draws, of_judge))
    untied, told_apart = np.sqrt(len(a) * np.abs(judge).sum()), np.sqrt(np.abs(of_alpha).sum() * np.abs(judge).sum())
    value = float(of_alpha @ judge / told_apart) if told_apart > 0 else None
    among = float((signs[::2] * signs[1::2]).mean())
    if len(alpha) < FEWEST_IN_ORDER:
        return Row(what, value, None, None, among, n, "", FEW_SYSTEMS)
    low, high = np.quantile(signs @ judge / untied, [LEVEL / 2, 1 - LEVEL / 2]).tolist()
    return Row(what, value, low, high, among, n, "")


def _within(shared: _Shared, alpha: Mapping[str, float], of_judge: Vector) -> Row:
    """The correlation of what both fits miss of an answer by their systems alone."""
    own = dict(zip(alpha, of_judge.tolist(), strict=True))
    pairs = [pair for pair in shared.human if all(np.isfinite(own[system]) for system in pair[1:])]
    what = "correlation within pairs of systems"
    if len(pairs) < FEWEST_PAIRS:
        return Row(what, None, None, None, None, len(pairs), "", TOO_EARLY)
    x, y = (
        np.array([share[pair] for pair in pairs]) - expit([of[pair[1]] - of[pair[2]] for pair in pairs])
        for share, of in ((shared.mean, alpha), (shared.judge, own))
    )

    def r(products: Vector, of_human: Vector, of_judge: Vector) -> Vector:
        return products / np.sqrt(of_human * of_judge)

    topics = [pair[0] for pair in pairs]
    return Row(what, *_over_topics(topics, [x * y, x * x, y * y], r), None, len(pairs), "")


def _alternative(shared: _Shared) -> Iterator[Row]:
    """The alternative-annotator test (Calderon, Reichart and Dror 2025) on decided answers: the share of annotators
    whom the judge may replace, being as near to the others as they are, less a margin."""
    advantages: dict[str, list[float]] = defaultdict(list)
    for pair, rows in shared.human.items():
        decided = {name: share for name, share in rows.items() if share != HALF and not name.startswith("\0")}
        if shared.judge[pair] == HALF or len(decided) < 2:
            continue
        for name, own in decided.items():
            others = [share for key, share in decided.items() if key != name]
            human, machine = (np.mean([_same(share, other) for other in others]) for share in (own, shared.judge[pair]))
            advantages[name].append(float(human >= machine) - float(machine >= human))
    enough = [np.array(own) for own in advantages.values() if len(own) >= FEWEST_OF_EACH]
    n = sum(map(len, enough))
    for margin in MARGINS:
        what = f"alternative-annotator test, annotators it wins (margin {margin})"
        if len(enough) < FEWEST_ANNOTATORS:
            yield Row(what, None, None, None, None, n, "%", TOO_EARLY)
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.array([(own.mean() - margin) / (own.std(ddof=1) / np.sqrt(len(own))) for own in enough])
        p = np.nan_to_num(scipy.stats.t.cdf(t, [len(own) - 1 for own in enough]), nan=1.0)
        won = scipy.stats.false_discovery_control(p, method="by") <= LEVEL
        yield Row(what, float(won.mean()), None, None, None, n, "%", "passes" if won.mean() >= HALF else "fails")
