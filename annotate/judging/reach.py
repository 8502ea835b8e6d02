"""How many pairs there are for an annotator, so that nobody is promised more than they get."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Count, QuerySet

from annotate.judging import checks
from annotate.judging.choosing import BETWEEN, NOT_FREE, due, share_of
from annotate.judging.drawing import why_no_pair
from annotate.judging.no_pair import NoPair
from annotate.models import Annotator, Assignment, GoldPair, Item, ItemSet, Pair, Study, Summary, Tally
from annotate.models.judging import WANTED_BY, AssignmentQuerySet
from preferendum.results.planning import SECONDS

#: How many item sets are looked at first: in most studies they have as many pairs as an annotator wants.
SETS = 16


def newcomer(study: Study) -> Annotator:
    """An unsaved annotator, to tell how many pairs there are for the next one, and how long these take."""
    annotator = Annotator(study=study)
    look_ahead(annotator)
    return annotator


def why_nobody_begins(newcomer: Annotator) -> NoPair | None:
    """Why a new annotator would get no pair at present, as far as is known without drawing one."""
    if has_only_answers(newcomer.study):
        return NoPair.NO_TEXTS
    return why_no_pair(newcomer) or (None if newcomer.progress.wanted else NoPair.NO_WORK)


def has_only_answers(study: Study) -> bool:
    """Whether nobody can judge anything here, since imported answers came without the texts that they are about."""
    without_text = Summary.objects.filter(topic__in=study.topics.all(), has_text=False)
    items = Item.objects.to_judge().filter(item_set__in=ItemSet.objects.filter(study=study))
    return not items.exists() and without_text.exists()


def look_again(annotator: Annotator) -> None:
    """Count again what there is for an annotator who begins or continues."""
    look_ahead(annotator)
    columns = ("pace", "summary_pace", "sentence_pairs", "summary_pairs")
    # Where their study is deleted meanwhile there is nothing to update.
    Annotator.objects.filter(pk=annotator.pk).update(**{name: getattr(annotator, name) for name in columns})


def look_ahead(annotator: Annotator) -> None:
    """Set what is expected of the annotator's pairs: how many of each kind there are, and how long one takes."""
    paces = Item.objects.paces(annotator.study)
    annotator.pace, annotator.summary_pace = paces.get(False, SECONDS), paces.get(True, SECONDS)
    prepared = _prepared(annotator)
    gold = sum(use == GoldPair.Use.GOLD for _set, use in prepared)
    pairs = _with_repeats(annotator, _pairs_left(annotator, Counter(item_set for item_set, _use in prepared)), gold)
    judged = _by_kind(_own(annotator).work())
    for of_summaries, number in judged.items():
        pairs[of_summaries] += number
    most = annotator.pairs_wanted
    summaries = min(annotator.summaries_among(most), pairs[True])
    annotator.sentence_pairs = min(most - summaries, pairs[False])
    annotator.summary_pairs = min(most - annotator.sentence_pairs, pairs[True])


def _prepared(annotator: Annotator) -> list[tuple[int, str]]:
    """The practice and gold pairs that the annotator will be shown, each with its set: so they are no others' place."""
    study, uses = annotator.study, set[str]()
    if checks.is_practising(annotator):
        uses.add(GoldPair.Use.TRAINING)
    if study.gold_share:
        uses.add(GoldPair.Use.GOLD)
    seen = set(_own(annotator).values_list("pair__first", "pair__second"))
    pairs = checks.prepared(study, *uses).values_list("item_set", "use", "better", "worse")
    return [(item_set, use) for item_set, use, better, worse in pairs if Pair.in_order(better, worse) not in seen]


def _pairs_left(annotator: Annotator, prepared: Mapping[int, int]) -> dict[bool, int]:
    """How many pairs the annotator may still get, of sentences (False) and of summaries, with those that they hold;
    without the `prepared` ones of each set. More than they want are not all counted.
    """
    left = _by_kind(_own(annotator).filter(state=Assignment.State.OPEN).exclude(reason=Assignment.Reason.TRAINING))
    for of_summaries in left:
        for free in _free_by_set(annotator, prepared, of_summaries=of_summaries):
            left[of_summaries] += free
            if left[of_summaries] >= annotator.pairs_wanted:
                break
    return left


def _free_by_set(annotator: Annotator, prepared: Mapping[int, int], *, of_summaries: bool) -> Iterator[int]:
    """How many pairs of each item set with room are free for the annotator. Looks at a few sets, and at ever more while
    these have too few."""
    study, own = annotator.study, _own(annotator)
    if not (most := getattr(study, WANTED_BY.get((study.compares, of_summaries), ""), 0)):
        return
    share = math.inf
    sets = Tally.objects.filter(item_set__study=study, of_summaries=of_summaries).count()
    if study.person_cap < 1 and sets:
        joined = Annotator.objects.filter(study=study, excluded_at=None, kind=annotator.kind).count()
        joined += annotator.pk is None
        share = math.ceil(share_of(annotator, most, joined, sets, of_summaries=of_summaries))
    with_room = Tally.objects.with_room(annotator).filter(item_set__study=study, of_summaries=of_summaries)
    columns = "pk", "item_set", "filled"
    rows = with_room.order_by("pk").values_list(*columns)
    seen, number = 0, SETS
    some = list(rows[:number])
    while some:
        keys = [item_set for _pk, item_set, _filled in some]
        items = _by_set(Item.objects.to_judge().filter(item_set__in=keys))
        pairs = Pair.objects.to_judge().filter(item_set__in=keys)
        gone = _by_set(pairs.with_is_free(annotator).filter(NOT_FREE))
        given = _by_set(own.filter(holds_place=True, item_set__in=keys))
        for _pk, item_set, filled in some:
            n = items.get(item_set, 0)
            free = min(most - filled, n * (n - 1) // 2 - gone.get(item_set, 0) - prepared.get(item_set, 0))
            yield max(0, min(free, share - given.get(item_set, 0)))
        is_last, seen, number = len(some) < number, some[-1][0], 4 * number
        some = [] if is_last else list(rows.filter(pk__gt=seen)[:number])


def _with_repeats(annotator: Annotator, left: Mapping[bool, int], gold: int) -> dict[bool, int]:
    """The pairs left, with so many `gold` ones and the repeats between them, which are work like all others.

    The turns of repeats differ, so a newcomer is promised none: never more than there are.
    """
    available, turn = sum(left.values()), annotator.judged + annotator.skipped
    wanted = annotator.pairs_wanted - annotator.judged
    pairs = served = 0
    while available < wanted and served < wanted:
        reason = due(annotator, turn + served)
        if reason == Assignment.Reason.GOLD and gold:
            gold -= 1
        elif reason != Assignment.Reason.REPEAT or turn + served <= BETWEEN or annotator.pk is None:
            pairs += 1
        if pairs > available:
            break
        served += 1
    more = max(served - pairs + (pairs > available), 0)
    of_summaries = left[True] > left[False]
    return {kind: number + more * (kind == of_summaries) for kind, number in left.items()}


def _own(annotator: Annotator) -> AssignmentQuerySet:
    return Assignment.objects.filter(annotator=annotator) if annotator.pk else Assignment.objects.none()


def _by_kind(rows: AssignmentQuerySet) -> dict[bool, int]:
    """The number of rows about sentences (False) and about summaries."""
    summaries = rows.filter(item_set__of="summaries").count()
    return {False: rows.count() - summaries, True: summaries}


def _by_set(rows: QuerySet[Any]) -> dict[int, int]:
    """The number of rows of each item set."""
    return dict(rows.order_by().values("item_set").annotate(number=Count("pk")).values_list("item_set", "number"))
