"""Two systems compared: the lead of one, by topic, and the words, sentences and answers that explain it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotate.models import Fit, Item, ItemSet, Judgment, Score, ScoredBy, Study, System, Topic, Utility
from annotate.reports import leaderboard as boards
from annotate.reports.answers_between import counted_between
from annotate.reports.leaderboard import Board
from preferendum.formats.answers import PREFERENCES, SIDES, share_of_first, turned
from preferendum.formats.reasons import listed
from preferendum.results import Difference, Differences, SourceWords, WordTerm, from_json
from preferendum.results.outlook import Needed
from preferendum.results.scores import ODDS
from preferendum.show.analyses.two_systems import Direct, Keyed, Lead, Reason, Systems, TopicLine, TwoSystems

#: So many are shown, the weightiest first.
MOST_WORDS, MOST_SENTENCES, MOST_ANSWERS = 30, 10, 10
#: A sentence that adds less than this share of the largest contribution is left out.
LIGHT = 0.01


@dataclass(frozen=True, slots=True)
class SentenceLead:
    """What a sentence adds to the difference of two systems (below 0: in favour of the second)."""

    sentence: Item
    utility: Utility
    contribution: float


@dataclass(frozen=True, slots=True)
class AnswerLead:
    """How often one sentence was preferred to another, of how many answers about the two.

    `weight`: above 0 if the answers favour the first system, below 0 the second. `words`, `notes`: the reasons for
    all these answers.
    """

    preferred: Item
    other: Item
    times: int
    of: int
    weight: float
    words: Mapping[str, int]
    notes: Sequence[str]


@dataclass(frozen=True, slots=True)
class WordsApart:
    """The words of one system's summary that the other's lacks, the weightiest first; `hidden`: how many more.

    `total`: their contribution to its score.
    """

    terms: tuple[WordTerm, ...]
    hidden: int
    total: float

    @classmethod
    def of(cls, terms: Sequence[WordTerm]) -> WordsApart:
        ordered = sorted(terms, key=lambda term: -abs(term.contribution))
        return cls(tuple(ordered[:MOST_WORDS]), len(ordered[MOST_WORDS:]), sum(term.contribution for term in terms))


@dataclass(frozen=True, slots=True)
class TopicComparison:
    """Two summaries of a topic: shared words add the same to both, so the rest makes the difference."""

    shared: int
    first: WordsApart
    second: WordsApart
    sentences: tuple[SentenceLead, ...]
    answers: tuple[AnswerLead, ...]


def of_study(study: Study, scored_by: str) -> Systems:
    """Systems with summaries, in the order of the board that is scored this way, then people and those without a
    place."""
    board = boards.of_study(study, scored_by)
    systems = {row.name: row for row in System.objects.filter(study=study, summaries__isnull=False).distinct()}
    ranked = [systems.pop(row.system) for row in (*board.rows, *board.human_written) if row.system in systems]
    keyed = tuple((system.pk, system.name) for system in (*ranked, *systems.values()))
    return Systems(keyed, lambda first, second: of_two(study, board, first, second))


def of_two(study: Study, board: Board, first: Keyed, second: Keyed) -> TwoSystems:
    """Two systems over all topics, and topic by topic."""
    both = {first[1], second[1]}
    overall = next((own for own in board.differences if {own.better, own.worse} == both), None)
    is_equal = overall is not None and overall.verdict(study.equal_within) == "equal"
    return TwoSystems(
        first=first,
        second=second,
        score=board.score,
        lead=Lead.of(first[1], overall.within(board.most_apart)) if overall else None,
        needed=_needed(board, overall),
        ground=board.ground,
        planned=_planned(board, overall),
        equal_within=study.equal_within if is_equal else None,
        holds_at_every_look=board.holds_at_every_look,
        is_outdated=board.is_outdated,
        lines=tuple(lines(Topic.objects.filter(study=study), first, second, board.scored_by)),
        reasons=tuple(_reasons(study, first[1], second[1])),
    )


def _reasons(study: Study, first: str, second: str) -> Iterator[Reason]:
    """The reasons that were given for answers about summaries of the two."""
    pair, of = "assignment__pair", "assignment__item_set__topic"
    names = {f"{pair}__{side}__system__in": (first, second) for side in ("first", "second")}
    of_summaries = ItemSet.objects.filter(study=study, of="summaries")
    rows = Judgment.objects.counted().exclude(why="", note="").filter(**names, assignment__item_set__in=of_summaries)
    columns = (f"{pair}__first__system", "assignment__swapped", "answer", "why", "note", of, f"{of}__name")
    for stored_first, swapped, answer, why, note, key, name in rows.values_list(*columns):
        given = turned(answer, swapped != (stored_first == second))
        yield Reason((key, name), [*SIDES, given].index(given), tuple(listed(why)), note)


def of_topic(fit: Fit, first: System, second: System) -> TopicComparison | None:
    """What makes the difference in a topic; None for the published score (words have no values) and before any fit."""
    words, score = fit.source_words, fit.settings.get("score", "")
    if words is None:
        return None
    terms = {system: words.terms(system.name, score) for system in (first, second)}
    shared = {term.word for term in terms[first]} & {term.word for term in terms[second]}
    of_first, of_second = ([term for term in own if term.word not in shared] for own in terms.values())
    weights = {} if score == "coverage" else _weights(of_first, of_second, words)
    sentences = _sentences(fit, weights, words, score)
    return TopicComparison(
        shared=len(shared),
        first=WordsApart.of(of_first),
        second=WordsApart.of(of_second),
        sentences=sentences,
        answers=_answers(fit.item_set_id, weights, [lead.sentence.pk for lead in sentences]),
    )


def _needed(board: Board, difference: Difference | None) -> Needed | None:
    if difference is None or difference.significant is not False:
        return None
    return boards.judgments_needed(board, difference)


def _planned(board: Board, difference: Difference | None) -> int | None:
    share = difference.planned_share if difference else None
    return round(board.judgments / share) if share else None


def lines(topics: QuerySet[Topic], first: Keyed, second: Keyed, scored_by: str) -> Iterator[TopicLine]:
    """One line a topic, in the study's order."""
    newest = Fit.objects.newest(scored_by).filter(item_set__topic__in=topics)
    fits = newest.values_list("item_set__topic", "differences", "judgments", "settings")
    fitted = {
        topic: (differences, None if settings.get("score") == "coverage" else judgments)
        for topic, differences, judgments, settings in fits
    }
    direct = _direct(topics, first[1], second[1])
    rows = Score.objects.filter(fit__in=newest, summary__system__in=(first[0], second[0]))
    columns = ("summary__topic", "summary__system", "score")
    scores = {(topic, system): score for topic, system, score in rows.values_list(*columns)}
    for topic in topics:
        own, other = (scores.get((topic.pk, system)) for system, _name in (first, second))
        compared, judgments = fitted.get(topic.pk, ({}, 0))
        lead = _lead(own, other, compared, (first[1], second[1]))
        between = direct.get(topic.pk, Direct())
        about = between.total if scored_by == ScoredBy.WIN_RATE else judgments
        yield TopicLine((topic.pk, topic.name), str(topic), own, other, lead, about, between)


def _direct(topics: QuerySet[Topic], first: str, second: str) -> dict[int, Direct]:
    """Count the answers about the summaries of the two, by topic."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for topic, left, _right, answer, times in counted_between(topics, first, second):
        prefers = turned(answer, left == second)
        counts[topic][prefers if prefers in SIDES else ""] += times
    return {topic: Direct(own[SIDES[0]], own[SIDES[1]], own[""]) for topic, own in counts.items()}


def _lead(
    first: float | None, second: float | None, differences: Mapping[str, Any], names: tuple[str, str]
) -> Lead | None:
    """The lead of the first system, with its interval if the two were compared: with very many systems, not all pairs
    are.
    """
    if first is None or second is None:
        return None
    compared = from_json(Differences, differences).between(*names)
    return Lead.of(names[0], compared) if compared else Lead(first - second)


def _weights(of_first: Iterable[WordTerm], of_second: Iterable[WordTerm], words: SourceWords) -> dict[int, float]:
    """The weight by sentence: that of its words that only the first system has, less those that only the second has."""
    weights: dict[int, float] = defaultdict(float)
    for sign, terms in ((1.0, of_first), (-1.0, of_second)):
        for term in terms:
            for key, times in term.sentences:
                weights[int(key)] += sign * term.idf * times / words.total
    return weights


def _sentences(fit: Fit, weights: Mapping[int, float], words: SourceWords, score: str) -> tuple[SentenceLead, ...]:
    """The sentences that add most to the difference, which is the sum over all of them."""
    rows = Utility.objects.filter(fit=fit, sentence__in=weights).select_related("sentence__document")

    def contribution(utility: Utility) -> float:
        ahead = utility.value - words.mean
        return weights[utility.sentence_id] * (1.0 + ODDS * ahead if score == "combined" else ahead)

    leads = [SentenceLead(utility.sentence, utility, contribution(utility)) for utility in rows]
    most = max((abs(lead.contribution) for lead in leads), default=0.0)
    weighty = [lead for lead in leads if abs(lead.contribution) > LIGHT * most]
    return tuple(sorted(weighty, key=lambda lead: -abs(lead.contribution))[:MOST_SENTENCES])


def _answers(item_set: int, weights: Mapping[int, float], sentences: Sequence[int]) -> tuple[AnswerLead, ...]:
    """The answers about these sentences whose two sentences differ most in weight."""
    about = Q(assignment__pair__first__in=sentences) | Q(assignment__pair__second__in=sentences)
    rows = Judgment.objects.counted().filter(about, assignment__item_set=item_set).order_by()
    columns = ("assignment__pair__first", "assignment__pair__second", "assignment__swapped", "answer", "why", "note")
    preferred: Counter[tuple[int, int]] = Counter()
    given: Counter[frozenset[int]] = Counter()
    words, notes = defaultdict[frozenset[int], Counter[str]](Counter), defaultdict[frozenset[int], list[str]](list)
    for first, second, swapped, answer, why, note in rows.values_list(*columns):
        given[frozenset((first, second))] += 1
        words[frozenset((first, second))].update(listed(why))
        notes[frozenset((first, second))] += [note] if note else []
        if answer in PREFERENCES:
            preferred[(first, second) if share_of_first(answer, swapped) else (second, first)] += 1

    def weight(pair: tuple[int, int]) -> float:
        return weights.get(pair[0], 0.0) - weights.get(pair[1], 0.0)

    chosen = sorted(preferred, key=lambda pair: (-abs(weight(pair)) * preferred[pair], pair))[:MOST_ANSWERS]
    keys = {key for pair in chosen for key in pair}
    named = Item.objects.select_related("document").in_bulk(keys)
    return tuple(
        AnswerLead(
            *(named[pair[0]], named[pair[1]], preferred[pair], given[both], weight(pair)), words[both], notes[both]
        )
        for pair in chosen
        for both in (frozenset(pair),)
    )
