"""The worker's diagnostics: coverage, sentences that fit badly, the influence of each annotator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import F
from django.utils.translation import gettext as _

from annotate.models import Annotator, Item, Judgment, Ranking, Result, ScoredBy, Study
from annotate.models.judging import texts_of
from annotate.reports.leaderboard import headline
from annotate.reports.what_if import score_of
from preferendum.results import Coverage, Influence, Key, Misfit, SmallestSet, from_json
from preferendum.show.analyses import of_study
from preferendum.show.analyses.both_questions import BothQuestions, verdict
from preferendum.show.analyses.coverage import TopicCoverage
from preferendum.show.analyses.coverage import verdict as coverage_verdict
from preferendum.show.analyses.influence import NamedInfluence
from preferendum.show.analyses.misfits import MisfittingSentence
from preferendum.show.analyses.misfits import verdict as misfits_verdict
from preferendum.show.analyses.smallest_set import AnswerOfSet, FoundSet
from preferendum.show.points import why_untested
from preferendum.show.standing import rows_of

MISFITS = 50


def coverage(study: Study) -> tuple[TopicCoverage, ...]:
    """The topics that the worker has examined, in their order."""
    return tuple(_coverage(row, part) for row, part in _examined(study, "coverage"))


def _coverage(row: Result, part: Any) -> TopicCoverage:
    assert row.topic is not None
    return TopicCoverage(row.topic.name, row.topic.pk, from_json(Coverage, part))


def misfits(study: Study) -> tuple[MisfittingSentence, ...]:
    """The study's sentences with the largest standardized residuals."""
    return _worst(part for _row, part in _examined(study, "misfits"))


def _worst(of_topics: Iterable[Any]) -> tuple[MisfittingSentence, ...]:
    of_study = [from_json(Misfit, misfit) for several in of_topics for misfit in several]
    worst = sorted(of_study, key=lambda misfit: -abs(misfit.z))[:MISFITS]
    rows = Item.objects.select_related("item_set__topic", "document").filter(
        pk__in=[misfit.sentence for misfit in worst]
    )
    sentences: dict[Key, Item] = {sentence.pk: sentence for sentence in rows}
    named = ((sentences[misfit.sentence], misfit) for misfit in worst if misfit.sentence in sentences)
    return tuple(MisfittingSentence(row.item_set.topic.name, row.name, row.text, misfit) for row, misfit in named)


def of_texts(study: Study) -> list[str]:
    """Whether judgments tie sentences together, and which fit badly, in a line each, as far as computed."""
    topics = list(_examined(study, "coverage", "misfits"))
    if not topics:
        return []
    covered = [_coverage(row, own) for row, own, _misfits in topics]
    return [coverage_verdict(covered), misfits_verdict(_worst(own for _row, _covered, own in topics))]


def _examined(study: Study, *parts: str) -> Iterator[tuple[Any, ...]]:
    """Examined topics in their order, each with these parts of its record; the whole record is large."""
    rows = Result.objects.of_topics(study, "diagnostics").filter(record__isnull=False).select_related("topic")
    for row in rows.defer("record").annotate(**{f"its_{part}": F(f"record__{part}") for part in parts}):
        yield row, *(getattr(row, f"its_{part}") for part in parts)


def examined(study: Study) -> ScoredBy:
    """The scores whose first place is examined."""
    return ScoredBy.WIN_RATE if headline(study) == ScoredBy.WIN_RATE else ScoredBy.RECOMMENDED


def name_of(study: Study, analysis: str) -> str:
    """The analysis of these scores, by its stored name."""
    return f"win-rate-{analysis}" if examined(study) == ScoredBy.WIN_RATE else analysis


def _is_open(study: Study, first: str, *others: str) -> bool:
    """Whether the leaderboard tells the first system from none of the others, or from none at all."""
    columns = [f"differences__{name}" for name in ("better", "worse", "significant")]  # of sixty systems, 1,770 rows
    scored_by = examined(study)
    own = Ranking.objects.filter(study=study, scored_by=scored_by).values_list(*columns).first()
    if own is None or (scored_by != ScoredBy.WIN_RATE and why_untested(study.recommended_settings["score"])):
        return False
    pairs = zip(*(column or () for column in own), strict=True)
    beaten = {worse for better, worse, is_sure in pairs if is_sure and better == first}
    return not beaten.intersection(others or beaten)


def influence(row: Result) -> NamedInfluence:
    """The record with names of annotators in place of keys."""
    record = from_json(Influence, row.record)
    keys = [key for key, _system in record.new_firsts] + [system.annotator for system in record.systems]
    names: dict[Key, str] = dict(Annotator.objects.filter(pk__in=filter(None, keys)).values_list("pk", "pseudonym"))
    return NamedInfluence(
        record.annotators,
        record.unknown,
        record.first,
        new_firsts=tuple((names.get(key, "?"), system) for key, system in record.new_firsts),
        systems=tuple(replace(system, annotator=names.get(system.annotator or 0, "")) for system in record.systems),
        score=score_of(row.study) if row.study else "",
        is_open=row.study is not None and _is_open(row.study, record.first),
    )


def found_set(row: Result) -> FoundSet:
    """The smallest set, with those of its judgments that still stand."""
    smallest = row.read(SmallestSet)
    rows = Judgment.objects.standing().filter(pk__in=smallest.judgments if smallest else ())
    rows = rows.select_related("assignment__item_set__topic", "assignment__annotator", *texts_of("assignment__pair__"))
    is_open = smallest and row.study and _is_open(row.study, smallest.first, smallest.instead)
    answers = tuple(map(_answer, rows.order_by("assignment__item_set", "pk")))
    return FoundSet(smallest, answers, bool(is_open))


def first_place(study: Study, scored_by: str) -> list[str]:
    """What the board's first place hangs on, as far as computed: nothing for a board that this is not about, nor about
    single annotators where none can be left out."""
    if scored_by != examined(study):
        return []
    analyses = {analysis.name: analysis for analysis in of_study()}
    prefix = name_of(study, "")
    names = {f"{prefix}{name}": name for name in FIRST_PLACE}
    rows = Result.objects.select_related("study").filter(
        study=study, analysis__in=names, choice="", record__isnull=False
    )
    heads = {names[row.analysis]: row for row in rows}
    records = {name: read(heads[name]) for name, read in FIRST_PLACE.items() if name in heads}
    return [
        analyses[name].show(record, {}).verdict
        for name, record in records.items()
        if not isinstance(record, Influence) or max(1, record.unknown) < record.annotators
    ]


def both_questions(study: Study) -> list[str]:
    """Whether both questions order the systems alike, once answers to both do."""
    judged = Ranking.objects.filter(study=study, judgments__gt=0).defer("differences")
    judged = judged.prefetch_related("systems__system")
    rows = {own.scored_by: rows_of([row.result for row in own.systems.all()], ()) for own in judged}
    if not {ScoredBy.WIN_RATE, ScoredBy.RECOMMENDED} <= rows.keys():
        return []
    both = BothQuestions.of("", rows[ScoredBy.WIN_RATE], rows[ScoredBy.RECOMMENDED])
    return [] if both.tau is None else [verdict(both)]


FIRST_PLACE: Mapping[str, Callable[[Result], Any]] = {"influence": influence, "smallest-set": found_set}


def _answer(judgment: Judgment) -> AnswerOfSet:
    shown = judgment.assignment
    sentence, other = judgment.in_order
    return AnswerOfSet(
        judgment.pk,
        (shown.annotator.pk, shown.annotator.pseudonym),
        str(shown.item_set),
        _named(sentence),
        _(judgment.given.relation),
        _named(other),
        f"{judgment.at:%Y-%m-%d %H:%M:%S}" if judgment.at else "",
    )


def _named(item: Item) -> str:
    return item.system or item.text
