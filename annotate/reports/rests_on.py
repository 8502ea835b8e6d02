"""What figures rest on: how many judgments of people, machines and simulations count, and how many do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeVar

from django.db.models import Count
from django.utils.translation import gettext as _

from annotate.models import Annotator, Assignment, Fit, ItemSet, Ranking, Study, Topic
from preferendum.formats.settings import KINDS_COUNTED, CountedKinds
from preferendum.results import Ground

if TYPE_CHECKING:
    from django.db.models import QuerySet

Key = TypeVar("Key", int, str)


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
        number = {kind.name: f"{getattr(self, kind.name):,}" for kind in fields(self)}
        if 0 < self.imported == self.human:
            yield _("%(human)s by people (imported)") % number
        elif self.imported:
            yield _("%(human)s by people (%(imported)s imported)") % number
        elif self.human or not self.total:
            yield _("%(human)s by people") % number
        if self.machine:
            yield _("%(machine)s by machines") % number
        if self.simulated:
            yield _("%(simulated)s simulated") % number


@dataclass(frozen=True, slots=True)
class RestsOn:
    """The judgments that count, and those that do not because the study counts other kinds (`kinds`).

    Both leave out surplus answers and those of excluded annotators. `of_copies`: how many imported ones compare two
    sentences of the same words, and count nowhere. `about_summaries`: how many of those that count are about whole
    summaries.
    """

    kinds: CountedKinds = "people"
    counted: Judged = field(default_factory=Judged)
    not_counted: Judged = field(default_factory=Judged)
    of_copies: int = 0
    about_summaries: int = 0

    def __add__(self, other: RestsOn) -> RestsOn:
        summed = ("counted", "not_counted", "of_copies", "about_summaries")
        return RestsOn(self.kinds, *(getattr(self, name) + getattr(other, name) for name in summed))

    @property
    def by_question(self) -> str:
        """How many count about sentences, and about summaries; "" where all are about one of them."""
        of_each = {"sentences": self.counted.total - self.about_summaries, "summaries": self.about_summaries}
        text = _("%(sentences)s about sentences, %(summaries)s about summaries")
        return text % {name: f"{n:,}" for name, n in of_each.items()} if all(of_each.values()) else ""

    @property
    def in_all(self) -> str:
        """Describe how many count about sentences and about summaries, with their sum, in a sentence."""
        about = {"all": f"{self.counted.total:,}", "each": self.by_question}
        return _("%(all)s judgments count: %(each)s.") % about if self.by_question else ""

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


def ground_of(compared: Fit | Ranking | None, counted: Judged) -> Ground:
    """What verdicts rest on, which knows whether all annotators are simulated."""
    ground = compared.own_ground if compared else Ground()
    return replace(ground, are_simulated=0 < counted.total == counted.simulated)


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
    return by_set(topic.study, [topic.sentence_set])[topic.pk]


def of_sets(study: Study, item_sets: QuerySet[ItemSet]) -> RestsOn:
    """What figures about these item sets of a study together rest on."""
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__in=item_sets)
    return _summed(rows, "item_set__study_id", {study.pk: study})[study.pk]


def by_question(study: Study, item_sets: QuerySet[ItemSet]) -> tuple[RestsOn, RestsOn]:
    """What figures about sentences rest on, and those about summaries, of these item sets."""
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__in=item_sets)
    both = _summed(rows, "item_set__of", dict.fromkeys(("sentences", "summaries"), study))
    return both["sentences"], both["summaries"]


def by_set(study: Study, item_sets: Iterable[ItemSet]) -> dict[int, RestsOn]:
    """Count what figures about several item sets of a study rest on, by key."""
    keys = [item_set.pk for item_set in item_sets]
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__in=keys)
    return _summed(rows, "item_set_id", dict.fromkeys(keys, study))


def by_study(studies: Iterable[Study]) -> dict[int, RestsOn]:
    """Count what figures about several studies rest on, by key."""
    by_key = {study.pk: study for study in studies}
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__study__in=list(by_key))
    return _summed(rows, "item_set__study_id", by_key)


def _summed(rows: QuerySet[Assignment], by: str, studies: dict[Key, Study]) -> dict[Key, RestsOn]:
    """Sum the rows by the keys of `studies`, which say what counts there."""
    summed = {key: RestsOn(study.counted_kinds) for key, study in studies.items()}
    columns = (by, "annotator__kind", "reason", "holds_place", "item_set__of")
    for key, kind, reason, has_place, of, number in rows.order_by().values_list(*columns).annotate(Count("pk")):
        if not has_place:
            summed[key] += RestsOn(of_copies=number)
            continue
        counts = kind in KINDS_COUNTED[summed[key].kinds]
        is_imported = kind == Annotator.Kind.HUMAN and reason == Assignment.Reason.IMPORTED
        judged = Judged(**{kind: number}, imported=number if is_imported else 0)
        about = number if of == "summaries" else 0
        summed[key] += RestsOn(counted=judged, about_summaries=about) if counts else RestsOn(not_counted=judged)
    return summed
