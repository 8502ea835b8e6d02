"""What annotators said about one summary and the others of its topic."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotate.models import Item, ItemSet, Judgment, Pair, Summary, Topic
from preferendum.formats.answers import SIDES, turned, without_preference


@dataclass(frozen=True, slots=True)
class Against:
    """Another summary of the topic, and how often each answer was `given` about the two, as if this one were always
    on the left."""

    summary: Summary
    given: Counter[str]

    @property
    def preferred(self) -> int:
        return self.given[SIDES[0]]

    @property
    def other(self) -> int:
        """How often the other one was preferred."""
        return self.given[SIDES[1]]

    @property
    def without_preference(self) -> dict[str, int]:
        """How often neither was preferred, by the words of a report."""
        return without_preference(self.given)


def counted_between(topics: QuerySet[Topic], *names: str, about: str = "") -> Iterator[tuple[int, str, str, str, int]]:
    """How often each answer was given about every two summaries of these topics: the key of the topic, both systems,
    the answer as if the first of them were always on the left, and how often. `names`: only between these systems;
    `about`: only about this one and any other."""
    pair, of = "assignment__pair", "assignment__item_set__topic"
    item_sets = ItemSet.objects.filter(topic__in=topics, of="summaries")
    rows = Judgment.objects.counted()
    if names or about:  # from their pairs, which are few, and not from all answers
        texts = Item.objects.filter(item_set__in=item_sets, system__in=names or (about,)).values("pk")
        first, second = Q(first__in=texts), Q(second__in=texts)
        rows = rows.filter(assignment__pair__in=Pair.objects.filter(first & second if names else first | second))
    else:
        rows = rows.filter(assignment__item_set__in=item_sets)
    columns = (of, f"{pair}__first__system", f"{pair}__second__system", "assignment__swapped", "answer")
    for topic, first, second, swapped, answer, times in rows.order_by().values_list(*columns).annotate(Count("pk")):
        yield topic, first, second, turned(answer, swapped), times


def against(summary: Summary) -> tuple[Against, ...]:
    """The summaries that it was compared with, by system, in answers that count."""
    pair = "assignment__pair"
    rows = Judgment.objects.counted().filter(
        assignment__item_set__topic=summary.topic_id, assignment__item_set__of="summaries"
    )
    columns = (f"{pair}__first__system", f"{pair}__second__system", "assignment__swapped", "answer")
    own, given = summary.system.name, defaultdict[str, Counter[str]](Counter)
    for first, second, swapped, answer in rows.values_list(*columns):
        if own in (first, second):
            given[second if own == first else first][turned(answer, swapped != (own == second))] += 1
    others = Summary.objects.filter(topic=summary.topic_id, system__name__in=given)
    rows_of_others = others.select_related("system").order_by("system__name")
    return tuple(Against(row, given[row.system.name]) for row in rows_of_others)
