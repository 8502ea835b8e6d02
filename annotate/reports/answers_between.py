"""What annotators said about one summary and the others of its topic."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from annotate.models import Judgment, Summary
from formats.answers import HALF, share_of_first


@dataclass(frozen=True, slots=True)
class Against:
    """Another summary of the topic: how often this one was `preferred` to it and how often neither was, `of` so many
    answers about the two."""

    summary: Summary
    preferred: int
    ties: int
    of: int

    @property
    def other(self) -> int:
        """How often the other one was preferred."""
        return self.of - self.preferred - self.ties


def against(summary: Summary) -> tuple[Against, ...]:
    """The summaries that it was compared with, by system, in answers that count."""
    pair = "assignment__pair"
    rows = Judgment.objects.counted().filter(assignment__topic__summaries_of=summary.topic_id)
    columns = (f"{pair}__first__document__name", f"{pair}__second__document__name", "assignment__swapped", "answer")
    own, given = summary.system.name, Counter[tuple[str, float]]()
    for first, second, swapped, answer in rows.values_list(*columns):
        if own in (first, second):
            share = share_of_first(answer, swapped)
            given[second if own == first else first, share if own == first else 1 - share] += 1
    others = Summary.objects.filter(topic=summary.topic_id, system__name__in={system for system, _share in given})
    return tuple(
        Against(
            row,
            preferred=given[row.system.name, 1.0],
            ties=given[row.system.name, HALF],
            of=sum(number for (system, _share), number in given.items() if system == row.system.name),
        )
        for row in others.select_related("system").order_by("system__name")
    )
