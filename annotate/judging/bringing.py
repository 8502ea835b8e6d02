"""Judgments that were made elsewhere: stored as rows like all others, under pseudonyms."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from django.db import transaction
from django.db.models import Count, F, Max, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from annotate.acts import note
from annotate.judging import tallies
from annotate.judging.answers import LONGEST_READ
from annotate.models import Annotator, Assignment, Judgment, Pair, Sentence, Study, Tally, Topic
from formats.records import Preference

BATCH = 500
ANSWERS = {"a": Judgment.Answer.LEFT, "b": Judgment.Answer.RIGHT, "tie": Judgment.Answer.TIE}
Two = tuple[int, int]


class UnknownSentence(LookupError):
    """A preference for a sentence that the study does not have."""


@dataclass(frozen=True)
class Brought:
    """A preference with the rows that it is about. `swapped`: the pair's second sentence was shown on the left."""

    preference: Preference
    two: Two
    swapped: bool


@transaction.atomic
def bring_preferences(
    study: Study, preferences: Iterable[Preference], kind: str = Annotator.Kind.HUMAN, pseudonym: str = ""
) -> int:
    """Store judgments that were made elsewhere; how many.

    Those without an annotator get one for this call, called `pseudonym` if one is given. The same pair may come more
    than once from the same annotator: each time is an occasion. What people (or machines) judged takes places of what
    the study wants; what was simulated takes none. Raises `UnknownSentence`, with nothing stored.
    """
    by_topic: dict[str, list[Preference]] = {}
    for preference in preferences:
        by_topic.setdefault(preference.topic, []).append(preference)
    topics = dict(Topic.objects.filter(study=study, name__in=by_topic).values_list("name", "pk"))
    if missing := sorted(by_topic.keys() - topics.keys()):
        raise UnknownSentence(f"no topic {missing[0]!r}")
    tallies.raise_version(topics.values())
    names = {preference.annotator for several in by_topic.values() for preference in several}
    people = _people(study, names, kind, pseudonym)
    stored = sum(_bring(study, topics[name], several, people, kind) for name, several in sorted(by_topic.items()))
    note(study, None, "bring judgments", kind=str(kind), judgments=stored)
    return stored


def _people(study: Study, names: set[str], kind: str, pseudonym: str) -> dict[str, Annotator]:
    """An annotator for each name: the one whom an earlier import brought, or a new one.

    Somebody who joined by themselves is never taken for one who was imported, whatever they are called.
    """
    present = {annotator.pseudonym: annotator for annotator in Annotator.objects.filter(study=study)}
    people: dict[str, Annotator] = {}
    for name in sorted(names):
        known = present.get(name or pseudonym)
        if known is None or not _imported(known, kind):
            called = _free_name(name or pseudonym, present)
            known = Annotator.objects.create(study=study, kind=kind, pseudonym=called)
            present[called] = known
        people[name] = known
    return people


def _imported(annotator: Annotator, kind: str) -> bool:
    return annotator.kind == kind and annotator.user_id is None and annotator.invitation_id is None


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, or with a number where it is taken."""
    if wanted and wanted not in taken:
        return wanted
    called = wanted[:190] or "imported"
    return next(name for name in (f"{called} {number}" for number in range(1, len(taken) + 2)) if name not in taken)


def _bring(study: Study, topic_id: int, preferences: list[Preference], people: dict[str, Annotator], kind: str) -> int:
    brought = list(_with_sentences(topic_id, preferences))
    pairs = make_pairs(topic_id, {one.two for one in brought})
    occasions = _occasions(pairs.values(), people.values())
    now = timezone.now()
    read: dict[int, list[float]] = {}
    rows = iter(brought)
    while batch := list(islice(rows, BATCH)):
        assignments, judgments = [], []
        for one in batch:
            annotator, pair, said = people[one.preference.annotator], pairs[one.two], one.preference
            at = moment(said.at, now)
            occasion = occasions.get((annotator.pk, pair.pk), 0)
            occasions[annotator.pk, pair.pk] = occasion + 1
            read.setdefault(annotator.pk, []).append(min(said.seconds or 0.0, LONGEST_READ))
            assignment = Assignment(
                topic_id=topic_id,
                annotator=annotator,
                pair=pair,
                swapped=one.swapped,
                occasion=occasion,
                reason=Assignment.Reason.IMPORTED,
                state=Assignment.State.JUDGED,
                revision=1,
                created_at=at,
                closed_at=at,
            )
            assignments.append(assignment)
            judgments.append(
                Judgment(
                    assignment=assignment,
                    topic_id=topic_id,
                    answer=ANSWERS[said.winner],
                    seconds=said.seconds,
                    at=at,
                    extra=dict(said.extra) or None,
                )
            )
        Assignment.objects.bulk_create(assignments)
        Judgment.objects.bulk_create(judgments)
    for annotator_id, seconds in read.items():
        add_up(annotator_id, len(seconds), sum(seconds))
    if kind != Annotator.Kind.SIMULATED:
        recount_places(study, topic_id)
    return len(brought)


def add_up(annotator_id: int, judged: int, seconds: float) -> None:
    Annotator.objects.filter(pk=annotator_id).update(judged=F("judged") + judged, seconds=F("seconds") + seconds)


def recount_places(study: Study, topic_id: int) -> None:
    """Count afresh what is taken in a topic whose tally is locked; needs grow to what was brought."""
    held = (
        Assignment.objects.filter(pair=OuterRef("pk"), holds_place=True)
        .exclude(annotator__kind=Annotator.Kind.SIMULATED)
        .exclude(annotator__excluded_at__isnull=False)
        .order_by()
        .values("pair")
        .annotate(places=Count("pk"))
        .values("places")
    )
    pairs = Pair.objects.filter(topic_id=topic_id)
    counted = pairs.annotate(places=Coalesce(Subquery(held), 0))
    # Needs first: no pair may be taken more often than it needs, not even for a moment.
    counted.filter(places__gt=0).update(need=Greatest(F("need"), F("places"), study.judgments_per_pair))
    counted.update(taken=F("places"))
    taken = pairs.aggregate(taken=Coalesce(Sum("taken"), 0))["taken"]
    Tally.objects.filter(topic_id=topic_id).update(taken=taken)


def _with_sentences(topic_id: int, preferences: list[Preference]) -> Iterator[Brought]:
    ids = sentence_ids(topic_id)
    for preference in preferences:
        try:
            left, right = ids[preference.a], ids[preference.b]
        except KeyError as error:
            raise UnknownSentence(f"no sentence {error.args[0]!r} in topic {preference.topic!r}") from error
        if left == right:
            raise UnknownSentence(f"sentence {preference.a!r} is compared with itself")
        yield Brought(preference, Pair.in_order(left, right), swapped=left > right)


def sentence_ids(topic_id: int) -> dict[str, int]:
    """The topic's sentences by their public names."""
    rows = Sentence.objects.filter(topic_id=topic_id).values_list("document__name", "index", "pk")
    return {f"{document}:{index}": pk for document, index, pk in rows.order_by()}


def make_pairs(topic_id: int, wanted: set[Two]) -> dict[Two, Pair]:
    """A row for each of these pairs of sentences, the ones that are there and new ones that need nothing yet."""
    known = {(pair.first_id, pair.second_id): pair for pair in Pair.objects.filter(topic_id=topic_id)}
    new = [Pair(topic_id=topic_id, first_id=first, second_id=second, need=0) for first, second in wanted - known.keys()]
    new.sort(key=lambda pair: (pair.first_id, pair.second_id))
    return known | {(pair.first_id, pair.second_id): pair for pair in Pair.objects.bulk_create(new, BATCH)}


def _occasions(pairs: Iterable[Pair], people: Iterable[Annotator]) -> dict[Two, int]:
    """By annotator and pair, the number of the next occasion."""
    topic_ids = {pair.topic_id for pair in pairs}
    rows = (
        Assignment.objects.filter(topic__in=topic_ids, annotator__in=list(people))
        .values_list("annotator", "pair")
        .annotate(last=Max("occasion"))
        .order_by()
    )
    return {(annotator, pair): last + 1 for annotator, pair, last in rows}


def moment(at: str, otherwise: datetime) -> datetime:
    """When it was, in UTC; a time without a zone is taken for UTC."""
    if not at:
        return otherwise
    moment = datetime.fromisoformat(at)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
