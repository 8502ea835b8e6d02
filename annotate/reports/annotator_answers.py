"""One annotator's answers, and their sittings."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, cast

from django.db.models import F

from annotate.models import Annotator, Judgment
from annotate.models.judging import texts_of
from preferendum.formats.answers import PREFERENCES, SHARES

if TYPE_CHECKING:
    from django.db.models import QuerySet

#: After so long without an answer, the annotator was away.
AWAY = timedelta(minutes=30)


@dataclass(slots=True)
class Sitting:
    """Answers that were given without a break."""

    began: datetime
    ended: datetime
    given: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def answers(self) -> int:
        return len(self.given)

    @property
    def minutes(self) -> int:
        return round((self.ended - self.began).total_seconds() / 60)

    @property
    def seconds(self) -> float | None:
        """The median time of an answer, if known."""
        return median(self.times) if self.times else None

    @property
    def left_percent(self) -> int | None:
        """The percentage of preferences for the left sentence."""
        decided = [SHARES[answer] for answer in self.given if answer in PREFERENCES]
        return round(100 * sum(decided) / len(decided)) if decided else None


def of(annotator: Annotator) -> QuerySet[Judgment]:
    """The answers that stand, practice included, the newest first."""
    rows = (
        Judgment.objects.standing()
        .filter(assignment__annotator=annotator)
        .order_by(F("at").desc(nulls_last=True), "-pk")
    )
    return rows.select_related("assignment__item_set__topic", *texts_of("assignment__pair__"))


def sittings(annotator: Annotator) -> list[Sitting]:
    """Sittings, the newest first; imported answers were given elsewhere."""
    several: list[Sitting] = []
    standing = Judgment.objects.standing().given_here().filter(assignment__annotator=annotator).order_by("at", "pk")
    for moment, answer, seconds in standing.values_list("at", "answer", "seconds"):
        at = cast(datetime, moment)  # what is given here has its time
        if not several or at - several[-1].ended > AWAY:
            several.append(Sitting(at, at))
        several[-1].ended = at
        several[-1].given.append(answer)
        if seconds is not None:
            several[-1].times.append(seconds)
    return several[::-1]
