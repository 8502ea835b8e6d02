"""When a topic or sentence is removed, its judgments stay as history; they count again when it is restored.

The earlier state of a void assignment follows from its judgments, so nothing else has to be kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.judging.answers import last_done
from annotate.judging.importing import recount_places
from annotate.judging.tallies import open_tallies
from annotate.models import Annotator, Assignment, GoldPair, ItemSet, Judgment, Pair, Tally
from preferendum.formats.answers import UNDONE

State = Assignment.State


def void(item_set: ItemSet) -> None:
    """Stop counting an item set and drawing from it; in the caller's transaction, which has locked its tally.

    Annotators with a pair of it on their screen get another one. Their work stays done: nobody has to judge more
    because of it.
    """
    shown = Assignment.objects.filter(item_set=item_set)
    shown.filter(state__in=[State.OPEN, State.EXPIRED]).update(skip_reason="")  # of a skip that was taken back
    shown.filter(state=State.OPEN).update(holds_place=False)
    previous = Annotator.objects.filter(previous__in=shown.values("key"))
    annotators = list(previous)
    shown.update(state=State.VOID)
    _find_previous(annotators)
    Tally.objects.filter(item_set=item_set).delete()


def set_apart(item_set: ItemSet, history: ItemSet) -> None:
    """Move the pairs of items that moved from a set to its history; their judgments are void there.

    Gold pairs are deleted.
    """
    GoldPair.objects.filter(Q(better__item_set=history) | Q(worse__item_set=history)).delete()
    torn = Pair.objects.filter(Q(first__item_set=history) | Q(second__item_set=history), item_set=item_set)
    Assignment.objects.filter(pair__in=torn).update(item_set=history)
    torn.update(item_set=history)
    void(history)


def revive_pairs(item_set: ItemSet) -> None:
    """Count again the judgments of pairs whose items are both in the set again, with a version never used before.

    In the caller's transaction, which has locked the set's tally, if it has one.
    """
    whole = Pair.objects.filter(first__item_set=item_set, second__item_set=item_set).exclude(item_set=item_set)
    # An answer to one of them locks the history first.
    list(ItemSet.with_unfinished.select_for_update(no_key=True).filter(pk__in=whole.values("item_set")).order_by("pk"))
    Assignment.objects.filter(pair__in=whole).update(item_set=item_set)
    whole.update(item_set=item_set)
    _reopen(item_set)
    open_tallies([item_set])
    recount_places(item_set.study, item_set.pk)
    raise_known(item_set)


def raise_known(*item_sets: ItemSet) -> None:
    """Raise the version of item sets that were fitted or judged: what was computed for them is out of date."""
    judged = answers_in(*item_sets).filter(item_set=OuterRef("item_set"))
    fitted_or_judged = Q(data_version__gt=0) | Exists(judged)
    Tally.objects.filter(fitted_or_judged, item_set__in=item_sets).update(data_version=F("data_version") + 1)


def answers_in(*item_sets: ItemSet) -> QuerySet[Assignment]:
    """The assignments of these item sets whose answer stands."""
    return Assignment.objects.arrived().filter(item_set__in=item_sets, state=State.JUDGED)


def _reopen(item_set: ItemSet) -> None:
    annotators = list(Annotator.objects.filter(pk__in=_void(item_set).order_by().values("annotator")))
    _void(item_set).filter(_is_answered()).update(state=State.JUDGED)
    _void(item_set).exclude(skip_reason="").update(state=State.SKIPPED)
    _void(item_set).update(state=State.EXPIRED)
    _find_previous(annotators)


def _find_previous(annotators: Iterable[Annotator]) -> None:
    """Point each annotator's undo to their last answer or skip that stands."""
    for annotator in annotators:
        Annotator.objects.filter(pk=annotator.pk).update(previous=last_done(annotator))


def _void(item_set: ItemSet) -> QuerySet[Assignment]:
    return Assignment.objects.filter(item_set=item_set, state=State.VOID)


def _is_answered() -> Exists:
    last = Judgment.objects.filter(assignment=OuterRef("pk"), revision=OuterRef("revision"))
    return Exists(last.exclude(answer=UNDONE))
