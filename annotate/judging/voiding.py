"""When a topic or sentence is removed, its judgments stay as history; they count again when it is restored.

The earlier state of a void assignment follows from its judgments, so nothing else has to be kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotate.judging.answers import last_done
from annotate.judging.importing import recount_places
from annotate.judging.tallies import open_tallies
from annotate.models import Annotator, Assignment, GoldPair, Judgment, Pair, Tally, Topic
from preferendum.formats.answers import UNDONE

State = Assignment.State


def void(topic: Topic) -> None:
    """Stop counting a topic and drawing from it; in the caller's transaction, which has locked its tally.

    Annotators with a pair of it on their screen get another one. Their work stays done: nobody has to judge more
    because of it.
    """
    shown = Assignment.objects.filter(topic=topic)
    shown.filter(state__in=[State.OPEN, State.EXPIRED]).update(skip_reason="")  # of a skip that was taken back
    shown.filter(state=State.OPEN).update(holds_place=False)
    previous = Annotator.objects.filter(previous__in=shown.values("key"))
    annotators = list(previous)
    shown.update(state=State.VOID)
    _find_previous(annotators)
    Tally.objects.filter(topic=topic).delete()


def set_apart(topic: Topic, history: Topic) -> None:
    """Move the pairs of sentences that moved from a topic to its history; their judgments are void there.

    Gold pairs are deleted.
    """
    GoldPair.objects.filter(Q(better__topic=history) | Q(worse__topic=history)).delete()
    torn = Pair.objects.filter(Q(first__topic=history) | Q(second__topic=history), topic=topic)
    Assignment.objects.filter(pair__in=torn).update(topic=history)
    torn.update(topic=history)
    void(history)


def revive_pairs(topic: Topic) -> None:
    """Count again the judgments of pairs whose sentences are both in the topic again, with a version never used before.

    In the caller's transaction, which has locked the topic's tally, if it has one.
    """
    whole = Pair.objects.filter(first__topic=topic, second__topic=topic).exclude(topic=topic)
    # An answer to one of them locks the history first.
    list(Topic.with_unfinished.select_for_update(no_key=True).filter(pk__in=whole.values("topic")).order_by("pk"))
    Assignment.objects.filter(pair__in=whole).update(topic=topic)
    whole.update(topic=topic)
    _reopen(topic)
    open_tallies([topic])
    recount_places(topic.study, topic.pk)
    raise_known(topic)


def raise_known(topic: Topic) -> None:
    """Raise the version of a topic that was fitted or judged: what was computed for it is out of date."""
    fitted_or_judged = Q(data_version__gt=0) | Exists(answers_in(topic))
    Tally.objects.filter(fitted_or_judged, topic=topic).update(data_version=F("data_version") + 1)


def answers_in(*topics: Topic) -> QuerySet[Assignment]:
    """The assignments of these topics whose answer stands."""
    return Assignment.objects.arrived().filter(topic__in=topics, state=State.JUDGED)


def _reopen(topic: Topic) -> None:
    annotators = list(Annotator.objects.filter(pk__in=_void(topic).order_by().values("annotator")))
    _void(topic).filter(_is_answered()).update(state=State.JUDGED)
    _void(topic).exclude(skip_reason="").update(state=State.SKIPPED)
    _void(topic).update(state=State.EXPIRED)
    _find_previous(annotators)


def _find_previous(annotators: Iterable[Annotator]) -> None:
    """Point each annotator's undo to their last answer or skip that stands."""
    for annotator in annotators:
        Annotator.objects.filter(pk=annotator.pk).update(previous=last_done(annotator))


def _void(topic: Topic) -> QuerySet[Assignment]:
    return Assignment.objects.filter(topic=topic, state=State.VOID)


def _is_answered() -> Exists:
    last = Judgment.objects.filter(assignment=OuterRef("pk"), revision=OuterRef("revision"))
    return Exists(last.exclude(answer=UNDONE))
