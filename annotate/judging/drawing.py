"""Draw the next pair under a lease, never beyond the limits of a pair, an item set or an annotator.

`draw_from` draws every pair: from a locked item set, for an annotator who is locked after it. `draw` tries one after
the other; an answer draws from the item set that it has locked already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotate.database import durability, statements
from annotate.database.statements import Candidates, Choice
from annotate.judging import checks, tallies
from annotate.judging.choosing import FEW, SHARED, TRIES, chance, choose, draw_by_lot, due
from annotate.judging.no_pair import NoPair
from annotate.models import Annotator, Assignment, Item, LockedItemSet, Study, Tally
from annotate.models.judging import LAPSED
from preferendum.results.planning import RUNS

State = Assignment.State
#: Chooses a pair of a locked item set for a locked annotator.
Choose = Callable[[LockedItemSet, Annotator, Candidates], Choice | None]

#: How long a drawn pair is kept for its annotator.
LEASE = timedelta(seconds=settings.LEASE_SECONDS)


def draw(annotator: Annotator, *, besides: Assignment | None = None) -> Assignment | NoPair:
    """The annotator's next pair: the one that they hold already, or a new one under a lease.

    With `besides`, the pair after that assignment: a second lease, so that it can be shown at once. Practice is first;
    `annotate.judging.checks` inserts gold pairs and repeats.
    """
    annotator.refresh_from_db(fields=["judged", "skipped"])
    for item_set_id, choose_one in _ways(annotator, besides):
        with leased(ahead=besides is not None):
            item_set = Tally.objects.lock(item_set_id)
            drawn = (
                None
                if item_set is None
                else draw_from(item_set, Annotator.objects.lock(annotator.pk), besides, choose_one)
            )
        if drawn is not None:
            return drawn
    with leased(ahead=besides is not None):  # no item set has a place left, but the annotator may hold one
        return draw_from(None, Annotator.objects.lock(annotator.pk), besides) or NoPair.NO_WORK


def draw_from(
    item_set: LockedItemSet | None, annotator: Annotator, besides: Assignment | None, choose_one: Choose = choose
) -> Assignment | NoPair | None:
    """The pair that the annotator holds, a new one of this item set, why they get none, or None: try another item set.

    The transaction has locked the item set, and the annotator after it, so that two tabs do not draw at once.
    """
    no_pair = why_no_pair(annotator, ahead=0 if besides is None else 1)
    if no_pair is not None:
        if no_pair == NoPair.DONE and besides is None and annotator.finished_at is None:
            Annotator.objects.filter(pk=annotator.pk).update(finished_at=Now())
        return no_pair
    candidates = statements.find_candidates(item_set, annotator, draw_by_lot(item_set, TRIES[0]))
    held = _held(candidates, besides)
    if held is not None:
        return held
    if 0 < annotator.study.judgments_per_hour <= annotator.judged and _judged_within_an_hour(annotator):
        return NoPair.HOUR
    choice = choose_one(item_set, annotator, candidates) if item_set is not None else None
    return None if choice is None or item_set is None else lease(choice, item_set, annotator)


def draw_with_answer(
    item_set: LockedItemSet, annotator: Annotator, shown: Assignment | None
) -> Assignment | NoPair | None:
    """Within an answer's transaction, which has locked its item set: the pair to judge now, or, where a page shows that
    already, the one after the one that is `shown`.

    The transaction waits for no second item set: the next pair is of another one (that of the shown pair, or that of a
    new run) only if it is not locked. Expired leases keep their places until a run begins. None where `draw` has to
    look further, as for a gold pair or a repeat.
    """
    judged = annotator.judged + (shown is not None)
    check = due(annotator, judged + annotator.skipped)
    if check not in (None, SHARED):
        return draw_from(None, annotator, shown)
    shared, about, changes = check == SHARED, item_set.of_summaries, False
    if annotator.study.compares == "both" and judged:
        about = annotator.is_about_summaries(judged)
        changes = about != annotator.is_about_summaries(judged - 1)
    if judged % RUNS[about] and not changes:
        key = item_set.pk if shown is None else shown.item_set_id
        if (judged - 1) % RUNS[about] and due(annotator, judged - 1 + annotator.skipped) == SHARED:
            # The last pair may have been of another set: the run continues where it was.
            key = _set_of_run(annotator, None) or key if shown is None else item_set.pk
        here = item_set if key == item_set.pk else Tally.objects.lock(key, wait=False)
        if here is not None and here.of_summaries == about:
            return draw_from(here, annotator, shown, partial(choose, shared=shared))
        return draw_from(None, annotator, shown)
    if shared:
        return draw_from(None, annotator, shown)
    item_sets = (Tally.objects.lock(key, wait=False) for key in _sets_in_turn(annotator, shown, thorough=False))
    return draw_from(next(filter(None, item_sets), None), annotator, shown, _choose_tidily)


def leased(*, ahead: bool) -> AbstractContextManager[None]:
    """A transaction that hands out a pair. `ahead` of the one that is judged now, it need not wait for SQLite's disk.

    One fsync per judgment is enough: a judgment waits, and earlier writes are then on the disk, too. A pair that an
    annotator sees has to be on the disk: an answer to a lost one could not be stored.
    """
    return durability.unhurried() if ahead else transaction.atomic()


# Reasons for no pair


def why_no_pair(annotator: Annotator, *, ahead: int | None = 0) -> NoPair | None:
    """Why this annotator gets no pair at present, if so; `ahead` pairs count as judged already, None: their quota is no
    limit."""
    if annotator.excluded_at is not None:
        return NoPair.EXCLUDED
    if annotator.paused_at is not None:
        return NoPair.RESTING
    if annotator.kind != Annotator.TRIAL:  # trials are allowed before the study is open, and after it
        if annotator.study.state == Study.State.PAUSED:
            return NoPair.PAUSED
        if annotator.study.state == Study.State.CLOSED:
            return NoPair.CLOSED
    if annotator.screened_out_at is not None:
        return NoPair.SCREENED_OUT
    if 0 < annotator.study.skips_in_a_row <= annotator.skips_in_a_row:
        return NoPair.SKIPPED
    return None if ahead is None or annotator.judged + ahead < annotator.pairs_wanted else NoPair.DONE


def _judged_within_an_hour(annotator: Annotator) -> bool:
    """Whether the annotator has reached the study's hourly limit."""
    recent = Assignment.objects.work().filter(annotator=annotator, closed_at__gt=Now() - timedelta(hours=1))
    return recent.count() >= annotator.study.judgments_per_hour


def _held(candidates: Candidates, besides: Assignment | None) -> Assignment | None:
    """The oldest pair that the annotator holds, other than `besides`; its lease is renewed when half of it is over."""
    held = sorted(lease for lease in candidates.held if besides is None or lease[0] != besides.pk)
    if not held:
        return None
    key, expires_at, now = held[0]
    if is_half_over(expires_at, now):
        _renew(key)
    return Assignment.objects.to_show().get(pk=key)


def is_half_over(expires_at: datetime | None, now: datetime) -> bool:
    """Whether less than half of a lease is left, by the database's clock."""
    return expires_at is None or expires_at < now + LEASE / 2


def _renew(key: int) -> None:
    """Renew a lease, unless another transaction has locked it.

    Its item set may not be locked here, so this must not wait: an answer to the pair locks this annotator next. If the
    lease has just ended, an answer takes its place again.
    """
    leases = Assignment.objects.filter(pk=key, state=State.OPEN)
    if leases.select_for_update(skip_locked=True).values_list("pk").first() is not None:
        leases.update(expires_at=Now() + LEASE)


# Where to look, and how to choose there


def _ways(annotator: Annotator, besides: Assignment | None) -> Iterator[tuple[int, Choose]]:
    """The item sets to try, in order, with how to choose there."""
    due_now = due(annotator, annotator.judged + annotator.skipped + (besides is not None))
    if checks.is_practising(annotator):
        for check in checks.practice(annotator):
            yield check.item_set_id, partial(checks.choose, check)
        if checks.end_practice(annotator):
            return
    else:
        for check in checks.candidates(annotator, due_now):
            yield check.item_set_id, partial(checks.choose, check)
        if due_now == SHARED:
            for item_set_id in _sets_with_others(annotator, besides):
                yield item_set_id, partial(choose, shared=True)
    for thorough in (False, True):
        for item_set_id in _sets_in_turn(annotator, besides, thorough):
            yield item_set_id, partial(_choose_tidily, thorough=thorough)


def _choose_tidily(
    item_set: LockedItemSet, annotator: Annotator, candidates: Candidates, **options: bool
) -> Choice | None:
    """Choose a pair once the places of leases that ran out are free again."""
    item_set.taken -= give_up(item_set, Assignment.objects.filter(LAPSED, item_set=item_set.pk))
    return choose(item_set, annotator, candidates, **options)


def _sets_in_turn(annotator: Annotator, besides: Assignment | None, thorough: bool) -> Iterator[int]:
    """The current set until the annotator has judged a run of it; then those that they judged least, the least filled
    ones first, and last those whose pairs say almost nothing more about systems. Those of the kind whose turn it is
    are before all others.

    `thorough`: full ones with an expired lease, too; nothing else would free its place.
    """
    lapsed = Q(Exists(Assignment.objects.filter(LAPSED, item_set=OuterRef("item_set")))) if thorough else None
    current = _set_of_run(annotator, besides)
    judged, is_current = annotator.judged + (besides is not None), _is_of_summaries(annotator, current)
    of_summaries = annotator.is_about_summaries(judged)
    goes_on = current is not None and judged % RUNS[is_current] != 0
    stay = goes_on and is_current == of_summaries
    if stay and current is not None:
        yield current
    item_sets = Tally.objects.with_room(annotator, lapsed).filter(item_set__study=annotator.study_id)
    columns = "filled", "item_set_id", "item_set__progress__is_told", "of_summaries"
    filled = list(item_sets.values_list(*columns))
    # Those that are new to the annotator first; item sets that differ by less than a run count as equally filled.
    chance.shuffle(filled)
    given = _given(annotator)

    def order(row: tuple[int, int, bool, bool]) -> tuple[bool | int, ...]:
        filled, item_set_id, is_told, about = row
        new = given.get(item_set_id, 0) // FEW
        return (
            about != of_summaries,
            (item_set_id == current) != goes_on,
            bool(is_told),
            new,
            filled // RUNS[about],
        )

    filled.sort(key=order)
    for _taken, item_set_id, *_rest in filled:
        if not (stay and item_set_id == current):
            yield item_set_id


def _sets_with_others(annotator: Annotator, besides: Assignment | None) -> list[int]:
    """The current set, then a few others of the kind whose turn it is in which other annotators judge."""
    current = _set_of_run(annotator, besides)
    of_summaries = annotator.is_about_summaries(annotator.judged + (besides is not None))
    rows = Tally.objects.with_room(annotator).filter(item_set__study=annotator.study_id, of_summaries=of_summaries)
    given, columns = _given(annotator), ("item_set_id", "filled")
    others = [key for key, filled in rows.values_list(*columns) if filled > given.get(key, 0)]
    chance.shuffle(others)
    return sorted(others, key=lambda key: key != current)[: checks.TRIES + 1]


def _set_of_run(annotator: Annotator, besides: Assignment | None) -> int | None:
    """The set of the last pair, `besides` or the newest one; of the pair before it, if the last one was shared with
    another annotator within a run, perhaps in another set."""
    before = annotator.judged + (besides is not None) - 1
    newest = Assignment.objects.filter(annotator=annotator).order_by("-pk").values_list("item_set", flat=True)
    last = list(newest[:2])
    within = before > 0 and before % RUNS[annotator.is_about_summaries(before)]
    if len(last) == 2 and within and due(annotator, before + annotator.skipped) == SHARED:
        return last[1]
    return besides.item_set_id if besides else next(iter(last), None)


def _given(annotator: Annotator) -> dict[int, int]:
    """How many judgments and leases of theirs that count each item set has."""
    own = Assignment.objects.filter(annotator=annotator, holds_place=True).order_by().values("item_set")
    return dict(own.annotate(given=Count("pk")).values_list("item_set", "given"))


def _is_of_summaries(annotator: Annotator, item_set_id: int | None) -> bool:
    """Whether the item set is of summaries; a query only where the study compares both."""
    if annotator.study.compares != "both":
        return annotator.study.compares == "summaries"
    return Tally.objects.filter(item_set=item_set_id, of_summaries=True).exists()


# Leases


def lease(choice: Choice, item_set: LockedItemSet, annotator: Annotator) -> Assignment:
    """Assign the pair under a lease; reserve a place if its answer counts. The item set must be locked."""
    pair, wanted = choice.pair, choice.reason in Assignment.WANTED and annotator.kind != Annotator.TRIAL
    takes_place = wanted and annotator.kind == Annotator.TAKES_PLACES
    if takes_place:
        pair.need, pair.taken = max(pair.need or annotator.study.judgments_per_pair, pair.taken + 1), pair.taken + 1
        statements.count(item_set, taken=1)
    if takes_place or pair.pk is None:
        statements.reserve(pair)
    until = item_set.now + LEASE
    if choice.again is not None:
        again = choice.again
        again.state, again.closed_at, again.expires_at, again.holds_place = State.OPEN, None, until, wanted
        again.save(update_fields=["state", "closed_at", "expires_at", "holds_place"])
        return again
    assignment = Assignment(
        item_set_id=item_set.pk,
        annotator=annotator,
        pair=pair,
        swapped=chance.random() < 0.5 if choice.swapped is None else choice.swapped,
        occasion=choice.occasion,
        reason=choice.reason,
        design_weight=choice.design_weight,
        drawn_for=choice.drawn_for,
        expected=choice.expected,
        holds_place=wanted,
        created_at=item_set.now,
        expires_at=until,
    )
    statements.lease(assignment)
    return assignment


def end_leases(sentence: Item) -> None:
    """End the leases of the sentence's pairs; answers to them are kept, like any late answer. In the caller's
    transaction."""
    item_set = Tally.objects.lock(sentence.item_set_id)
    about = Q(pair__first=sentence) | Q(pair__second=sentence)
    if item_set is not None:
        give_up(item_set, Assignment.objects.filter(about, item_set=item_set.pk, state=State.OPEN))


def give_up(item_set: LockedItemSet, leases: QuerySet[Assignment]) -> int:
    """End these leases of the item set and return their places; how many were people's. The item set must be locked."""
    rows = list(leases.values_list("pk", "pair_id", "holds_place", "annotator__kind"))
    if not rows:
        return 0
    Assignment.objects.filter(pk__in=[lease for lease, *_rest in rows]).update(
        state=State.EXPIRED, holds_place=False, closed_at=item_set.now
    )
    places = [pair for _lease, pair, place, kind in rows if place and kind == Annotator.TAKES_PLACES]
    tallies.return_places(item_set.pk, places)
    return len(places)
