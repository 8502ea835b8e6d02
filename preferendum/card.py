"""A machine judge held against people: what `judge_card` gives, in Python and on the command line (docs/model.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import expit

from preferendum.evidence import Evidence
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import HALF, LETTERS, SHARES, share_of_first
from preferendum.formats.records import Preference
from preferendum.judged import Beside, beside
from preferendum.reading import Source, read, refused
from preferendum.results.statistics import LEVEL, wilson
from preferendum.scoring.helped import Bias, HelpedComparison, Helper, biases, judge_fit
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import Flags, Matrix, Vector, win_rates
from preferendum.show.printed import Printed
from preferendum.show.shown import DASH, Cell, Column, Table, as_text, decimals, interval, p_value, sentences

#: Fewer pairs than this that people judged, too, say nothing; of sides and turned pairs, fewer answers.
FEWEST_PAIRS, FEWEST_ANSWERS = 30, 100
#: Fewer topics than this have no interval over topics.
FEWEST_TOPICS = 5
RESAMPLES = 1000
#: The alternative-annotator test: how many annotators it takes, and answers of each; its margins.
FEWEST_ANNOTATORS, FEWEST_OF_EACH = 3, 30
MARGINS = (0.1, 0.2)
TOO_EARLY, MORE, LESS = "too early", "more than people", "less than people"

Pair = tuple[str, str, str]


class Row(NamedTuple):
    """A row of the card: the judge's `value` and interval, people's (`human`), and on how many it rests (`n`)."""

    what: str
    value: float | None
    low: float | None
    high: float | None
    human: float | None
    n: int
    unit: str
    note: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Card(Printed):
    """A judge's card, as `judge_card` gives it. `rows`: the figures; `biases`: how it favours each system."""

    rows: tuple[Row, ...]
    biases: tuple[Bias, ...]


@on_one_thread
def judge_card(judgments: Source, *, judge: str, topics: Source | None = None) -> Card:
    """Hold a machine judge against people: agreement, sides, ties, bias a system, and what its help adds.

    Parameters
    ----------
    judgments : Data, path, DataFrame or iterable of dict
        What `read` gave, or what it takes: people's judgments of whole outputs, and the judge's (`kind` machine), whose
        pairs are the same ones where both name their topic. Not a study's archive.
    judge : str
        The judge's name, its `annotator`.
    topics : Data, path, DataFrame or iterable of dict, optional
        Topics with the summaries that were judged: whether the judge prefers longer ones.

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
    of_systems, own = _of_systems(judged)
    rows = [*_of_answers(judged), *of_systems, *_alternative(_Shared.of(judged))]
    return Card(_tables(judge, rows, own, judged), (), tuple(rows), own)


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

    @classmethod
    def of(cls, judged: Beside) -> _Shared:
        machine: dict[Pair, list[float]] = defaultdict(list)
        for row in judged.machines[0]:
            if row.topic:
                machine[_pair(row)].append(_share(row))
        human: dict[Pair, dict[str, float]] = defaultdict(dict)
        for number, row in enumerate(judged.human):
            if _pair(row) in machine:
                human[_pair(row)].setdefault(row.annotator or f"\0{number}", _share(row))
        return cls({pair: float(np.mean(machine[pair])) for pair in human}, human)


def _over_topics(topics: Sequence[str], value: Callable[[Vector], float]) -> tuple[float | None, float | None]:
    """The 95% interval of a value of weights of entries, by the bootstrap over topics; none of few topics."""
    names, of_topic = np.unique(np.array(topics), return_inverse=True)
    if len(names) < FEWEST_TOPICS:
        return None, None
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES)
    values = np.array([value(own[of_topic].astype(np.float64)) for own in weights])
    values = values[np.isfinite(values)]
    if not len(values):
        return None, None
    low, high = np.quantile(values, [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)


def _mean(values: Vector) -> Callable[[Vector], float]:
    return lambda weights: float(weights @ values / weights.sum()) if weights.sum() else np.nan


def _row(
    what: str, topics: Sequence[str], values: Sequence[float], other: float | None, pairs: int, unit: str = "%"
) -> Row:
    """A mean over answers with its interval over topics, or that it is too early."""
    if pairs < FEWEST_PAIRS:
        return Row(what, None, None, None, None, pairs, unit, TOO_EARLY)
    own = np.array(values, dtype=np.float64)
    return Row(what, float(own.mean()), *_over_topics(topics, _mean(own)), other, pairs, unit)


def _of_answers(judged: Beside) -> Iterator[Row]:
    shared = _Shared.of(judged)
    yield from _agreements(shared)
    yield _less_than_others(shared)
    yield from _sides(judged)
    yield from _lengths(judged.evidence, shared)


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
        ("agrees with people, both decided", decided(with_judge), decided(among)),
        ("agrees with people, ties as such", with_judge, among),
    ):
        topics = [pair[0] for pair, _a, _b in own]
        yield _row(what, topics, equal(own), mean(others), len({row[0] for row in own}))
    n = len(shared.human)
    if n < FEWEST_PAIRS:
        yield Row("agrees beyond chance", None, None, None, None, n, "", TOO_EARLY)
        return
    sides = np.array([(a, b) for _pair, a, b in with_judge])
    beyond = _beyond_chance(sides)
    interval_ = _over_topics([pair[0] for pair, _a, _b in with_judge], beyond)
    of_others = np.array([(a, b) for _pair, a, b in among]).reshape(-1, 2)
    other = _beyond_chance(of_others)(np.ones(len(of_others))) if mean(among) is not None else None
    yield Row("agrees beyond chance", beyond(np.ones(len(sides))), *interval_, other, n, "")


def _beyond_chance(sides: Matrix) -> Callable[[Vector], float]:
    """Cohen's kappa (1960) of weighted answers of two (m, 2), where neither side of a pair is likelier."""
    tie, same = sides == HALF, np.sign(sides[:, 0] - HALF) == np.sign(sides[:, 1] - HALF)

    def value(weights: Vector) -> float:
        agreed, (a, b) = weights @ same / weights.sum(), weights @ tie / weights.sum()
        chance = a * b + (1 - a) * (1 - b) / 2
        return float((agreed - chance) / (1 - chance)) if chance < 1 else np.nan

    return value


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
    _names, who = np.unique([name for _pair, name, _value in entries], return_inverse=True)
    values = np.array([value for _pair, _name, value in entries])

    def mean_over_annotators(weights: Vector) -> float:
        sums, numbers = np.bincount(who, weights * values), np.bincount(who, weights)
        return float((sums[numbers > 0] / numbers[numbers > 0]).mean())

    topics = [pair[0] for pair, _name, _value in entries]
    value = mean_over_annotators(np.ones(len(values)))
    return Row(what, value, *_over_topics(topics, mean_over_annotators), None, pairs, "%")


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


def _sides(judged: Beside) -> Iterator[Row]:
    judge, human = (
        np.array([SHARES[LETTERS[row.winner]] for row in rows]) for rows in (judged.machines[0], judged.human)
    )
    decided, others = judge[judge != HALF], human[human != HALF]
    yield _counted("first shown wins, of decided answers", decided == 1, others == 1)
    in_order = {(row.topic, row.a, row.b): SHARES[LETTERS[row.winner]] for row in judged.machines[0] if row.topic}
    both = [
        (own, 1 - in_order[topic, b, a])
        for (topic, a, b), own in in_order.items()
        if a < b and (topic, b, a) in in_order
    ]
    yield _counted("the same when the two are turned", np.array([a == b for a, b in both]))
    tied = [(a, b) for a, b in both if a + b == 1]
    yield _counted("of ties over both orders, those that are flips", np.array([a != b for a, b in tied]))
    yield _counted("ties", judge == HALF, human == HALF)


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
    more = np.array([shared.judge[pair] - np.mean([*shared.human[pair].values()]) for pair in pairs])

    def slope(weights: Vector) -> float:
        squares = float(weights @ np.square(longer))
        return float(weights @ (longer * more)) / squares if squares > 0 else np.nan

    value = slope(np.ones(len(pairs)))
    yield Row(what, value, *_over_topics([pair[0] for pair in pairs], slope), None, len(pairs), "")


def _of_systems(judged: Beside) -> tuple[list[Row], tuple[Bias, ...]]:
    """How the judge orders systems, its bias for each, and what its help adds."""
    answers = judged.answers
    n = len(answers)
    helper = Helper.of(answers, judged.of_machines, np.zeros(len(answers.systems), dtype=np.bool_))
    if isinstance(helper, str):
        return [Row("order of systems", None, None, None, None, n, "", f"{TOO_EARLY}: {helper}")], ()
    alone, helped = win_rates(answers), win_rates(answers, fitter=helper.fit)
    own = judge_fit(judged.of_machines[0]).alpha[alone.judged]
    is_judged = np.isfinite(own)
    alpha, covariance = alone.effects.alpha[is_judged], alone.effects.covariance[np.ix_(is_judged, is_judged)]
    draws = np.random.default_rng(0).multivariate_normal(alpha, covariance, size=RESAMPLES, method="eigh")
    taus = np.array([stats.kendalltau(draw, own[is_judged]).statistic for draw in draws])
    among = np.array([stats.kendalltau(*two).statistic for two in draws.reshape(-1, 2, is_judged.sum())])
    low, high = np.quantile(taus, [LEVEL / 2, 1 - LEVEL / 2]).tolist()
    tau = float(stats.kendalltau(alpha, own[is_judged]).statistic)
    rows = [Row("order of systems (tau); people: of two such studies", tau, low, high, float(among.mean()), n, "")]
    errors = float((np.trace(covariance) - covariance.sum() / len(alpha)) / (len(alpha) - 1))
    real, what = float(alpha.var(ddof=1)) - errors, "correlation of systems, people's errors taken off"
    if real > errors / 2:
        r = float(np.cov(alpha, own[is_judged])[0, 1] / np.sqrt(real * own[is_judged].var(ddof=1)))
        rows.append(Row(what, max(min(r, 1.0), -1.0), None, None, None, n, ""))
    else:
        rows.append(Row(what, None, None, None, None, n, "", TOO_EARLY))
    rows.append(_within(judged, dict(zip(alone.standing.systems, alone.effects.alpha.tolist(), strict=True)), own))
    equivalent = HelpedComparison([helped.standing], Comparison([alone.standing])).equivalent_answers
    rows.append(Row("with it people's answers are as sure as so many", equivalent, None, None, None, n, "answers"))
    return rows, biases(helped.effects, helped.standing.systems)


def _within(judged: Beside, alpha: Mapping[str, float], of_judge: Vector) -> Row:
    """The correlation of what both fits miss of an answer by their systems alone."""
    shared = _Shared.of(judged)
    own = dict(zip(alpha, of_judge.tolist(), strict=True))
    pairs = [pair for pair in shared.human if all(np.isfinite(own[system]) for system in pair[1:])]
    what = "correlation within pairs of systems"
    if len(pairs) < FEWEST_PAIRS:
        return Row(what, None, None, None, None, len(pairs), "", TOO_EARLY)
    missed = np.array(
        [
            (
                np.mean([*shared.human[pair].values()]) - expit(alpha[pair[1]] - alpha[pair[2]]),
                shared.judge[pair] - expit(own[pair[1]] - own[pair[2]]),
            )
            for pair in pairs
        ]
    )

    def r(weights: Vector) -> float:
        squares = weights @ np.square(missed)
        return float(weights @ missed.prod(axis=1) / np.sqrt(squares.prod())) if squares.all() else np.nan

    return Row(what, r(np.ones(len(pairs))), *_over_topics([pair[0] for pair in pairs], r), None, len(pairs), "")


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
        p = np.nan_to_num(stats.t.cdf(t, [len(own) - 1 for own in enough]), nan=1.0)
        won = stats.false_discovery_control(p, method="by") <= LEVEL
        yield Row(what, float(won.mean()), None, None, None, n, "%", "passes" if won.mean() >= HALF else "fails")


def _shown(row: Row, value: float | None) -> str:
    if value is None:
        return DASH
    return f"{100 * value:.1f}%" if row.unit == "%" else f"{value:,.0f}" if row.unit else f"{value:.2f}"


def _tables(judge: str, rows: Sequence[Row], own: Sequence[Bias], judged: Beside) -> list[Table]:
    columns = (
        Column("what", "what", as_text),
        *(Column("value"), Column("low"), Column("high"), Column("people")),
        *(Column("", "judge"), Column("", "95% interval"), Column("", "people")),
        *(Column("n", "n"), Column("note", "note", as_text)),
    )
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        ends = DASH if row.low is None else f"[{_shown(row, row.low)}, {_shown(row, row.high)}]"
        figures = (row.value, row.low, row.high, row.human)
        words = (_shown(row, row.value), ends, _shown(row, row.human))
        cells.append((row.what, *figures, *words, row.n, row.note))
    numbers = f"{len(judged.machines[0]):,} answers by {judge}, {len(judged.human):,} by people"
    nameless = not any(row.topic for row in judged.human)
    note = sentences(
        *_leans(rows),
        f"{numbers}, which decide what is right; intervals are over topics, those of sides and ties Wilson's",
        "Answers do not say what they are about, so that none can be compared with people's" if nameless else "",
        "The alternative-annotator test passes nearly every judge, ties are left out of it",
    )
    tables = [Table("judge-card", f"{judge} beside people", columns, tuple(cells), note)]
    if own:
        head = (
            Column("system", "system", as_text),
            Column("bias", "judge above people", decimals(2)),
            *(Column("low"), Column("high"), Column("", "95% interval"), Column("p", "p", p_value)),
        )
        lines = tuple((row.system, row.value, row.low, row.high, interval(row.low, row.high, 2), row.p) for row in own)
        text = "In utilities (logits), beyond how it spreads systems; p for all systems together (Holm)."
        tables.append(Table("judge-bias", "Bias a system", head, lines, text))
    return tables


def _leans(rows: Sequence[Row]) -> Iterator[str]:
    """What is surely wrong with the judge, in sentences: a side, ties."""
    for row in rows:
        if row.what.startswith("first shown") and row.note in (MORE, LESS):
            yield f"It leans to the {'first' if row.note == MORE else 'second'} shown"
        if row.what == "ties" and row.note in (MORE, LESS):
            yield f"It says that two are equal {'more' if row.note == MORE else 'less'} often than people do"
