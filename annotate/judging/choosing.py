"""Choose an annotator's next pair of an item set: begun by others, suggested by the worker, or random.

Random numbers are the operating system's, not from the study's seed: what was drawn is stored (pair, sides, order), so
nothing has to be drawn again to be explained; forked processes must not draw alike; and nobody should be able to
predict the next pair.
"""

from __future__ import annotations

import math
from itertools import combinations
from random import SystemRandom

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.crypto import salted_hmac

from annotate.database import statements
from annotate.database.statements import LOOK, Candidates, Choice
from annotate.judging import tallies
from annotate.models import Annotator, Assignment, Item, LockedItemSet, Pair, Tally
from annotate.models.judging import WANTED_BY
from preferendum.formats.checks.text import visible

chance = SystemRandom()

Reason = Assignment.Reason

#: So many judgments of an item set every annotator may give.
FEW = 3
#: One annotator's maximum share of the judgments of a topic's summaries: they need few, and two say more than one.
MOST_OF_SUMMARIES = 0.5
#: How many pairs come between a pair and its repeat, at least.
BETWEEN = 5
#: A pair that one other annotator has judged is due; the answer to it counts like the first one.
SHARED = "shared"
#: How many random pairs are tried at once, and then, before all that are left are listed: in an item set with 95 of 100
#: pairs gone, one draw in 27 needs the list.
TRIES = (2, 8, 54)

#: As an object: the types know no annotation by its name.
NOT_FREE = Q(is_free=False)


def due(annotator: Annotator, turn: int) -> str | None:
    """What this turn (from 0) checks: a gold pair, a repeat or a `SHARED` pair; None for an ordinary pair.

    Turns are cut into stretches of 1 / share. Each stretch has one check, at a place that follows from a secret. So all
    annotators get exactly their share, and nobody can predict the next check. Where a gold pair is due in the same
    turn, the repeat follows one turn later; a shared pair that falls together with one of them is left out.
    """
    study = annotator.study
    gold, repeat, here = study.gold_share, study.repeat_share, turn - BETWEEN - 1
    if _falls(annotator, gold, "gold", turn):
        return Reason.GOLD
    if _falls(annotator, repeat, "repeat", here):
        return Reason.REPEAT
    if gold and _falls(annotator, gold, "gold", turn - 1) and _falls(annotator, repeat, "repeat", here - 1):
        return Reason.REPEAT
    return SHARED if study.judgments_per_pair == 1 and _falls(annotator, study.shared_share, SHARED, turn) else None


def _falls(annotator: Annotator, share: float, name: str, turn: int) -> bool:
    if not share or turn < 0:
        return False
    stretch = math.floor(turn * share + 1e-9)
    start, end = math.ceil(stretch / share - 1e-9), math.ceil((stretch + 1) / share - 1e-9)
    digest = salted_hmac(f"check {name}", f"{annotator.key} {stretch}", algorithm="sha256").digest()
    return turn == start + int.from_bytes(digest[:8]) % (end - start)


def choose(
    item_set: LockedItemSet, annotator: Annotator, candidates: Candidates, thorough: bool = False, shared: bool = False
) -> Choice | None:
    """Started pairs that the annotator has not seen, then the worker's suggestions, then a random pair (paper, 4.1).

    The suggestions include the study's share of random pairs; with more, their design weights would be wrong. A quick
    look tries a few pairs, at a cost that does not grow with what is stored; a `thorough` one checks everything left.
    With `shared`, only a pair that another annotator has judged.
    """
    study = annotator.study
    takes_places = annotator.kind == Annotator.TAKES_PLACES
    most = getattr(study, WANTED_BY.get((study.compares, item_set.of_summaries), ""), 0)
    has_room = item_set.taken < most if takes_places else tallies.has_room(item_set.pk, annotator)
    if not has_room or _has_their_share(item_set, annotator, most, thorough):
        return None
    if thorough and (lapsed := _lapsed(item_set, annotator)) is not None:
        return lapsed
    if shared:
        return statements.find_judged_once(item_set, annotator)
    if study.judgments_per_pair > 1 and (started := _started(item_set, annotator, thorough)) is not None:
        return started
    if candidates.choice is not None:
        return candidates.choice
    return _any_left(item_set, annotator) if thorough else _random(item_set, annotator)


def draw_by_lot(item_set: LockedItemSet | None, tries: int) -> list[list[int]]:
    """Random pairs of an item set, as positions of texts; some may be of texts that are not judged."""
    if item_set is None:
        return []
    if item_set.last is None:
        last = (
            Item.objects.filter(item_set=item_set.pk).order_by("-position").values_list("position", flat=True).first()
        )
        item_set.last = last or 0
    return [chance.sample(range(item_set.last + 1), 2) for _try in range(tries)] if item_set.last else []


def _has_their_share(item_set: LockedItemSet, annotator: Annotator, most: int, thorough: bool) -> bool:
    """Whether the annotator has given their maximum of an item set that needs `most` judgments.

    The maximum is the study's `person_cap`, or `FEW`, while they have not reached it in another set with room. After
    that, and in a `thorough` look, it is the largest of both, three times an even share among the annotators of this
    kind who joined, and an even spread of their own pairs over the item sets; for summaries at most half of `most`.
    """
    study = annotator.study
    least = max(study.person_cap * most, FEW)
    if study.person_cap >= 1 or annotator.judged < least:
        return False
    given = Assignment.objects.filter(annotator=annotator, item_set=item_set.pk, holds_place=True).count()
    if given < least:
        return False
    if not thorough and _have_room_elsewhere(item_set, annotator, least):
        return True
    joined = Annotator.objects.filter(study=study.pk, excluded_at=None, kind=annotator.kind).count()
    item_sets = Tally.objects.filter(item_set__study=study.pk, of_summaries=item_set.of_summaries).count()
    return given >= share_of(annotator, most, joined, item_sets, of_summaries=item_set.of_summaries)


def share_of(annotator: Annotator, most: int, joined: int, item_sets: int, *, of_summaries: bool) -> float:
    """The most that an annotator gives of a set that needs `most` judgments, once they have their share of all others.

    `joined`: annotators of their kind; `item_sets`: of the kind of this one.
    """
    least = max(annotator.study.person_cap * most, FEW)
    share = max(least, 3 * most / max(joined, 1), annotator.pairs_wanted / item_sets)
    return max(FEW, min(share, MOST_OF_SUMMARIES * most)) if of_summaries else share


def _have_room_elsewhere(item_set: LockedItemSet, annotator: Annotator, least: float) -> bool:
    """Whether another item set of this kind has room, something to tell, and less than `least` judgments of theirs."""
    own = Assignment.objects.filter(annotator=annotator, holds_place=True).values("item_set").order_by()
    full = own.annotate(given=Count("pk")).filter(given__gte=math.ceil(least)).values("item_set")
    others = Tally.objects.with_room(annotator).filter(item_set__study=annotator.study_id).exclude(item_set__in=full)
    return others.filter(of_summaries=item_set.of_summaries).exclude(item_set__progress__is_told=True).exists()


def _lapsed(item_set: LockedItemSet, annotator: Annotator) -> Choice | None:
    """A pair whose lease the annotator let expire, if its place is still free."""
    lapsed = Assignment.objects.to_show().filter(
        annotator=annotator,
        state=Assignment.State.EXPIRED,
        reason__in=Assignment.WANTED,
        item_set=item_set.pk,
        pair__in=Pair.objects.with_place(annotator).to_judge(),
    )
    assignment = lapsed.first()
    return None if assignment is None else Choice(assignment.pair, assignment.reason, again=assignment)


def _started(item_set: LockedItemSet, annotator: Annotator, thorough: bool) -> Choice | None:
    """The oldest pair that others have begun and this annotator has not seen, with the reason why it was begun."""
    unfinished = Pair.objects.begun(annotator).to_judge().filter(item_set=item_set.pk).order_by("pk")
    if not thorough:
        # Where one annotator judges alone, every pair stays unfinished: no draw may look through all of them.
        unfinished = Pair.objects.filter(pk__in=list(unfinished.values_list("pk", flat=True)[:LOOK])).order_by("pk")
    had = Exists(Assignment.objects.filter(annotator=annotator, pair=OuterRef("pk")))
    left = unfinished.filter(~had).select_related("first", "second").iterator()
    reads = visible if item_set.of_summaries else str  # of sentences, copies are marked already
    pair = next((pair for pair in left if reads(pair.first.text) != reads(pair.second.text)), None)
    if pair is None:
        return None
    wanted = Assignment.objects.filter(pair=pair, reason__in=Assignment.WANTED, annotator__kind=annotator.kind)
    begun = wanted.order_by("pk").first()
    if begun is None:
        return Choice(pair, Reason.RANDOM)
    reason = Reason.SUGGESTED if begun.reason == Reason.SUGGESTED else Reason.RANDOM
    return Choice(pair, reason, design_weight=begun.design_weight, drawn_for=begun.drawn_for)


def _random(item_set: LockedItemSet, annotator: Annotator) -> Choice | None:
    """A random pair that is free for this annotator, if more tries find one; never two equal texts."""
    for tries in TRIES[1:]:
        if (choice := statements.find_candidates(item_set, annotator, draw_by_lot(item_set, tries)).choice) is not None:
            return choice
    return None


def _any_left(item_set: LockedItemSet, annotator: Annotator) -> Choice | None:
    """A random one of all pairs that are free for the annotator: where nearly everything is judged, tries fail."""
    sentences = Item.objects.to_judge().filter(item_set=item_set.pk)
    texts = {key: visible(text) for key, text in sentences.values_list("pk", "text")}
    pairs = Pair.objects.filter(item_set=item_set.pk).with_is_free(annotator)
    gone = set(pairs.filter(NOT_FREE).values_list("first_id", "second_id"))
    left = [(a, b) for a, b in combinations(sorted(texts), 2) if texts[a] != texts[b] and (a, b) not in gone]
    if not left:
        return None
    first, second = chance.choice(left)
    pair = Pair.objects.filter(first=first, second=second).first() or Pair(item_set_id=item_set.pk, need=0)
    by_key = sentences.in_bulk((first, second))
    pair.first, pair.second = by_key[first], by_key[second]
    return Choice(pair, Reason.RANDOM)
