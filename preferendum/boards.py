"""Systems in order by people's judgments: what `rank` and `score` give, in Python and on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from preferendum.counted import counted
from preferendum.evidence import AS_PUBLISHED, Evidence, Settings
from preferendum.fit.threads import on_one_thread
from preferendum.formats.judge import judge_in
from preferendum.formats.settings import SCORING, CountedKinds, ScoreChoice, idle_among
from preferendum.formats.words import number_of
from preferendum.judged import Beside, beside
from preferendum.metrics.names import WIN_RATE
from preferendum.reading import Source, read, refused
from preferendum.results import Difference, Ground, SystemResult
from preferendum.results.length import ByLength
from preferendum.results.scores import has_intervals, is_tested
from preferendum.results.statement import Headline
from preferendum.results.statistics import Mean
from preferendum.scoring import later_systems
from preferendum.scoring.evaluate import TopicResult, bounds_of, evaluate
from preferendum.scoring.helped import help_of
from preferendum.scoring.later_systems import Predicted
from preferendum.scoring.missing import means_of_missing
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.scoring.win_rate import ENDS, WinRates, win_rates
from preferendum.show.helped import help_notes
from preferendum.show.points import (
    over_all_topics,
    score_figure,
    unit_of,
    what_a_point_is,
    what_a_win_rate_is,
    why_untested,
)
from preferendum.show.printed import Printed
from preferendum.show.shown import DASH, Cell, Column, Show, Table, as_text, sentences
from preferendum.show.standing import headline_of, headline_words, rows_of

Over = Literal["judgments", "topics"]


@dataclass(frozen=True, repr=False, eq=False)
class Board(Printed):
    """Systems in order, as `rank` and `score` give them.

    `systems`: the best first, with the ranks that the differences leave them; `differences`: of every two systems, with
    p-values adjusted for their number (Holm 1979), and whether they are significant; `ground`: whose judgments these
    are; `headline`: what the tests say of the first place, as data.
    """

    systems: tuple[SystemResult, ...]
    differences: tuple[Difference, ...]
    ground: Ground
    headline: Headline

    def to_dicts(self) -> list[dict[str, Any]]:
        """Give one row for each system, with every digit.

        Returns
        -------
        list of dict
            By the names of the table's CSV; `better_than` lists the systems that each is significantly
            better than.
            What is not known is None.
        """
        better = {row.system: list(row.better_than) for row in rows_of(self.systems, self.differences)}
        return [row | {"better_than": better.get(row["system"], [])} for row in super().to_dicts()]


@dataclass(frozen=True)
class Rated:
    """Systems by answers about whole summaries. `strengths`: by system, exp(alpha) with its interval; `answers`: by
    topic or system, how many are about it; `predicted`: the systems without judgments."""

    rates: WinRates
    systems: tuple[SystemResult, ...]
    strengths: Mapping[str, Mean]
    differences: tuple[Difference, ...]
    ground: Ground
    answers: Mapping[tuple[str, str], int]
    predicted: tuple[Predicted, ...]

    @cached_property
    def summaries(self) -> Mapping[str, Mapping[str, Mean]]:
        """The win rates within each topic, by topic and system, the best first."""
        return {
            topic: {mean.system: mean for mean in sorted(own.means(), key=lambda mean: (-mean.score, mean.system))}
            for topic, own in self.rates.by_topic()
        }


def rated(topics: Sequence[Evidence]) -> Rated | None:
    """Rank systems by the answers about whole summaries; None where there are none."""
    answers = answers_of(topics)
    if not len(answers):
        return None
    rates = win_rates(answers, summaries_there(topics, answers))
    return _rated(topics, rates, Comparison([rates.standing]))


def _rated(topics: Sequence[Evidence], rates: WinRates, comparison: Comparison) -> Rated:
    answers = rates.answers
    about = np.bincount(np.concatenate([answers.first, answers.second]), minlength=len(answers.systems))
    prediction = later_systems.predict(rates, topics)
    return Rated(
        rates=rates,
        systems=comparison.ranked(*ENDS),
        strengths={mean.system: _strength(mean) for mean in Comparison([rates.utilities]).means()},
        differences=comparison.differences(),
        ground=comparison.ground,
        answers={
            **{("", system): number for system, number in zip(answers.systems, about.tolist(), strict=True)},
            **{(topic.topic_id, ""): len(topic.between_summaries) for topic in topics},
        },
        predicted=prediction.systems if prediction else (),
    )


def _strength(utility: Mean) -> Mean:
    low, high = (None if end is None else float(np.exp(end)) for end in (utility.low, utility.high))
    return utility._replace(score=float(np.exp(utility.score)), low=low, high=high)


@on_one_thread  # as in the worker, so that the last digits are the same
def rank(
    judgments: Source,
    *,
    counted_kinds: CountedKinds | None = None,
    helped_by: str | Sequence[str] | None = None,
    by_maker: Sequence[str] = (),
) -> Board:
    """Rank systems by judgments about their outputs: win rates and strengths, with 95% intervals.

    No topics or texts are needed. Where judgments name their topic and annotator, intervals allow for how topics and
    annotators differ; where they do not, the board says so.

    Parameters
    ----------
    judgments : Data, path, DataFrame or iterable of dict
        What `read` gave, or what it takes. Each judgment says which of two systems, `a` and `b`, it prefers: `winner`
        is `a`, `b`, `tie` or `neither`.
    counted_kinds : str, optional
        Whose judgments count: `people` (the default), `machines`, `simulated`, `people-and-machines`,
        `people-and-simulated` or `all`. A study's archive says so itself.
    helped_by : str or sequence of str, optional
        Machine judges (judgments of the kind `machine` by this `annotator`) that help: systems as people would judge,
        with what the machine says of systems as a prior that people's answers correct. People alone are the second
        table; systems are called different by twice the smaller p-value of both.
    by_maker : sequence of str
        The systems of the judge's maker, which it may favour: its bias for these is not taken to be small. Those that
        judgments or the archive name as `made` are taken so anyway.

    Returns
    -------
    Board
        Prints as a table, in a notebook with its plot. The win rate of a system (0 to 1) is how often it is preferred
        to another one; of two strengths v and w, the first is preferred in v / (v + w) of judgments. The model and its
        sources are in docs/model.md.

    Raises
    ------
    preferendum.Refused
        For judgments that cannot be read, or that are not about whole outputs.

    Examples
    --------
    >>> import preferendum as pf
    >>> pair = {"a": "large", "b": "small"}
    >>> judgments = 30 * [pair | {"winner": "a"}] + 10 * [pair | {"winner": "b"}]
    >>> board = pf.rank(judgments)
    >>> [(row["rank"], row["system"], round(row["win_rate"], 2), round(row["low"], 2)) for row in board.to_dicts()]
    [(1, 'large', 0.75, 0.6), (2, 'small', 0.25, 0.12)]
    >>> board.to_dicts()[0]["better_than"]
    ['small']
    """
    data = read(judgments)
    if helped_by is not None:
        names = (helped_by,) if isinstance(helped_by, str) else tuple(dict.fromkeys(helped_by))
        return _helped_board(beside(data, names, counted_kinds), names, by_maker)
    kept = counted(None, data, counted_kinds)
    own = rated(kept.evidence())
    if own is None:
        expected = "judgments about whole outputs (of: summaries); preferendum.score(topics, judgments) takes these"
        raise refused(data.name, "judgments about sentences", expected, field="of")
    return win_rate_board(own, *kept.notes)


def _helped_board(judged: Beside, names: Sequence[str], by_maker: Sequence[str]) -> Board:
    """The board of people's answers helped by machines, with that of people alone as its second table."""
    answers, topics = judged.answers, judged.evidence
    if not len(answers):
        expected = "people's judgments about whole outputs (of: summaries), which decide"
        raise refused(judged.name, "no judgments about whole outputs by people", expected, field="of")
    alone, who = judged.alone, " and ".join(names)
    board = win_rate_board(_rated(topics, alone.rates, alone.comparison), *judged.notes)
    unknown = sorted(set(by_maker) - set(answers.systems))
    if unknown:
        raise ValueError(f"by_maker: no judgment is about {', '.join(unknown)}")
    made = chain(by_maker, *(judge_in(rows).made for rows in judged.machines))
    helped = alone.helped(judged.fits, [*made])
    notes = help_notes(help_of(who, len(answers), sum(map(len, judged.of_machines)), helped))
    if isinstance(helped, str):
        (table,) = board.tables
        return replace(board, tables=[table.with_note(sentences(*notes))])
    better = win_rate_board(_rated(topics, helped.rates, helped.comparison), *notes)
    tables = [
        replace(better.tables[0], title=f"{better.tables[0].title}, helped by {who}"),
        replace(board.tables[0], name="people-alone", title="People alone"),
    ]
    return replace(better, tables=tables)


def win_rate_board(own: Rated, *notes: str) -> Board:
    """The board of win rates. `notes`: what else there is to say."""
    unit = unit_of(WIN_RATE, [(system.score, system.low, system.high) for system in own.systems])
    strengths = unit_of("", [(own.score, own.low, own.high) for own in own.strengths.values()])
    rows: list[tuple[Cell, ...]] = [
        (
            *_ranks(system),
            system.system,
            system.se,
            *_with_interval(system, unit.show),
            *_with_interval(own.strengths[system.system], strengths.show),
            own.answers["", system.system],
        )
        for system in own.systems
    ]
    rows += [
        (
            *(None, None, None, DASH, later.system, later.se),
            *_with_interval(later, unit.show, later.win_rate),
            *(None, None, None, DASH, 0),
        )
        for later in own.predicted
    ]
    columns = (
        *_RANKS,
        Column("system", "system", as_text),
        Column("se"),
        *_interval_columns("win_rate", unit.named("win rate"), unit.show),
        *_interval_columns("strength", "strength", strengths.show, prefix="strength_"),
        Column("answers", "answers"),
    )
    plotted = [unit.row(own.system, own.score, own.low, own.high, str(own.rank)) for own in own.systems]
    headline = headline_of(rows_of(own.systems, own.differences), own.differences, own.ground)
    note = sentences(_known(headline, own.ground), *_about_win_rates(own), own.ground.words, *notes)
    title = "All topics, whole summaries" if own.rates.answers.topics != ("",) else "Whole summaries"
    table = Table("board", title, columns, tuple(rows), note)
    return Board([table], score_figure(plotted, unit), own.systems, own.differences, own.ground, headline)


def _about_win_rates(own: Rated) -> Iterator[str]:
    answers = own.rates.answers
    topics = len(set(answers.topic.tolist()))
    has_topics, named = answers.topics != ("",), set(answers.annotator.tolist())
    yield (
        number_of(len(answers), "answer")
        + (f" by {number_of(len(named), 'annotator')}" if min(named, default=-1) >= 0 else "")
        + (f" about {number_of(topics, 'topic')}" if has_topics else "")
        + ", 95% intervals for topics like these" * has_topics
        + ", 95% intervals" * (not has_topics)
        + ", ranks that remain possible given the significant differences (Holm)"
    )
    yield what_a_win_rate_is()
    yield (
        "Of two systems of strengths v and w, the first is preferred in v / (v + w) of answers"
        + " where topics make no difference" * has_topics
        + "; the geometric mean of all strengths is 1."
    )
    if not has_topics:
        yield "The answers do not say what they are about, so intervals leave out how topics differ."
    if own.predicted:
        yield "Without a rank: predicted from the texts of judged summaries, nobody judged it."


@on_one_thread
def score(
    topics: Source,
    judgments: Source | None = None,
    *,
    score: ScoreChoice = "importance",
    over: Over = "judgments",
    counted_kinds: CountedKinds | None = None,
    **settings: Any,
) -> Board:
    """Score systems by judgments about source sentences: importance, coverage, or as published (Zopf 2018).

    Parameters
    ----------
    topics : Data, path, DataFrame or iterable of dict
        Topics with documents and summaries, or a study's archive.
    judgments : Data, path, DataFrame or iterable of dict, optional
        Which of two sentences is more important; by default those that come with the topics. A sentence is named
        `<document>:<index from 0>`.
    score : {"importance", "coverage", "combined", "published"}
        What systems are ranked by; docs/model.md explains the four.
    over : {"judgments", "topics"}
        What intervals and ranks vary: the judgments on these topics, or the topics themselves.
    counted_kinds : str, optional
        Whose judgments count, as for `rank`.
    **settings
        Other settings of the model by the names that docs/model.md has: `smooth`, `prior`, `similarity`,
        `weigh_annotators`, `redundancy`.

    Returns
    -------
    Board
        The mean scores over topics. It prints importance in points, hundredths of the numbers of `to_dicts`.

    Raises
    ------
    preferendum.Refused
        For data that cannot be read, or do not fit each other.
    ValueError
        For a setting that there is not, or that says nothing here; where judgments determine no score without a
        prior.

    Examples
    --------
    >>> import preferendum as pf
    >>> topics = [{
    ...     "topic_id": "storm",
    ...     "documents": [{"id": "d", "sentences": ["The storm broke the dam.", "Rain fell.", "A cat slept."]}],
    ...     "summaries": [{"system": "lead", "text": "The storm broke the dam."}, {"system": "cat", "text": "A cat."}],
    ... }]
    >>> judgments = 9 * [{"topic": "storm", "a": "d:0", "b": "d:2", "winner": "a"}]
    >>> [row["system"] for row in pf.score(topics, judgments).to_dicts()]
    ['lead', 'cat']
    """
    chosen = _settings(score, settings)
    texts = read(topics)
    data = texts if judgments is None else read(judgments)
    if not texts.bundle.topics and texts.archive is None:
        raise refused(texts.name, "no topics", "topics with documents")
    kept = counted(None if judgments is None else texts, data, counted_kinds)
    judged = [topic for topic in kept.evidence() if topic.sentences]
    if not any(len(topic.judgments) for topic in judged):
        expected = "judgments about sentences; preferendum.rank(judgments) takes those about whole summaries"
        raise refused(data.name, "judgments about summaries alone", expected, field="of")
    return score_board([evaluate(topic, chosen) for topic in judged], chosen, over, *kept.notes)


def _settings(score: ScoreChoice, given: Mapping[str, Any]) -> Settings:
    """Put the given settings on top of the defaults, or of the paper's. Raises `ValueError`."""
    choices = {setting.name: setting.choices for setting in SCORING} | {"redundancy": ()}
    for name, value in {"score": score, **given}.items():
        if name not in choices:
            raise ValueError(f"{name!r} is none of the settings {', '.join(choices)}")
        if choices[name] and value not in choices[name]:
            raise ValueError(f"{name}={value!r} is none of {', '.join(choices[name])}")
    settings = replace(AS_PUBLISHED if score == "published" else Settings(), **{"score": score, **given})
    for setting in idle_among(asdict(settings)):
        if setting.name in given:
            raise ValueError(f"{setting.name} says nothing here: {setting.about}")
    return settings


def score_board(results: Sequence[TopicResult], settings: Settings, over: Over, *notes: str, label: str = "") -> Board:
    """The board of scores. `results`: of each topic; `notes`: what else there is to say; `label`: of simulated
    judgments."""
    comparison = Comparison([own.standing for own in results], over, is_tested=is_tested(settings.score))
    systems, differences = comparison.ranked(*bounds_of(settings.score)), comparison.differences()
    figures = [(system.score, system.low, system.high) for system in systems]
    unit = unit_of(settings.score, figures)
    judged = sum(result.judgments > 0 for result in results)
    has_bounds = over == "topics" or has_intervals(settings.score)
    is_lacking = any(system.lacking for system in systems)
    columns = (
        *(_RANKS if is_tested(settings.score) else _RANKS[:1]),
        Column("system", "system", as_text),
        Column("se"),
        *_interval_columns("score", unit.named(settings.score), unit.show, "95% interval" * has_bounds),
        Column("topics", "topics"),
        Column("lacking", "lacking" * is_lacking),
    )
    rows = tuple(
        (
            *(_ranks(system) if is_tested(settings.score) else (system.rank,)),
            system.system,
            system.se,
            *_with_interval(system, unit.show),
            system.topics,
            system.lacking,
        )
        for system in systems
    )
    explained = _by_length(systems, results) if judged else None
    headline = headline_of(
        rows_of(systems, differences), differences, comparison.ground, is_tested=is_tested(settings.score)
    )
    note = sentences(
        _known(headline, comparison.ground),
        number_of(sum(result.judgments for result in results), "judgment")
        + f" ({label})" * bool(label)
        + f", mean over {number_of(judged or len(results), 'topic')}"
        + f", 95% intervals over {over}" * has_bounds
        + ", ranks that remain possible given the significant differences (Holm)" * is_tested(settings.score),
        over_all_topics() if is_lacking else "",
        what_a_point_is() if settings.score == "importance" else "",
        (why_untested(settings.score) or comparison.ground.words) if judged else "",
        explained.words if explained else "",
        *notes,
    )
    plotted = [unit.row(own.system, own.score, own.low, own.high, str(own.rank)) for own in systems]
    table = Table("board", "All topics", columns, rows, note)
    return Board([table], score_figure(plotted, unit), systems, differences, comparison.ground, headline)


def _by_length(systems: Sequence[SystemResult], results: Sequence[TopicResult]) -> ByLength | None:
    """Over the topics with judgments."""
    owed: dict[str, list[float]] = {system.system: [] for system in systems}
    rows = [
        (result.topic_id, summary.system, summary.by_length)
        for result in results
        if result.judgments
        for summary in result.summaries
        if summary.by_length is not None and summary.system in owed
    ]
    for _topic, system, of_length in rows:
        owed[system].append(of_length)
    means = {system: sum(values) / len(values) for system, values in owed.items() if values} | means_of_missing(rows)
    return ByLength.of({system.system: system.score for system in systems}, means)


def _known(headline: Headline, ground: Ground) -> str:
    """What the tests say of the order; the ground says it where it is too early."""
    return "" if ground.is_early else headline_words(headline, ground)


_RANKS = (Column("rank", "rank"), Column("rank_low"), Column("rank_high"), Column("", "ranks", as_text))


def _ranks(system: SystemResult) -> tuple[Cell, ...]:
    low, high = system.rank_low, system.rank_high
    return system.rank, low, high, str(low) if low == high else f"{low}-{high}"


def _interval_columns(
    name: str, label: str, show: Show, of_interval: str = "95% interval", prefix: str = ""
) -> tuple[Column, ...]:
    """A value and its interval: in files both ends, for people in words."""
    ends = (Column(f"{prefix}low"), Column(f"{prefix}high"))
    return Column(name, label, show), *ends, Column("", of_interval)


def _with_interval(own: Any, show: Show, value: float | None = None) -> tuple[Cell, ...]:
    words = DASH if own.low is None or own.high is None else f"[{show(own.low)}, {show(own.high)}]"
    return own.score if value is None else value, own.low, own.high, words
