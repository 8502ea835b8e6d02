"""What annotators said about one summary and the others of its topic."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from annotate.models import Judgment, Summary
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
