"""What figures rest on: how many judgments of people, machines and simulations count, and how many do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from django.db.models import Count
from django.utils.translation import gettext as _

from annotate.models import Annotator, Assignment, Study, Topic
from formats.settings import KINDS_COUNTED, CountedKinds

if TYPE_CHECKING:
    from django.db.models import QuerySet


@dataclass(frozen=True, slots=True)
class Judged:
    """How many judgments of each kind of annotators. `imported`: how many of the human ones were imported."""

    human: int = 0
    imported: int = 0
    machine: int = 0
    simulated: int = 0

    def __add__(self, other: Judged) -> Judged:
        return Judged(*(getattr(self, kind.name) + getattr(other, kind.name) for kind in fields(self)))

    @property
    def total(self) -> int:
        return self.human + self.machine + self.simulated

    @property
    def words(self) -> str:
        """Such as “12 by people (3 imported), 1000 simulated”."""
        return ", ".join(self._phrases())

    def _phrases(self) -> Iterator[str]:
        if 0 < self.imported == self.human:
            yield _("%(n)d by people (imported)") % {"n": self.human}
        elif self.imported:
            yield _("%(n)d by people (%(imported)d imported)") % {"n": self.human, "imported": self.imported}
        elif self.human or not self.total:
            yield _("%(n)d by people") % {"n": self.human}
        if self.machine:
            yield _("%(n)d by machines") % {"n": self.machine}
        if self.simulated:
            yield _("%(n)d simulated") % {"n": self.simulated}


@dataclass(frozen=True, slots=True)
class RestsOn:
    """The judgments that count, and those that do not because the study counts other kinds (`kinds`).

    Both leave out surplus answers and those of excluded annotators. `of_copies`: how many imported ones compare two
    sentences of the same words, and count nowhere.
    """

    kinds: CountedKinds = "people"
    counted: Judged = field(default_factory=Judged)
    not_counted: Judged = field(default_factory=Judged)
    of_copies: int = 0

    def __add__(self, other: RestsOn) -> RestsOn:
        sums = self.counted + other.counted, self.not_counted + other.not_counted, self.of_copies + other.of_copies
        return RestsOn(self.kinds, *sums)

    @property
    def leading(self) -> int:
        """How many of those that count are of the leading kind."""
        number: int = getattr(self.counted, KINDS_COUNTED[self.kinds][0])
        return number

    @property
    def total(self) -> int:
        return self.counted.total + self.not_counted.total

    @property
    def kinds_beside(self) -> tuple[str, ...]:
        """The kinds that have judged and that the board does not count, or counts among others."""
        of_each = [
            (kind, getattr(self.counted, kind), getattr(self.not_counted, kind)) for kind in Annotator.Kind.values
        ]
        return tuple(kind for kind, counted, not_counted in of_each if not_counted or 0 < counted < self.counted.total)

    @property
    def is_mixed(self) -> bool:
        """Whether judgments by machines or simulations count."""
        return self.counted.human < self.counted.total


def among(study: Study) -> str:
    """Says which kind of annotators a figure about annotators covers."""
    if study.leading_kind == Annotator.Kind.HUMAN:
        return _("Among people only. Machines and simulated annotators are never compared with people.")
    if study.leading_kind == Annotator.Kind.MACHINE:
        return _("Among machines only, since this study counts their judgments and not people’s.")
    return _("Among simulated annotators only, since this study counts their judgments and not people’s.")


def of_study(study: Study) -> RestsOn:
    """What the study's figures rest on, over all topics and kinds of questions."""
    return by_study([study])[study.pk]


def of_topic(topic: Topic) -> RestsOn:
    """What a topic's figures about its sentences rest on."""
    return by_topic(topic.study, [topic])[topic.pk]


def of_topics(study: Study, topics: QuerySet[Topic]) -> RestsOn:
    """What figures about these topics of a study together rest on."""
    rows = Assignment.objects.in_place(or_imported=True).filter(topic__in=topics)
    return _summed(rows, "topic__study_id", {study.pk: study})[study.pk]


def by_topic(study: Study, topics: Iterable[Topic]) -> dict[int, RestsOn]:
    """The same for several topics of a study, by key."""
    keys = [topic.pk for topic in topics]
    rows = Assignment.objects.in_place(or_imported=True).filter(topic__in=keys)
    return _summed(rows, "topic_id", dict.fromkeys(keys, study))


def by_study(studies: Iterable[Study]) -> dict[int, RestsOn]:
    """The same for several studies, by key."""
    by_key = {study.pk: study for study in studies}
    rows = Assignment.objects.in_place(or_imported=True).filter(topic__study__in=list(by_key))
    return _summed(rows, "topic__study_id", by_key)


def _summed(rows: QuerySet[Assignment], by: str, studies: dict[int, Study]) -> dict[int, RestsOn]:
    """By the keys of `studies`, which say what counts there."""
    summed = {key: RestsOn(study.counted_kinds) for key, study in studies.items()}
    columns = (by, "annotator__kind", "reason", "holds_place")
    for key, kind, reason, has_place, number in rows.order_by().values_list(*columns).annotate(Count("pk")):
        if not has_place:
            summed[key] += RestsOn(of_copies=number)
            continue
        counts = kind in KINDS_COUNTED[summed[key].kinds]
        is_imported = kind == Annotator.Kind.HUMAN and reason == Assignment.Reason.IMPORTED
        judged = Judged(**{kind: number}, imported=number if is_imported else 0)
        summed[key] += RestsOn(counted=judged) if counts else RestsOn(not_counted=judged)
    return summed
