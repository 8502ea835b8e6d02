"""What figures rest on: how many judgments of people, machines and simulations count, and how many do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, F, Max, Q
from django.utils.translation import gettext as _

from annotate.models import Annotator, Assignment, Fit, ItemSet, Ranking, Study, Topic
from preferendum.formats.answers import ANSWERS, PREFERENCES
from preferendum.formats.settings import KINDS_COUNTED, CountedKinds
from preferendum.results import Ground
from preferendum.results.statement import Judged, RestsOn

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from preferendum.formats.records import Of

#: Judgments that count alike: their annotators' kind, their reason, whether they have a place; how many they are, the
#: time of the last one, and how many prefer no side.
Group = tuple[str, str, bool, int, str | None, int]


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
    """What a topic's figures rest on, about its sentences and its summaries."""
    return of_sets(topic.study, ItemSet.objects.filter(topic=topic))


def of_sets(study: Study, item_sets: QuerySet[ItemSet]) -> RestsOn:
    """What figures about these item sets of a study together rest on."""
    return _by_study(item_sets, [study])[study.pk]


def by_study(studies: Iterable[Study]) -> dict[int, RestsOn]:
    """Count what figures about several studies rest on, by key."""
    shown = list(studies)
    return _by_study(ItemSet.objects.filter(study__in=shown), shown)


def _by_study(item_sets: QuerySet[ItemSet], studies: Iterable[Study]) -> dict[int, RestsOn]:
    numbers: dict[int, Counter[tuple[str, str, bool, str]]] = {study.pk: Counter() for study in studies}
    for own in judged_in(item_sets):
        for kind, reason, has_place, number, *_rest in own.groups:
            numbers[own.study_id][kind, reason, has_place, own.of] += number
    return {
        study.pk: RestsOn.together(
            study.counted_kinds,
            (of_judgments(study.counted_kinds, *alike, number) for alike, number in numbers[study.pk].items()),
        )
        for study in studies
    }


class JudgedSet(NamedTuple):
    """The judgments of an item set, in groups of the same kind of annotator, reason and place."""

    pk: int
    study_id: int
    topic_id: int
    of: Of
    groups: Sequence[Group]

    def rests_on(self, kinds: CountedKinds) -> RestsOn:
        """What figures about this set rest on, in a study that counts these kinds."""
        of_groups = (
            of_judgments(kinds, kind, reason, has_place, self.of, number)
            for kind, reason, has_place, number, *_rest in self.groups
        )
        return RestsOn.together(kinds, of_groups)

    def judged_at(self, kinds: CountedKinds) -> datetime | None:
        """The time of the last judgment that counts and is neither simulated nor imported; None without any."""
        counted = set(KINDS_COUNTED[kinds]) - {Annotator.Kind.SIMULATED}
        times = (
            last
            for kind, reason, has_place, _number, last, _undecided in self.groups
            if has_place and kind in counted and reason != Assignment.Reason.IMPORTED and last
        )
        return max(map(datetime.fromisoformat, times), default=None)


def judged_in(item_sets: QuerySet[ItemSet]) -> list[JudgedSet]:
    """What was judged in these item sets: as the worker counted with its last fit, or counted now where something
    has changed."""
    columns = "pk", "study_id", "topic_id", "of", "progress__judged", "progress__fitted_version", "tally__data_version"
    rows = list(item_sets.order_by().values_list(*columns))
    changed = [key for key, *_set, judged, fitted, version in rows if judged is None or fitted != version]
    anew = count_judged(changed) if changed else {}
    return [
        JudgedSet(key, study, topic, of, anew.get(key, judged)) for key, study, topic, of, judged, *_versions in rows
    ]


def count_judged(item_sets: Collection[int]) -> dict[int, list[Group]]:
    """Count the judgments of each of these item sets, by key: what `ItemSetProgress.judged` keeps."""
    groups: dict[int, list[Group]] = {key: [] for key in item_sets}
    rows = Assignment.objects.in_place(or_imported=True).filter(item_set__in=item_sets).order_by()
    alike = rows.filter(judgments__revision=F("revision")).values_list(
        "item_set_id", "annotator__kind", "reason", "holds_place"
    )
    undecided = Count("pk", filter=Q(judgments__answer__in=ANSWERS.keys() - PREFERENCES.keys()))
    for key, *group, number, last, ties in alike.annotate(Count("pk"), Max("closed_at"), undecided=undecided):
        groups[key].append((*group, number, last and last.isoformat(), ties))
    return groups


def of_judgments(kinds: CountedKinds, kind: str, reason: str, has_place: bool, of: str, number: int) -> RestsOn:
    """Count so many judgments that are alike, in a study that counts these kinds."""
    if not has_place:
        return RestsOn(kinds, of_copies=number)
    is_imported = kind == Annotator.Kind.HUMAN and reason == Assignment.Reason.IMPORTED
    judged = Judged(**{kind: number}, imported=number if is_imported else 0)
    if kind not in KINDS_COUNTED[kinds]:
        return RestsOn(kinds, not_counted=judged)
    return RestsOn(kinds, counted=judged, about_summaries=number if of == "summaries" else 0)
