"""A topic, or a sentence, is taken out: what was judged of it stays as history, and counts again if it comes back.

Everything else that a void assignment was can be told from its judgments, so nothing has to be kept to bring it back.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from annotate.judging.answers import last_done
from annotate.judging.importing import recount_places
from annotate.judging.tallies import open_tallies
from annotate.models import Annotator, Assignment, GoldPair, Judgment, Pair, Study, Tally, Topic
from formats.answers import UNDONE

State = Assignment.State


def void(topic: Topic) -> None:
    """Count nothing of a topic any more, and draw nothing from it; in the caller's transaction, which holds its tally.

    Whoever has a pair of it on their screen is led to another one. What somebody did stays done: nobody is asked for
    more because of it.
    """
    shown = Assignment.objects.filter(topic=topic)
    shown.filter(state__in=[State.OPEN, State.EXPIRED]).update(skip_reason="")  # of a skip that was taken back
    shown.filter(state=State.OPEN).update(holds_place=False)
    previous = Annotator.objects.filter(previous__in=shown.values("key"))
    annotators = list(previous)
    shown.update(state=State.VOID)
    _find_previous(annotators)
    Tally.objects.filter(topic=topic).delete()


def revive(study: Study, topic: Topic) -> None:
    """Count again what counted before, in the caller's transaction; with a version that nothing older has."""
    _reopen(topic)
    open_tallies([topic])
    version = Study.objects.filter(pk=study.pk).values("removed_version")
    Tally.objects.filter(topic=topic).update(data_version=Subquery(version))
    recount_places(study, topic.pk)


def set_apart(topic: Topic, history: Topic) -> None:
    """Let pairs follow the sentences that went from a topic to its history: what was judged of them is void there.

    Gold pairs are deleted.
    """
    GoldPair.objects.filter(Q(better__topic=history) | Q(worse__topic=history)).delete()
    torn = Pair.objects.filter(Q(first__topic=history) | Q(second__topic=history), topic=topic)
    Assignment.objects.filter(pair__in=torn).update(topic=history)
    torn.update(topic=history)
    void(history)


def revive_pairs(topic: Topic) -> None:
    """Count again what was judged of pairs whose sentences are both in the topic again; and all that is left, afresh.

    In the caller's transaction, which holds the topic's tally, if it has one.
    """
    whole = Pair.objects.filter(first__topic=topic, second__topic=topic).exclude(topic=topic)
    # Whoever answers one of them locks the history first.
    list(Topic.with_unfinished.select_for_update(no_key=True).filter(pk__in=whole.values("topic")).order_by("pk"))
    Assignment.objects.filter(pair__in=whole).update(topic=topic)
    whole.update(topic=topic)
    _reopen(topic)
    open_tallies([topic])
    recount_places(topic.study, topic.pk)
    Tally.objects.filter(topic=topic, data_version__gt=0).update(data_version=F("data_version") + 1)


def answers_in(*topics: Topic) -> QuerySet[Assignment]:
    """What was answered about these topics and stands."""
    return Assignment.objects.arrived().filter(topic__in=topics, state=State.JUDGED)


def _reopen(topic: Topic) -> None:
    annotators = list(Annotator.objects.filter(pk__in=_void(topic).order_by().values("annotator")))
    _void(topic).filter(_is_answered()).update(state=State.JUDGED)
    _void(topic).exclude(skip_reason="").update(state=State.SKIPPED)
    _void(topic).update(state=State.EXPIRED)
    _find_previous(annotators)


def _find_previous(annotators: Iterable[Annotator]) -> None:
    """Let each of them take back what they did last of all that stands."""
    for annotator in annotators:
        Annotator.objects.filter(pk=annotator.pk).update(previous=last_done(annotator))


def _void(topic: Topic) -> QuerySet[Assignment]:
    return Assignment.objects.filter(topic=topic, state=State.VOID)


def _is_answered() -> Exists:
    last = Judgment.objects.filter(assignment=OuterRef("pk"), revision=OuterRef("revision"))
    return Exists(last.exclude(answer=UNDONE))
